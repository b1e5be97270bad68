"""Similarities that a fitted model predicts for a measure's pairs, and the values of the measure for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.progress import with_progress
from bayesbias.errors import ReportError, name_some
from bayesbias.metrics.look_up import StudyLists
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure, table_study
from bayesbias.models.densities import densities
from bayesbias.models.fitted.fit_source import fitted_rows, fitted_table
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.likelihood import Densities, PairGrid
from bayesbias.studies.study import Study

if TYPE_CHECKING:
    import xarray as xr

Values = dict[str, np.ndarray]

_FEWEST_NULL = 10_000
_NUMBERS_A_BLOCK = 2**21
_STEREOTYPE = ("associated", "different")


def fitted_study(fit: "xr.DataTree") -> Study:
    """Return the study whose word lists a model was fitted to."""
    return table_study(fitted_table(fit), str(fit_attribute(fit, "table").get("study") or "of the fit"))


def observed_pairs(fit: "xr.DataTree", lists: StudyLists) -> tuple[Similarities, PairGrid]:
    """Return the observed similarities that a measure needs, and their positions in the fit."""
    data = fitted_rows(fit)
    words = [
        [word for part in lists_of_kind.values() for word in part]
        for lists_of_kind in (lists.protected, lists.attributes)
    ]
    fitted_words = data.protected_words, data.attribute_words
    places = [
        np.array([{word: place for place, word in enumerate(names)}[word] for word in chosen])
        for names, chosen in zip(fitted_words, words, strict=True)
    ]
    shape = len(fitted_words[0]), len(fitted_words[1])
    # A pair that is listed twice counts once, as in the measure: the row written last is the first one of the table.
    rows = np.full(shape, -1)
    rows[data.protected[::-1], data.attribute[::-1]] = np.arange(len(data.distance))[::-1]
    rows = rows[np.ix_(*places)]
    if (rows < 0).any():
        missing = [f"{words[0][i]} - {words[1][j]}" for i, j in np.argwhere(rows < 0)]
        raise ReportError(
            f"The measure needs {rows.size:,} pairs of words, of which the fit lacks {len(missing):,}: "
            f"{name_some(missing, 3)}. Fit a table that has them, or one without these words."
        )
    connection = data.connection[rows].astype(np.int64)
    present = {data.connections[code] for code in np.unique(connection)}
    if not present.issuperset(_STEREOTYPE):
        raise ReportError(
            f"The pairs of {lists.title} are only {' and '.join(sorted(present))}, but the null needs associated and "
            "different pairs. Give lists that have both."
        )
    similarity = 1.0 - data.distance[rows]
    observed = Similarities(similarity, lists.protected, lists.attributes, lists.associated)
    return observed, PairGrid(places[0], places[1], connection)


def simulate(
    posterior: Densities,
    pairs: PairGrid,
    list_sizes: Sequence[int],
    values: Callable[[np.ndarray], Values],
    rng: np.random.Generator,
    *,
    progress: bool,
) -> tuple[Values, ...]:
    """Return the expected, repeated and null values of a measure, each of shape (draws or samples, ...).

    `list_sizes` are the numbers of words of the attribute lists, in the order of `pairs.attribute`.
    """
    # Separate streams, so that the result does not depend on the size of the blocks.
    for_repeated, for_null, for_effects = rng.spawn(3)
    numbers = pairs.connection.size
    blocks_of: list[list[Values]] = [[], [], []]
    for block in with_progress(_blocks(np.arange(posterior.draws), numbers), "Posterior draws", progress=progress):
        expected = _expected(posterior, pairs, block)
        blocks_of[0].append(values(expected))
        blocks_of[1].append(values(expected - posterior.noise(pairs, block, for_repeated)))
    weights = np.repeat(1 / np.asarray(list_sizes), list_sizes)
    of_null = np.tile(np.arange(posterior.draws), -(-_FEWEST_NULL // posterior.draws))
    for block in with_progress(_blocks(of_null, numbers), "Draws of the null", progress=progress):
        distance = _equalized(posterior, pairs, weights, block) + posterior.noise(pairs, block, for_null)
        if posterior.attribute_sd is not None:
            sd = posterior.attribute_sd[pairs.attribute][:, block].T
            distance += (sd * for_effects.standard_normal(sd.shape))[:, None, :]
        blocks_of[2].append(values(1.0 - distance))
    return tuple({name: np.concatenate([part[name] for part in parts]) for name in parts[0]} for parts in blocks_of)


def expected_value(fit: "xr.DataTree", measure: SimilarityMeasure) -> "xr.DataArray":
    """Return the draws of a measure's headline number for expected similarities, with the dims chain and draw."""
    import xarray as xr

    observed, pairs = observed_pairs(fit, measure.lists(fitted_study(fit), None, None))
    posterior = densities(fit, fitted_rows(fit))
    parts = [
        next(iter(measure.statistics(replace(observed, values=_expected(posterior, pairs, block))).values()))
        for block in _blocks(np.arange(posterior.draws), pairs.connection.size)
    ]
    sizes = fit["posterior"].sizes
    return xr.DataArray(np.concatenate(parts).reshape(sizes["chain"], sizes["draw"]), dims=("chain", "draw"))


def _expected(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the similarities of all pairs without noise, of shape (draws, words, attributes)."""
    similarity: np.ndarray = 1.0 - (_means(posterior, pairs, draws) + _effects(posterior, pairs, draws))
    return similarity


def _blocks(draws: np.ndarray, numbers: int) -> list[np.ndarray]:
    return np.array_split(draws, max(1, min(len(draws), len(draws) * numbers // _NUMBERS_A_BLOCK)))


def _means(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the word means of all pairs, of shape (draws, words, attributes)."""
    means = posterior.means(pairs.protected[:, None], pairs.attribute, pairs.connection, draws)
    return np.ascontiguousarray(np.moveaxis(means, -1, 0))


def _equalized(posterior: Densities, pairs: PairGrid, weights: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the means that make each word as far from associated as from different words.

    `weights` are those of attribute words in the average of a word's means.
    """
    means = _means(posterior, pairs, draws)
    stereotype = np.isin(np.asarray(posterior.data.connections)[pairs.connection], _STEREOTYPE)
    word_weights = np.where(stereotype, weights, 0.0)
    average = (means * word_weights).sum(axis=2) / np.maximum(word_weights.sum(axis=1), np.finfo(float).tiny)
    return np.where(stereotype, average[:, :, None], means)


def _effects(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the fitted attribute effects, of shape (draws, 1, attributes), or 0 if the model has none."""
    if posterior.attribute_effect is None:
        return np.zeros((1, 1, 1))
    effects: np.ndarray = posterior.attribute_effect[pairs.attribute][:, draws].T[:, None, :]
    return effects
