"""Embeddings: words with their vectors, read from any common format, trained, or taken from language models."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
