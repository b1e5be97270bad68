"""Bias that is left in an embedding's geometry: measures that need no task."""
