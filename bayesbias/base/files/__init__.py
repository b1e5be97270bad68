"""Files: those that are read, those that are written whole or not at all, and TOML with declared keys."""
