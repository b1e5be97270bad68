"""Whether the model could have made the data: prior and posterior predictive checks."""
