"""Embeddings: words with their vectors, read from any common format.

Importing this room pulls in NumPy and nothing else that is heavy.
"""

from bayesbias.embeddings.case_rules import Case
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, Lookup
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.training import tokenize, train_embeddings

__all__ = ["Case", "Embedding", "EmbeddingLike", "Lookup", "load_embedding", "tokenize", "train_embeddings"]
