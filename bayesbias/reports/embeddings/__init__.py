"""The same word pairs in several embeddings, and what changed between them."""
