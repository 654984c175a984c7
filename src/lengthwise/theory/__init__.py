"""How long is long enough, and why: bounds, short strings that stand in for long ones, certificates."""
