"""Posteriors of means over words, premises and training runs, with crossed effects; arrays in, arrays out."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.arrays import Floats

_POINTS = 24  # points of the grid along each axis
_ROUNDS = 6  # most times that the grid is refined around the mass
_NEGLIGIBLE = 12.0  # log density below the maximum at which the mass is negligible
_ROUNDING = 1e-12  # rounding error relative to a sum of squares
_LEAST_RESIDUAL = 1e-9  # residual sum of squares, relative to the whole one, that the grid resolves
_FINE = 5.0  # points of a fine enough grid within a standard deviation
LEAST_FREEDOM = 2
"""Smallest number of words minus groups at which the words can represent others."""
LEAST_RUNS = 3
"""Smallest number of runs whose spread is used."""


@dataclass(frozen=True, eq=False)
class Premises:
    """Verbs and objects of premises.

    - `codes`: codes of verbs and of objects, each of shape (premises,).
    - `counts`: numbers of premises by verb and by object.
    - `both` (array, shape (verbs, objects)): numbers of premises by verb and object.
    """

    codes: tuple[NDArray[np.intp], NDArray[np.intp]]
    counts: tuple[Floats, Floats]
    both: Floats

    @classmethod
    def from_codes(cls, verbs: NDArray[np.intp], objects: NDArray[np.intp]) -> "Premises":
        """Return the premises with these codes, which count from 0."""
        both = np.zeros((verbs.max() + 1, objects.max() + 1))
        np.add.at(both, (verbs, objects), 1.0)
        return cls((verbs, objects), (both.sum(axis=1), both.sum(axis=0)), both)

    @property
    def has_variance(self) -> tuple[bool, bool]:
        """Whether the variance of verbs, and that of objects, can be estimated: if they repeat and differ."""
        first, second = (1 < len(count) < len(self.codes[0]) for count in self.counts)
        return first, second

    def variance_of_mean(self, variances: Floats) -> Floats:
        """Return the variance of a mean over these premises, given (..., 3) variances of verbs, objects, residuals."""
        total = len(self.codes[0])
        weights = [float(((count / total) ** 2).sum()) for count in self.counts]
        variance: Floats = variances @ np.array([*weights, 1 / total])
        return variance


def draw_variances(
    rows: Floats, premises: Premises, draws: int, rng: np.random.Generator, prior_scale: float = 1.0
) -> Floats:
    """Return draws of the variances of verbs, objects and residuals, of shape (draws, 3).

    A row of values of P premises is z = m + v_verb + o_object + e, all Normal with variances V, O and E. For several
    such rows with the same variances and separate means, the likelihood depends on V / E and O / E through two small
    determinants and quadratic forms, whatever P is: E and the means are integrated out, and the two ratios lie on a
    grid.

    **Prior.** p(m, E) proportional to 1 / E, and the sd of each effect divided by the residual sd half-Cauchy with
    scale 1 (Andrew Gelman, 2006, Bayesian Analysis 1, 515-534): u = 2 / pi arctan(sd ratio) is uniform, and the grid is
    in u.

    `rows` has the shape (rows, premises). Variances that cannot be estimated are 0. `prior_scale` is the scale of the
    half-Cauchy priors. Where verbs and objects determine the rows up to rounding, the ratios of variances have no
    bound: noise that is small beside them, and large beside rounding, is added.
    """
    rows = rows - rows.mean(axis=1, keepdims=True)
    squares = float((rows**2).sum())
    if not squares > 1e-24 * rows.size:
        return np.zeros((draws, 3))
    drawn = _draw_on_grid(rows, premises, draws, rng, prior_scale, _LEAST_RESIDUAL)
    if drawn is None:
        noise = np.sqrt(10 * _LEAST_RESIDUAL * squares / rows.size) * rng.standard_normal(rows.shape)
        rows = rows + noise - noise.mean(axis=1, keepdims=True)
        drawn = _draw_on_grid(rows, premises, draws, rng, prior_scale, 0.0)
        assert drawn is not None
    return drawn


def _draw_on_grid(
    rows: Floats, premises: Premises, draws: int, rng: np.random.Generator, prior_scale: float, least: float
) -> Floats | None:
    """Return the draws for centred rows, or None if a residual sum of squares is below its least share."""
    from scipy.special import logsumexp

    sums = [np.stack([np.bincount(code, row, len(count)) for row in rows], axis=1)
            for code, count in zip(premises.codes, premises.counts, strict=True)]  # fmt: skip
    squares = float((rows**2).sum())
    has_variance = premises.has_variance
    low, high = np.zeros(2), np.ones(2)
    for _ in range(_ROUNDS):
        edges = [
            np.linspace(a, b, (_POINTS if varies else 1) + 1)
            for a, b, varies in zip(low, high, has_variance, strict=True)
        ]
        middles = [
            (edge[1:] + edge[:-1]) / 2 if varies else np.zeros(1)
            for edge, varies in zip(edges, has_variance, strict=True)
        ]
        density, left = _on_grid(middles[0], middles[1], premises, sums, squares, len(rows))
        if left.min() < least * squares:
            return None
        for axis, varies in enumerate(has_variance):
            if varies:  # the grid already includes the prior of scale 1
                square = np.tan(np.pi / 2 * middles[axis]) ** 2
                more = np.log1p(square) - np.log(prior_scale**2 + square)
                density = density + (more[:, None] if axis == 0 else more)
        weight = np.exp(density - logsumexp(density))
        near = density > density.max() - _NEGLIGIBLE
        done = True
        for axis in (0, 1):
            if not has_variance[axis]:
                continue
            near_places = np.flatnonzero(near.any(axis=1 - axis))
            along = weight.sum(axis=1 - axis)
            mean = along @ middles[axis]
            sd = np.sqrt(along @ (middles[axis] - mean) ** 2)
            step = edges[axis][1] - edges[axis][0]
            if sd < _FINE / 2 * step and len(near_places) + 2 < _POINTS:
                done = False
                low[axis] = edges[axis][max(near_places[0] - 1, 0)]
                high[axis] = edges[axis][min(near_places[-1] + 2, _POINTS)]
        if done:
            break
    cell = rng.choice(weight.size, size=draws, p=weight.ravel())
    places = np.unravel_index(cell, weight.shape)
    ratios = [
        # Uniform within the cell: the density is flat enough there.
        np.tan(np.pi / 2 * (middle[place] + (rng.random(draws) - 0.5) * (edge[1] - edge[0]))) ** 2 if varies
        else np.zeros(draws)
        for middle, place, edge, varies in zip(middles, places, edges, has_variance, strict=True)
    ]  # fmt: skip
    rest_variance = left[places] / rng.chisquare(rows.shape[0] * (rows.shape[1] - 1), size=draws)
    return np.stack([ratios[0] * rest_variance, ratios[1] * rest_variance, rest_variance], axis=1)


def _on_grid(
    verb_places: Floats, object_places: Floats, premises: Premises, sums: list[Floats], squares: float, rows: int
) -> tuple[Floats, Floats]:
    """Return log densities with the means and E integrated out, and residual sums of squares, both (verbs', objects').

    With D the diagonal matrix of ratios and Z the indicators, the covariance over E is I + Z D Z'. Its inverse and
    determinant follow from I + D^1/2 Z'Z D^1/2: a diagonal block of objects, and then a matrix of the size of the
    verbs, whose eigenvalues serve all ratios of the verbs.
    """
    verb, thing = (np.tan(np.pi / 2 * places) ** 2 for places in (verb_places, object_places))
    of_verbs, of_objects = premises.counts
    total = of_verbs.sum()
    block = 1 + thing[:, None] * of_objects
    over = thing[:, None] / block
    across = over[:, None] * premises.both
    values, vectors = np.linalg.eigh(np.diag(of_verbs) - across @ premises.both.T)
    # First axis: ratios of objects; second axis: ratios of verbs.
    scaled = 1 + verb[:, None] * np.maximum(values, 0.0)[:, None]
    weights = verb[:, None] / scaled
    # The centred rows, and the constant.
    right = np.column_stack([sums[1], of_objects])
    of_rows, of_one = right[:, :-1], right[:, -1]
    base = vectors.mT @ (np.column_stack([sums[0], of_verbs]) - across @ right)
    base_rows, base_one = base[..., :-1], base[..., -1:]
    constant = total - (over @ of_one**2)[:, None] - (weights @ base_one**2)[..., 0]
    constant = np.maximum(constant, _ROUNDING * total)
    cross = ((over * of_one) @ of_rows)[:, None] + weights @ (base_rows * base_one)
    explained = (over @ (of_rows**2).sum(axis=1))[:, None] + (weights @ (base_rows**2).sum(axis=-1)[..., None])[..., 0]
    left = squares - explained
    # Only rounding remains where verbs and objects determine everything.
    left = np.maximum(left - (cross**2).sum(axis=-1) / constant, _ROUNDING * squares)
    determinant = np.log(block).sum(axis=1)[:, None] + np.log(scaled).sum(axis=-1)
    density = -0.5 * rows * (determinant + np.log(constant)) - 0.5 * rows * (total - 1) * np.log(left)
    return density.T, left.T


@dataclass(frozen=True, eq=False)
class CrossedDraws:
    """Independent draws; the first axis is the draw.

    - `words` (array, shape (draws, words)): means of these words over premises like these.
    - `groups` (array, shape (draws, groups), or None): means over words like these; None if there are too few words.
    - `word_variance` (array, shape (draws,), or None): variance of words within their group.
    - `shared`, `specific` (array, shape (draws, 3)): variances of the effects of verbs, objects and premises on all
      words alike, and on single words.
    - `spread` (array, shape (draws,), or None): T.
    - `shared_of_mean`, `specific_of_mean` (array, shape (draws,)): variances of a word's mean over the premises, from
      the shared effects and from those on single words.
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
    """Return draws from the posterior, given scores of shape (words, premises) and the code of each word's group.

    The score of word w with premise p, which has verb v and object o, is

        y_wp = mu_g(w) + a_w  +  b_v + b_o + b_p  +  c_wv + c_wo + e_wp,

    all effects Normal: a_w of the word within its group, b of the premise on all words alike, c and e of the premise on
    this word. Every word has every premise, so the sum over words contains the b (and a share of c and e), and
    differences of words contain c and e alone: two sets of rows whose variances `draw_variances` draws. Given T =
    var(a) + var(mean of c and e), the means of words are Normal around their groups' means; SS / T is chi-square with
    (words - groups) degrees of freedom, and p(T) is proportional to 1 / T. A contrast of groups then has the t
    distribution, and the coverage, of the t interval of word means. Where premises shift the words of a group together,
    `contrast_draws` and `group_draws` widen the intervals.

    Locations are drawn given the plain means over premises, which a test set reports, not given precision-weighted
    means.
    """
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


def group_difference_draws(
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


@dataclass(frozen=True, eq=False)
class Layout:
    """Groups and premises of a table of answers.

    - `group` (array, shape (words,)): code of each word's group.
    - `pair`: codes of the two groups that are compared.
    - `premises`: verbs and objects of the premises.
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
    of_pair, like_pair = group_difference_draws(crossed, answers, sides, layout.pair, layout.premises, rng)
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

    A model trained again with another seed gives other answers. Let the mean of word w in run s be

        m_sw = mu_g(w) + a_w + r_s,g(w) + f_sw,

    all effects Normal, and q_s = sum_w k_w m_sw a quantity: a group's mean, a contrast or a word. The uncertainty due
    to words and premises is estimated from answers averaged over runs (`draw`). The uncertainty due to runs is the
    variance of the q_s over their number, with S - 1 degrees of freedom, so that q of these words has the interval of
    Student's t. For words like these, the spread of words already contains f, so var(f) sum k_w^2 is subtracted from
    the variance of runs. Two embeddings have separate runs but the same words and premises: their difference combines
    the uncertainty due to words and premises of the differences with that due to the runs of both.

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
