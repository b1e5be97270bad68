"""The lean of each word: how much nearer it is to one kind of attribute words than to another."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.errors import ReportError, did_you_mean, name_some
from bayesbias.estimates.intervals import contrast_name
from bayesbias.models.data import ModelData
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample

if TYPE_CHECKING:
    import xarray as xr

_DEFAULT = ("associated", "different")


@dataclass(frozen=True, eq=False)
class Leans:
    """Leans of words: the mean distance to the `first` kind of attribute words minus that to the `second`.

    `draws` (chains * draws, words) are those of a fit, `observed` (words,) the plain leans; `weights` (words, lists)
    are those of the lists of `sample` in the lean of a word.
    """

    draws: np.ndarray
    observed: np.ndarray
    weights: np.ndarray
    sample: AttributeSample
    first: str
    second: str

    @property
    def name(self) -> str:
        """Name of the contrast."""
        return contrast_name(self.first, self.second)


def leans_of(fit: "xr.DataTree", rows: ModelData, lists: tuple[str, str] | None) -> Leans:
    """Return the leans of a fit: associated minus different, or the first attribute list minus the second.

    If each connection has one list, the lean is named after the lists.

    Raises a `ReportError` if the fit lacks a list or a connection, or a word has no pairs with it.
    """
    sample = attribute_sample(rows)
    if lists is None:
        if absent := [name for name in _DEFAULT if name not in rows.connections]:
            raise ReportError(
                f"The fit has no {absent[0]} pairs. Name two attribute lists to compare, such as lists=('male', "
                "'female')."
            )
        sides = [sample.connection_weights[:, rows.connections.index(name)] for name in _DEFAULT]
        first, second = _only_lists(sample, sides) or _DEFAULT
    else:
        first, second = lists
        if first == second:
            raise ReportError(f"lists={lists!r} names the same list twice. Name two lists.")
        sides = [np.tile(_list_weights(sample, rows, name), (len(rows.protected_words), 1)) for name in lists]
    weights, plain = sides[0] - sides[1], plain_list_means(sample)
    lacking = ~np.all([side.any(axis=1) for side in sides], axis=0) | (np.isnan(plain) & (weights.T != 0)).any(axis=0)
    if lacking.any():
        without = name_some(rows.protected_words[lacking])
        raise ReportError(
            f"{contrast_name(first, second)}: words have no pairs on one side: {without}. Leave these words out."
        )
    means = fit["posterior"]["list_mean"].transpose("chain", "draw", "attribute_group", "protected_word").to_numpy()
    return Leans(
        draws=np.einsum("dlw,wl->dw", means.reshape(-1, *means.shape[2:]), weights),
        observed=np.asarray((np.nan_to_num(plain) * weights.T).sum(axis=0)),
        weights=weights,
        sample=sample,
        first=first,
        second=second,
    )


def _only_lists(sample: AttributeSample, sides: list[np.ndarray]) -> tuple[str, str] | None:
    """Return the names of the lists of both sides if each is one list, the same for all words."""
    places = [np.flatnonzero(side.any(axis=0)) for side in sides]
    if any(len(place) != 1 or not side[:, place].all() for place, side in zip(places, sides, strict=True)):
        return None
    return sample.lists[places[0][0]], sample.lists[places[1][0]]


def plain_list_means(sample: AttributeSample) -> np.ndarray:
    """Return the plain mean distance of each list to each word, NaN without pairs, shape (lists, words)."""
    lists = np.eye(len(sample.lists))[sample.list_of].T
    pairs = lists @ np.isfinite(sample.distances)
    means = lists @ np.nan_to_num(sample.distances) / np.maximum(pairs, 1)
    return np.asarray(np.where(pairs > 0, means, np.nan))


def _list_weights(sample: AttributeSample, rows: ModelData, name: str) -> np.ndarray:
    """Return the weights of the model's lists in the list `name`, which lost pairs may have split, shape (lists,)."""
    if rows.attribute_groups is None:
        raise ReportError("The fit has no names of attribute lists. Build its table with bb.distance_table.")
    names = rows.attribute_groups
    choices = list(dict.fromkeys(names.tolist()))
    if name not in choices:
        raise ReportError(f"The fit has no attribute list {name!r}{did_you_mean(name, choices)}: {', '.join(choices)}.")
    counts = np.bincount(sample.list_of[names == name], minlength=len(sample.lists))
    return np.asarray(counts / counts.sum())


def rows_with_covariates(fit: "xr.DataTree") -> tuple[ModelData, np.ndarray]:
    """Return the rows of a fit and the values of its covariates, shape (words, covariates)."""
    rows = fitted_rows(fit)
    if rows.covariates is None:
        raise ReportError(
            "The fit has no covariates. Fit the model with them: bb.fit(table, covariates=frame), where frame has the "
            "column 'word' and a column of numbers."
        )
    return rows, rows.covariates
