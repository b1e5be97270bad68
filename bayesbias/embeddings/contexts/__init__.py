"""Contexts of words: an index of a corpus that finds the contexts of a word or of two words.

`texts` reads a corpus and finds words in texts, `building` builds the index, `index` reads it, and `occurrences` finds
the contexts that two words share.
"""

from bayesbias.embeddings.contexts.building import index_contexts
from bayesbias.embeddings.contexts.index import ContextIndex, read_contexts
from bayesbias.embeddings.contexts.texts import TextsLike

__all__ = ["ContextIndex", "TextsLike", "index_contexts", "read_contexts"]
