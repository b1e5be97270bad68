"""Debiasing, and its consequences for inference."""

from bayesbias.cli.debiasing import debiasing, inference  # noqa: F401 - each file adds its commands
