"""Hostile inputs to every reader: damaged files, texts that lie, priors that no sampler can use."""
