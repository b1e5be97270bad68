"""Regressions of inner products and cosines, after Kindel's supplement: vectors, designs, posterior, report."""
