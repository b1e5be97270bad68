"""Benchmarks: measured figures for the claims in the README, run by hand or by `make bench`."""
