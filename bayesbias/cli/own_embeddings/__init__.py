"""Embeddings of your own: training, language models, encoders."""

from bayesbias.cli.own_embeddings import contextual, encoders, training  # noqa: F401 - each file adds its commands
