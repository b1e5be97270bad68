"""How distances, and the gaps between them, differ between two embeddings: frames of posterior differences."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.estimates.intervals import (
    contrast_name,
    diagnostics_of,
    direction_of,
    estimates,
    independent_draws,
    settled,
)
from bayesbias.reports.posterior.contrasts import contrasts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import xarray as xr

# With fewer words the gap of all is that of the model's connection means.
_FEWEST_WORDS = 5


def _estimated(
    draws: "xr.DataArray", fitted: "xr.DataTree | None", hdi_prob: float, region: tuple[float, float] | None
) -> "pd.DataFrame":
    """Summarise draws of differences, one row for each combination of the dims other than chain and draw."""
    import pandas as pd

    with np.errstate(invalid="ignore", divide="ignore"):  # where nothing differs, diagnostics have no meaning
        independent = 0.0 if fitted is None else independent_draws(fitted)
        frame = estimates(draws, hdi_prob=hdi_prob, independent=independent)
    diagnostics = diagnostics_of(frame)
    moments = [name for name in frame if name not in diagnostics]
    probabilities = direction_of(draws, region)
    frame[list(probabilities)] = pd.DataFrame(probabilities)
    still = frame["sd"] == 0
    frame.loc[still, "direction"] = "equal"
    frame.loc[still, diagnostics] = np.nan
    return frame[[*moments, *probabilities, *diagnostics]]


def _draws(rows: "pd.DataFrame", fitted: "xr.DataTree | None", variable: str) -> "xr.DataArray":
    """Return draws of mean differences for all words and connections: 0 where no distance differs."""
    import xarray as xr

    coords = {"connection": rows["connection"].drop_duplicates().sort_values().astype(str).tolist()}
    if variable == "word_mean":
        coords = {"protected_word": rows["protected_word"].astype(str).unique().tolist(), **coords}
    if fitted is None:
        shape = (2, 20, *map(len, coords.values()))
        return xr.DataArray(np.zeros(shape), dims=("chain", "draw", *coords), coords=coords)
    found: xr.DataArray = fitted["posterior"][variable].reindex(coords, fill_value=0.0)
    return found


def difference_frames(
    rows: "pd.DataFrame", fitted: "xr.DataTree | None", hdi_prob: float, region: tuple[float, float] | None
) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the differences of distances by connection, and by protected word and connection.

    `rows` is what `pair_differences` returned; `fitted` the fit of the differences, None if there are none.
    """
    frames = []
    texts = rows.astype({"connection": str, "protected_word": str, "protected_group": str})
    for keys, variable in ((["connection"], "connection_mean"), (["protected_word", "connection"], "word_mean")):
        labels = keys if len(keys) == 1 else ["protected_word", "protected_group", "connection"]
        plain = texts.groupby(labels, sort=False).agg(
            pairs=("difference", "size"),
            average_baseline=("baseline", "mean"),
            average_other=("other", "mean"),
            spread=("difference", "std"),
            largest=("difference", lambda difference: difference.abs().max()),
        )
        estimated = _estimated(_draws(rows, fitted, variable), fitted, hdi_prob, region)
        # In the order of the schema; words without a pair of a connection fall out.
        merged = estimated[keys].merge(plain.reset_index(), on=keys).merge(estimated, on=keys)
        merged["direction"] = merged["direction"].where(merged.pop("largest") > 0, "equal")
        frames.append(
            merged[[*labels, *plain.columns.drop("largest"), *(name for name in estimated if name not in keys)]]
        )
    return frames[0], frames[1]


def gap_frame(
    rows: "pd.DataFrame",
    fitted: "xr.DataTree | None",
    hdi_prob: float,
    region: tuple[float, float] | None,
    seed: int,
    *,
    each_word: bool = True,
) -> "pd.DataFrame | None":
    """Return how the gaps between associated and other attribute words differ, or None without such gaps.

    Besides those of all words, there are rows for `each_word`, or not.
    """
    import pandas as pd

    counts = rows.astype({"connection": str, "protected_word": str}).groupby(["protected_word", "connection"]).size()
    connections = [str(name) for name in _draws(rows, fitted, "connection_mean")["connection"].values]
    if "associated" not in connections or len(connections) < 2:
        return None
    frames = []
    for variable in ("connection_mean", "word_mean") if each_word else ("connection_mean",):
        draws = _draws(rows, fitted, variable)
        for place, other in enumerate(connections):
            if other == "associated":
                continue
            gap = draws.sel(connection="associated", drop=True) - draws.sel(connection=other, drop=True)
            words = rows["protected_word"].astype(str).unique().tolist()
            both = [(word, "associated") in counts and (word, other) in counts for word in words]
            if variable == "connection_mean" and fitted is not None and sum(both) >= _FEWEST_WORDS:
                each = _draws(rows, fitted, "word_mean").sel(protected_word=np.array(words)[both])
                each = each.sel(connection="associated", drop=True) - each.sel(connection=other, drop=True)
                gap = mean_of_words_like_these(each, np.random.default_rng([seed, place]))
            frame = _estimated(gap, fitted, hdi_prob, region)
            if variable == "connection_mean":
                frame.insert(0, "protected_word", "")
            else:
                frame = frame[both]
            frame.insert(0, "contrast", contrast_name("associated", other))
            frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def with_own_gaps(gaps: "pd.DataFrame", baseline: "pd.DataFrame", other: "pd.DataFrame") -> "pd.DataFrame":
    """Return differences of gaps beside the gaps of either table itself (`own_gaps`), and what they say together."""
    import pandas as pd

    gaps = gaps.copy()
    rows_of_gaps = pd.MultiIndex.from_frame(gaps[["contrast", "protected_word"]])
    for name, found in (("baseline", baseline), ("other", other)):
        columns = {"observed": "plain", "mean": "gap", "hdi_low": "low", "hdi_high": "high"}
        moments = found.set_index(["contrast", "protected_word"]).loc[rows_of_gaps, list(columns)]
        gaps[[f"{name}_{label}" for label in columns.values()]] = moments.to_numpy()
    gaps["reading"] = [reading_of(row) for row in gaps.to_dict("records")]
    return gaps


def mean_of_words_like_these(each: "xr.DataArray", rng: np.random.Generator) -> "xr.DataArray":
    """Return draws of the mean of all words like these, given draws of each word's gap.

    The model takes a word's differences to associated and to other words as independent. They are not: a word that is
    nearer to the one is farther from the other, or is farther from all. So the mean of the gaps is
    estimated from how the words' gaps differ, whatever the correlation: for each draw, mean + sd / sqrt(words) times
    Student's t with words - 1 degrees of freedom, the posterior of a Normal mean under a flat prior.
    """
    words = each.sizes["protected_word"]
    mean, sd = each.mean("protected_word"), each.std("protected_word", ddof=1)
    found: xr.DataArray = mean + sd / np.sqrt(words) * rng.standard_t(words - 1, mean.shape)
    return found


def own_gaps(fitted: "xr.DataTree", hdi_prob: float, *, each_word: bool = True) -> "pd.DataFrame":
    """Return the gaps of one table's own fit: of all words (empty `protected_word`) and, or not, of `each_word`."""
    import pandas as pd

    levels = ("overall", "word") if each_word else ("overall",)
    frame = pd.concat([contrasts(fitted, level=level, hdi_prob=hdi_prob) for level in levels])
    return frame[["contrast", "protected_word", "observed", "mean", "hdi_low", "hdi_high"]].reset_index(drop=True)


def reading_of(row: "Mapping[Any, Any]") -> str:
    """Name how a gap differs, by the intervals of the difference and in each embedding."""
    if row["direction"] == "equal":
        return "equal"
    if not settled(row["hdi_low"], row["hdi_high"]):
        return "not settled"
    baseline, other = (settled(row[f"{name}_low"], row[f"{name}_high"]) for name in ("baseline", "other"))
    if not baseline:
        return "other only" if other else "neither"
    if other and row["baseline_gap"] * row["other_gap"] < 0:
        return "reversed"
    # By the difference, and not by the sizes of the two gaps, which come from two fits.
    if row["mean"] * row["baseline_gap"] > 0:
        return "wider"
    return "narrower" if other else "baseline only"
