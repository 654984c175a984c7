"""Limit transformers: what they are, how they run, what they weigh. Start with model.py."""
