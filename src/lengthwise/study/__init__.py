"""Studies: what is run, what is kept of it, and what it says."""
