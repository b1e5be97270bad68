"""Figures of measures, their nulls, and their reliability."""
