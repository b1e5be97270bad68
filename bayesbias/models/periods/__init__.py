"""Contrasts of several periods or embeddings: attribute words measured in all of them, and protected words likewise."""
