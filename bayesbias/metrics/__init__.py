"""Measures that give one number for a study in an embedding, each with its conventions."""
