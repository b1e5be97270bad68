"""Measures of how near the words of groups are to lists of attribute words."""
