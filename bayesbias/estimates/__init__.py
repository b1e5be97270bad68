"""Means, intervals and correlations of draws and of samples."""
