"""Comparisons of the same word pairs in several embeddings."""
