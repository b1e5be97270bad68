"""What every room uses: checks of arguments, files, the machine, results, statements and texts of numbers."""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
