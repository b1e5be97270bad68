"""Contrasts: how much nearer one kind of attribute word is than another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from bayesbias.base.checks import check_choice
from bayesbias.embeddings.language_models.vector_spread import GROUPS
from bayesbias.estimates.intervals import (
    SCOPES,
    check_baseline,
    contrast_name,
    diagnostics_of,
    direction_of,
    independent_draws,
    is_borderline,
    moments,
    shortest_interval,
)
from bayesbias.models.data import ModelData
from bayesbias.models.fits import (
    check_fit,
    fit_attribute,
    fitted_rows,
    hdi_prob_of,
    labelled_group,
    measured_in,
    rope_of,
)
from bayesbias.models.multivariate.attribute_sample import attribute_sample, has_both
from bayesbias.models.numerics.contrast_estimate import draws_interval
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.schema import source_name

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_MANY = 1e6  # degrees of freedom of a Normal

type ContextErrors = dict[tuple[frozenset[str], str, str], tuple[float, float]]
"""Standard error over contexts and its degrees of freedom for a pair of connections, a level, and the name of a group
or word."""

LEVELS = ("overall", "protected_group", "word", "all")
# Dim of the sets of protected words.
_SUBSET = "words"


def fit_context_errors(fit: "xr.DataTree") -> ContextErrors:
    """Return the standard errors of contrasts over contexts that the table of a fit records; empty if none."""
    table = fit_attribute(fit, "table")
    # An error over the same few sentences for all words rests on these alone; others are sums over many words.
    contexts = table.get("contexts", {})
    fewest = min(contexts.get("fewest", GROUPS), GROUPS)
    freedom = max(fewest - 1.0, 1.0) if contexts.get("same_for_all") else _MANY
    return {
        (frozenset(entry["contrast"].split(" - ")), entry["level"], entry["name"]): (entry["sd"], freedom)
        for entry in table.get("context_errors", [])
    }


def context_columns(
    errors: ContextErrors, sides: tuple[str, str], level: str, name: str, draws: np.ndarray, hdi_prob: float
) -> dict[str, float]:
    """Return the error of a contrast over contexts, and its interval with that error, as columns of `contrasts`.

    - `sides`, `level`, `name`: the two connections, the level, and the name of the group or word.
    - `draws`: draws of the contrast, shape (draws,).
    """
    if not errors:
        return {}
    sd, freedom = errors.get((frozenset(sides), level, name), (float("nan"), _MANY))
    # The quantiles of a Student's t in random order: the same for every contrast and run.
    quantiles = stdtrit(freedom, (np.arange(len(draws)) + 0.5) / len(draws))
    interval = draws_interval(draws + sd * np.random.default_rng(0).permutation(quantiles), hdi_prob)
    return {"context_sd": sd, "context_low": interval.low, "context_high": interval.high}


def observed_means(rows: ModelData) -> np.ndarray:
    """Return the average distance of each word for each connection, shape (protected words, connections).

    All attribute lists have the same weight. A word without pairs of a connection has NaN.

    >>> from bayesbias.models.data import model_data
    >>> observed_means(model_data(table)).round(3)[0].tolist()
    [0.943, 0.9, 0.936, 0.933]
    """
    word_lists = np.zeros(len(rows.attribute_words)) if rows.attribute_groups is None else rows.attribute_groups
    names, list_of = np.unique(word_lists, return_inverse=True)
    shape = len(rows.protected_words), len(rows.connections), len(names)
    cells = np.ravel_multi_index(
        (rows.protected.astype(np.int64), rows.connection.astype(np.int64), list_of[rows.attribute]), shape
    )
    counts, totals = (np.bincount(cells, weights, np.prod(shape)).reshape(shape) for weights in (None, rows.distance))
    list_means, present = totals / np.maximum(counts, 1), counts > 0
    means = list_means.sum(axis=2) / np.maximum(present.sum(axis=2), 1)
    return np.where(present.any(axis=2), means, np.nan)


def group_weights(groups: np.ndarray) -> np.ndarray:
    """Return the weight of each word in a mean over protected groups with equal weights.

    >>> group_weights(np.array(["young", "old", "old"]))
    array([0.5 , 0.25, 0.25])
    """
    names, group_of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(1 / (len(names) * sizes[group_of]))


def observed_difference(baseline: np.ndarray, other: np.ndarray, groups: np.ndarray) -> float:
    """Return the mean over groups of the differences of words that have both sides; NaN if no word has.

    >>> observed_difference(np.array([1.0, 0.9, 0.7]), np.array([0.9, 0.8, np.nan]), np.array(["young", "old", "old"]))
    0.1
    """
    differences = baseline - other
    finite = np.isfinite(differences)
    return round(float(group_weights(groups[finite]) @ differences[finite]), 15) if finite.any() else float("nan")


def reason_apart(rows: ModelData, spec: ModelSpec) -> str:
    """Return why contrasts of all words can differ from observed differences, for rows that a model was fitted to."""
    reasons = []
    if len(rows.distance) < len(rows.protected_words) * len(rows.attribute_words):
        reasons.append("pairs that were lost are estimated from the others")
    if spec.switches["likelihood"] == "student_t":
        reasons.append("outlying distances count less")
    if spec.switches["pooling"] == "none":
        reasons.append("the prior of the means counts where pairs are few")
    elif not spec.multivariate:
        reasons.append("words are pooled, each with the same weight whatever its group")
    return " and ".join(reasons) or "words with pairs on one side only count too, but not in the observed difference"


def reason_pulled(spec: ModelSpec, *, has_covariates: bool = False) -> str:
    """Return where a model, with covariates of the words or without, pulls the estimates of single words."""
    if spec.switches["pooling"] == "none":
        return "The prior of the means moves them."
    if spec.multivariate and has_covariates:
        return "The model pulls a single word toward what its covariates predict from the other words."
    if spec.multivariate:
        return (
            "The model pulls a single word toward the others of its group, the more the attribute words show that "
            "they agree."
        )
    return "The model pulls single words toward the mean of all words of a connection."


_COLUMNS = (
    *("contrast", "protected_group", "protected_word", "baseline_pairs", "other_pairs", "observed"),
    *("mean", "sd", "hdi_low", "hdi_high", "low_se", "high_se", "borderline"),
    *("context_sd", "context_low", "context_high"),
    *("list_nearness", "nearness_low", "nearness_high", "net_mean", "net_low", "net_high"),
)


def contrasts(
    fit: "xr.DataTree",
    *,
    baseline: str = "associated",
    level: str = "overall",
    scope: str = "population",
    hdi_prob: float | None = None,
    rope: float | tuple[float, float] | None = None,
) -> "pd.DataFrame":
    """Return the contrasts of a fit: one connection minus each of the others, draw by draw.

    Parameters
    ----------
    fit
        Fit returned by `fit`.
    baseline
        The connection from which the others are subtracted.
    level
        ``"overall"``: all protected words, each group weighing the same; ``"protected_group"``: the words of each
        protected group; ``"word"``: each protected word; ``"all"``: all three, one after the other.
    scope
        Target of a contrast over all protected words. ``"population"``: words like these, of which these are a sample;
        ``"these_words"``: exactly these protected words, with attribute words like these. Contrasts of a group or a
        single word are about exactly these words in both scopes.
    hdi_prob
        Probability inside the highest posterior density interval. None: that of the fit.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high). None: that of the
        fit, if `bayesbias.fit` got one.

    Returns
    -------
    pandas.DataFrame
        One row per contrast, baseline minus other, in units of cosine distance: negative means that the baseline's
        attribute words are nearer. Its `settings` are `hdi_prob`, `baseline`, `scope`, `rope` and
        the `source`: study and embedding.

        - `contrast` (such as ``"associated - different"``), `protected_group` and `protected_word` (empty where the row
          is about more words);
        - `baseline_pairs`, `other_pairs`: rows of the table behind each side; a side with 0 was not measured;
        - `observed`: difference of plain averages, lists and groups with equal weights; missing where a side was not
          measured;
        - `mean`, `sd`, `hdi_low`, `hdi_high`; `low_se`, `high_se`: Monte Carlo standard errors of the interval's ends;
        - `borderline`: whether 0 lies within three of them of an end, so that the draws do not decide;
        - `direction`, the more probable one (``"nearer"`` or ``"farther"``), and `probability_of_direction` (0.5 to 1;
          Makowski, Ben-Shachar, Chen and Luedecke 2019);
        - `probability_in_rope`, if `rope` is given (Kruschke 2018), and the diagnostics;
        - `list_nearness`, in multivariate fits of several groups, for associated and different words: the part due to
          one list being nearer to all compared groups, `nearness_low` to `nearness_high`; and the contrast without it,
          `net_mean`, `net_low` to `net_high`;
        - `context_sd`, of vectors that are means over contexts or templates: the standard error of the observed
          contrast over them; and the interval with it, `context_low` to `context_high`.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit or lacks the baseline, or an argument is not usable.

    Notes
    -----
    Groups that lack associated or different attribute words are in no contrast, and neither are their words
    (`conclusions` names them); `planned_contrasts` answers questions about them. If no group has both, all are
    averaged, which shows differences between groups only. Groups without pairs of one side have no row.

    The contrast of a group or a word rests on its own distances: if one list is nearer to every word than another, that
    is part of it. Over all groups the nearness of lists cancels, unless several groups share a list. `mean` differs
    from `observed` by what the model shares between words: a single word's difference follows that of its group as far
    as the attribute words show that it does.

    Examples
    --------
    >>> fit = bb.fit(table, random_seed=1)
    >>> bb.contrasts(fit)[["contrast", "mean", "hdi_low", "hdi_high"]].round(2)
                     contrast   mean hdi_low hdi_high
    0  associated - different -0.010  -0.040    0.010
    1      associated - human -0.020  -0.040    0.010
    2    associated - neutral -0.010  -0.040    0.010
    """
    import pandas as pd

    from bayesbias.estimates.frames import EstimateFrame

    rows, levels = _checked(fit, baseline, level, scope)
    prob, region, independent = hdi_prob_of(fit, hdi_prob), rope_of(fit, rope), independent_draws(fit)
    counts = fit["constant_data"]["pair_count"].transpose("protected_word", "connection").to_numpy()
    plain = dict(zip(rows.connections, observed_means(rows).T, strict=True))
    errors = fit_context_errors(fit)
    records: list[dict[str, Any]] = []
    for name in levels:
        for other in rows.connections:
            if other == baseline:
                continue
            chosen = list(_words(rows, name, baseline, [other]))
            if not chosen:
                continue
            set_draws = _draws(fit, chosen, baseline, other, scope)
            numbers = moments(set_draws, independent=independent).drop(columns=_SUBSET).to_dict("records")
            nearness = _nearness(fit, rows, chosen, baseline, other)
            for place, words in enumerate(chosen):
                draws, sides = set_draws[..., place], (("baseline", baseline), ("other", other))
                interval = draws_interval(_chained(draws), prob)
                records.append(
                    {
                        "contrast": contrast_name(baseline, other),
                        "protected_group": words.name if name == "protected_group" else "",
                        "protected_word": words.name if name == "word" else "",
                        **{
                            f"{side}_pairs": int(counts[words.places, rows.connections.index(connection)].sum())
                            for side, connection in sides
                        },
                        "observed": observed_difference(
                            plain[baseline][words.places], plain[other][words.places], words.groups
                        ),
                        **{str(column): value for column, value in numbers[place].items()},
                        "hdi_low": interval.low,
                        "hdi_high": interval.high,
                        "low_se": interval.low_se,
                        "high_se": interval.high_se,
                        "borderline": is_borderline(interval.low, interval.high, interval.low_se, interval.high_se),
                        **context_columns(errors, (baseline, other), name, words.name, _chained(draws), prob),
                        **({} if nearness is None else _net(_chained(draws), nearness[:, place], prob)),
                        **{column: value.item() for column, value in direction_of(draws, region).items()},
                    }
                )
    if not records:  # no group has both sides
        return contrasts(fit, baseline=baseline, level="overall", scope=scope, hdi_prob=prob, rope=rope).iloc[:0]
    result = pd.DataFrame(records)
    probabilities = [name for name in result.columns if name.startswith(("direction", "probability"))]
    columns = [name for name in _COLUMNS if name in result]
    result = EstimateFrame(result[[*columns, *probabilities, *diagnostics_of(result)]])
    result.settings = {
        "hdi_prob": prob,
        "baseline": baseline,
        "scope": scope,
        "rope": None if region is None else list(region),
        "source": source_name(fit_attribute(fit, "table")),
        **measured_in(fit),
    }
    return result


def at_level(frame: "pd.DataFrame", level: str) -> "pd.DataFrame":
    """Return the rows of `contrasts` at a level, numbered from 0."""
    of_group, of_word = frame["protected_group"] != "", frame["protected_word"] != ""
    chosen = {"overall": ~(of_group | of_word), "protected_group": of_group, "word": of_word}[level]
    return frame[chosen].reset_index(drop=True)


def contrast_draws(
    fit: "xr.DataTree", *, baseline: str = "associated", level: str = "overall", scope: str = "population"
) -> "xr.DataTree":
    """Return the draws of the contrasts of a fit, for ArviZ.

    Parameters
    ----------
    fit
        Fit returned by `fit`.
    baseline, level, scope
        As in `contrasts`.

    Returns
    -------
    xarray.DataTree
        Group `posterior` with a variable for each level: `overall` (chain, draw, contrast), `group` (chain, draw,
        contrast, protected_group) and `word` (chain, draw, contrast, protected_word), in units of cosine
        distance. `az.summary` and `az.plot_forest` with ``ci_kind="hdi", ci_prob=0.89`` have the means and intervals of
        `contrasts`; its effective sample sizes count the draws, those of `contrasts` the sampler's own.

    Raises
    ------
    FitError, ReportError, ArgumentError
        As for `contrasts`.

    Notes
    -----
    Groups and words are those with pairs on both sides of some contrast. Where one of several contrasts has no pairs of
    a side, its draws follow from the other words alone, and `contrasts` has no row.

    Examples
    --------
    >>> draws = bb.contrast_draws(fit, level="word")["posterior"]["word"]
    >>> dict(draws.sizes)
    {'chain': 2, 'draw': 3000, 'contrast': 3, 'protected_word': 16}
    >>> round(float(draws.sel(contrast="associated - human", protected_word="poetry").mean()), 2)
    -0.1
    """
    import xarray as xr

    rows, levels = _checked(fit, baseline, level, scope)
    others = [name for name in rows.connections if name != baseline]
    variables = {}
    for name in levels:
        if not (chosen := list(_words(rows, name, baseline, others))):
            continue
        draws = xr.concat([_draws(fit, chosen, baseline, other, scope) for other in others], dim="contrast")
        draws = draws.transpose("chain", "draw", "contrast", _SUBSET).assign_coords(
            {dim: fit["posterior"].coords[dim] for dim in ("chain", "draw")}
            | {"contrast": [contrast_name(baseline, other) for other in others]}
        )
        if name == "overall":
            variables[name] = draws.isel({_SUBSET: 0}, drop=True)
        else:  # a variable may not have the name of a dim
            dim = f"protected_{name.removeprefix('protected_')}"
            variables[name.removeprefix("protected_")] = draws.rename({_SUBSET: dim}).assign_coords(
                {dim: [words.name for words in chosen]}
            )
    return xr.DataTree(children={"posterior": xr.DataTree(labelled_group(xr.Dataset(variables)))})


def _checked(fit: "xr.DataTree", baseline: str, level: str, scope: str) -> tuple[ModelData, tuple[str, ...]]:
    """Return the rows of a fit and the levels of its contrasts, or raise if there are none."""
    check_fit(fit)
    check_choice("level", level, LEVELS)
    check_choice("scope", scope, SCOPES)
    rows = fitted_rows(fit)
    check_baseline(baseline, list(rows.connections), "fit")
    return rows, LEVELS[:-1] if level == "all" else (level,)


@dataclass(frozen=True, eq=False)
class _Words:
    """Set of protected words: name of their group or of the single word, positions, and the group of each word."""

    name: str
    places: np.ndarray
    groups: np.ndarray

    def mean(self, word_values: np.ndarray) -> np.ndarray:
        """Return the mean over these words along the first axis, with equal weights for groups."""
        return np.tensordot(group_weights(self.groups), word_values[self.places], axes=1)


def _words(rows: ModelData, level: str, baseline: str, others: Sequence[str]) -> Iterator[_Words]:
    """Yield the sets of words that are compared; without groups that have no pairs of a side, and without their words.

    With several `others`, a group needs pairs of one of them.
    """
    groups, places = rows.protected_groups, np.flatnonzero(rows.compared)
    if level == "overall":
        yield _Words("", places, groups[places])
        return
    columns = [rows.connections.index(name) for name in others]
    members, base = {}, rows.connections.index(baseline)
    for group in dict.fromkeys(groups[places].tolist()):
        of_group = np.flatnonzero(groups == group)
        measured = rows.pair_counts[of_group].any(axis=0)
        if measured[base] and measured[columns].any():
            members[group] = of_group
    if level == "protected_group":
        yield from (_Words(str(name), of_group, groups[of_group]) for name, of_group in members.items())
    else:
        for place in places[np.isin(groups[places], list(members))]:
            yield _Words(str(rows.protected_words[place]), np.array([place]), groups[[place]])


def _draws(fit: "xr.DataTree", chosen: list[_Words], baseline: str, other: str, scope: str) -> "xr.DataArray":
    """Return the draws of a contrast for each set of words, with the dims chain, draw and words."""
    import xarray as xr

    def differences(name: str, *dims: str) -> np.ndarray:
        draws = fit["posterior"][name].sel(connection=[baseline, other])
        return np.asarray(draws.transpose(*dims, "chain", "draw", "connection").to_numpy() @ (1.0, -1.0))

    if scope == "population" and not any(words.name for words in chosen):  # all words: their means are not needed
        drawn = np.repeat(differences("connection_mean")[..., np.newaxis], len(chosen), axis=-1)
    else:
        of_words = differences("word_mean", "protected_word")
        drawn = np.stack([words.mean(of_words) for words in chosen], axis=-1)
    coords = {_SUBSET: np.arange(len(chosen))}
    return xr.DataArray(drawn, dims=("chain", "draw", _SUBSET), coords=coords)


def has_list_nearness(fit: "xr.DataTree", rows: ModelData) -> bool:
    """Return whether the contrast of associated and different words has a part due to lists' nearness to all groups."""
    groups = set(rows.protected_groups[rows.compared].tolist())
    return {"associated", "different"} <= set(rows.connections) and len(groups) > 1 and "list_mean" in fit["posterior"]


def _nearness(
    fit: "xr.DataTree", rows: ModelData, chosen: list[_Words], baseline: str, other: str
) -> np.ndarray | None:
    """Return draws of the part of a contrast due to lists' nearness to all groups, shape (draws, sets of words).

    None if the fit has no means of lists, or the contrast does not compare associated and different words.
    """
    if {baseline, other} != {"associated", "different"} or not has_list_nearness(fit, rows):
        return None
    groups = rows.protected_groups
    stacked = fit["posterior"]["list_mean"].stack(sample=("chain", "draw"), create_index=False)
    list_means = stacked.transpose("protected_word", "attribute_group", "sample").to_numpy()
    nearness = np.tensordot(group_weights(groups[rows.compared]), list_means[rows.compared], axes=1)
    sample, sides = attribute_sample(rows), (rows.connections.index(baseline), rows.connections.index(other))
    weights = sample.connection_weights
    weight_contrasts, compared = weights[:, sides[0]] - weights[:, sides[1]], has_both(sample, *sides)

    def of_words(words: _Words) -> np.ndarray:
        # As in `observed`, a word that lacks one side has no part.
        places = words.places[compared[words.places]]
        if not len(places):
            return np.full(nearness.shape[1], np.nan)
        return np.asarray(group_weights(groups[places]) @ weight_contrasts[places] @ nearness)

    return np.stack([of_words(words) for words in chosen], axis=1)


def _net(draws: np.ndarray, nearness: np.ndarray, hdi_prob: float) -> dict[str, float]:
    """Return the nearness of lists, and a contrast without it, as columns of `contrasts`."""
    columns: dict[str, float] = {}
    for mean, ends, values in (("list_nearness", "nearness", nearness), ("net_mean", "net", draws - nearness)):
        low, high = (np.nan, np.nan) if np.isnan(values).any() else shortest_interval(values, hdi_prob)
        columns |= {mean: float(values.mean()), f"{ends}_low": float(low), f"{ends}_high": float(high)}
    return columns


def _chained(draws: "xr.DataArray") -> np.ndarray:
    """Return draws chain after chain, shape (draws,)."""
    return np.asarray(draws.transpose("chain", "draw").to_numpy().reshape(-1))
