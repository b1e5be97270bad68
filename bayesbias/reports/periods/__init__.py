"""Gaps over periods: how an association moved, and what moved it."""
