"""Words that embeddings have, and the spread of contrasts over trainings."""
