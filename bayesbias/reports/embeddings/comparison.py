"""Comparison of the same word pairs in several embeddings, such as an original one and a debiased one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import HDI_PROB, check_probability, check_rope, resolve_seed, with_progress
from bayesbias.base.number_text import counted, percent_text
from bayesbias.base.results import Contents, Result, ResultFigure, ResultTable
from bayesbias.base.statements import StatementList
from bayesbias.errors import ArgumentError, TableError
from bayesbias.models.data import groups_not_compared, model_data
from bayesbias.models.fitted.fit_source import tied_directions
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.periods.period_sample import PeriodSample, period_sample
from bayesbias.models.priors import parse_prior
from bayesbias.models.sampling import fit
from bayesbias.models.spec import DEFAULT_MODEL, load_model
from bayesbias.reports.embeddings.comparison_conclusions import ComparisonConclusions, comparison_conclusions
from bayesbias.reports.embeddings.difference_frames import (
    difference_frames,
    gap_frame,
    joint_draws,
    joint_gap_frame,
    own_gaps,
    pair_draws,
    with_own_gaps,
    word_effect,
)
from bayesbias.reports.embeddings.shared_pairs import (
    checked_tables,
    common_pairs,
    difference_table,
    equalized_words,
    pair_differences,
)
from bayesbias.reports.posterior.summary import summary
from bayesbias.tables.schema import ATTRS_KEY

if TYPE_CHECKING:
    import os

    import pandas as pd
    import xarray as xr

    from bayesbias.models.spec import ModelSpec

# Model of the differences of pairs if that of the tables is multivariate, but they have no whole vectors. Hard
# debiasing ties the differences of words to each other exactly (equalized words end at one point), and the multivariate
# model treats tied differences as the most precise, so its difference of gaps can be far from that of the averages.
DIFFERENCE_MODEL = "crossed_per_list"
# Much wider than any difference that debiasing makes, and symmetric: words may move nearer or farther.
DIFFERENCE_PRIOR = "Normal(mu=0, sigma=0.3)"


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingComparison(Result):
    """Comparison returned by `compare_embeddings`, in units of cosine distance; `print` shows its conclusions.

    A difference is always another embedding minus the baseline. A gap is a contrast of one embedding: the distance to
    associated attribute words minus that to others; below 0, associated words are nearer.

    Parameters
    ----------
    baseline
        Name of the embedding with which the others are compared.
    names
        Names of the other embeddings.
    gaps : DataFrame
        Difference of gaps for each embedding and contrast, over all protected words (empty `protected_word`) and for
        each: its posterior `mean`, `sd`, `hdi_low`, `hdi_high`, `direction` (``"nearer"`` below 0, ``"farther"`` above,
        or ``"equal"`` if all distances are), `probability_of_direction`, `probability_in_rope` if a rope was given,
        `ess_bulk`, `ess_tail`, and, of chains, `r_hat`; then the gap in each embedding, from the fit of each table:
        `baseline_gap` and `other_gap`, each with its interval and the plain gap of the averages (`baseline_plain`,
        `other_plain`); and `reading`: ``"not settled"`` if the interval of the difference contains 0; else, by the
        intervals of the two gaps, ``"narrower"`` (in the other embedding), ``"wider"``, ``"baseline only"`` (only the
        baseline's gap excludes 0), ``"other only"``, ``"reversed"`` (both exclude 0, on different sides),
        ``"neither"``; or ``"equal"``. The difference has the small error of what is paired: it is more reliable than
        `other_gap` minus `baseline_gap`, and its sign decides between narrower and wider. Over all protected words it
        is the mean of words like these.
        Empty without associated attribute words.
    differences : DataFrame
        One row for each embedding and connection: `pairs`; `average_baseline`, `average_other` and `spread`, the plain
        averages of these pairs, lists and groups with equal weights, and the standard deviation of their differences;
        then the posterior of the mean difference of their distances (positive: farther apart than in the baseline), as
        in `gaps`.
    differences_by_word : DataFrame
        The same for each protected word and each connection that it has pairs of.
    side_by_side : DataFrame
        Posterior means and intervals of each table's own fit, by connection (empty `protected_word`) and by word.
    conclusions : ComparisonConclusions
        What the numbers show and do not show, as statements with their numbers.
    fits, difference_fits : dict
        Fit of each table, and of the differences of each but the baseline (absent if nothing differs, or if differences
        are the changes of `trend`).
    facts
        `model`, `difference_model` and `difference_prior` (empty if differences are the changes of `trend`),
        `random_seed`, `hdi_prob`, `rope`, `pairs`, `left_out` (number of pairs by embedding), `equalized` (by
        embedding, the protected words that are as near to most attribute words there as another one, but not in the
        baseline), `equalized_attributes` (likewise the attribute words), `tied` (by embedding, the number of directions
        in which its words' distances are tied to each other, if any), `convergence_problems`.
    """

    baseline: str
    names: tuple[str, ...]
    gaps: "pd.DataFrame"
    differences: "pd.DataFrame"
    differences_by_word: "pd.DataFrame"
    side_by_side: "pd.DataFrame"
    conclusions: ComparisonConclusions
    fits: "dict[str, xr.DataTree]"
    difference_fits: "dict[str, xr.DataTree]"
    facts: dict[str, Any]

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.names))
        return f"EmbeddingComparison({self.baseline!r} with {names}, {counted(self.facts['pairs'], 'word pair')})"

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        return self.conclusions.parts

    @cached_property
    def contents(self) -> Contents:
        """Conclusions, differences of gaps and of mean distances, and each table's own estimates."""
        concluded, facts = self.conclusions, self.facts
        prob = f"{percent_text(facts['hdi_prob'])} HPDI, in units of cosine distance"
        figures = {
            f"difference_{number}": ResultFigure(
                "plot_embeddings",
                f"Differences of mean distances, {name} minus {self.baseline}: posterior means (points) and {prob} "
                "(lines).",
                options={"other": name},
                section="Differences",
            )
            for number, name in enumerate(self.names, start=1)
        }
        return Contents(
            title=f"{', '.join(self.names)} compared with {self.baseline}",
            about=f"{counted(facts['pairs'], 'pair')} of words in each embedding, model {facts['model']}.",
            diagnostics=(
                *concluded.doubts,
                *(doubt for conclusions in concluded.embeddings.values() for doubt in conclusions.doubts),
            ),
            verdict=" ".join(conclusions.verdict.text for conclusions in concluded.embeddings.values()),
            parts=(
                *(
                    StatementList(conclusions.heading, conclusions.shown)
                    for conclusions in concluded.embeddings.values()
                ),
                StatementList("How to read it", concluded.reading),
            ),
            tables={
                "gaps": ResultTable(
                    self.gaps,
                    "Gaps",
                    f"Differences of gaps, another embedding minus the baseline, {prob}",
                    differences=True,
                ),
                "differences": ResultTable(
                    self.differences, "Differences", f"Differences of mean distances, {prob}", differences=True
                ),
                "differences_by_word": ResultTable(
                    self.differences_by_word,
                    "Differences by word",
                    f"Differences of mean distances, {prob}",
                    differences=True,
                    folded=True,
                ),
                "side_by_side": ResultTable(
                    self.side_by_side, "Side by side", f"Mean distances in each embedding, {prob}", folded=True
                ),
            },
            figures=figures,
            limits=concluded.limits,
            settings={
                "Model": str(facts["model"]),
                "Model of differences": str(facts["difference_model"] or "none: paired changes, as in trend"),
                **({"Prior of differences": facts["difference_prior"]} if facts["difference_prior"] else {}),
                "Seed": str(facts["random_seed"]),
                "Interval": prob,
            },
        )


def compare_embeddings(
    tables: "Mapping[str, pd.DataFrame]",
    model: "str | os.PathLike[str] | ModelSpec" = DEFAULT_MODEL,
    *,
    hdi_prob: float = HDI_PROB,
    rope: float | tuple[float, float] | None = None,
    difference_prior: str | None = None,
    sampler: str = "auto",
    draws: int = 2000,
    chains: int = 4,
    random_seed: int | None = None,
    progress: bool = True,
) -> EmbeddingComparison:
    """Return a comparison of the distances of the same word pairs in several embeddings.

    In the difference of a pair, its distance in another embedding minus that in the first, everything that the
    embeddings share cancels, such as which words are near in general. If `model` is multivariate, differences of gaps
    and of mean distances are the changes of `bayesbias.trend`, whose sample are the vectors of an attribute word's
    distances in both embeddings. Otherwise the differences of pairs are modelled, with the structure of `model`: a mean
    difference of each connection, of each protected word within it, and effects of the attribute words; by
    ``"crossed_per_list"`` if `model` is multivariate, but a list has fewer than two words, or words lack some of their
    pairs. Each table is also fitted by itself.

    Parameters
    ----------
    tables
        Distance tables by the names of their embeddings in reports; the first is the baseline.
    model
        As for `fit`; for the differences of pairs, its prior of `connection_mean` is replaced by `difference_prior`.
    hdi_prob
        Probability inside the highest posterior density intervals.
    rope
        Differences too small to matter, in units of cosine distance: a half-width, or (low, high).
    difference_prior
        Prior of a connection's mean difference in a model of the differences of pairs; by default centred at 0, with a
        standard deviation of 0.3.
    sampler, draws, chains, random_seed
        As for `fit`.
    progress
        Whether to show a progress bar.

    Returns
    -------
    EmbeddingComparison
        Frames `gaps`, `differences`, `differences_by_word` and `side_by_side`, and `conclusions`.

    Raises
    ------
    TableError
        If a table breaks the schema, the tables share no pairs, or none with an associated attribute word although
        some have such pairs, or a pair has different connections.
    ArgumentError, ReportError, ModelError, FitError
        If there are fewer than two tables, a name or a setting is not usable, or all differences of a connection
        are equal.

    Warns
    -----
    LostWordsWarning
        If some pairs are not in all tables; the comparison is about those that are.
    DuplicatesWarning
        If a table repeats pairs; the repetitions are dropped.
    ConvergenceWarning
        As for `fit`.

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
    >>> compared.differences[["connection", "direction"]].iloc[0].tolist()
    ['associated', 'farther']
    """
    import pandas as pd

    seed = resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    region = check_rope(rope)
    spec = load_model(model)
    common, left_out = common_pairs(checked_tables(tables))
    baseline, *names = common
    samples = _joint_samples(common) if spec.multivariate else {}
    if samples and difference_prior is not None:
        raise ArgumentError(
            f"difference_prior={difference_prior!r}: the model {spec.name!r} has no prior of differences, since it "
            f"takes the changes of whole vectors. Leave it out, or take another model, such as {DIFFERENCE_MODEL!r}."
        )
    difference_spec = model_of_differences(spec, difference_prior or DIFFERENCE_PRIOR)
    data = model_data(common[baseline])
    compared = data.compared[data.protected]
    # Groups that are in no contrast are in no difference either: means of connections are those of the other groups.
    parts = {name: table[compared].reset_index(drop=True) for name, table in common.items()}
    pairs = {name: pair_differences(parts[baseline], parts[name], name) for name in names}

    simulated = any(table.attrs[ATTRS_KEY].get("simulated") is True for table in common.values())
    differing = {
        name: difference_table(
            rows, source=f"differences of cosine distances, {name!r} minus {baseline!r}", simulated=simulated
        )
        for name, rows in pairs.items()
    }
    settings: dict[str, Any] = {"sampler": sampler, "draws": draws, "chains": chains, "random_seed": seed}
    fits: dict[str, xr.DataTree] = {}
    difference_fits: dict[str, xr.DataTree] = {}
    planned = [(fits, name, table, spec) for name, table in common.items()]
    if not samples:
        planned += [(difference_fits, name, table, difference_spec) for name, table in differing.items() if len(table)]
    for target, name, table, fit_spec in with_progress(planned, "Fitting embeddings", progress=progress):
        target[name] = fit(table, fit_spec, progress=False, **settings)
    facts = {
        "model": spec.name,
        "difference_model": "" if samples else difference_spec.name,
        "difference_prior": "" if samples else str(difference_spec.priors["connection_mean"]),
        "random_seed": seed,
        "hdi_prob": hdi_prob,
        "rope": region,
        "pairs": len(common[baseline]),
        "left_out": left_out,
        "groups_not_compared": groups_not_compared(data),
        "convergence_problems": [
            f"{label} {name!r}: {problem}"
            for label, fits_by_name in (("The fit of", fits), ("The fit of the differences of", difference_fits))
            for name, fitted in fits_by_name.items()
            for problem in fit_attribute(fitted, "convergence_problems")
        ],
        "tied": {name: tied for name, fitted in fits.items() if (tied := tied_directions(fitted))},
        "equalized": {name: equalized_words(rows) for name, rows in pairs.items()},
        "equalized_attributes": {name: equalized_words(rows, "attribute_word") for name, rows in pairs.items()},
    }
    overall, by_word, gaps = {}, {}, {}
    for name in names:
        rows = pairs[name]
        if samples:
            drawn = joint_draws(samples[name], draws=draws, chains=chains, seed=seed)
            gap_rows = joint_gap_frame(samples[name], hdi_prob, region, draws=draws, chains=chains, seed=seed)
        else:
            drawn = pair_draws(rows, difference_fits.get(name))
            effect = word_effect((common[baseline], common[name]))
            gap_rows = gap_frame(rows, drawn, hdi_prob, region, seed, effect)
        overall[name], by_word[name] = difference_frames(rows, drawn, hdi_prob, region)
        if gap_rows is not None:
            gaps[name] = with_own_gaps(gap_rows, own_gaps(fits[baseline], hdi_prob), own_gaps(fits[name], hdi_prob))
    summaries = _stacked({name: summary(fitted, hdi_prob=hdi_prob) for name, fitted in fits.items()})
    means = summaries[summaries["parameter"].isin(["connection_mean", "word_mean"]) & (summaries["pairs"] > 0)]
    frames = {
        "gaps": _stacked(gaps) if gaps else pd.DataFrame(columns=["embedding", "contrast"]),
        "differences": _stacked(overall),
        "differences_by_word": _stacked(by_word),
        "side_by_side": means.drop(columns="parameter").reset_index(drop=True),
    }
    conclusions = comparison_conclusions(baseline, tuple(names), frames, facts)
    return EmbeddingComparison(
        baseline,
        tuple(names),
        **frames,
        conclusions=conclusions,
        fits=fits,
        difference_fits=difference_fits,
        facts=facts,
    )


def _joint_samples(common: "Mapping[str, pd.DataFrame]") -> dict[str, PeriodSample]:
    """Return the baseline with each other table as one sample, by name; none if a list has one word, or pairs lack."""
    baseline, *names = common
    try:
        return {name: period_sample({baseline: common[baseline], name: common[name]}) for name in names}
    except TableError:
        return {}


def model_of_differences(spec: "ModelSpec", prior: str = DIFFERENCE_PRIOR) -> "ModelSpec":
    """Return the model of the differences of pairs if `spec` is the model of the tables."""
    return load_model(DIFFERENCE_MODEL if spec.multivariate else spec, priors={"connection_mean": parse_prior(prior)})


def _stacked(frames: "dict[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return the frames of several embeddings as one, with their names in the first column."""
    import pandas as pd

    return pd.concat(frames, names=["embedding"]).reset_index(level="embedding").reset_index(drop=True)
