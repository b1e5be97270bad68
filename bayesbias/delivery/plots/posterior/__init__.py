"""Figures of a posterior and its checks."""
