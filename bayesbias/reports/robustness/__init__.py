"""Robustness of a result: to the model, to single words, and to the size of the study."""
