"""Tasks: what there is to learn, with an exact target, samplers, and what is known about it."""
