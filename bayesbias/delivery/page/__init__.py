"""Pages: the blocks and the template of every page, and the sections of the page of a fit."""
