"""Whether the fits of several trainings have the same words, groups, connections and model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.errors import ReportError
from bayesbias.models.fitted.fit_source import fitted_rows, fitted_table
from bayesbias.models.fitted.fits import check_fit

if TYPE_CHECKING:
    import xarray as xr


def check_trainings(fits: Any, resampled: Any) -> None:
    """Raise a `ReportError` if the fits cannot be compared."""
    if resampled is not None and (not isinstance(resampled, Mapping) or len(resampled) < 2):
        raise ReportError("resampled: give at least 2 fits of trainings on resampled documents, by seed.")
    if not isinstance(fits, Mapping):
        raise ReportError(f"fits is a {type(fits).__name__}. Give fits by seed, such as {{1: first, 2: second}}.")
    if len(fits) < 2:
        raise ReportError(f"fits has {len(fits)} fit; a comparison of seeds needs at least 2. Train more seeds.")
    described = {}
    named = {f"resample {name}": fit for name, fit in (resampled or {}).items()}
    for name, fit in {**fits, **named}.items():
        rows = fitted_rows(check_fit(fit))
        described[name] = {
            "protected words": sorted(rows.protected_words.tolist()),
            "attribute words": sorted(rows.attribute_words.tolist()),
            "pairs": len(rows.distance),
            "groups or connections": _digest(fit),
            "model": str(fit.attrs.get("model")),
        }
    first = next(iter(described))
    for name, description in described.items():
        differ = [label for label, value in description.items() if value != described[first][label]]
        if differ:
            raise ReportError(
                f"The fits of {first!r} and {name!r} differ in {' and '.join(differ)}, so their contrasts cannot be "
                "compared. Build the tables from the words that all seeds have, and fit the same model."
            )


def _digest(fit: "xr.DataTree") -> int:
    """Return a number that tells the groups and connections of pairs, whatever the order of the rows."""
    import pandas as pd

    labels = fitted_table(fit)[["protected_word", "protected_group", "attribute_word", "connection"]].astype(str)
    return int(pd.util.hash_pandas_object(labels, index=False).sum())
