"""Training: JAX lives here."""
