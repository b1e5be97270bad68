"""The report of a fit: conclusions, estimates and contrasts, and the inputs of its page."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from bayesbias.base.checks import HDI_PROB, check_flag, check_probability, check_rope, check_type, resolve_seed
from bayesbias.base.number_text import counted, percent_text, shown_name
from bayesbias.base.results import ComparedConditions, Contents, Result, ResultFigure
from bayesbias.base.statements import Conclusions, Statement, StatementList
from bayesbias.errors import BayesBiasError, ReportError
from bayesbias.estimates.intervals import contrast_sides
from bayesbias.metrics.similarities import table_study
from bayesbias.models.data import model_data
from bayesbias.models.fit_files import changed_by_hand, sampler_text
from bayesbias.models.fits import (
    fit_attribute,
    fitted_model,
    fitted_rows,
    fitted_table,
    hdi_prob_of,
    measure_of_fit,
    rope_of,
    write_fit,
)
from bayesbias.models.samplers.registry import sampler_for
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.checks.posterior_check import PosteriorCheck, check_or_reason
from bayesbias.reports.covariates.covariate_effect import CovariateEffect, slopes_or_reason
from bayesbias.reports.fit_answer import FitAnswer
from bayesbias.reports.plans.changes import study_changes
from bayesbias.reports.plans.frozen_plan import FrozenPlan, checked_plan
from bayesbias.reports.plans.planned_numbers import MARK, SECTION, PlannedNumbers
from bayesbias.reports.plans.record import AskedQuestion, PlanRecord, Question, Region, study_hash
from bayesbias.reports.posterior.conclusions import conclusions_of, nothing_to_compare
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.doubts import sizes_text, word_lists
from bayesbias.reports.posterior.estimate_tables import estimate_table
from bayesbias.reports.posterior.factor_effects import FactorEffects, effects_or_reason, statements_or_reason
from bayesbias.reports.posterior.questions import has_slopes, own_questions, planned_contrasts
from bayesbias.reports.posterior.summary import summary
from bayesbias.reports.robustness.random_list_check import RandomListCheck
from bayesbias.studies.faults import CONTROLS
from bayesbias.studies.study import Study, list_studies, load_study
from bayesbias.tables.measures import Measure
from bayesbias.tables.schema import as_frame, validate_table
from bayesbias.tables.table_files import write_table

if TYPE_CHECKING:
    import xarray as xr

BASELINE = "associated"
_FACTORS, _MAX_LOST = "Factors", "Largest share of lost words"
_SLOPES, _CONTRAST = "Do leans follow the covariates?", "The contrast over all words"
# Largest product of pairs and fits for which a page fits a table again, whole or in parts.
_MOST_PAIRS_FITTED = 30_000_000


@dataclass(frozen=True, eq=False, repr=False)
class FitReport(Result):
    """Report of a fit. `print` shows its conclusions; `bayesbias.write` writes its page.

    Parameters
    ----------
    fit
        The fit.
    table
        The fitted table, as given or rebuilt from the fit.
    comparison, claims
        Results of `compare_embeddings` and `check_random_lists`, or None.
    rope, hdi_prob, random_seed, quick, page_title, frozen_plan
        As in `report`.
    """

    fit: "xr.DataTree"
    table: pd.DataFrame
    comparison: ComparedConditions | None
    rope: tuple[float, float] | None
    hdi_prob: float
    random_seed: int
    claims: RandomListCheck | None = None
    quick: bool = False
    page_title: str | None = None
    frozen_plan: FrozenPlan | None = None
    page_in_folder: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"FitReport({self.subject!r}, model {self.spec.name!r}, {counted(len(self.table), 'pair')})"

    @property
    def measure(self) -> Measure:
        """What the numbers of the table measure."""
        return measure_of_fit(self.fit)

    @property
    def subject(self) -> str:
        """Name of the study, if the table has one, and of the embedding."""
        study = self.facts.get("study")
        return f"{shown_name(study)} in {self.embedding}" if study else self.embedding

    @property
    def title(self) -> str:
        """The question of the study in its own words, or the names of study and embedding."""
        return self.page_title or self.facts.get("description") or f"Associations of words: {self.subject}"

    @property
    def about(self) -> str:
        """The line below the title: study and embedding, if the title does not name them, sizes of lists, and model."""
        named = not self.page_title and not self.facts.get("description")
        lists = sizes_text(word_lists(self.fit), recorded="lost_words" in self.facts)
        return f"{'' if named else f'{self.subject}. '}{lists}. Model {shown_name(self.spec.name)}."

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        if reason := self.nothing_to_compare:
            return (StatementList("", (Statement("nothing to compare", reason),), bulleted=False),)
        return (
            StatementList(_SLOPES, self.slope_answer, bulleted=False),
            *self.conclusions.parts,
            *((self.planned.part,) if self.planned else ()),
        )

    @cached_property
    def contents(self) -> Contents:
        """Conclusions, estimates, contrasts, and answers to the study's own questions."""
        prob = f"{percent_text(self.hdi_prob)} HPDI"
        tables = {"summary": estimate_table(self.summary)}
        reason = self.nothing_to_compare
        if not reason:
            tables["contrasts"] = estimate_table(self.contrasts)
            options: dict[str, Any] = {"hdi_prob": self.hdi_prob, "rope": self.rope}
            if own_questions(self.table) and len(answers := planned_contrasts(self.fit, **options)):
                tables["questions"] = estimate_table(self._marked(answers))
        effects = self.factor_effects
        figures: dict[str, ResultFigure] = {}
        if isinstance(effects, FactorEffects):
            of_factors = effects.contents
            tables |= {
                f"factor_{name}": replace(
                    table,
                    section=_FACTORS,
                    frame=self._marked(table.frame) if name == "effects" else table.frame,
                    columns=(*table.columns, MARK) if table.columns else (),
                )
                for name, table in of_factors.tables.items()
            }
            figures = {
                name: replace(figure, data=effects, section=_FACTORS) for name, figure in of_factors.figures.items()
            }
        answer = None if reason else self.answer
        conclusions = None if reason else self.conclusions
        if answer:
            tables = answer.tables() | tables
        caption = (
            f"Posterior means (points) and {prob} (lines) of each word's mean {self.measure.short}, "
            f"{self.measure.in_unit}"
        )
        distances = ResultFigure(
            "plot_words",
            caption,
            self.fit,
            {"hdi_prob": self.hdi_prob},
            section=f"Mean {self.measure.numbers} of words",
        )
        claim, estimate = (answer.sentence, f"{answer.estimate}{self._mark_of_answer}") if answer else ("", "")
        pictures = answer.figures(self.fit) if answer else {}
        contrast: tuple[StatementList, ...] = ()
        if answer and isinstance(slopes := self.slopes, CovariateEffect):  # the slope is what was asked
            contrast = (StatementList(_CONTRAST, (Statement("answer", f"{claim} {estimate}"),), bulleted=False),)
            claim, estimate = slopes.contents.answer, slopes.contents.estimate
            covariate = replace(slopes.contents.figures["covariate"], data=slopes)
            pictures = {"covariate": covariate, **pictures, "groups": replace(pictures["groups"], section="Groups")}
        return Contents(
            title=self.title,
            about=self.about,
            answer=claim,
            estimate=estimate,
            answers=(conclusions.verdict, *conclusions.shown) if conclusions else (),
            parts=(
                *contrast,
                *((self.planned.part,) if self.planned else ()),
                *(answer.parts if answer else ()),
                *((StatementList(_FACTORS, statements),) if (statements := statements_or_reason(effects)) else ()),
            ),
            tables=tables,
            figures={**pictures, "distances": distances, **figures},
            opened=(_CONTRAST, SECTION, "Questions", _FACTORS, "Groups", "Words"),
            doubts=conclusions.doubts if conclusions else self.parts[0].statements,
            limits=conclusions.limits if conclusions else (),
            settings={
                "Model": shown_name(self.spec.name),
                "Sampler": sampler_text(self.fit),
                "Interval": prob,
            },
            files={"table.csv": partial(write_table, self.table), "fit.nc": partial(write_fit, self.fit)},
            details="fit_details",
        )

    @cached_property
    def factor_effects(self) -> FactorEffects | ReportError | None:
        """The effects of the study's factors, or why they cannot be computed; None without factors."""
        return effects_or_reason(self.fit, self.hdi_prob, self.rope)

    @cached_property
    def slopes(self) -> CovariateEffect | ReportError | None:
        """How leans follow the covariates of the fit, or why this cannot be computed; None without covariates."""
        return slopes_or_reason(self.fit, self.hdi_prob) if has_slopes(self.fit) else None

    @property
    def slope_answer(self) -> tuple[Statement, ...]:
        """The answer on the slopes of the covariates with its numbers; nothing without slopes."""
        if not isinstance(self.slopes, CovariateEffect):
            return ()
        contents = self.slopes.contents
        return (Statement("slope", f"{contents.answer} {contents.estimate}"),)

    @cached_property
    def answer(self) -> FitAnswer:
        """The first sentences of the report, with tables of groups and words; they need a contrast."""
        conclusions, data = self.conclusions, fitted_rows(self.fit)
        first = next(row.numbers["contrast"] for row in conclusions.shown if row.kind == "contrast")
        rows = self.table[self.table["protected_group"].isin(self.compared_groups)]
        lists = rows[rows["connection"] == BASELINE].groupby("protected_group", sort=False, observed=True)
        other = self.table["connection"] == contrast_sides(first)[1]
        return FitAnswer(
            conclusions,
            self.contrasts,
            {
                shown_name(str(group)): list(map(shown_name, names))
                for group, names in lists["attribute_group"].unique().items()
            },
            dict(zip(data.protected_words.tolist(), map(shown_name, data.protected_groups.tolist()), strict=True)),
            list(map(shown_name, self.table.loc[other, "attribute_group"].unique())),
            self.hdi_prob,
            self.rope,
            self.measure,
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Facts on the origin of the table, which the fit stores."""
        return dict(fit_attribute(self.fit, "table"))

    @property
    def spec(self) -> ModelSpec:
        """The fitted model with its priors."""
        return fitted_model(self.fit)

    @property
    def embedding(self) -> str:
        """Name of the embedding, or of the file of the table."""
        facts = self.facts
        return str(facts.get("embedding", {}).get("name") or facts.get("source") or "a table without a source")

    @property
    def nothing_to_compare(self) -> str:
        """Reason why there is no contrast; empty if there is one."""
        return nothing_to_compare(self.fit["constant_data"].to_dataset()["connection"].to_numpy().tolist())

    @property
    def compared_groups(self) -> tuple[str, ...]:
        """The protected groups that are in contrasts."""
        rows = fitted_rows(self.fit)
        return tuple(dict.fromkeys(rows.protected_groups[rows.compared].tolist()))

    @cached_property
    def conclusions(self) -> Conclusions:
        """Conclusions of the fit; they need a contrast."""
        return conclusions_of(self.fit, self.contrasts, self.factor_effects)

    @cached_property
    def check(self) -> PosteriorCheck | BayesBiasError:
        """Posterior predictive check of the fit, or the reason why there is none."""
        return check_or_reason(self.fit, self.random_seed)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Estimates of all parameters by connection and by protected word."""
        return summary(self.fit, hdi_prob=self.hdi_prob)

    @cached_property
    def contrasts(self) -> pd.DataFrame:
        """Contrasts of all levels, with their marks beside a frozen plan; there must be something to compare."""
        frame = contrasts(self.fit, level="all", hdi_prob=self.hdi_prob, rope=self.rope)
        return self.planned.marked(frame, self.question) if self.planned else frame

    @property
    def question(self) -> Question:
        """Names of embedding, study and model, as plans have them."""
        return self.embedding, self.facts.get("study") or _only(self.frozen_plan), self.spec.name

    @cached_property
    def planned(self) -> PlannedNumbers | None:
        """Which numbers were planned; None without a frozen plan."""
        if self.frozen_plan is None:
            return None
        study, facts = fitted_study(self.table, self.facts, self.question[1]), self.facts
        region = None if self.rope is None else Region(*self.rope, unit=self.measure.unit_name)
        asked_now = AskedQuestion(study_hash(study), self.spec.digest, study=study, model=self.spec)
        settings = {"Case rules": facts.get("embedding", {}).get("case"), _MAX_LOST: facts.get("max_lost")}
        return PlannedNumbers(
            self.frozen_plan,
            PlanRecord(region, self.hdi_prob, {self.question: asked_now}),
            {name: f"{value}" for name, value in settings.items() if value is not None},
            changed_by_hand(self.fit) or "",
            {self.question: sum(entry["list"] not in CONTROLS for entry in facts.get("lost_words", []))},
            facts.get("duplicates", {}).get("dropped", 0),
        )

    def _marked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return answers to a study's own questions, or effects of its factors, with their mark."""
        return frame.assign(**{MARK: self.planned.mark(self.question)}) if self.planned else frame

    @property
    def _mark_of_answer(self) -> str:
        """What follows the number of the answer beside a frozen plan."""
        if self.planned is None:
            return ""
        return f" {self.planned.sentence(str(self.contrasts[MARK].iloc[0]))}"

    @cached_property
    def study_of_table(self) -> Study | None:
        """The study with its lost words, or None if it equals a bundled study."""
        facts = self.facts
        if not {"study", "embedding"} <= set(facts) or BASELINE not in set(self.table["connection"]):
            return None
        study = fitted_study(self.table, facts, facts["study"])
        is_bundled = study.name in list_studies() and not any(study_changes(load_study(study.name), study))
        return None if is_bundled else study

    def statements(self, kind: str) -> tuple[str, ...]:
        """Return the statements of a kind, ``"contrast"`` or ``"words"``; none without a contrast."""
        if self.nothing_to_compare:
            return ()
        return tuple(statement.text for statement in self.conclusions.shown if statement.kind == kind)

    def skip_reason(self, fits: int, command: str) -> str:
        """Return the reason why the page does not run that many fits; empty if it does."""
        if change := changed_by_hand(self.fit):
            return f"The model was changed by hand ({change}), and the page can neither fit nor simulate it."
        if self.quick:
            return f"This is a quick page. Run {command}, or bb.write(fit, path) for the whole page."
        if (pairs := len(self.table)) * fits <= _MOST_PAIRS_FITTED:
            return ""
        return f"{fits:,} more fits of {pairs:,} pairs would take too long. Run {command}."

    @property
    def needs_nuts(self) -> bool:
        """Whether the model is sampled by NUTS, which may take a minute per fit."""
        return sampler_for(self.spec) == "nuts"


def fitted_study(table: pd.DataFrame, facts: Mapping[str, Any], name: str) -> Study:
    """Return the study of a fitted table with its lost words; `facts` are those on the origin of the table."""
    table_lists = table_study(table, name)
    lists: dict[str, dict[str, list[str]]] = {
        "protected": {group: list(words) for group, words in table_lists.protected.items()},
        "attribute": {group: list(words) for group, words in table_lists.attribute_lists.items()},
    }
    for entry in facts.get("lost_words", []):
        lists[entry["role"]].setdefault(entry["list"], []).append(entry["word"])
    questions = {
        question: tuple(map(tuple, sides))
        for question, sides in facts.get("questions", {}).items()
        if {group for group, _ in sides} <= set(lists["protected"])  # a model may be fitted without some groups
    }
    controls: dict[str, Any] = {control: lists["attribute"].pop(control, "none") for control in CONTROLS}
    return Study(
        name=name,
        description=facts.get("description", ""),
        source=facts.get("study_source", ""),
        protected=lists["protected"],
        attributes=lists["attribute"],
        associated=table_lists.associated,
        questions=questions,
        **controls,
        **facts.get("factors", {}),
    )


def _only(plan: FrozenPlan | None) -> str:
    """Return the name of the only study of a plan, for a table that names none."""
    names = list(plan.studies) if plan else []
    return names[0] if len(names) == 1 else "study without a name"


def report(
    fit: "xr.DataTree",
    *,
    table: pd.DataFrame | None = None,
    comparison: ComparedConditions | None = None,
    claims: RandomListCheck | None = None,
    rope: float | tuple[float, float] | None = None,
    hdi_prob: float | None = None,
    random_seed: int | None = None,
    title: str | None = None,
    quick: bool = False,
    frozen_plan: FrozenPlan | str | os.PathLike[str] | None = None,
) -> FitReport:
    """Return the report of a fit, which `print` shows and `bayesbias.write` writes.

    Its page has the answer (a sentence, its number with the interval, and a forest of groups); groups and words, each
    with a mark; doubts; checks (sampler, predictions, sensitivity, other models and embeddings, random attribute words,
    priors, single-number measures); and methods and tables (lists, distances, model, settings, code, citation). Checks,
    methods and tables are folded. With covariates, the slopes are the answer, and the contrast follows. The page loads
    nothing, and only its own script may run, which sorts and filters tables.

    Parameters
    ----------
    fit
        A fit from `bayesbias.fit`.
    table
        The fitted table. By default it is rebuilt from the fit, which lacks only the names of attribute lists.
    comparison
        Result of `bayesbias.compare_embeddings` for the fitted table and others, for the section on other embeddings.
    claims
        Result of `bayesbias.check_random_lists` for the same embedding and study, for the section on random words.
    rope
        Region of practical equivalence, as for `contrasts`.
    hdi_prob
        Probability inside the highest posterior density intervals of the results. None: that of the fit.
    random_seed
        Seed of all computations of the page, from 0 to 2**32 - 1. None (default): the seed of the fit, so that the
        same fit gives the same numbers.
    title
        Title of the page; by default the question of the study, in its own words.
    quick
        Whether to omit the comparison with other models, the fits without each word and list, and the simulation from
        the priors, so that the page takes seconds. The page says how to get them.
    frozen_plan
        Plan of `bayesbias.audits.freeze_plan`, or the path of its file: each contrast is marked as planned, changed
        since or exploratory, and changes of lists, model, region and interval are named.

    Returns
    -------
    FitReport
        Statements, tables and figures. The sections of the page are computed when it is written.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, `table` is not its table, `comparison` does not begin with that table, or another
        argument is not usable, such as a frozen plan of another study.

    Notes
    -----
    The comparison of models, and the fits without each word and list, use 500 draws in each of 4 chains. Models that
    need NUTS, and tables so large that the fits would take hours, are neither compared nor fitted again; the page
    says so.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = bb.write(bb.report(fit, quick=True), f"{folder}/report.html")
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    given_seed = None if random_seed is None else resolve_seed(random_seed)
    prob = hdi_prob_of(fit, hdi_prob)
    check_flag("quick", quick)
    if claims is not None:
        check_type("claims", claims, RandomListCheck, "what bb.check_random_lists returned")
    region = rope_of(fit, rope)
    rows = table_of(fit, table)
    check_comparison(comparison, rows)
    shown = FitReport(
        fit=fit,
        table=rows,
        comparison=comparison,
        claims=claims,
        rope=region,
        hdi_prob=prob,
        random_seed=resolve_seed(fit_attribute(fit, "random_seed") if given_seed is None else given_seed),
        quick=quick,
        page_title=title,
        frozen_plan=None if frozen_plan is None else checked_plan(frozen_plan),
    )
    _ = shown.planned  # a plan of another study ends here
    return shown


def check_request(table: "pd.DataFrame", *, hdi_prob: float = HDI_PROB, rope: float | None = None) -> None:
    """Raise before sampling if a fit of `table` could not lead to conclusions.

    Raises `ArgumentError` or `ReportError` if `hdi_prob` or `rope` is invalid, or the table has nothing to compare or
    invalid questions.
    """
    check_probability("hdi_prob", hdi_prob)
    check_rope(rope)
    own_questions(table)
    if reason := nothing_to_compare(table["connection"].unique()):
        raise ReportError(f"{reason} Alternatively, fit it in Python (bb.fit) and use bb.summary.")


def table_of(fit: "xr.DataTree", table: pd.DataFrame | None) -> pd.DataFrame:
    """Return the fitted table: the given one, or by default one rebuilt from the fit.

    Raises `ReportError` if the given table is not the one that was fitted.
    """
    if table is None:
        return fitted_table(fit)
    table = as_frame(table)
    if model_data(table).table_hash != fit_attribute(fit, "table_hash"):
        raise ReportError(
            "The table is not the one that was fitted: the hashes differ. Give the fitted table, or omit `table` to "
            "use the rows that the fit stores."
        )
    return validate_table(table)


def check_comparison(comparison: Any, table: pd.DataFrame) -> None:
    """Raise `ReportError` unless a comparison is None or its first condition has the distances of `table`."""
    if comparison is None:
        return
    if not isinstance(comparison, ComparedConditions):
        raise ReportError(f"comparison: give what bb.compare_embeddings returned, not {type(comparison).__name__}.")
    pair = ["protected_word", "attribute_word"]
    compared = fitted_table(comparison.fits[comparison.conditions[0]]).set_index(pair)["cosine_distance"]
    here = table.drop_duplicates(pair).set_index(pair)["cosine_distance"].reindex(compared.index)
    if not (different := (here != compared)).any():
        return
    protected, attribute = compared.index[int(different.to_numpy().argmax())]
    raise ReportError(
        f"comparison: its first table, {comparison.conditions[0]!r}, is not the one that was fitted; the first pair "
        f"that differs is {protected!r} with {attribute!r}. Give bb.compare_embeddings the fitted table first."
    )
