"""Many questions in many embeddings at once: one frame, and the ranks of the embeddings."""
