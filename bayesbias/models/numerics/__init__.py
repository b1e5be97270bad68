"""Numerical methods of samplers: importance sampling, rejection on a grid, diagnostics, estimates from draws."""
