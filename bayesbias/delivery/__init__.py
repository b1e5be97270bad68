"""Delivery: what becomes of a result's statements, tables and figures."""
