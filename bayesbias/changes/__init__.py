"""The same contrast under several conditions: embeddings, periods, methods of debiasing, trainings over seeds."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
