"""The same word pairs in several embeddings, such as an original one and a debiased one, and what changed."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.arguments import HDI_PROB, check_probability, check_rope, resolve_seed, with_progress
from bayesbias.estimates import diagnostics_of, direction_of, estimates, independent_draws, settled
from bayesbias.models.fit_source import tied_directions
from bayesbias.models.fits import fit_fact
from bayesbias.models.priors import parse_prior
from bayesbias.models.sampling import fit
from bayesbias.models.spec import DEFAULT_MODEL, load_model
from bayesbias.reports.embeddings.comparison_conclusions import ComparisonConclusions, comparison_conclusions
from bayesbias.reports.embeddings.shared_pairs import (
    checked_tables,
    common_pairs,
    equalized_words,
    moved_table,
    pair_changes,
)
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.summary import summary
from bayesbias.statements import Part, Rendered, plain
from bayesbias.tables.schema import ATTRS_KEY

if TYPE_CHECKING:
    import os

    import pandas as pd
    import xarray as xr

    from bayesbias.models.spec import ModelSpec

# The model of changes where each table's own is multivariate. Hard debiasing ties the changes of words to each other
# exactly (equalized words end at one point), and the multivariate model takes what is tied for what is known best, so
# that its change of a gap can be far from the change of the plain averages.
CHANGE_MODEL = "crossed_per_list"
# With fewer words the gap of all is that of the model's connection means.
_FEWEST_WORDS = 5
# Much wider than any change that debiasing makes, and as likely to bring words nearer as to part them.
CHANGE_PRIOR = "Normal(mu=0, sigma=0.3)"


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingComparison(Rendered):
    """What `compare_embeddings` found; printed, its conclusions. All estimates are in units of cosine distance.

    Parameters
    ----------
    baseline
        Name of the embedding with which the others are compared.
    names
        Names of the others.
    change : DataFrame
        One row for each embedding and connection: `pairs`; `average_before`, `average_after` and `spread`, the plain
        averages of these pairs and the standard deviation of their changes; then the posterior of the mean change
        (distance after minus before: positive means farther apart): `mean`, `sd`, `hdi_low`, `hdi_high`,
        `direction` (``"nearer"``, ``"farther"``, or ``"unchanged"`` if no distance changed),
        `probability_of_direction`, `probability_in_rope` if a rope was given, `ess_bulk`, `ess_tail`, and, of
        chains, `r_hat`.
    change_by_word : DataFrame
        The same for each protected word and the connections of which it has pairs.
    contrasts : DataFrame
        How the gap between associated and other attribute words changed, for all protected words (empty
        `protected_word`) and for each: `before` and `after` with their intervals, from the fits of each table; then
        the posterior of the change of the gap, from the changes of the pairs (not just `after` minus `before`, and
        the number to trust); and `gap`, what became of it:
        ``"not settled"`` if the interval of the change holds 0; else, by the intervals before and after,
        ``"narrowed"``, ``"closed"`` (after, the interval holds 0), ``"widened"``, ``"reversed"``, ``"opened"`` (before,
        it held 0), ``"shifted"`` (both hold 0); or ``"unchanged"``. The sign of the change decides between
        narrowed and widened. Of all protected words it is the mean of words like these, estimated from how the words'
        own changes differ.
        No rows without associated attribute words.
    side_by_side : DataFrame
        Posterior means and intervals of each table's own fit, by connection (empty `protected_word`) and by word.
    conclusions : ComparisonConclusions
        What the numbers show and do not show: statements with their numbers; printed, in plain English.
    fits, change_fits : dict
        The fit of each table, and of the changes to each but the baseline (absent if nothing changed).
    facts
        `model`, `change_prior`, `seed`, `hdi_prob`, `rope`, `pairs`, `left_out` (pairs by embedding), `equalized`
        (by embedding, the protected words that it made equally near to the same stereotype words), `tied` (by
        embedding, the directions in which its words' distances are tied to each other, if any),
        `convergence_problems`.
    """

    baseline: str
    names: tuple[str, ...]
    change: "pd.DataFrame"
    change_by_word: "pd.DataFrame"
    contrasts: "pd.DataFrame"
    side_by_side: "pd.DataFrame"
    conclusions: ComparisonConclusions
    fits: "dict[str, xr.DataTree]"
    change_fits: "dict[str, xr.DataTree]"
    facts: dict[str, Any]

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.names))
        return f"EmbeddingComparison({self.baseline!r} with {names}, {self.facts['pairs']:,} word pairs)"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the conclusions."""
        return self.conclusions.parts

    def to_dict(self) -> dict[str, Any]:
        """Return all but the fits as plain Python, for JSON."""
        return {name: plain(value) for name, value in vars(self).items() if name not in ("fits", "change_fits")}


def compare_embeddings(
    tables: "Mapping[str, pd.DataFrame]",
    model: "str | os.PathLike[str] | ModelSpec" = DEFAULT_MODEL,
    *,
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
    change_prior: str = CHANGE_PRIOR,
    sampler: str = "auto",
    draws: int = 2000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = True,
) -> EmbeddingComparison:
    """Compare the distances of the same word pairs in several embeddings.

    What the embeddings share (which words are near in general) cancels in the change of a pair, distance after minus
    before. So the changes are modelled, with the structure of `model`: a mean change of each connection, of each
    protected word within it, and effects of the attribute words. Besides, each table is fitted on its own. Where
    `model` is multivariate, the changes are modelled by ``"crossed_per_list"``: what removes a direction from vectors
    changes an attribute word's distances to all protected words in proportion, so that their covariance is singular.

    Parameters
    ----------
    tables
        Distance tables by the names that reports call their embeddings; the first is the baseline ("before").
    model
        As for `fit`; its prior of `connection_mean` is replaced by `change_prior` for the changes.
    hdi_prob
        Probability inside the highest posterior density intervals.
    rope
        Changes too small to matter, in units of cosine distance: a half-width, or (low, high).
    change_prior
        Prior of a connection's mean change: centred at 0, with a standard deviation of 0.3 by default.
    sampler, draws, chains, random_seed
        As for `fit`.
    progress
        Show a progress bar where there is somebody to see it.

    Returns
    -------
    EmbeddingComparison
        Frames `change`, `change_by_word`, `contrasts` and `side_by_side`, and `conclusions`.

    Raises
    ------
    TableError
        If a table breaks the schema, the tables share no pairs, or none with an associated attribute word although
        some have such pairs, or a pair has different connections.
    ArgumentError, ReportError, ModelError, FitError
        If there are fewer than two tables, a name or a setting is not usable, or all changes of a connection are the
        same number.

    Warns
    -----
    LostWordsWarning
        If some pairs are not in all tables; the comparison is about those that are.
    DuplicatesWarning
        If a table repeats pairs; the repetitions are dropped.
    ConvergenceWarning
        As by `fit`.

    References
    ----------
    Dobrzeniecka and Urbaniak, section "Rethinking debiasing", compare two fits by eye. Gelman and Hill (2007), Data
    analysis using regression and multilevel/hierarchical models, section 9.3, on modelling gains.

    Examples
    --------
    >>> noise = np.random.default_rng(1).normal(0, 0.01, len(table))
    >>> debiased = table.drop(columns="cosine_similarity")
    >>> debiased["cosine_distance"] += 0.1 + noise
    >>> compared = bb.compare_embeddings({"original": table, "debiased": debiased}, "hierarchical", random_seed=1)
    >>> compared.change[["connection", "direction"]].iloc[0].tolist()
    ['associated', 'farther']
    """
    import pandas as pd

    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    region = check_rope(rope)
    spec = load_model(model)
    change_spec = load_model(
        CHANGE_MODEL if spec.multivariate else spec, priors={"connection_mean": parse_prior(change_prior)}
    )
    common, left_out = common_pairs(checked_tables(tables))
    baseline, *names = common
    changes = {name: pair_changes(common[baseline], common[name], name) for name in names}

    simulated = any(table.attrs[ATTRS_KEY].get("simulated") is True for table in common.values())
    moved = {
        name: moved_table(
            rows, source=f"changes of cosine distances from {baseline!r} to {name!r}", simulated=simulated
        )
        for name, rows in changes.items()
    }
    settings: dict[str, Any] = {"sampler": sampler, "draws": draws, "chains": chains, "random_seed": seed}
    fits: dict[str, xr.DataTree] = {}
    change_fits: dict[str, xr.DataTree] = {}
    planned = [(fits, name, table, spec) for name, table in common.items()]
    planned += [(change_fits, name, table, change_spec) for name, table in moved.items() if len(table)]
    for made, name, table, its_spec in with_progress(planned, "Fitting embeddings", progress=progress):
        made[name] = fit(table, its_spec, progress=False, **settings)
    facts = {
        "model": spec.name,
        "change_model": change_spec.name,
        "change_prior": str(change_spec.priors["connection_mean"]),
        "seed": seed,
        "hdi_prob": hdi_prob,
        "rope": region,
        "pairs": len(common[baseline]),
        "left_out": left_out,
        "convergence_problems": [
            f"{what} {name!r}: {problem}"
            for what, made in (("The fit of", fits), ("The fit of the changes to", change_fits))
            for name, fitted in made.items()
            for problem in fit_fact(fitted, "convergence_problems")
        ],
        "tied": {name: tied for name, fitted in fits.items() if (tied := tied_directions(fitted))},
        "equalized": {name: equalized_words(rows) for name, rows in changes.items()},
    }
    overall, by_word, gaps = {}, {}, {}
    for name in names:
        rows, fitted = changes[name], change_fits.get(name)
        overall[name], by_word[name] = _change_frames(rows, fitted, hdi_prob, region)
        gap = _gap_frame(rows, fitted, hdi_prob, region, seed)
        if gap is not None:
            gaps[name] = _with_levels(gap, *(_levels(fits[table], hdi_prob) for table in (baseline, name)))
    sides = {name: summary(fitted, hdi_prob=hdi_prob) for name, fitted in fits.items()}
    side = _stacked(sides)
    side = side[side["parameter"].isin(["connection_mean", "word_mean"]) & (side["pairs"] > 0)]
    found = {
        "change": _stacked(overall),
        "change_by_word": _stacked(by_word),
        "contrasts": _stacked(gaps) if gaps else pd.DataFrame(columns=["embedding", "contrast"]),
        "side_by_side": side.drop(columns="parameter").reset_index(drop=True),
    }
    said = comparison_conclusions(baseline, tuple(names), found, facts)
    return EmbeddingComparison(
        baseline, tuple(names), **found, conclusions=said, fits=fits, change_fits=change_fits, facts=facts
    )


# --- the numbers ------------------------------------------------------------------------------------------


def _stacked(frames: "dict[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return the frames of several embeddings as one, whose first column names them."""
    import pandas as pd

    return pd.concat(frames, names=["embedding"]).reset_index(level="embedding").reset_index(drop=True)


def _estimated(
    draws: "xr.DataArray", fitted: "xr.DataTree | None", hdi_prob: float, region: tuple[float, float] | None
) -> "pd.DataFrame":
    """Summarise draws of changes, one row for each combination of the dims other than chain and draw."""
    import pandas as pd

    with np.errstate(invalid="ignore", divide="ignore"):  # where nothing changed, diagnostics have no meaning
        independent = 0.0 if fitted is None else independent_draws(fitted)
        frame = estimates(draws, hdi_prob=hdi_prob, independent=independent)
    diagnostics = diagnostics_of(frame)
    moments = [name for name in frame if name not in diagnostics]
    probabilities = direction_of(draws, region)
    frame[list(probabilities)] = pd.DataFrame(probabilities)
    still = frame["sd"] == 0
    frame.loc[still, "direction"] = "unchanged"
    frame.loc[still, diagnostics] = np.nan
    return frame[[*moments, *probabilities, *diagnostics]]


def _draws(rows: "pd.DataFrame", fitted: "xr.DataTree | None", variable: str) -> "xr.DataArray":
    """Return draws of mean changes for all words and connections: 0 where no distance changed."""
    import xarray as xr

    coords = {"connection": list(dict.fromkeys(rows["connection"].sort_values().astype(str)))}
    if variable == "word_mean":
        coords = {"protected_word": list(dict.fromkeys(rows["protected_word"].astype(str))), **coords}
    if fitted is None:
        shape = (2, 20, *map(len, coords.values()))
        return xr.DataArray(np.zeros(shape), dims=("chain", "draw", *coords), coords=coords)
    found: xr.DataArray = fitted["posterior"][variable].reindex(coords, fill_value=0.0)
    return found


def _change_frames(
    rows: "pd.DataFrame", fitted: "xr.DataTree | None", hdi_prob: float, region: tuple[float, float] | None
) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the changes by connection, and by protected word and connection."""
    frames = []
    texts = rows.astype({"connection": str, "protected_word": str, "protected_group": str})
    for keys, variable in ((["connection"], "connection_mean"), (["protected_word", "connection"], "word_mean")):
        labels = keys if len(keys) == 1 else ["protected_word", "protected_group", "connection"]
        plain = texts.groupby(labels, sort=False).agg(
            pairs=("change", "size"),
            average_before=("before", "mean"),
            average_after=("after", "mean"),
            spread=("change", "std"),
            largest=("change", lambda change: change.abs().max()),
        )
        estimated = _estimated(_draws(rows, fitted, variable), fitted, hdi_prob, region)
        # In the order of the schema; words without a pair of a connection fall out.
        merged = estimated[keys].merge(plain.reset_index(), on=keys).merge(estimated, on=keys)
        merged["direction"] = merged["direction"].where(merged.pop("largest") > 0, "unchanged")
        frames.append(
            merged[[*labels, *plain.columns.drop("largest"), *(name for name in estimated if name not in keys)]]
        )
    return frames[0], frames[1]


def _gap_frame(
    rows: "pd.DataFrame", fitted: "xr.DataTree | None", hdi_prob: float, region: tuple[float, float] | None, seed: int
) -> "pd.DataFrame | None":
    """Return how the gaps between associated and other attribute words changed, or None without such gaps."""
    import pandas as pd

    counts = rows.astype({"connection": str, "protected_word": str}).groupby(["protected_word", "connection"]).size()
    connections = [str(name) for name in _draws(rows, fitted, "connection_mean")["connection"].values]
    if "associated" not in connections or len(connections) < 2:
        return None
    frames = []
    for variable in ("connection_mean", "word_mean"):
        draws = _draws(rows, fitted, variable)
        for place, other in enumerate(connections):
            if other == "associated":
                continue
            gap = draws.sel(connection="associated", drop=True) - draws.sel(connection=other, drop=True)
            words = list(dict.fromkeys(rows["protected_word"].astype(str)))
            both = [(word, "associated") in counts and (word, other) in counts for word in words]
            if variable == "connection_mean" and fitted is not None and sum(both) >= _FEWEST_WORDS:
                each = _draws(rows, fitted, "word_mean").sel(protected_word=np.array(words)[both])
                each = each.sel(connection="associated", drop=True) - each.sel(connection=other, drop=True)
                gap = _of_words_like_these(each, np.random.default_rng([seed, place]))
            frame = _estimated(gap, fitted, hdi_prob, region)
            if variable == "connection_mean":
                frame.insert(0, "protected_word", "")
            else:
                frame = frame[both]
            frame.insert(0, "contrast", f"associated - {other}")
            frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _of_words_like_these(each: "xr.DataArray", rng: np.random.Generator) -> "xr.DataArray":
    """Return draws of the mean of all words like these, given draws of each word's gap.

    The model takes a word's changes to associated and to other words as independent. They are not: debiasing moves a
    word nearer to the one as it moves it away from the other, or moves it away from all. So the mean of the gaps is
    estimated from how the words' gaps differ, whatever the correlation: for each draw, mean + sd / sqrt(words) times
    Student's t with words - 1 degrees of freedom, the posterior of a Normal mean under a flat prior.
    """
    words = each.sizes["protected_word"]
    mean, sd = each.mean("protected_word"), each.std("protected_word", ddof=1)
    found: xr.DataArray = mean + sd / np.sqrt(words) * rng.standard_t(words - 1, mean.shape)
    return found


def _levels(fitted: "xr.DataTree", hdi_prob: float) -> "pd.DataFrame":
    """Return the gaps of one table's own fit, by contrast and word."""
    import pandas as pd

    frame = pd.concat([contrasts(fitted, level=level, hdi_prob=hdi_prob) for level in ("overall", "word")])
    return frame.set_index(["contrast", "protected_word"])[["mean", "hdi_low", "hdi_high"]]


def _with_levels(gap: "pd.DataFrame", before: "pd.DataFrame", after: "pd.DataFrame") -> "pd.DataFrame":
    """Put the gaps before and after beside their change, and say what became of them."""
    import pandas as pd

    rows = pd.MultiIndex.from_frame(gap[["contrast", "protected_word"]])
    for place, (name, levels) in enumerate((("before", before), ("after", after))):
        found = levels.loc[rows]
        for offset, column in enumerate(("mean", "hdi_low", "hdi_high")):
            label = name if column == "mean" else f"{name}_{column.removeprefix('hdi_')}"
            gap.insert(2 + 3 * place + offset, label, found[column].to_numpy())
    gap["gap"] = [_what_became(row) for row in gap.to_dict("records")]
    return gap


def _what_became(row: "dict[Hashable, Any]") -> str:
    """Name what became of a gap, by the intervals before, after and of the change."""
    if row["direction"] == "unchanged":
        return "unchanged"
    if not settled(row["hdi_low"], row["hdi_high"]):
        return "not settled"
    before, after = (settled(row[f"{name}_low"], row[f"{name}_high"]) for name in ("before", "after"))
    if not before:
        return "opened" if after else "shifted"
    if after and row["before"] * row["after"] < 0:
        return "reversed"
    # By the change, and not by the sizes before and after, which come from two fits.
    if row["mean"] * row["before"] > 0:
        return "widened"
    return "narrowed" if after else "closed"
