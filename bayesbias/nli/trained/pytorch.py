"""PyTorch and transformers, which only an extra installs: imported when a model is trained, loaded or called."""

from typing import Any

from bayesbias.base.machine.extras import require


def pytorch() -> Any:
    """Return the module `torch`; raise `MeasureError` if it is not installed."""
    return extra("torch")


def extra(name: str) -> Any:
    """Return a module of the extra; raise `MeasureError` if it is not installed."""
    return require(name, "nli", "A model of inference")
