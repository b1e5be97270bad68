r"""Posterior of means over training runs, words and premises; arrays in, arrays out.

A model that is trained again, with another seed, answers otherwise. Of the mean of word w in run s,

    m_sw = mu_g(w) + a_w + r_s,g(w) + f_sw,

all effects Normal, a quantity is q_s = sum_w k_w m_sw: a group's mean, a contrast, a word. What words and premises
leave open comes from the answers averaged over runs (`crossed_draws`). What runs leave open is the variance of the q_s
over their number, with S - 1 degrees of freedom, so that of these words q has the interval of Student's t. For words
like these the spread of words holds f already, and var(f) sum k_w^2 is taken out of the runs'. Two embeddings have runs
of their own, and the same words and premises: their difference has the words and premises of the differences, and the
runs of both.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.nli.answers.crossed_draws import contrast_draws, draw, group_draws
from bayesbias.nli.answers.premise_components import Premises, draw_variances

LEAST_RUNS = 3
"""Runs of a model, below which their spread says nothing."""


@dataclass(frozen=True, eq=False)
class Layout:
    """What the rows and columns of answers are.

    Parameters
    ----------
    group : array, shape (words,)
        The code of each word's group.
    pair
        Codes of the two groups that are compared.
    premises
        Their verbs and objects.
    """

    group: NDArray[np.intp]
    pair: tuple[int, int]
    premises: Premises

    @property
    def weights(self) -> Floats:
        """Weights of words: of all, of each group, of the contrast, and of each word, a row a quantity."""
        member = np.eye(self.group.max() + 1)[:, self.group]
        groups = member / member.sum(axis=1, keepdims=True)
        contrast = groups[self.pair[0]] - groups[self.pair[1]]
        words = len(self.group)
        return np.vstack([np.full(words, 1 / words), groups, contrast, np.eye(words)])


@dataclass(frozen=True, eq=False)
class Quantities:
    """Draws of quantities, of shape (draws, quantities), in the order of `Layout.weights`.

    `like_these` has no single words, and is None if there are too few words to stand for others; `contrast` is the
    place of the contrast.
    """

    these: Floats
    like_these: Floats | None
    contrast: int

    def within(self, low: float, high: float) -> "Quantities":
        """Return the draws with those of means, which are no differences, kept where scores can be."""
        means = np.arange(self.these.shape[1]) != self.contrast
        kept = [
            None if drawn is None else np.where(means[: drawn.shape[1]], drawn.clip(low, high), drawn)
            for drawn in (self.these, self.like_these)
        ]
        return Quantities(cast("Floats", kept[0]), kept[1], self.contrast)


def quantity_draws(
    answers: Floats, runs: list[Floats], layout: Layout, draws: int, rng: np.random.Generator
) -> Quantities:
    """Draw quantities of answers that are averaged over runs, or of differences of two such averages.

    `answers` have the shape (words, premises); `runs` the means of words by run, (runs, words), of one embedding or of
    the two that are compared.
    """
    found = draw(answers, layout.group, layout.premises, draws, rng)
    sides = layout.group == layout.pair[0], layout.group == layout.pair[1]
    of_pair, like_pair = contrast_draws(found, answers, sides, layout.pair, layout.premises, rng)
    weights = layout.weights
    groups = layout.group.max() + 1
    these = found.words @ weights.T
    of_groups, like_groups = group_draws(found, answers, layout.group, layout.premises, rng)
    these[:, 1 : groups + 1], these[:, groups + 1] = of_groups, of_pair
    like_these = None
    if found.groups is not None and like_groups is not None and like_pair is not None:
        shares = np.bincount(layout.group) / len(layout.group)
        like_these = np.column_stack([found.groups @ shares, like_groups, like_pair])
    for words in runs:
        of_runs, within = run_variances(words, layout.group, weights, draws, rng)
        noise = rng.standard_normal((draws, len(weights)))
        these = these + np.sqrt(of_runs / len(words)) * noise
        if like_these is not None:
            beyond = of_runs - within[:, None] * (weights**2).sum(axis=1)
            kept = like_these.shape[1]
            like_these = like_these + (np.sqrt(np.maximum(beyond, 0.0) / len(words)) * noise)[:, :kept]
    return Quantities(these, like_these, int(groups) + 1)


def pair_draws(
    answers: Floats, layout: Layout, pairs: list[tuple[int, int]], draws: int, rng: np.random.Generator
) -> Floats:
    """Draw differences of two words, (draws, pairs), over premises and runs; answers are (runs, words, premises)."""
    found = np.empty((draws, len(pairs)))
    mean, by_run = answers.mean(axis=0), answers.mean(axis=2)
    for at, (first, second) in enumerate(pairs):
        row = mean[[first]] - mean[[second]]
        variance = layout.premises.variance_of_mean(draw_variances(row, layout.premises, draws, rng))
        of_runs = mean_draws(by_run[:, first] - by_run[:, second], draws, rng)
        found[:, at] = of_runs + np.sqrt(variance) * rng.standard_normal(draws)
    return found


def run_variances(
    words: Floats, group: NDArray[np.intp], weights: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the variances of quantities between runs, (draws, quantities), and that of a word in a run, (draws,).

    >>> rng = np.random.default_rng(1)
    >>> means = np.random.default_rng(2).standard_normal((200, 4))
    >>> found, within = run_variances(means, np.array([0, 0, 1, 1]), np.full((1, 4), 0.25), 2_000, rng)
    >>> float(found.mean().round(1)), float(within.mean().round(0))  # a mean of four
    (0.2, 1.0)
    """
    runs = len(words)
    freedom = runs - 1
    quantities = words @ weights.T
    squares = ((quantities - quantities.mean(axis=0)) ** 2).sum(axis=0)
    found = squares / rng.chisquare(freedom, size=(draws, len(weights)))
    member = np.eye(group.max() + 1)[:, group]
    by_group = words @ (member / member.sum(axis=1, keepdims=True)).T
    residual = words - words.mean(axis=0) - (by_group - by_group.mean(axis=0))[:, group]
    left = freedom * (len(group) - len(member))
    within = (residual**2).sum() / rng.chisquare(left, size=draws) if left else np.zeros(draws)
    return found, within


def mean_draws(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Draw the mean behind values of runs: Student's t.

    >>> drawn = mean_draws(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), 100_000, np.random.default_rng(1))
    >>> [float(x.round(1)) for x in np.quantile(drawn, [0.055, 0.945])]  # 0.3 +- 2.07 x 0.0707
    [0.2, 0.4]
    """
    error = values.std(ddof=1) / np.sqrt(len(values))
    found: Floats = values.mean() + error * rng.standard_t(len(values) - 1, size=draws)
    return found
