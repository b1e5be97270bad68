"""Regressions of inner products and cosines, after Kindel's supplement: vectors, designs, posterior, report."""

from .linear_model import LinearPrior as LinearPrior
from .regression import CosineRegression as CosineRegression
from .regression import cosine_regression as cosine_regression
