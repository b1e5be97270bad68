"""The registry of our samplers, and those of models of rows; the default's is in `multivariate/posterior_draws.py`."""
