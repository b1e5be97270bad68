"""Many questions at once: audits and their plan, gates, ranks of embeddings, and debiasing methods side by side."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
