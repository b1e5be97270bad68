"""The probability of a response over the contexts of its cue, and its errors: arrays in, arrays out.

A context with both words has the share of the cue's occurrences that it holds times the probability of the masked
response; any other context of the cue has 0. The contexts are a sample of those that the language could have, so errors
are those of a ratio of two sums over contexts (delta method), and where only some contexts with both words were asked,
of a second sample from these.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from bayesbias.base.arrays import Floats


@dataclass(frozen=True)
class ContextMean:
    """P(response given cue) over contexts.

    Parameters
    ----------
    log_probability
        Natural logarithm.
    relative
        Of each context that was asked how much it adds, relative to P: shape (asked,).
    weights
        Of each context that was asked the share of the cue's occurrences: shape (asked,).
    elsewhere
        Sum of the squared shares of the contexts that hold the cue without the response.
    contexts
        Contexts that hold both, asked or not.
    """

    log_probability: float
    relative: Floats
    weights: Floats
    elsewhere: float
    contexts: int

    @property
    def sd(self) -> float:
        """Standard error of the log probability."""
        deviations = self.relative - self.weights
        return _sd(self.elsewhere, deviations, self.relative, self.contexts)

    @property
    def worth(self) -> float:
        """As how many contexts that add alike those that were asked count: fewer, the more a few of them add.

        It is the effective sample size of Leslie Kish (1965), Survey Sampling.
        """
        return float(self.relative.sum() ** 2 / (self.relative @ self.relative))


def context_mean(
    probabilities: Floats, counts: NDArray[Any], other_counts: NDArray[Any], *, total: int, contexts: int
) -> ContextMean:
    """Return P(response given cue) = sum over contexts of P(context given cue) P(response masked, in the context).

    Parameters
    ----------
    probabilities
        Of the masked response in the contexts that were asked, the mean over its occurrences there: shape (asked,).
    counts
        How often each of these holds the cue: shape (asked,).
    other_counts
        How often each context of the cue without the response holds it: shape (such contexts,).
    total
        How often the cue occurs in all.
    contexts
        How many contexts hold both; at least 2 are asked.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 6, with P(context given cue) = 1 / C(cue), where a context that
    holds the cue k times counts k times.

    Examples
    --------
    Of three contexts of the cue, one of which holds it twice, two hold the response:

    >>> found = context_mean(np.array([0.2, 0.4]), np.array([1, 2]), np.array([1]), total=4, contexts=2)
    >>> round(float(np.exp(found.log_probability)), 6), round(found.sd, 3)
    (0.25, 0.465)
    """
    added = counts * probabilities
    whole = float(added.sum()) * contexts / len(added)
    elsewhere = float((other_counts / total) @ (other_counts / total))
    return ContextMean(float(np.log(whole / total)), added / whole, counts / total, elsewhere, contexts)


def ratio_sd(forward: ContextMean, backward: ContextMean) -> float:
    """Return the standard error of log P(b given a) - log P(a given b), both over the same contexts.

    A context that holds both words often raises both, so the two errors are not independent.
    """
    deviations = (forward.relative - forward.weights) - (backward.relative - backward.weights)
    differences = forward.relative - backward.relative
    return _sd(forward.elsewhere + backward.elsewhere, deviations, differences, forward.contexts)


def student_summary(means: Floats, sds: Floats, worth: Floats, hdi_prob: float) -> dict[str, Floats]:
    """Return the interval and probability of direction of numbers whose errors come from a few contexts each.

    They are those of Student's t, with as many degrees of freedom as contexts count (`ContextMean.worth`), less 1, and
    at least 1: where one context adds nearly all, the others say little of how far such contexts part.

    >>> found = student_summary(np.array([1.0, 1.0]), np.array([0.5, 0.5]), np.array([3.0, 1000.0]), 0.89)
    >>> {name: values.round(2).tolist() for name, values in found.items()}
    {'hdi_low': [-0.38, 0.2], 'hdi_high': [2.38, 1.8], 'probability_of_direction': [0.91, 0.98]}
    """
    freedom = np.maximum(worth - 1, 1.0)
    half = stdtrit(freedom, (1 + hdi_prob) / 2) * sds
    direction = stdtr(freedom, np.abs(means) / sds)
    return {"hdi_low": means - half, "hdi_high": means + half, "probability_of_direction": direction}


def _sd(elsewhere: float, deviations: Floats, relative: Floats, contexts: int) -> float:
    """Return the error of a log probability, or of a difference of two, over the contexts of a language."""
    asked = len(relative)
    variance = elsewhere + contexts * float(deviations.mean() ** 2 + deviations.var(ddof=1))
    # Of the contexts that hold both, some were asked: a second sample.
    variance += contexts**2 * (1 / asked - 1 / contexts) * float(relative.var(ddof=1))
    return float(np.sqrt(variance))
