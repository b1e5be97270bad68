"""Measures of a study, of words on an axis, and of a whole embedding."""

from bayesbias.cli.measures import axes, measures, scores  # noqa: F401 - each file adds its commands
