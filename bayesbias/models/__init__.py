"""Models: what they are (`spec`), their PyMC form (`pymc_model`), and fitting them (`sampling`)."""
