"""Samplers of our own: independent draws from the conjugate and the crossed models."""
