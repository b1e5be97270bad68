"""Language models, in which a word's vector depends on its context, and the index of a corpus that finds contexts.

`texts` reads a corpus and finds words in it, and `context_index` keeps where they are. `model_folder` checks a model's
folder, `language_model` loads it and runs it in batches, `contextual_vectors` averages its vectors over contexts, and
`vector_spread` holds them with their errors.
"""

from bayesbias.embeddings.language_models.context_index import ContextIndex, index_contexts, read_contexts
from bayesbias.embeddings.language_models.contextual_vectors import ContextsLike, contextual_embedding
from bayesbias.embeddings.language_models.texts import TextsLike
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding

__all__ = [
    "ContextIndex",
    "ContextsLike",
    "ContextualEmbedding",
    "TextsLike",
    "contextual_embedding",
    "index_contexts",
    "read_contexts",
]
