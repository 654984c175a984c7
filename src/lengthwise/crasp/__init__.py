"""C-RASP[periodic, local]: the language, what its programs compute, and transformers that compute the same."""
