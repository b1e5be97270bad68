"""Word lists, and more of a fit: studies, estimates in other forms, covariates, predictive checks."""

from bayesbias.cli.lists_and_fits import checks, covariates, studies, summaries  # noqa: F401 - each file adds its commands
