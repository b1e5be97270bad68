"""Embeddings: words with their vectors, read from any common format."""
