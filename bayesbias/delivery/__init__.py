"""Delivery: pages, folders, Markdown, JSON and figures of results."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
