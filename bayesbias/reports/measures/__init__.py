"""Single-number measures under a fitted model, and in data without an association."""
