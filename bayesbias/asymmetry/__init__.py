"""Asymmetry: what one word evokes of another, and the other way round.

`evocation`, `static` and others are sources of P(b given a); `lar` asks any of them both ways.
"""

from bayesbias.asymmetry.masked_model import MaskedModel, masked_model
from bayesbias.asymmetry.sources import ConditionalSource, lar

__all__ = ["ConditionalSource", "MaskedModel", "lar", "masked_model"]
