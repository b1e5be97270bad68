r"""Posterior of means over training runs, words and premises; arrays in, arrays out.

A model trained again with another seed gives other answers. Let the mean of word w in run s be

    m_sw = mu_g(w) + a_w + r_s,g(w) + f_sw,

all effects Normal, and q_s = sum_w k_w m_sw a quantity: a group's mean, a contrast or a word. The uncertainty due to
words and premises is estimated from answers averaged over runs (`crossed_draws`). The uncertainty due to runs is the
variance of the q_s over their number, with S - 1 degrees of freedom, so that q of these words has the interval of
Student's t. For words like these, the spread of words already contains f, so var(f) sum k_w^2 is subtracted from the
variance of runs. Two embeddings have separate runs but the same words and premises: their difference combines the
uncertainty due to words and premises of the differences with that due to the runs of both.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.nli.answers.crossed_draws import contrast_draws, draw, group_draws
from bayesbias.nli.answers.premise_components import Premises, draw_variances

LEAST_RUNS = 3
"""Smallest number of runs whose spread is used."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Groups and premises of a table of answers.

    Parameters
    ----------
    group : array, shape (words,)
        Code of each word's group.
    pair
        Codes of the two groups that are compared.
    premises
        Verbs and objects of the premises.
    """

    group: NDArray[np.intp]
    pair: tuple[int, int]
    premises: Premises

    @property
    def weights(self) -> Floats:
        """Weights of words, one row per quantity: overall, each group, the contrast, each word."""
        member = np.eye(self.group.max() + 1)[:, self.group]
        groups = member / member.sum(axis=1, keepdims=True)
        contrast = groups[self.pair[0]] - groups[self.pair[1]]
        words = len(self.group)
        return np.vstack([np.full(words, 1 / words), groups, contrast, np.eye(words)])


@dataclass(frozen=True, eq=False)
class Quantities:
    """Draws of quantities, of shape (draws, quantities), in the order of `Layout.weights`.

    `like_these` excludes single words, and is None if there are too few words to represent others; `contrast` is the
    column of the contrast.
    """

    these: Floats
    like_these: Floats | None
    contrast: int

    def within(self, low: float, high: float) -> "Quantities":
        """Return the draws, with means clipped to the range of scores; differences are not clipped."""
        means = np.arange(self.these.shape[1]) != self.contrast
        clipped = [
            None if drawn is None else np.where(means[: drawn.shape[1]], drawn.clip(low, high), drawn)
            for drawn in (self.these, self.like_these)
        ]
        return Quantities(cast("Floats", clipped[0]), clipped[1], self.contrast)


def quantity_draws(
    answers: Floats, runs: list[Floats], layout: Layout, draws: int, rng: np.random.Generator
) -> Quantities:
    """Return draws of the quantities of answers averaged over runs, or of the difference of two such averages.

    `answers` has the shape (words, premises); `runs` holds means of words by run, of shape (runs, words), for one
    embedding or for the two that are compared.
    """
    crossed = draw(answers, layout.group, layout.premises, draws, rng)
    sides = layout.group == layout.pair[0], layout.group == layout.pair[1]
    of_pair, like_pair = contrast_draws(crossed, answers, sides, layout.pair, layout.premises, rng)
    weights = layout.weights
    groups = layout.group.max() + 1
    these = crossed.words @ weights.T
    of_groups, like_groups = group_draws(crossed, answers, layout.group, layout.premises, rng)
    these[:, 1 : groups + 1], these[:, groups + 1] = of_groups, of_pair
    like_these = None
    if crossed.groups is not None and like_groups is not None and like_pair is not None:
        shares = np.bincount(layout.group) / len(layout.group)
        like_these = np.column_stack([crossed.groups @ shares, like_groups, like_pair])
    for words in runs:
        of_runs, within = run_variances(words, layout.group, weights, draws, rng)
        noise = rng.standard_normal((draws, len(weights)))
        these = these + np.sqrt(of_runs / len(words)) * noise
        if like_these is not None:
            beyond = of_runs - within[:, None] * (weights**2).sum(axis=1)
            columns = like_these.shape[1]
            like_these = like_these + (np.sqrt(np.maximum(beyond, 0.0) / len(words)) * noise)[:, :columns]
    return Quantities(these, like_these, int(groups) + 1)


def pair_draws(
    answers: Floats, layout: Layout, pairs: list[tuple[int, int]], draws: int, rng: np.random.Generator
) -> Floats:
    """Return draws (draws, pairs) of differences of two words over premises and runs.

    `answers` has the shape (runs, words, premises).
    """
    differences = np.empty((draws, len(pairs)))
    mean, by_run = answers.mean(axis=0), answers.mean(axis=2)
    for column, (first, second) in enumerate(pairs):
        row = mean[[first]] - mean[[second]]
        variance = layout.premises.variance_of_mean(draw_variances(row, layout.premises, draws, rng))
        of_runs = mean_draws(by_run[:, first] - by_run[:, second], draws, rng)
        differences[:, column] = of_runs + np.sqrt(variance) * rng.standard_normal(draws)
    return differences


def run_variances(
    words: Floats, group: NDArray[np.intp], weights: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return draws of the variances of quantities between runs, (draws, quantities), and of a word in a run, (draws,).

    >>> rng = np.random.default_rng(1)
    >>> means = np.random.default_rng(2).standard_normal((200, 4))
    >>> between, within = run_variances(means, np.array([0, 0, 1, 1]), np.full((1, 4), 0.25), 2_000, rng)
    >>> float(between.mean().round(1)), float(within.mean().round(0))  # a mean of four
    (0.2, 1.0)
    """
    runs = len(words)
    freedom = runs - 1
    quantities = words @ weights.T
    squares = ((quantities - quantities.mean(axis=0)) ** 2).sum(axis=0)
    between = squares / rng.chisquare(freedom, size=(draws, len(weights)))
    member = np.eye(group.max() + 1)[:, group]
    by_group = words @ (member / member.sum(axis=1, keepdims=True)).T
    residual = words - words.mean(axis=0) - (by_group - by_group.mean(axis=0))[:, group]
    left = freedom * (len(group) - len(member))
    within = (residual**2).sum() / rng.chisquare(left, size=draws) if left else np.zeros(draws)
    return between, within


def mean_draws(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return draws of the mean of a quantity over runs, given its values in some runs: Student's t.

    >>> drawn = mean_draws(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), 100_000, np.random.default_rng(1))
    >>> [float(x.round(1)) for x in np.quantile(drawn, [0.055, 0.945])]  # 0.3 +- 2.07 x 0.0707
    [0.2, 0.4]
    """
    error = values.std(ddof=1) / np.sqrt(len(values))
    means: Floats = values.mean() + error * rng.standard_t(len(values) - 1, size=draws)
    return means
