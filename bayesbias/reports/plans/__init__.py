"""Plans that are fixed before the data are seen: their record, their file, and what was changed since."""
