"""Scores of a whole embedding that keep their items, so that a change has an interval of its own."""
