"""How the leans of words follow covariates, such as the share of women in an occupation."""
