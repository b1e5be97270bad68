"""Figures: one file each, drawn from the frames that `reports` computes."""
