"""Frames of posterior differences, between two embeddings, of distances and of the gaps between distances."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.arrays import ROUNDING
from bayesbias.estimates.dependence import FEWEST_EFFECTIVE
from bayesbias.estimates.intervals import (
    contrast_name,
    directed_estimates,
    independent_draws,
    settled,
)
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample, has_both
from bayesbias.models.periods.contrast_draws import draw_contrast
from bayesbias.models.periods.gap_draws import list_deviations
from bayesbias.models.periods.period_sample import PeriodSample
from bayesbias.reports.posterior.contrasts import contrasts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    import xarray as xr

# With fewer words, the gap of all words is that of the model's connection means.
_FEWEST_WORDS = 5


@dataclass(frozen=True)
class DifferenceDraws:
    """Draws of mean differences: dims `connection`, and `protected_word` and `connection`, after chain and draw.

    `independent` is the number of independent draws, 0 if they do not vary, None if they come from chains.
    """

    overall: "xr.DataArray"
    by_word: "xr.DataArray"
    independent: float | None = None


def pair_draws(rows: "pd.DataFrame", fitted: "xr.DataTree | None") -> DifferenceDraws:
    """Return draws from the fit of the differences of pairs; they are 0 if no distance differs."""
    return DifferenceDraws(
        _draws(rows, fitted, "connection_mean"),
        _draws(rows, fitted, "word_mean"),
        0.0 if fitted is None else independent_draws(fitted),
    )


def joint_draws(sample: PeriodSample, *, draws: int, chains: int, seed: int) -> DifferenceDraws:
    """Return draws of the changes of mean distances that `bayesbias.trend` has for two periods.

    The periods of `sample` are the baseline and the other embedding; `draws` are those of a chain.
    """
    import xarray as xr

    lists, words, connections = list_deviations(sample), list(sample.protected_words), list(sample.connections)
    overall = np.zeros((draws * chains, len(connections)))
    by_word = np.zeros((draws * chains, len(words), len(connections)))
    for place in range(len(connections)):
        drawn = draw_contrast(
            sample, lists, np.arange(2.0), (place, None), draws=draws * chains, chains=chains, seed=seed
        )
        overall[:, place] = np.diff(drawn.population.draws, axis=1)[:, 0]
        by_word[:, drawn.word_places, place] = np.diff(drawn.words, axis=1)[:, 0]
    shape, dims = (chains, draws), ("chain", "draw")
    return DifferenceDraws(
        xr.DataArray(overall.reshape(*shape, -1), {"connection": connections}, (*dims, "connection")),
        xr.DataArray(
            by_word.reshape(*shape, len(words), -1),
            {"protected_word": words, "connection": connections},
            (*dims, "protected_word", "connection"),
        ),
    )


def _draws(rows: "pd.DataFrame", fitted: "xr.DataTree | None", variable: str) -> "xr.DataArray":
    """Return draws of mean differences for all words and connections; they are 0 if no distance differs."""
    import xarray as xr

    coords = {"connection": rows["connection"].drop_duplicates().sort_values().astype(str).tolist()}
    if variable == "word_mean":
        coords = {"protected_word": rows["protected_word"].astype(str).unique().tolist(), **coords}
    if fitted is None:
        shape = (2, 20, *map(len, coords.values()))
        return xr.DataArray(np.zeros(shape), dims=("chain", "draw", *coords), coords=coords)
    draws: xr.DataArray = fitted["posterior"][variable].reindex(coords, fill_value=0.0)
    return draws


def difference_frames(
    rows: "pd.DataFrame", drawn: DifferenceDraws, hdi_prob: float, region: tuple[float, float] | None
) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the differences of distances by connection, and by protected word and connection.

    `rows` are from `pair_differences`, `drawn` from `pair_draws` or `joint_draws`.
    """
    frames, columns = [], ["pairs", "average_baseline", "average_other", "spread"]
    word_labels = ["protected_word", "protected_group", "connection"]
    texts = rows.astype(dict.fromkeys([*word_labels, "attribute_group"], str))
    of_lists = texts.groupby([*word_labels, "attribute_group"])[["baseline", "other"]].mean()
    of_words = of_lists.groupby(level=word_labels).mean().add_prefix("average_")
    of_groups = of_words.groupby(level=["protected_group", "connection"]).mean()
    for keys, labels, averages, draws in (
        (["connection"], ["connection"], of_groups.groupby(level="connection").mean(), drawn.overall),
        (["protected_word", "connection"], word_labels, of_words, drawn.by_word),
    ):
        plain = texts.groupby(labels, sort=False).agg(
            pairs=("difference", "size"),
            spread=("difference", "std"),
            largest=("difference", lambda difference: difference.abs().max()),
        )
        plain = plain.join(averages)
        estimated = directed_estimates(draws, hdi_prob=hdi_prob, rope=region, independent=drawn.independent)
        # The order is that of the schema; words without pairs of a connection are dropped.
        merged = estimated[keys].merge(plain.reset_index(), on=keys).merge(estimated, on=keys)
        merged["direction"] = merged["direction"].where(merged.pop("largest") > 0, "equal")
        frames.append(merged[[*labels, *columns, *(name for name in estimated if name not in keys)]])
    return frames[0], frames[1]


def word_effect(tables: "Iterable[pd.DataFrame]") -> float:
    """Return the design effect of all protected words together, a mean over tables of the same words."""
    effects = []
    for table in tables:
        sample = attribute_sample(model_data(table))
        effects.append(len(sample.group_of) / float(sample.group_worths.sum()))
    return float(np.mean(effects))


def gap_frame(
    rows: "pd.DataFrame",
    drawn: DifferenceDraws,
    hdi_prob: float,
    region: tuple[float, float] | None,
    seed: int,
    effect: float = 1.0,
) -> "pd.DataFrame | None":
    """Return how the gaps between associated and other attribute words differ, or None without such gaps.

    There are rows for all words together, then for each word. `drawn` are from `pair_draws`, `effect` is the design
    effect of the protected words.
    """
    import pandas as pd

    counts = rows.astype({"connection": str, "protected_word": str}).groupby(["protected_word", "connection"]).size()
    connections = [str(name) for name in drawn.overall["connection"].values]
    if "associated" not in connections or len(connections) < 2:
        return None
    words = drawn.by_word["protected_word"].values
    frames = []
    for draws in (drawn.overall, drawn.by_word):
        of_all = draws is drawn.overall
        for place, other in enumerate(connections):
            if other == "associated":
                continue
            gap = draws.sel(connection="associated", drop=True) - draws.sel(connection=other, drop=True)
            has_both = [(word, "associated") in counts and (word, other) in counts for word in words]
            if of_all and drawn.independent != 0 and sum(has_both) >= _FEWEST_WORDS:
                means = drawn.by_word.sel(protected_word=words[has_both])
                word_gaps = means.sel(connection="associated", drop=True) - means.sel(connection=other, drop=True)
                gap = mean_of_words_like_these(word_gaps, np.random.default_rng([seed, place]), effect)
            frame = directed_estimates(gap, hdi_prob=hdi_prob, rope=region, independent=drawn.independent)
            if of_all:
                frame.insert(0, "protected_word", "")
            else:
                frame = frame[has_both]
            frame.insert(0, "contrast", contrast_name("associated", other))
            frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def joint_gap_frame(
    sample: PeriodSample,
    hdi_prob: float,
    region: tuple[float, float] | None,
    *,
    draws: int,
    chains: int,
    seed: int,
    each_word: bool = True,
) -> "pd.DataFrame | None":
    """Return what `gap_frame` returns, from the draws that `bayesbias.trend` has for two periods.

    Debiasing changes an attribute word's distances to all protected words in proportion to their leans. Whole vectors
    of distances as the sample take this into account, as effects of words and attribute words do not.

    The periods of `sample` are the baseline and the other embedding; `draws` are those of a chain. Without `each_word`
    there are only the rows of all words together.
    """
    import pandas as pd
    import xarray as xr

    if "associated" not in sample.connections or len(sample.connections) < 2:
        return None
    associated, lists = sample.connections.index("associated"), list_deviations(sample)
    frames = []
    for place, connection in enumerate(sample.connections):
        if place == associated or not has_both(sample, associated, place).any():
            continue
        drawn = draw_contrast(
            sample, lists, np.arange(2.0), (associated, place), draws=draws * chains, chains=chains, seed=seed
        )
        gaps, words = drawn.population.draws[:, :, None], [""]
        if each_word:
            gaps = np.concatenate([gaps, drawn.words], axis=2)
            words += [sample.protected_words[word] for word in drawn.word_places]
        # Where distances differ by rounding alone, all draws are 0.
        moved = np.abs(np.diff(drawn.plain_words, axis=0)).max() > ROUNDING
        changes = np.diff(gaps, axis=1).reshape(chains, draws, -1) * moved
        array = xr.DataArray(changes, dims=("chain", "draw", "protected_word"), coords={"protected_word": words})
        frame = directed_estimates(array, hdi_prob=hdi_prob, rope=region)
        frame.insert(0, "contrast", contrast_name("associated", connection))
        frames.append(frame)
    if not frames:
        return None
    stacked = pd.concat(frames, ignore_index=True)
    return stacked.sort_values("protected_word", key=lambda words: words != "", kind="stable", ignore_index=True)


def with_own_gaps(gaps: "pd.DataFrame", baseline: "pd.DataFrame", other: "pd.DataFrame") -> "pd.DataFrame":
    """Return differences of gaps with the gaps of either table (`own_gaps`) and the column `reading`."""
    import pandas as pd

    gaps = gaps.copy()
    rows_of_gaps = pd.MultiIndex.from_frame(gaps[["contrast", "protected_word"]])
    for name, own_frame in (("baseline", baseline), ("other", other)):
        columns = {"observed": "plain", "mean": "gap", "hdi_low": "low", "hdi_high": "high"}
        moments = own_frame.set_index(["contrast", "protected_word"]).loc[rows_of_gaps, list(columns)]
        gaps[[f"{name}_{label}" for label in columns.values()]] = moments.to_numpy()
    gaps["reading"] = [reading_of(row) for row in gaps.to_dict("records")]
    return gaps


def mean_of_words_like_these(
    word_gaps: "xr.DataArray", rng: np.random.Generator, effect: float = 1.0
) -> "xr.DataArray":
    """Return draws of the mean gap of words like these, from draws of each word's gap.

    The model treats a word's differences to associated and to other words as independent. They are not: a word that
    moves nearer to one list may move away from the other, and some words move away from both. So the mean is estimated
    from the spread of the words' gaps, whatever their correlation: for each draw, mean + sd / sqrt(words) times
    Student's t with words - 1 degrees of freedom, the posterior of a Normal mean under a flat prior. Words with a
    design effect count as words / effect of them.
    """
    words = word_gaps.sizes["protected_word"]
    worth = max(words / effect, FEWEST_EFFECTIVE)
    mean, sd = word_gaps.mean("protected_word"), word_gaps.std("protected_word", ddof=1)
    error = sd / np.sqrt(words) * np.sqrt((words - 1) / (worth - 1))
    means: xr.DataArray = mean + error * rng.standard_t(max(worth - 1, 1.0), mean.shape)
    return means


def own_gaps(fitted: "xr.DataTree", hdi_prob: float, *, each_word: bool = True) -> "pd.DataFrame":
    """Return the gaps of one table's fit: of all words (empty `protected_word`), and with `each_word` of each word."""
    import pandas as pd

    levels = ("overall", "word") if each_word else ("overall",)
    frame = pd.concat([contrasts(fitted, level=level, hdi_prob=hdi_prob) for level in levels])
    return frame[["contrast", "protected_word", "observed", "mean", "hdi_low", "hdi_high"]].reset_index(drop=True)


def reading_of(row: "Mapping[Any, Any]") -> str:
    """Return how a gap differs, from the intervals of the difference and of the gap in each embedding."""
    if row["direction"] == "equal":
        return "equal"
    if not settled(row["hdi_low"], row["hdi_high"]):
        return "not settled"
    baseline, other = (settled(row[f"{name}_low"], row[f"{name}_high"]) for name in ("baseline", "other"))
    if not baseline:
        return "other only" if other else "neither"
    if other and row["baseline_gap"] * row["other_gap"] < 0:
        return "reversed"
    # The difference decides, and not the sizes of the two gaps, which come from two fits.
    if row["mean"] * row["baseline_gap"] > 0:
        return "wider"
    return "narrower" if other else "baseline only"
