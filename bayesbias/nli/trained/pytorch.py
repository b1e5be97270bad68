"""PyTorch and transformers, which only an extra installs: imported when a model is trained, loaded or asked."""

from importlib import import_module
from typing import Any

from bayesbias.errors import MeasureError


def pytorch() -> Any:
    """Return the module `torch`; raise `MeasureError` where it is not installed."""
    return extra("torch")


def extra(name: str) -> Any:
    """Return a module of the extra; raise `MeasureError` where it is not installed.

    >>> extra("not_installed")
    Traceback (most recent call last):
        ...
    bayesbias.errors.MeasureError: Models of inference need not_installed, ... pip install 'bayesbias[nli]' ...
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as fault:
        raise MeasureError(
            f"Models of inference need {name}, which is not installed. Install it with: pip install 'bayesbias[nli]' "
            "(from the usual index about 5 GB; a build of PyTorch for the processor alone, which is smaller, will do)."
        ) from fault
