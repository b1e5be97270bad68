"""Models: what they are (`spec`), their PyMC form (`pymc_model`), their fits, and fitting them (`sampling`)."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
