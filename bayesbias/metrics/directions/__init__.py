"""Measures along a direction, such as that of gender."""
