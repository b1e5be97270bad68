"""Words on axes of opposite words, such as that of affluence."""
