"""Probability of a response over the contexts of its cue, and its standard error; arrays in, arrays out.

A context with both words contributes its share of the cue's occurrences times the probability of the masked response;
other contexts of the cue contribute 0. The contexts are a sample from the language, so the error is that of a ratio of
two sums over contexts (delta method); if only some contexts with both words were used, it includes the error of this
second sample.
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
        Natural logarithm of P.
    relative
        Contribution of each sampled context relative to P, of shape (sampled,).
    weights
        Share of the cue's occurrences in each sampled context, of shape (sampled,).
    elsewhere
        Sum of the squared shares of the contexts with the cue but without the response.
    contexts
        Number of contexts with both words, sampled or not.
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
    def effective_contexts(self) -> float:
        """Effective number of sampled contexts (Leslie Kish, 1965, Survey Sampling): smaller if few dominate."""
        return float(self.relative.sum() ** 2 / (self.relative @ self.relative))


def context_mean(
    probabilities: Floats, counts: NDArray[Any], other_counts: NDArray[Any], *, total: int, contexts: int
) -> ContextMean:
    """Return P(response given cue) = sum over contexts of P(context given cue) P(response masked, in the context).

    Parameters
    ----------
    probabilities
        Probability of the masked response in each sampled context, averaged over its occurrences: shape (sampled,).
    counts
        Number of occurrences of the cue in each of these: shape (sampled,).
    other_counts
        Number of occurrences of the cue in each context without the response: shape (such contexts,).
    total
        Number of all occurrences of the cue.
    contexts
        Number of contexts with both words, of which at least 2 are sampled.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 6, with P(context given cue) = 1 / C(cue), where a context that
    holds the cue k times counts k times.

    Examples
    --------
    Three contexts have the cue, one of them twice; two of them have the response:

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

    A context with both words often raises both probabilities, so the two errors are not independent.
    """
    deviations = (forward.relative - forward.weights) - (backward.relative - backward.weights)
    differences = forward.relative - backward.relative
    return _sd(forward.elsewhere + backward.elsewhere, deviations, differences, forward.contexts)


def student_summary(means: Floats, sds: Floats, effective_contexts: Floats, hdi_prob: float) -> dict[str, Floats]:
    """Return intervals and probabilities of direction of numbers whose errors come from few contexts.

    They are those of Student's t, with `ContextMean.effective_contexts` minus 1, and at least 1, degrees of freedom:
    where one context dominates, the others say little about the variation of such contexts.

    >>> found = student_summary(np.array([1.0, 1.0]), np.array([0.5, 0.5]), np.array([3.0, 1000.0]), 0.89)
    >>> {name: values.round(2).tolist() for name, values in found.items()}
    {'hdi_low': [-0.38, 0.2], 'hdi_high': [2.38, 1.8], 'probability_of_direction': [0.91, 0.98]}
    """
    freedom = np.maximum(effective_contexts - 1, 1.0)
    half = stdtrit(freedom, (1 + hdi_prob) / 2) * sds
    direction = stdtr(freedom, np.abs(means) / sds)
    return {"hdi_low": means - half, "hdi_high": means + half, "probability_of_direction": direction}


def _sd(elsewhere: float, deviations: Floats, relative: Floats, contexts: int) -> float:
    """Return the standard error of a log probability, or of a difference of two, over the contexts of a language."""
    sampled = len(relative)
    variance = elsewhere + contexts * float(deviations.mean() ** 2 + deviations.var(ddof=1))
    # The sampled contexts are a second sample, from the contexts with both words.
    variance += contexts**2 * (1 / sampled - 1 / contexts) * float(relative.var(ddof=1))
    return float(np.sqrt(variance))
