"""What answers show of groups: posteriors, checks and comparisons."""
