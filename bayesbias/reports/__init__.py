"""Reports: statements and tables of numbers, computed from a fit or from several embeddings."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
