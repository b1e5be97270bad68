"""Means, intervals and correlations of draws and of samples."""

from .correlations import correlation_interval as correlation_interval
