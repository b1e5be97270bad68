"""Scores of a whole embedding: what is left of a bias in its geometry, and how useful it is."""
