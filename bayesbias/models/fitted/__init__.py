"""The fit: what it holds, where its table comes from, its diagnostics, and its file."""
