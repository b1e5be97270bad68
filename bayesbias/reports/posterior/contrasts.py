"""How much nearer one kind of attribute word is than another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import HDI_PROB, check_choice, check_probability, check_rope
from bayesbias.estimates.intervals import (
    check_baseline,
    contrast_name,
    diagnostics_of,
    direction_of,
    estimates,
    independent_draws,
    is_borderline,
)
from bayesbias.models.data import ModelData
from bayesbias.models.fitted.fit_source import fitted_rows
from bayesbias.models.fitted.fits import check_fit
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.reports.posterior.plain_differences import group_weights, plain_difference, plain_means
from bayesbias.reports.posterior.summary import check_level

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

LEVELS = ("overall", "protected_group", "word", "all")
SCOPES = ("population", "these_words")
_COLUMNS = (
    *("contrast", "protected_group", "protected_word", "baseline_pairs", "other_pairs", "observed"),
    *("mean", "sd", "hdi_low", "hdi_high", "low_se", "high_se", "borderline"),
    *("list_nearness", "net_mean", "net_low", "net_high"),
)


def contrasts(
    fit: "xr.DataTree",
    *,
    baseline: str = "associated",
    level: str = "overall",
    scope: str = "population",
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Compare one connection with each of the others, draw by draw.

    Parameters
    ----------
    fit
        What `fit` returned.
    baseline
        The connection from which the others are subtracted.
    level
        ``"overall"``: all protected words, each group weighing the same; ``"protected_group"``: the words of each
        protected group; ``"word"``: each protected word; ``"all"``: all three, one after the other.
    scope
        What a sentence about all protected words is about. ``"population"``: words like these, of which these are a
        sample; ``"these_words"``: these very protected words, with attribute words like these. The words of a
        group, and single words, are these very words in both.
    hdi_prob
        Probability inside the highest posterior density interval.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high).

    Returns
    -------
    pandas.DataFrame
        Columns `contrast` (such as ``"associated - different"``), `protected_group` and `protected_word` (empty where
        the row is about more words), `baseline_pairs` and `other_pairs` (rows of the table behind each side; a side
        with 0 was not measured), `observed` (difference of plain averages, lists and groups weighing the same; missing
        where a side was not measured), `mean`, `sd`, `hdi_low`, `hdi_high` of baseline minus other, in units of cosine
        distance: negative means that the baseline's attribute words are nearer. `low_se` and `high_se` are the Monte
        Carlo standard errors of the interval's ends, and `borderline` says that 0 lies within three of them of an end,
        so that another seed may settle it otherwise. Then `direction` (the more probable one: ``"nearer"`` or
        ``"farther"``), `probability_of_direction` (0.5 to 1; Makowski, Ben-Shachar, Chen and Luedecke 2019),
        `probability_in_rope` if `rope` is given (Kruschke 2018), and the diagnostics. For a multivariate fit of several
        groups and a contrast of associated and different words there are `list_nearness`, the part of the contrast that
        comes of one list's being nearer to all groups, each weighing the same, and what is left without it: `net_mean`,
        `net_low` and `net_high`. ``attrs`` keep `hdi_prob`, `baseline`, `scope` and `rope`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, or the fit lacks the baseline, or an argument is not usable.

    Notes
    -----
    The contrast of a group or a word is that of its own distances: where a list is nearer to every word than another,
    it shows that too. Over all groups the nearness of lists cancels, unless several groups share a list. `mean` differs
    from `observed` by what the model shares between words: a single word's difference follows that of its group as far
    as the attribute words show that it does.

    Examples
    --------
    >>> bb.contrasts(fit, rope=0.02)[["contrast", "direction"]]
                     contrast direction
    0  associated - different    nearer
    1      associated - human    nearer
    2    associated - neutral    nearer
    """
    import pandas as pd

    from bayesbias.estimates.estimate_frame import EstimateFrame

    check_fit(fit)
    check_level(level, LEVELS)
    check_choice("scope", scope, SCOPES)
    check_probability("hdi_prob", hdi_prob)
    region, rows = check_rope(rope), fitted_rows(fit)
    check_baseline(baseline, list(rows.connections), "fit")
    independent = independent_draws(fit)
    levels = LEVELS[:-1] if level == "all" else (level,)
    counts = fit["constant_data"]["pair_count"].transpose("protected_word", "connection").to_numpy()
    plain = dict(zip(rows.connections, plain_means(rows).T, strict=True))
    records: list[dict[str, Any]] = []
    for name in levels:
        for other in rows.connections:
            if other == baseline:
                continue
            chosen = list(_words(rows, name))
            of_sets = _draws(fit, chosen, baseline, other, scope)
            moments = estimates(of_sets, hdi_prob=hdi_prob, independent=independent).drop(columns=_SUBSET)
            nearness = _nearness(fit, rows, chosen, baseline, other)
            for at, words in enumerate(chosen):
                draws, sides = of_sets[..., at], (("baseline", baseline), ("other", other))
                interval = draws_interval(_chained(draws), hdi_prob)
                records.append(
                    {
                        "contrast": contrast_name(baseline, other),
                        "protected_group": words.name if name == "protected_group" else "",
                        "protected_word": words.name if name == "word" else "",
                        **{
                            f"{side}_pairs": int(counts[words.places, rows.connections.index(connection)].sum())
                            for side, connection in sides
                        },
                        "observed": plain_difference(
                            plain[baseline][words.places], plain[other][words.places], words.groups
                        ),
                        **{str(column): value for column, value in moments.iloc[at].items()},
                        "hdi_low": interval.low,
                        "hdi_high": interval.high,
                        "low_se": interval.low_se,
                        "high_se": interval.high_se,
                        "borderline": is_borderline(interval.low, interval.high, interval.low_se, interval.high_se),
                        **({} if nearness is None else _net(_chained(draws), nearness[:, at], hdi_prob)),
                        **{column: value.item() for column, value in direction_of(draws, region).items()},
                    }
                )
    result = pd.DataFrame(records)
    probabilities = [name for name in result.columns if name.startswith(("direction", "probability"))]
    columns = [name for name in _COLUMNS if name in result]
    result = EstimateFrame(result[[*columns, *probabilities, *diagnostics_of(result)]])
    result.attrs = {
        "hdi_prob": hdi_prob,
        "baseline": baseline,
        "scope": scope,
        "rope": None if region is None else list(region),
    }
    return result


def contrast_draws(fit: "xr.DataTree", *, baseline: str, level: str, scope: str) -> np.ndarray:
    """Return the draws of `contrasts`, shape (draws, rows of its frame), chain after chain."""
    rows = fitted_rows(fit)
    levels = LEVELS[:-1] if level == "all" else (level,)
    parts = [
        _draws(fit, list(_words(rows, each)), baseline, other, scope).stack(sample=("chain", "draw"))
        for each in levels
        for other in rows.connections
        if other != baseline
    ]
    return np.concatenate([part.transpose("sample", _SUBSET).to_numpy() for part in parts], axis=1)


# The dim of sets of protected words.
_SUBSET = "words"


@dataclass(frozen=True, eq=False)
class _Words:
    """Some protected words: the name of their group or of the one word, their places, and the group of each."""

    name: str
    places: np.ndarray
    groups: np.ndarray

    def mean(self, of_words: np.ndarray) -> np.ndarray:
        """Return the mean over these words, each group weighing the same, along the first axis."""
        return np.tensordot(group_weights(self.groups), of_words[self.places], axes=1)


def _words(rows: ModelData, level: str) -> Iterator[_Words]:
    everyone, groups = np.arange(len(rows.protected_words)), rows.protected_groups
    if level == "overall":
        yield _Words("", everyone, groups)
    elif level == "word":
        yield from (_Words(str(word), everyone[[at]], groups[[at]]) for at, word in enumerate(rows.protected_words))
    else:
        for group in dict.fromkeys(groups.tolist()):
            yield _Words(str(group), np.flatnonzero(groups == group), groups[groups == group])


def _draws(fit: "xr.DataTree", chosen: list[_Words], baseline: str, other: str, scope: str) -> "xr.DataArray":
    """Return the draws of a contrast for each of several sets of words, with the dims chain, draw and that of sets."""
    import xarray as xr

    dims = ("chain", "draw", "connection")
    posterior = fit["posterior"].to_dataset().sel(connection=[baseline, other])
    whole = posterior["connection_mean"].transpose(*dims).to_numpy()
    by_word = posterior["word_mean"].transpose("protected_word", *dims).to_numpy()
    means = [whole if not words.name and scope == "population" else words.mean(by_word) for words in chosen]
    return xr.DataArray(
        np.stack([mean[..., 0] - mean[..., 1] for mean in means], axis=-1),
        dims=("chain", "draw", _SUBSET),
        coords={_SUBSET: np.arange(len(chosen))},
    )


def _nearness(
    fit: "xr.DataTree", rows: ModelData, chosen: list[_Words], baseline: str, other: str
) -> np.ndarray | None:
    """Return draws of the part of contrasts that comes of lists' nearness to all groups, shape (draws, sets of words).

    None where the fit has no means of lists, or the contrast is none of associated and different words.
    """
    groups = rows.protected_groups
    if {baseline, other} != {"associated", "different"} or len(set(groups.tolist())) == 1:
        return None
    if "list_mean" not in fit["posterior"]:
        return None
    stacked = fit["posterior"]["list_mean"].stack(sample=("chain", "draw"), create_index=False)
    of_lists = stacked.transpose("protected_word", "attribute_group", "sample").to_numpy()
    nearness = np.tensordot(group_weights(groups), of_lists, axes=1)
    weights = attribute_sample(rows).connection_weights
    base, against = (rows.connections.index(name) for name in (baseline, other))
    return np.stack([words.mean(weights[:, base] - weights[:, against]) @ nearness for words in chosen], axis=1)


def _net(draws: np.ndarray, nearness: np.ndarray, hdi_prob: float) -> dict[str, float]:
    """Return what a contrast is without the nearness of lists."""
    net = draws - nearness
    interval = draws_interval(net, hdi_prob)
    return {
        "list_nearness": float(nearness.mean()),
        "net_mean": float(net.mean()),
        "net_low": interval.low,
        "net_high": interval.high,
    }


def _chained(draws: "xr.DataArray") -> np.ndarray:
    """Return draws chain after chain, shape (draws,)."""
    return np.asarray(draws.transpose("chain", "draw").to_numpy().reshape(-1))
