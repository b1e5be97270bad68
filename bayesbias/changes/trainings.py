"""Comparison of contrasts in embeddings of several seeds: uncertainty from the word lists and from the seed."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias import __version__
from bayesbias.base.checks import HDI_PROB, check_choice
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, listed, percent_text, shown_name
from bayesbias.base.results import (
    BEFORE_ANSWER,
    DOUBTS,
    LIMITS,
    NO_PROOF,
    Contents,
    Result,
    ResultTable,
    alerts_and_others,
)
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.changes.change_code import DRAWS
from bayesbias.changes.change_statements import change_answer
from bayesbias.changes.engine import condition_contrasts
from bayesbias.changes.many_changes import settled_together
from bayesbias.changes.result import Estimation
from bayesbias.changes.training_changes import (
    ORIGINAL,
    FittedContrasts,
    change_over_seeds_statement,
    estimated_changes,
    second_conditions,
)
from bayesbias.changes.training_code import TrainingSources, training_code
from bayesbias.changes.training_contents import CHANGE_HEADINGS, SEED_HEADINGS, figures_over_seeds, tables_over_seeds
from bayesbias.changes.training_statements import (
    SMALL_SHARE,
    STATES,
    WHICH_INTERVAL,
    condition_label,
    contrast_statement,
    disagreements,
    reading_over_trainings,
    seeds_agree,
    training_answer,
    training_estimate,
    training_limits,
    training_methods,
    verdict,
)
from bayesbias.errors import ReportError, name_some, setting
from bayesbias.models.fits import check_cosine, check_fit, fit_attribute, fitted_rows, fitted_table
from bayesbias.reports.posterior.contrasts import LEVELS
from bayesbias.reports.posterior.doubts import convergence_doubts, data_doubts, sizes_text, word_lists
from bayesbias.tables.schema import RANK, lost_by_list

if TYPE_CHECKING:
    import pandas as pd
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
        check_cosine(fit, "The comparison")
        rows = fitted_rows(fit)
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


def check_conditions(
    fits: "Mapping[Hashable, xr.DataTree]", others: "Mapping[Hashable, xr.DataTree]", name: str
) -> None:
    """Raise a `ReportError` if the fits of a second condition have another model, or words that the first lacks."""
    for seed, fit in others.items():
        before, after = fitted_rows(fits[seed]), fitted_rows(check_fit(fit))
        if fit.attrs.get("model") != fits[seed].attrs.get("model"):
            raise ReportError(f"The fits of seed {seed!r} and of {name!r} have different models. Fit the same model.")
        for role in ("protected_words", "attribute_words"):
            if more := set(getattr(after, role).tolist()) - set(getattr(before, role).tolist()):
                raise ReportError(
                    f"The fit of {name!r} of seed {seed!r} has {role.replace('_', ' ')} that the original lacks: "
                    f"{name_some(sorted(more))}. Build both tables from the same study."
                )


def _digest(fit: "xr.DataTree") -> int:
    """Return a number that tells the groups and connections of pairs, whatever the order of the rows."""
    import pandas as pd

    labels = fitted_table(fit)[["protected_word", "protected_group", "attribute_word", "connection"]].astype(str)
    return int(pd.util.hash_pandas_object(labels, index=False).sum())


_SHOWN = (
    *("contrast", "protected_group", "protected_word", "first", "second", "change", "reading"),
    *("mean", "hdi_low", "hdi_high"),
    *("seeds_low", "seeds_high", "probability_in_rope", "next_low", "next_high", "nearer", "farther", "not_settled"),
    *("lists_sd", "seed_sd", "seed_sd_low", "seed_sd_high"),
    *("seed_share", "seed_share_low", "seed_share_high"),
    *("documents_low", "documents_high", "document_sd", "document_sd_low", "document_sd_high"),
    *("document_share", "document_share_low", "document_share_high"),
)


@dataclass(frozen=True, eq=False, repr=False)
class TrainingComparison(Result):
    """Comparison returned by `compare_trainings`, in cosine distance; `print` says whether the seeds agree.

    Parameters
    ----------
    contrasts : pandas.DataFrame
        One row for each contrast:

        - its name and words, as in `bayesbias.contrasts`;
        - `reading`: ``"stable"`` if the seeds agree, and their average and the interval of one more seed exclude 0 on
          the same side, ``"not settled"`` if neither of these excludes 0, ``"open"`` if seeds agree and the others do
          not, or ``"seeds disagree"``;
        - `seeds`: their number; `nearer`, `farther`, `not_settled`: the number of seeds with each reading, from the
          interval of one embedding (a borderline one is not settled);
        - `agree`: whether all conclusions are the same, or differ though the seed has less than 20 % of the variance
          and no seed contradicts another;
        - `mean`, `sd`, `hdi_low`, `hdi_high`: the contrast on average over seeds like these, with the uncertainty of
          the word lists; `seeds_low` to `seeds_high`: its interval over seeds alone, for these words; `next_low`
          to `next_high`: its interval in an embedding of one more seed; `probability_of_direction`: the probability
          of the sign of `mean`; `probability_in_rope`, if `rope` is given;
        - `lists_sd`: standard deviation from the word lists in one embedding; `seed_sd`: posterior mean of the standard
          deviation between seeds, `seed_sd_low` to `seed_sd_high` its interval;
        - `seed_share`: the seed's share of the variance of one embedding's contrast, `seed_share_low` to
          `seed_share_high` its interval;
        - of changes, `second`, the condition; `mean`, `hdi_low` and `hdi_high` after ``original_`` and after
          ``changed_``: the contrast under each condition on average over seeds, with its `seed_sd`; `change`: the
          `reading` of `Changes.changes`, by the change and both contrasts on average over seeds;
        - with trainings on resampled documents, `documents_low` to `documents_high`: the interval on average over seeds
          and over samples of such documents; `document_sd`, `document_share` and their intervals, as for the seed.
    by_seed : pandas.DataFrame
        The rows of `bayesbias.contrasts` for each fit, with a first column `seed`; of changes, those of
        `Changes.changes`.
    facts
        `study`, `description` (its question, or an empty text), `embeddings` (name by seed), `protected_words`,
        `attribute_words`, `pairs`, `lost_words` (by list), `max_lost`, `model`, `sampler`, `settings` (draws and tuning
        steps of a chain, chains, and the seed, if all fits have the same), `resamples`, the number of trainings on
        resampled documents, `changed`, the names of the second conditions, `ranks` of the vectors that
        these changed, if all are known, `steps`, what was done to their vectors, if it is known, `baseline`, `level`,
        `scope` and `rope`, the `version` of the package, and `doubts`, statements about the fits.
    hdi_prob
        Probability inside the intervals.
    random_seed
        Random seed of the draws.
    sources
        Files behind the embeddings, if a command read them.
    """

    contrasts: "pd.DataFrame"
    by_seed: "pd.DataFrame"
    facts: dict[str, Any]
    hdi_prob: float
    random_seed: int
    sources: TrainingSources | None = None

    def __repr__(self) -> str:
        return (
            f"TrainingComparison({counted(len(self.facts['embeddings']), 'seed')}, "
            f"{counted(len(self.contrasts), 'contrast')})"
        )

    @property
    def verdicts(self) -> tuple[Statement, ...]:
        """Whether the contrasts are stable, or how the first one changed under each condition; kinds are `reading`."""
        rows = rows_of(self.contrasts)
        if not self.facts["changed"]:
            return (verdict(rows),)
        first = {row["second"]: row for row in reversed(rows)}
        ranks = self.facts["ranks"]
        return tuple(change_over_seeds_statement(row, ranks.get(row["second"], "")) for row in reversed(first.values()))

    @cached_property
    def _together(self) -> tuple[Statement, ...]:
        return settled_together(self.contrasts.assign(settled=self.contrasts["reading"] == "stable"), self.hdi_prob)

    @property
    def _doubts(self) -> tuple[Statement, ...]:
        shown = self.contrasts if not self.facts["changed"] else self.contrasts[self.contrasts["protected_word"] == ""]
        return (*self.facts["doubts"], *disagreements(rows_of(shown)))

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        rows, changed = rows_of(self.contrasts), self.facts["changed"]
        verdicts = [verdict.numbers for verdict in self.verdicts] if changed else []
        shown = [row for row in rows if not (changed and row["protected_word"]) and row not in verdicts]
        alerts, doubts = alerts_and_others(self._doubts)
        over = f"{'Other changes over' if changed else 'Over'} {counted(len(self.facts['embeddings']), 'seed')}"
        return (
            StatementList(BEFORE_ANSWER, alerts),
            StatementList("", (*self.verdicts, Statement("intervals", WHICH_INTERVAL)), bulleted=False),
            StatementList(DOUBTS, doubts),
            StatementList("Settled together", self._together),
            StatementList(
                f"{over} ({percent_text(self.hdi_prob)} HPDI, in units of cosine distance)",
                tuple(
                    change_over_seeds_statement(row, whole=False) if changed else contrast_statement(row)
                    for row in shown
                ),
            ),
            StatementList(LIMITS, training_limits(self.facts), detail=True),
        )

    @cached_property
    def contents(self) -> Contents:
        """Whether contrasts are stable over seeds, the numbers over seeds and of each seed, and how to repeat it."""
        facts, seeds = self.facts, counted(len(self.facts["embeddings"]), "embedding")
        changed, first = listed(facts["changed"], 3) if facts["changed"] else "", facts["first"]
        what = f"Changes of contrasts from {first} to {changed}" if changed else "Contrasts"
        prob = f"{percent_text(self.hdi_prob)} HPDI"
        samples = f", and {facts['resamples']} trained on resampled documents" if facts["resamples"] else ""
        lost = tuple(
            Statement("lost words", f"{name}: {name_some(words, 20)}.") for name, words in facts["lost_words"].items()
        )
        other_columns = [name for name in self.by_seed.columns if name not in ("sd", "ess_tail", "r_hat")]
        of_seeds = f"{seeds} that differ in the seed of their training{samples}. {facts['sizes']}."
        question = (
            f"How do the contrasts of {facts['study']} change from {first} to {changed}, over seeds?"
            if changed
            else f"Are the contrasts of {facts['study']} stable over seeds?"
        )
        return Contents(
            title=question,
            about=f"The study asks: {facts['description']} {of_seeds}" if facts["description"] else of_seeds,
            doubts=self._doubts,
            answer=self._answer,
            estimate=training_estimate([one.numbers for one in self.verdicts], self.hdi_prob),
            answers=self.verdicts,
            parts=(
                *((StatementList("Lost words", lost),) if lost else ()),
                StatementList("Methods", (training_methods(facts, self.hdi_prob, self.random_seed),), bulleted=False),
            ),
            tables=tables_over_seeds(
                self.contrasts, [dict(one.numbers) for one in self.verdicts], facts, prob, self._together
            )
            | {
                "contrasts": ResultTable(
                    self.contrasts,
                    "Over seeds",
                    f"{what} over seeds, in units of cosine distance, {prob}"
                    f"{'' if changed else '; below 0, associated words are nearer'}",
                    tuple(name for name in _SHOWN if name in self.contrasts),
                    CHANGE_HEADINGS if changed else SEED_HEADINGS,
                    differences=True,
                    note=f"{'; '.join(f'{name}: {meaning}' for name, meaning in STATES.items()).capitalize()}. Much of "
                    f"the variance is at least {percent_text(SMALL_SHARE)}.",
                ),
                "by_seed": ResultTable(
                    self.by_seed,
                    "Each seed alone",
                    f"{what} in {'each seed' if changed else 'each embedding'}, {prob}",
                    tuple(map(str, other_columns)),
                    differences=True,
                    folded=True,
                ),
            },
            figures=figures_over_seeds(self.contrasts, prob, rope=facts["rope"] is not None),
            opened=("Conditions", "Groups", "Words"),
            limits=(*self.parts[-1].statements, Statement("bias", NO_PROOF)),
            settings={
                "Study": facts["study"],
                "Embeddings": ", ".join(dict.fromkeys(facts["embeddings"].values())),
                "Model": facts["model"] + (" (of contrasts; changes come from paired distances)" if changed else ""),
                "Sampler": facts["sampler"],
                "Each fit": ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in facts["settings"].items()),
                "Seed of the draws": str(self.random_seed),
                "Interval": prob,
            },
            code=training_code(facts, self.sources, self.hdi_prob, self.random_seed),
        )

    @property
    def _answer(self) -> str:
        rows = [verdict.numbers for verdict in self.verdicts]
        if not self.facts["changed"]:
            return training_answer(dict(rows[0]))
        words = rows[0]["protected_word"] or rows[0]["protected_group"]
        if len(rows) == 1:  # a sentence on several conditions has no place for them
            words = words or listed(self.facts["groups"], 2)
        readings = {condition_label(row): row["change"] for row in rows}
        return change_answer(rows[0]["contrast"], self.facts["first"], readings, words)


def compare_trainings(
    fits: "Mapping[Hashable, xr.DataTree]",
    *,
    changed: "Mapping[str, Mapping[Hashable, xr.DataTree]] | None" = None,
    resampled: "Mapping[Hashable, xr.DataTree] | None" = None,
    first: str = ORIGINAL,
    baseline: str = "associated",
    level: str = "overall",
    scope: str = "population",
    rope: float | tuple[float, float] | None = None,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
) -> TrainingComparison:
    """Return the contrasts of one study, compared over several trainings: over seeds and samples of documents.

    Parameters
    ----------
    fits
        Fit of each embedding's distance table, by seed (or any other name), with the same words and the same model. The
        embeddings differ only in the seed of their training.
    changed
        Fits of the same embeddings under second conditions, such as after debiasing, by the same seeds, under the name
        of each condition: ``{"hard": {1: fit, 2: other}}``. The paired changes of the contrasts from `fits` are then
        compared over seeds, in place of the contrasts.
    resampled
        Fits of embeddings that were trained with a seed each on resampled documents of the same corpus
        (`train_embeddings` with ``resample="documents"``). None: what other documents would change is left open.
    first
        Name of the condition of `fits`, if there is `changed`. To compare two methods, give the fits of one as `fits`,
        its name as `first`, and those of the other as `changed`.
    baseline, level, scope
        As in `bayesbias.contrasts`.
    rope
        Region of practical equivalence in units of cosine distance: a half-width, or (low, high).
    hdi_prob
        Probability inside the highest posterior density intervals.
    random_seed
        Seed of the draws. None draws one and records it.

    Returns
    -------
    TrainingComparison
        Frames `contrasts` and `by_seed`; `print` says whether the seeds agree.

    Raises
    ------
    ReportError, FitError, ArgumentError
        If there are fewer than two fits, the fits differ in words, pairs or models, or an argument is not usable.

    Notes
    -----
    **Seeds.** The contrast of seed s has the posterior mean m_s, with a Monte Carlo error e_s. All seeds have the same
    words, so the error L from the choice of words, with the posterior's spread, is common to them, and the m_s differ
    by the seed alone:

        m_s ~ Normal(mu + L, tau^2 + e_s^2),    mu flat,    p(tau) ~ tau / (tau^2 + e^2) HalfNormal(tau; 0.1)

    (Gelman, Carlin, Stern, Dunson, Vehtari and Rubin, Bayesian Data Analysis, 3rd ed., section 5.4), drawn from a grid
    of tau. The prior is that of Jeffreys, with e^2 the mean of e_s^2, and bounded: without errors, mu has the interval
    of Student's t. The contrast on average over seeds is mu with L, and mu alone for these words; that of one more
    seed also has tau. The seed's share is tau^2 / (tau^2 + lists_sd^2). mu with L is the answer, since the question is
    about an association, of which the words of the study are a sample.

    **Documents.** A training on resampled documents, with a seed of its own, has

        m_r ~ Normal(nu + L, tau^2 + omega^2 + e_r^2),    nu flat,    omega like tau, with tau^2 + e^2 for e^2

    with a mean of its own, because a sample with replacement repeats documents and lacks others, so that its vectors
    are those of a smaller corpus. tau and omega are drawn from a grid of both. The interval over documents is that of
    the contrast on average over seeds in another sample of such documents, mu with L and omega. The shares are those of
    tau^2 + omega^2 + lists_sd^2.

    **Changes.** With `changed`, the m_s are the changes of the contrast in each seed. They come from the paired
    distances of both tables, as in `compare_embeddings`, so that all that a seed's two conditions share cancels; the
    model of the fits does not enter. L is the error of the change from the choice of words.

    Examples
    --------
    >>> comparison = bb.compare_trainings({1: fit, 2: fit}, random_seed=1)
    >>> comparison.contrasts[["contrast", "seeds", "not_settled", "agree"]]
                     contrast  seeds  not_settled  agree
    0  associated - different      2            2   True
    1      associated - human      2            2   True
    2    associated - neutral      2            2   True
    """
    from bayesbias.estimates.frames import EstimateFrame

    estimation = Estimation.checked(
        draws=DRAWS, random_seed=random_seed, hdi_prob=hdi_prob, rope=rope, scope=scope, baseline=baseline
    )
    check_choice("level", level, LEVELS)
    if changed is not None and resampled is not None:
        raise ReportError(f"{setting('changed')} and {setting('resampled')} exclude each other. Give one of them.")
    check_trainings(fits, resampled)
    draws = max(DRAWS, *(int(fit_attribute(fit, "draws")) for fit in fits.values()))
    estimation = replace(estimation, draws=draws)
    conditions = {} if changed is None else second_conditions(changed, fits, first)
    for name, others in conditions.items():
        check_conditions(fits, others, name)
    original, facts = FittedContrasts.of_fits(first, fits, estimation), _facts(fits)
    facts["ranks"] = {name: text for name, others in conditions.items() if (text := _ranks(others.values()))}
    facts["steps"] = {name: steps for name, others in conditions.items() if (steps := _steps(others.values()))}
    if conditions:
        changed_contrasts = [FittedContrasts.of_fits(name, others, estimation) for name, others in conditions.items()]
        frame, by_seed, doubts = estimated_changes(original, changed_contrasts, estimation, level)
        facts["doubts"] += doubts
    else:
        over_seeds = original.over_seeds(estimation, level)
        samples = [condition_contrasts(fit, estimation) for fit in (resampled or {}).values()]
        frame, by_seed = over_seeds.estimates(estimation, samples), over_seeds.by_seed
    frame.insert(list(frame.columns).index("not_settled") + 1, "agree", [seeds_agree(row) for row in rows_of(frame)])
    place = list(frame.columns).index("seeds")
    frame.insert(place, "reading", [reading_over_trainings(row) for row in rows_of(frame)])
    return TrainingComparison(
        contrasts=EstimateFrame(frame),
        by_seed=EstimateFrame(by_seed),
        facts=facts
        | {"resamples": 0 if resampled is None else len(resampled), "first": first, "changed": tuple(conditions)}
        | {"baseline": baseline, "level": level, "scope": scope, "rope": estimation.rope},
        hdi_prob=hdi_prob,
        random_seed=estimation.seed,
    )


def _steps(fits: "Iterable[xr.DataTree]") -> str:
    """Return what was done to the vectors behind fits, once if it is the same; empty if nothing is recorded."""
    steps = (str(fit_attribute(fit, "table").get("embedding", {}).get("steps", "")) for fit in fits)
    return "; ".join(dict.fromkeys(filter(None, steps)))


def _ranks(fits: "Iterable[xr.DataTree]") -> str:
    """Return the smallest and the largest rank of the vectors of a condition, empty if one is not known."""
    records = [fit_attribute(fit, "table").get(RANK) for fit in fits]
    if not all(records):
        return ""
    ranks, dimensions = sorted(rank for rank, _ in records), records[0][1]
    return f"{ranks[0] if ranks[0] == ranks[-1] else f'{ranks[0]} to {ranks[-1]}'} of {dimensions}"


def _facts(fits: "Mapping[Hashable, xr.DataTree]") -> dict[str, Any]:
    """Return `TrainingComparison.facts`; facts that all fits share are from the first."""
    first = next(iter(fits.values()))
    tables = {name: fit_attribute(fit, "table") for name, fit in fits.items()}
    table, sizes = tables[next(iter(fits))], first["constant_data"].sizes
    seeds = {int(fit_attribute(fit, "random_seed")) for fit in fits.values()}
    problems = [
        replace(doubt, text=f"Seed {name}: {doubt.text}")
        for name, fit in fits.items()
        for doubt in convergence_doubts(fit)
    ]
    return {
        "study": str(table.get("study", "a table without a study")),
        "description": str(table.get("description", "")),
        "embeddings": {
            name: str(table_facts.get("embedding", {}).get("name", "not named")) for name, table_facts in tables.items()
        },
        "protected_words": sizes["protected_word"],
        "attribute_words": sizes["attribute_word"],
        "pairs": len(fitted_rows(first).distance),
        "groups": [shown_name(word_list.name) for word_list in word_lists(first, ("protected",))],
        "sizes": sizes_text(word_lists(first), recorded="lost_words" in table),
        "lost_words": lost_by_list(table.get("lost_words", [])),
        "max_lost": table.get("max_lost", MAX_LOST),
        "model": fit_attribute(first, "model")["name"],
        "sampler": str(fit_attribute(first, "sampler")),
        "settings": {
            **{name: fit_attribute(first, name) for name in ("draws", "tune", "chains")},
            **({"random_seed": seeds.pop()} if len(seeds) == 1 else {}),
        },
        "version": __version__,
        "doubts": [*problems, *data_doubts(first)],
    }
