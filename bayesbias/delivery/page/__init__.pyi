"""Pages: blocks and template of every page, and sections of the page of a fit."""

from .fit import fit_details as fit_details
