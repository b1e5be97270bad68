r"""Posterior of word means under crossed effects of words and premises; arrays in, arrays out.

The score of word w in premise p, with verb v and object o, is

    y_wp = mu_g(w) + a_w  +  b_v + b_o + b_p  +  c_wv + c_wo + e_wp,

all effects Normal: a_w of the word in its group, b of the premise for all words alike, c and e of the premise for this
word. Each word has each premise, so that the sum over words holds the b (and a share of c and e), and the differences
of words hold c and e alone: two sets of rows whose variances `premise_components` draws. The means of the words, given
T = var(a) + var(the mean of c and e), are Normal around their groups' means; SS / T is chi-square with words minus
groups degrees of freedom, and p(T) is proportional to 1 / T. A contrast of groups then has the t distribution, and its
interval the coverage, of the t interval of word means; where premises move the words of a group together,
`contrast_draws` makes it wider, and `group_draws` those of the groups.

Locations are drawn given the plain means over premises, which are what a test set reports, and not the means weighted
by variances.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.nli.answers.premise_components import Premises, draw_variances

LEAST_FREEDOM = 2
"""Words minus groups, below which words cannot stand for others."""


@dataclass(frozen=True, eq=False)
class CrossedDraws:
    """Independent draws; the first axis is the draw.

    Parameters
    ----------
    words : array, shape (draws, words)
        Means of these words over premises like these.
    groups : array, shape (draws, groups), or None
        Means of words like these; None if there are too few words to say.
    word_variance : array, shape (draws,), or None
        Of words in their group.
    shared, own : array, shape (draws, 3)
        Variances of verbs, objects and premises: for all words alike, and for each word anew.
    spread : array, shape (draws,), or None
        T.
    shared_of_mean, own_of_mean : array, shape (draws,)
        Variances of a word's mean over the premises.
    """

    words: Floats
    groups: Floats | None
    word_variance: Floats | None
    shared: Floats
    own: Floats
    spread: Floats | None
    shared_of_mean: Floats
    own_of_mean: Floats


def draw(
    scores: Floats,
    group: NDArray[np.intp],
    premises: Premises,
    draws: int,
    rng: np.random.Generator,
    prior_scale: float = 1.0,
) -> CrossedDraws:
    """Draw from the posterior of scores of shape (words, premises); `group` has the code of each word's group."""
    words = len(scores)
    total = scores.sum(axis=0, keepdims=True) / np.sqrt(words)
    own = draw_variances(_contrasts(words) @ scores, premises, draws, rng, prior_scale)
    both = draw_variances(total, premises, draws, rng, prior_scale)
    # The sum's variances hold those of c and e once, and those of b once for each word.
    shared = np.maximum(both - own, 0.0) / words
    own_of_mean, shared_of_mean = premises.variance_of_mean(own), premises.variance_of_mean(shared)
    common = np.sqrt(shared_of_mean)[:, None] * rng.standard_normal((draws, 1))
    means = scores.mean(axis=1)
    counts = np.bincount(group)
    of_groups = np.bincount(group, means) / counts
    noise = rng.standard_normal((draws, words))
    freedom = words - len(counts)
    if freedom < LEAST_FREEDOM:
        found = means + np.sqrt(own_of_mean)[:, None] * noise + common
        return CrossedDraws(found, None, None, shared, own, None, shared_of_mean, own_of_mean)
    squares = ((means - of_groups[group]) ** 2).sum()
    spread = squares / rng.chisquare(freedom, size=draws)
    variance = np.maximum(spread - own_of_mean, 0.0)
    centres = of_groups + np.sqrt(spread[:, None] / counts) * rng.standard_normal((draws, len(counts)))
    kept = np.divide(variance, spread, out=np.zeros(draws), where=spread > 0)[:, None]
    found = centres[:, group] + kept * (means - centres[:, group]) + np.sqrt(kept * own_of_mean[:, None]) * noise
    return CrossedDraws(found + common, centres + common, variance, shared, own, spread, shared_of_mean, own_of_mean)


def contrast_draws(
    found: CrossedDraws,
    scores: Floats,
    sides: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    of_groups: tuple[int, int],
    premises: Premises,
    rng: np.random.Generator,
) -> tuple[Floats, Floats | None]:
    """Draw the first group minus the second: of these words, and of words like these if there are enough.

    Premises may move a group's words together: see `_of_row`.
    """
    row = scores[sides[0]].mean(axis=0) - scores[sides[1]].mean(axis=0)
    by_words = found.own_of_mean * sum(1 / np.count_nonzero(side) for side in sides)
    like = None if found.groups is None else found.groups[:, of_groups[0]] - found.groups[:, of_groups[1]]
    return _of_row(row, by_words, like, premises, len(found.words), rng)


def group_draws(
    found: CrossedDraws, scores: Floats, group: NDArray[np.intp], premises: Premises, rng: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """Draw the groups' means, each of shape (draws, groups), as `contrast_draws` draws their difference."""
    these, like_these = [], []
    for code in range(group.max() + 1):
        member = group == code
        by_words = found.shared_of_mean + found.own_of_mean / np.count_nonzero(member)
        like = None if found.groups is None else found.groups[:, code]
        of_these, of_like = _of_row(scores[member].mean(axis=0), by_words, like, premises, len(found.words), rng)
        these.append(of_these)
        like_these += [] if of_like is None else [of_like]
    return np.stack(these, axis=1), np.stack(like_these, axis=1) if like_these else None


def _of_row(
    row: Floats, by_words: Floats, like: Floats | None, premises: Premises, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """Draw the mean of a quantity that has one value a premise: of these words, and of words like these.

    The row has variances of its own: premises may move a group's words together. What they add to `by_words`, the
    variance that the effects on single words explain, is added for words like these.
    """
    variance = premises.variance_of_mean(draw_variances(row[None], premises, draws, rng))
    these = row.mean() + np.sqrt(variance) * rng.standard_normal(draws)
    if like is None:
        return these, None
    return these, like + np.sqrt(np.maximum(variance - by_words, 0.0)) * rng.standard_normal(draws)


def _contrasts(words: int) -> Floats:
    """Return orthonormal contrasts of words, of shape (words - 1, words).

    >>> bool(np.allclose(_contrasts(4) @ _contrasts(4).T, np.eye(3)))
    True
    """
    from scipy.linalg import helmert

    found: Floats = helmert(words)
    return found
