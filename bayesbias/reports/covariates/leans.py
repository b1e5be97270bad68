"""The lean of each word: how much nearer it is to one kind of attribute words than to another."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.errors import ReportError, did_you_mean
from bayesbias.estimates.intervals import contrast_name
from bayesbias.models.data import ModelData
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.models.multivariate.attribute_sample import AttributeSample, attribute_sample
from bayesbias.reports.posterior.plain_differences import plain_means

if TYPE_CHECKING:
    import xarray as xr

_DEFAULT = ("associated", "different")


@dataclass(frozen=True, eq=False)
class Leans:
    """Draws of the leans of words (chains * draws, words), the plain leans (words,), and the name of the contrast.

    `first` and `second` are the kinds of attribute words: the lean is the mean distance to the first minus the second.
    """

    draws: np.ndarray
    observed: np.ndarray
    first: str
    second: str

    @property
    def name(self) -> str:
        """Name of the contrast."""
        return contrast_name(self.first, self.second)


def leans_of(fit: "xr.DataTree", rows: ModelData, lists: tuple[str, str] | None) -> Leans:
    """Return the leans of a fit: associated minus different, or the first attribute list minus the second.

    Raises a `ReportError` if the fit lacks a list or a connection, or a word has no pairs with it.
    """
    posterior = fit["posterior"].to_dataset()
    if lists is None:
        if absent := [name for name in _DEFAULT if name not in rows.connections]:
            raise ReportError(
                f"The fit has no {absent[0]} pairs. Name two attribute lists to compare, such as lists=('male', "
                "'female')."
            )
        means = posterior["word_mean"].transpose("chain", "draw", "protected_word", "connection")
        drawn = means.sel(connection=list(_DEFAULT)).to_numpy()
        plain = plain_means(rows)[:, [rows.connections.index(name) for name in _DEFAULT]]
        first, second = _DEFAULT
    else:
        sample = attribute_sample(rows)
        first, second = lists
        weights = np.stack([_list_weights(sample, rows, name) for name in (first, second)], axis=1)
        if first == second:
            raise ReportError(f"lists={lists!r} names the same list twice. Name two lists.")
        means = posterior["list_mean"].transpose("chain", "draw", "protected_word", "attribute_group")
        drawn = means.to_numpy() @ weights
        plain = np.stack([_plain_means(rows, name) for name in (first, second)], axis=1)
    draws = (drawn[..., 0] - drawn[..., 1]).reshape(-1, len(rows.protected_words))
    return Leans(draws, plain[:, 0] - plain[:, 1], first, second)


def _list_names(rows: ModelData) -> np.ndarray:
    """Return the attribute list of each attribute word."""
    if rows.attribute_groups is None:
        raise ReportError("The fit has no names of attribute lists. Build its table with bb.distance_table.")
    return rows.attribute_groups


def _list_weights(sample: AttributeSample, rows: ModelData, name: str) -> np.ndarray:
    """Return the weights of the model's lists in a named one, which lost pairs may have split, shape (lists,)."""
    names = _list_names(rows)
    choices = list(dict.fromkeys(names.tolist()))
    if name not in choices:
        raise ReportError(f"The fit has no attribute list {name!r}{did_you_mean(name, choices)}: {', '.join(choices)}.")
    counts = np.bincount(sample.list_of[names == name], minlength=len(sample.lists))
    return np.asarray(counts / counts.sum())


def _plain_means(rows: ModelData, name: str) -> np.ndarray:
    """Return the plain mean distance of each word to an attribute list, NaN without pairs, shape (words,)."""
    inside = (_list_names(rows) == name)[rows.attribute]
    words = rows.protected[inside]
    counts, totals = (
        np.bincount(words, weights, len(rows.protected_words)) for weights in (None, rows.distance[inside])
    )
    return np.asarray(np.where(counts > 0, totals / np.maximum(counts, 1), np.nan))


def rows_with_covariates(fit: "xr.DataTree") -> tuple[ModelData, np.ndarray]:
    """Return the rows of a fit and the values of its covariates, shape (words, covariates)."""
    rows = fitted_rows(fit)
    if rows.covariates is None:
        raise ReportError(
            "The fit has no covariates. Fit the model with them: bb.fit(table, covariates=frame), where frame has the "
            "column 'word' and a column of numbers."
        )
    return rows, rows.covariates
