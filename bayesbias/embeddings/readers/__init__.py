"""Readers of files of vectors."""
