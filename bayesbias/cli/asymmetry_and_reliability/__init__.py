"""Asymmetry of associations, and reliability of bias scores."""

from bayesbias.cli.asymmetry_and_reliability import asymmetry, reliability  # noqa: F401 - each file adds its commands
