r"""Posterior of word means under crossed effects of words and premises; arrays in, arrays out.

The score of word w with premise p, which has verb v and object o, is

    y_wp = mu_g(w) + a_w  +  b_v + b_o + b_p  +  c_wv + c_wo + e_wp,

all effects Normal: a_w of the word within its group, b of the premise on all words alike, c and e of the premise on
this word. Every word has every premise, so the sum over words contains the b (and a share of c and e), and differences
of words contain c and e alone: two sets of rows whose variances `premise_components` draws. Given T = var(a) + var(mean
of c and e), the means of words are Normal around their groups' means; SS / T is chi-square with (words - groups)
degrees of freedom, and p(T) is proportional to 1 / T. A contrast of groups then has the t distribution, and the
coverage, of the t interval of word means. Where premises shift the words of a group together, `contrast_draws` and
`group_draws` widen the intervals.

Locations are drawn given the plain means over premises, which a test set reports, not given precision-weighted means.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats
from bayesbias.nli.answers.premise_components import Premises, draw_variances

LEAST_FREEDOM = 2
"""Smallest number of words minus groups at which the words can represent others."""


@dataclass(frozen=True, eq=False)
class CrossedDraws:
    """Independent draws; the first axis is the draw.

    Parameters
    ----------
    words : array, shape (draws, words)
        Means of these words over premises like these.
    groups : array, shape (draws, groups), or None
        Means over words like these; None if there are too few words.
    word_variance : array, shape (draws,), or None
        Variance of words within their group.
    shared, specific : array, shape (draws, 3)
        Variances of the effects of verbs, objects and premises on all words alike, and on single words.
    spread : array, shape (draws,), or None
        T.
    shared_of_mean, specific_of_mean : array, shape (draws,)
        Variances of a word's mean over the premises, from the shared effects and from those on single words.
    """

    words: Floats
    groups: Floats | None
    word_variance: Floats | None
    shared: Floats
    specific: Floats
    spread: Floats | None
    shared_of_mean: Floats
    specific_of_mean: Floats


def draw(
    scores: Floats,
    group: NDArray[np.intp],
    premises: Premises,
    draws: int,
    rng: np.random.Generator,
    prior_scale: float = 1.0,
) -> CrossedDraws:
    """Return draws from the posterior, given scores of shape (words, premises) and the code of each word's group."""
    words = len(scores)
    total = scores.sum(axis=0, keepdims=True) / np.sqrt(words)
    word_variances = draw_variances(_contrasts(words) @ scores, premises, draws, rng, prior_scale)
    both = draw_variances(total, premises, draws, rng, prior_scale)
    # The variances of the sum contain those of c and e once, and those of b once per word.
    shared = np.maximum(both - word_variances, 0.0) / words
    specific_of_mean, shared_of_mean = premises.variance_of_mean(word_variances), premises.variance_of_mean(shared)
    common = np.sqrt(shared_of_mean)[:, None] * rng.standard_normal((draws, 1))
    means = scores.mean(axis=1)
    counts = np.bincount(group)
    of_groups = np.bincount(group, means) / counts
    noise = rng.standard_normal((draws, words))
    freedom = words - len(counts)
    if freedom < LEAST_FREEDOM:
        word_means = means + np.sqrt(specific_of_mean)[:, None] * noise + common
        return CrossedDraws(word_means, None, None, shared, word_variances, None, shared_of_mean, specific_of_mean)
    squares = ((means - of_groups[group]) ** 2).sum()
    spread = squares / rng.chisquare(freedom, size=draws)
    variance = np.maximum(spread - specific_of_mean, 0.0)
    centres = of_groups + np.sqrt(spread[:, None] / counts) * rng.standard_normal((draws, len(counts)))
    shrinkage = np.divide(variance, spread, out=np.zeros(draws), where=spread > 0)[:, None]
    word_means = (
        centres[:, group]
        + shrinkage * (means - centres[:, group])
        + np.sqrt(shrinkage * specific_of_mean[:, None]) * noise
    )
    return CrossedDraws(
        word_means + common,
        centres + common,
        variance,
        shared,
        word_variances,
        spread,
        shared_of_mean,
        specific_of_mean,
    )


def contrast_draws(
    crossed: CrossedDraws,
    scores: Floats,
    sides: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    of_groups: tuple[int, int],
    premises: Premises,
    rng: np.random.Generator,
) -> tuple[Floats, Floats | None]:
    """Return draws of the first group minus the second: for these words, and for words like these or None.

    Premises may shift the words of a group together: see `_of_row`.
    """
    row = scores[sides[0]].mean(axis=0) - scores[sides[1]].mean(axis=0)
    by_words = crossed.specific_of_mean * sum(1 / np.count_nonzero(side) for side in sides)
    like = None if crossed.groups is None else crossed.groups[:, of_groups[0]] - crossed.groups[:, of_groups[1]]
    return _of_row(row, by_words, like, premises, len(crossed.words), rng)


def group_draws(
    crossed: CrossedDraws, scores: Floats, group: NDArray[np.intp], premises: Premises, rng: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """Return draws (draws, groups) of the groups' means: for these words, and for words like these or None."""
    these, like_these = [], []
    for code in range(group.max() + 1):
        member = group == code
        by_words = crossed.shared_of_mean + crossed.specific_of_mean / np.count_nonzero(member)
        like = None if crossed.groups is None else crossed.groups[:, code]
        of_these, of_like = _of_row(scores[member].mean(axis=0), by_words, like, premises, len(crossed.words), rng)
        these.append(of_these)
        like_these += [] if of_like is None else [of_like]
    return np.stack(these, axis=1), np.stack(like_these, axis=1) if like_these else None


def _of_row(
    row: Floats, by_words: Floats, like: Floats | None, premises: Premises, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """Return draws of the mean of a quantity with one value per premise: for these words, and for words like these.

    The variances are those of the row itself, since premises may shift the words of a group together. Variance beyond
    `by_words`, the part that effects on single words explain, is added to the draws for words like these.
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

    contrasts: Floats = helmert(words)
    return contrasts
