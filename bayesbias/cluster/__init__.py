"""Studies of many cells: many embeddings, studies, models and seeds, on many workers."""
