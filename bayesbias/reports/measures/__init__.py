"""Single-number measures under a fitted model, and where nothing is associated."""
