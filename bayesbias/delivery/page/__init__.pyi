"""Pages: blocks and template of every page, and sections of the page of a fit."""

from .fit import fit_page as fit_page
