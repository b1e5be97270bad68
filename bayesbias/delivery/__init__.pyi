"""Delivery: pages, folders, Markdown, JSON and figures of results."""

from . import plots as plots
from .writing import write as write
