"""What log asymmetry ratios of pairs show together."""
