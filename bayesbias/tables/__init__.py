"""The distance table: its schema, building it, reading and writing it."""
