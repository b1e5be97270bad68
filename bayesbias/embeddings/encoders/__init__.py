"""Encoders: vectors of texts from any function, such as a sentence encoder, a static distillation or a service.

`encode` calls an encoder, and `folders` makes a function of a model's folder.
"""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
