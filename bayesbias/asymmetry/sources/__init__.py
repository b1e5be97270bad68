"""Sources of P(b given a): people, vectors, language models, and the log ratios of both ways."""
