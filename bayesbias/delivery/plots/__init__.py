"""Figures, each drawn from what a report returned; `bayesbias.delivery.plots.plot_words` and others."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
