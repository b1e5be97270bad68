"""Means, intervals and correlations of draws and of samples."""

from .correlations import correlation_interval as correlation_interval
from .correlations import rank_correlation_interval as rank_correlation_interval
