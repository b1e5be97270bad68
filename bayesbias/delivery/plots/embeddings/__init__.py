"""Figures of several embeddings, and of other sources beside them."""
