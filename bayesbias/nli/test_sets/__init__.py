"""Test sets of natural language inference, and what answers to them score."""
