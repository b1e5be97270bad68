"""The posterior of a log asymmetry ratio: intervals and probability of direction; arrays in, arrays out."""

import numpy as np
from scipy.special import ndtr, ndtri

from bayesbias.arrays import Floats


def normal_summary(means: Floats, sds: Floats, hdi_prob: float) -> dict[str, Floats]:
    """Return the interval and probability of direction of Normal posteriors; an sd of 0 is a number without error.

    >>> found = normal_summary(np.array([1.0, -2.0]), np.array([1.0, 0.0]), 0.89)
    >>> {name: values.round(2).tolist() for name, values in found.items()}
    {'hdi_low': [-0.6, -2.0], 'hdi_high': [2.6, -2.0], 'probability_of_direction': [0.84, 1.0]}
    """
    half = ndtri((1 + hdi_prob) / 2) * sds
    ratio = np.divide(np.abs(means), sds, out=np.where(means == 0, 0.0, np.inf), where=sds > 0)
    return {"hdi_low": means - half, "hdi_high": means + half, "probability_of_direction": ndtr(ratio)}
