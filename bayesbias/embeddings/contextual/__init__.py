"""Language models that give a word another vector, and another probability, in each context.

`language_model` loads one from a folder and finds words among its pieces, `forward` asks it in batches; `vectors`
averages its vectors over contexts, `spread` holds them with their errors, `cache` keeps them on disk.
"""

from bayesbias.embeddings.contextual.spread import ContextualEmbedding
from bayesbias.embeddings.contextual.vectors import ContextsLike, contextual_embedding

__all__ = ["ContextsLike", "ContextualEmbedding", "contextual_embedding"]
