"""Kindel's measures: mean cosines, the canonical subspace metric, sub-lists and null distributions."""
