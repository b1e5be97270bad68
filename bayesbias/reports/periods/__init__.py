"""Gaps over periods: how an association moved, and which words moved."""
