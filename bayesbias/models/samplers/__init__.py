"""The registry of our samplers, and models of rows; the default's are in `models/multivariate/posterior_draws.py`."""
