"""Language models, in which the vector and the probability of a word depend on its context.

`language_model` loads a model from a folder and finds words among its tokens, `forward` runs it in batches, `vectors`
averages its vectors over contexts, `spread` holds them with their errors, and `cache` stores them on disk.
"""

from bayesbias.embeddings.contextual.spread import ContextualEmbedding
from bayesbias.embeddings.contextual.vectors import ContextsLike, contextual_embedding

__all__ = ["ContextsLike", "ContextualEmbedding", "contextual_embedding"]
