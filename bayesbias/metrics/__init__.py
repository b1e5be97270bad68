"""Measures that give one number for a study in an embedding, each with its conventions."""

# Loaded at once, not when first used: several functions bear the name of their file, and Python would
# otherwise put the file in the function's place. The files are light; what is heavy is imported inside functions.
from bayesbias.metrics.direct_bias import GENDER_PAIRS, Direction, direct_bias, gender_direction
from bayesbias.metrics.mac import mac
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.t_tests import mac_t_tests, t_tests
from bayesbias.metrics.weat import weat

__all__ = [
    "GENDER_PAIRS",
    "Direction",
    "MeasureResult",
    "direct_bias",
    "gender_direction",
    "mac",
    "mac_t_tests",
    "t_tests",
    "weat",
]
