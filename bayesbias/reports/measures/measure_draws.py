"""The similarities that a fitted model makes of a measure's pairs, and the measure's values of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.base.checks import with_progress
from bayesbias.errors import ReportError, name_some
from bayesbias.metrics.look_up import StudyLists
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure, table_study
from bayesbias.models.fitted.fit_source import fitted_rows, fitted_table
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.likelihood import Densities, PairGrid, densities
from bayesbias.studies.study import Study

if TYPE_CHECKING:
    import xarray as xr

Values = dict[str, np.ndarray]

_FEWEST_NULL = 10_000
_NUMBERS_A_BLOCK = 2**21
_STEREOTYPE = ("associated", "different")


def fitted_study(fit: "xr.DataTree") -> Study:
    """Return the lists that a model was fitted to, as a study."""
    return table_study(fitted_table(fit), str(fit_attribute(fit, "table").get("study") or "of the fit"))


def observed_pairs(fit: "xr.DataTree", lists: StudyLists) -> tuple[Similarities, PairGrid]:
    """Return the similarities that a measure needs, as they were observed, and where they stand in the fit."""
    data = fitted_rows(fit)
    words = [[word for part in each.values() for word in part] for each in (lists.protected, lists.attributes)]
    known = data.protected_words, data.attribute_words
    places = [
        np.array([{word: place for place, word in enumerate(names)}[word] for word in chosen])
        for names, chosen in zip(known, words, strict=True)
    ]
    shape = len(known[0]), len(known[1])
    # A pair that is listed twice counts once, like in the measure: the last row written is the first one of the table.
    rows = np.full(shape, -1)
    rows[data.protected[::-1], data.attribute[::-1]] = np.arange(len(data.distance))[::-1]
    rows = rows[np.ix_(*places)]
    if (rows < 0).any():
        missing = [f"{words[0][i]} - {words[1][j]}" for i, j in np.argwhere(rows < 0)]
        raise ReportError(
            f"The measure needs {rows.size:,} pairs of words, of which the fit lacks {len(missing):,}: "
            f"{name_some(missing, 3)}. Fit a table that has them, or leave these words out of it."
        )
    connection = data.connection[rows].astype(np.int64)
    present = {data.connections[at] for at in np.unique(connection)}
    if not present.issuperset(_STEREOTYPE):
        raise ReportError(
            f"The pairs of {lists.title} are {' and '.join(sorted(present))} only. "
            "Where nothing is associated, associated and different pairs are alike; give lists that have both."
        )
    similarity = 1.0 - data.distance[rows]
    here = Similarities(similarity, lists.protected, lists.attributes, lists.associated)
    return here, PairGrid(places[0], places[1], connection)


def simulate(
    posterior: Densities,
    pairs: PairGrid,
    values: Callable[[np.ndarray], Values],
    rng: np.random.Generator,
    *,
    progress: bool,
) -> tuple[Values, ...]:
    """Return the expected, repeated and null values of a measure, each of shape (draws or samples, ...)."""
    # Streams of their own: so the size of the blocks is no part of the result.
    for_repeated, for_null, for_effects = rng.spawn(3)
    numbers = pairs.connection.size
    found: list[list[Values]] = [[], [], []]
    for block in with_progress(_blocks(np.arange(posterior.draws), numbers), "Posterior draws", progress=progress):
        expected = _expected(posterior, pairs, block)
        found[0].append(values(expected))
        found[1].append(values(expected - posterior.noise(pairs, block, for_repeated)))
    of_null = np.tile(np.arange(posterior.draws), -(-_FEWEST_NULL // posterior.draws))
    for block in with_progress(_blocks(of_null, numbers), "Draws of the null", progress=progress):
        distance = _equalized(posterior, pairs, block) + posterior.noise(pairs, block, for_null)
        if posterior.attribute_sd is not None:
            sd = posterior.attribute_sd[pairs.attribute][:, block].T
            distance += (sd * for_effects.standard_normal(sd.shape))[:, None, :]
        found[2].append(values(1.0 - distance))
    return tuple({name: np.concatenate([part[name] for part in parts]) for name in parts[0]} for parts in found)


def expected_value(fit: "xr.DataTree", measure: SimilarityMeasure) -> "xr.DataArray":
    """Return the draws of a measure's headline number of the expected similarities, with the dims chain and draw."""
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
    """Return the similarities of all pairs without their noise, shape (draws, words, attributes)."""
    similarity: np.ndarray = 1.0 - (_means(posterior, pairs, draws) + _effects(posterior, pairs, draws))
    return similarity


def _blocks(draws: np.ndarray, numbers: int) -> list[np.ndarray]:
    return np.array_split(draws, max(1, min(len(draws), len(draws) * numbers // _NUMBERS_A_BLOCK)))


def _means(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the word means of all pairs, shape (draws, words, attributes)."""
    means = posterior.means(pairs.protected[:, None], pairs.attribute, pairs.connection, draws)
    return np.ascontiguousarray(np.moveaxis(means, -1, 0))


def _equalized(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the means where each word is as far from associated as from different words."""
    means = _means(posterior, pairs, draws)
    stereotype = np.isin(np.asarray(posterior.data.connections)[pairs.connection], _STEREOTYPE)
    average = (means * stereotype).sum(axis=2) / np.maximum(stereotype.sum(axis=1), 1)
    return np.where(stereotype, average[:, :, None], means)


def _effects(posterior: Densities, pairs: PairGrid, draws: np.ndarray) -> np.ndarray:
    """Return the attribute effects that were fitted, shape (draws, 1, attributes), or 0."""
    if posterior.attribute_effect is None:
        return np.zeros((1, 1, 1))
    effects: np.ndarray = posterior.attribute_effect[pairs.attribute][:, draws].T[:, None, :]
    return effects
