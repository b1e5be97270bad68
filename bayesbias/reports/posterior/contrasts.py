"""How much nearer one kind of attribute word is than another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import HDI_PROB, check_choice, check_probability, check_rope
from bayesbias.estimates import (
    check_baseline,
    contrast_name,
    diagnostics_of,
    direction_of,
    estimates,
    independent_draws,
    is_borderline,
)
from bayesbias.models.contrast_estimate import Interval, draws_interval, mixture_interval
from bayesbias.models.contrast_forms import CONDITIONAL, contrast_forms
from bayesbias.models.data import ModelData
from bayesbias.models.fit_source import fitted_rows
from bayesbias.models.fits import check_fit
from bayesbias.reports.posterior.summary import check_level
from bayesbias.reports.posterior.unpooled import plain_averages, unpooled_averages

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

LEVELS = ("overall", "protected_group", "word", "all")
SCOPES = ("population", "protected_fixed")
_COLUMNS = (
    *("contrast", "protected_group", "protected_word", "baseline_pairs", "other_pairs", "observed", "unpooled"),
    *("mean", "sd", "hdi_low", "hdi_high", "low_se", "high_se", "borderline"),
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
        ``"overall"``: all protected words; ``"protected_group"``: the words of each protected group; ``"word"``: each
        protected word; ``"all"``: all three, one after the other.
    scope
        What a sentence about all protected words is about. ``"population"``: words like these, of which these are a
        sample; ``"protected_fixed"``: these very protected words, with attribute words like these. The words of a
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
        with 0 was not measured), `observed` (difference of the plain averages of these rows, missing where a side was
        not measured), `unpooled` (the same once the attribute words' own effects are taken out by least squares),
        `mean`, `sd`, `hdi_low`, `hdi_high` of baseline minus other, in units of cosine distance: negative
        means that the baseline's attribute words are nearer. `low_se` and `high_se` are the Monte Carlo standard errors
        of the interval's ends, and `borderline` says that 0 lies within three of them of an end, so that another seed
        may settle it otherwise. Then `direction` (the more probable one: ``"nearer"`` or ``"farther"``),
        `probability_of_direction` (0.5 to 1; Makowski, Ben-Shachar, Chen and Luedecke 2019), `probability_in_rope` if
        `rope` is given (Kruschke 2018), and the diagnostics. ``attrs`` keep `hdi_prob`, `baseline`, `scope` and `rope`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, or the fit lacks the baseline, or an argument is not usable.

    Notes
    -----
    For the first connection of a multivariate fit the interval is that of the mixture of the contrast's Normals given
    all else at each draw (Rao and Blackwell), which moves little between seeds; else it is that of the draws.

    Examples
    --------
    >>> bb.contrasts(fit, rope=0.02)[["contrast", "direction"]]
                     contrast direction
    0  associated - different    nearer
    1      associated - human    nearer
    2    associated - neutral    nearer
    """
    import pandas as pd

    from bayesbias.frames import EstimateFrame

    check_fit(fit)
    check_level(level, LEVELS)
    check_choice("scope", scope, SCOPES)
    check_probability("hdi_prob", hdi_prob)
    region, rows = check_rope(rope), fitted_rows(fit)
    check_baseline(baseline, list(rows.connections), "fit")
    independent = independent_draws(fit)
    levels = LEVELS[:-1] if level == "all" else (level,)
    conditionals = _conditionals(fit, rows) if baseline == rows.connections[0] else {}
    counts = fit["constant_data"]["pair_count"].transpose("protected_word", "connection").to_numpy()
    plain, unpooled = plain_averages(rows), unpooled_averages(rows)
    records: list[dict[str, Any]] = []
    for each in levels:
        for other in rows.connections:
            if other == baseline:
                continue
            chosen = list(_words(rows, each))
            every = _draws(fit, chosen, baseline, other, scope)
            moments = estimates(every, hdi_prob=hdi_prob, independent=independent).drop(columns=_SUBSET)
            for at, words in enumerate(chosen):
                draws = every[..., at]
                key = other, scope if each == "overall" else each, words.name
                found = _interval(draws, conditionals.get(key), hdi_prob)
                records.append(
                    {
                        "contrast": contrast_name(baseline, other),
                        "protected_group": words.name if each == "protected_group" else "",
                        "protected_word": words.name if each == "word" else "",
                        **{
                            f"{side}_pairs": int(counts[words.places, rows.connections.index(name)].sum())
                            for side, name in (("baseline", baseline), ("other", other))
                        },
                        "observed": plain(baseline, words.places) - plain(other, words.places),
                        "unpooled": unpooled(baseline, words.places) - unpooled(other, words.places),
                        **{str(name): value for name, value in moments.iloc[at].items()},
                        "hdi_low": found.low,
                        "hdi_high": found.high,
                        "low_se": found.low_se,
                        "high_se": found.high_se,
                        "borderline": is_borderline(found.low, found.high, found.low_se, found.high_se),
                        **{name: value.item() for name, value in direction_of(draws, region).items()},
                    }
                )
    result = pd.DataFrame(records)
    probabilities = [name for name in result.columns if name.startswith(("direction", "probability"))]
    result = EstimateFrame(result[[*_COLUMNS, *probabilities, *diagnostics_of(result)]])
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
    """Some protected words: the name of their group or of the one word, their places, and whether they are all."""

    name: str
    places: np.ndarray
    every: bool


def _words(rows: ModelData, level: str) -> Iterator[_Words]:
    everyone = np.arange(len(rows.protected_words))
    if level == "overall":
        yield _Words("", everyone, True)
    elif level == "word":
        yield from (_Words(str(word), everyone[[at]], False) for at, word in enumerate(rows.protected_words))
    else:
        for group in dict.fromkeys(rows.protected_groups.tolist()):
            yield _Words(str(group), np.flatnonzero(rows.protected_groups == group), False)


def _draws(fit: "xr.DataTree", chosen: list[_Words], baseline: str, other: str, scope: str) -> "xr.DataArray":
    """Return the draws of a contrast for each of several sets of words, with the dims chain, draw and that of sets."""
    import xarray as xr

    dims = ("chain", "draw", "connection")
    posterior = fit["posterior"].to_dataset().sel(connection=[baseline, other])
    whole = posterior["connection_mean"].transpose(*dims).to_numpy()
    by_word = posterior["word_mean"].transpose("protected_word", *dims).to_numpy()
    means = [whole if words.every and scope == "population" else by_word[words.places].mean(axis=0) for words in chosen]
    return xr.DataArray(
        np.stack([mean[..., 0] - mean[..., 1] for mean in means], axis=-1),
        dims=("chain", "draw", _SUBSET),
        coords={_SUBSET: np.arange(len(chosen))},
    )


def _conditionals(fit: "xr.DataTree", rows: ModelData) -> dict[tuple[str, str, str], tuple[np.ndarray, np.ndarray]]:
    """Return mean and sd of each contrast given all else at each draw, as far as the fit has them."""
    stats = fit["sample_stats"].to_dataset()
    if CONDITIONAL[0] not in stats:
        return {}
    mean, sd = (stats[name].to_numpy().reshape(-1, stats.sizes["contrast_form"]) for name in CONDITIONAL)
    return {
        (form.other, form.level, form.name): (mean[:, at], sd[:, at]) for at, form in enumerate(contrast_forms(rows))
    }


def _interval(draws: "xr.DataArray", given: tuple[np.ndarray, np.ndarray] | None, hdi_prob: float) -> Interval:
    if given is not None:
        return mixture_interval(*given, hdi_prob)
    return draws_interval(draws.transpose("chain", "draw").to_numpy().reshape(-1), hdi_prob)
