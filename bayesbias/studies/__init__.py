"""Word lists, and what can be wrong with them."""
