"""Results of an audit: its frame and record, its answers, and the ranks of the embeddings."""
