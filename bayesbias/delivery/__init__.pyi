"""Delivery: what becomes of a result's statements, tables and figures."""

from . import plots as plots
from .writing import write as write
