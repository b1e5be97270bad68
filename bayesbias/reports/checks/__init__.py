"""Prior and posterior predictive checks: whether the model could have produced the data."""
