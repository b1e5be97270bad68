"""Debiasing methods, to compare an embedding with what they make of it."""
