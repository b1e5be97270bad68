"""The report of a fit: its conclusions, estimates and contrasts, and what a page of them rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from bayesbias.base.checks import HDI_PROB, check_flag, check_probability, check_rope, check_type, resolve_seed
from bayesbias.base.results import Contents, Result, ResultFigure, ResultTable
from bayesbias.base.statements import Conclusions, Statement, StatementList, percent_text
from bayesbias.errors import ReportError
from bayesbias.metrics.similarities import table_study
from bayesbias.models.data import model_data
from bayesbias.models.fitted.fit_source import fitted_model, fitted_table
from bayesbias.models.fitted.fits import check_fit, fit_attribute, write_fit
from bayesbias.models.quick import sampler_for
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.reports.posterior.conclusions import conclusions, nothing_to_compare
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.questions import own_questions
from bayesbias.reports.posterior.summary import summary
from bayesbias.reports.robustness.random_list_check import RandomListCheck
from bayesbias.studies.faults import CONTROLS
from bayesbias.studies.study import Study, list_studies, load_study
from bayesbias.tables.conversion import as_frame
from bayesbias.tables.schema import validate_table
from bayesbias.tables.table_files import write_table

if TYPE_CHECKING:
    import xarray as xr

BASELINE = "associated"
# A page fits a table again, whole or in parts, as long as pairs times fits are fewer.
_MOST_PAIRS_FITTED = 30_000_000


@dataclass(frozen=True, eq=False, repr=False)
class FitReport(Result):
    """What a fit shows, and what that rests on. `print` gives its conclusions; `bayesbias.write` makes its page.

    Parameters
    ----------
    fit
        A fit.
    table
        The fitted rows: the table that was given, or one made from the fit.
    comparison, claims
        What `compare_embeddings` and `check_random_lists` returned, or None.
    rope, hdi_prob, seed, quick, page_title
        As in `report`.
    """

    fit: "xr.DataTree"
    table: pd.DataFrame
    comparison: EmbeddingComparison | None
    rope: float | tuple[float, float] | None
    hdi_prob: float
    seed: int
    claims: RandomListCheck | None = None
    quick: bool = False
    page_title: str | None = None
    page_in_folder: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"FitReport({self.subject!r}, model {self.spec.name!r}, {len(self.table):,} pairs)"

    @property
    def subject(self) -> str:
        """The study and the embedding that the fit is about."""
        study = self.facts.get("study")
        return f"{study} in {self.embedding}" if study else self.embedding

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the conclusions; why there are none, where there is nothing to compare."""
        if reason := self.nothing_to_compare:
            return (StatementList("", (Statement("nothing to compare", reason),), bulleted=False),)
        return self.conclusions.parts

    @cached_property
    def contents(self) -> Contents:
        """Conclusions, estimates, contrasts, and the answers to the study's own questions."""
        prob = f"{percent_text(self.hdi_prob)} HPDI, in units of cosine distance"
        tables = {
            "summary": ResultTable(summary(self.fit, hdi_prob=self.hdi_prob), "Parameters", f"Parameters, {prob}")
        }
        reason = self.nothing_to_compare
        if not reason:
            frame = contrasts(self.fit, level="all", hdi_prob=self.hdi_prob, rope=self.rope)
            caption = f"Contrasts, {prob}; below 0, associated words are nearer"
            tables["contrasts"] = ResultTable(frame, "Contrasts", caption, differences=True)
            if own_questions(self.table) and len(answers := contrast(self.fit, hdi_prob=self.hdi_prob, rope=self.rope)):
                caption = f"Questions of the study, {prob}"
                tables["questions"] = ResultTable(answers, "Questions", caption, differences=True)
        found = None if reason else self.conclusions
        caption = f"Posterior means (points) and {prob} (lines) of each word's mean distance"
        return Contents(
            title=self.page_title or f"Associations of words: {self.subject}",
            about=f"Model {self.spec.name}.",
            diagnostics=found.doubts if found else self.parts[0].statements,
            verdict=found.verdict.text if found else "",
            answers=found.shown if found else (),
            tables=tables,
            figures={"words": ResultFigure("plot_words", caption, self.fit, {"hdi_prob": self.hdi_prob})},
            limits=found.limits if found else (),
            settings={
                "Model": self.spec.name,
                "Sampler": str(fit_attribute(self.fit, "sampler")),
                "Seed of the fit": str(fit_attribute(self.fit, "seed")),
                "Interval": f"{percent_text(self.hdi_prob)} HPDI",
            },
            files={"table.csv": partial(write_table, self.table), "fit.nc": partial(write_fit, self.fit)},
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Where the table comes from, as the fit keeps it."""
        return dict(fit_attribute(self.fit, "table"))

    @property
    def spec(self) -> ModelSpec:
        """The fitted model, with the priors that it was fitted with."""
        return fitted_model(self.fit)

    @property
    def embedding(self) -> str:
        """The name of the embedding, or of the file that the table was read from."""
        facts = self.facts
        return str(facts.get("embedding", {}).get("name") or facts.get("source") or "a table without a source")

    @property
    def nothing_to_compare(self) -> str:
        """Why there is no contrast; empty if there is one."""
        return nothing_to_compare(self.fit["constant_data"].to_dataset()["connection"].to_numpy().tolist())

    @cached_property
    def conclusions(self) -> Conclusions:
        """What `conclusions` returns; only where there is something to compare."""
        return conclusions(self.fit, hdi_prob=self.hdi_prob, rope=self.rope)

    @cached_property
    def own_study(self) -> Study | None:
        """The study, lost words included, unless it is one that travels with the package, whole and unchanged."""
        facts = self.facts
        if not {"study", "embedding"} <= set(facts) or BASELINE not in set(self.table["connection"]):
            return None
        here = table_study(self.table, facts["study"])
        lists: dict[str, dict[str, list[str]]] = {
            "protected": {name: list(words) for name, words in here.protected.items()},
            "attribute": {name: list(words) for name, words in here.attribute_lists.items()},
        }
        for entry in facts.get("lost_words", []):
            lists[entry["role"]].setdefault(entry["list"], []).append(entry["word"])
        asked = {name: tuple(map(tuple, sides)) for name, sides in facts.get("questions", {}).items()}
        if facts["study"] in list_studies():
            known = load_study(facts["study"])
            same = _as_sets(lists["protected"]) == _as_sets(known.protected)
            same &= _as_sets(lists["attribute"]) == _as_sets(known.attribute_lists)
            if same and set(here.associated) == set(known.associated) and asked == known.questions:
                return None
        controls: dict[str, Any] = {name: lists["attribute"].pop(name, "none") for name in CONTROLS}
        return Study(
            name=facts["study"],
            protected=lists["protected"],
            attributes=lists["attribute"],
            associated=here.associated,
            questions=asked,
            **controls,
        )

    def shown(self, kind: str) -> tuple[str, ...]:
        """Return what the posterior shows of a kind, ``"contrast"`` or ``"words"``; nothing without a contrast."""
        if self.nothing_to_compare:
            return ()
        return tuple(found.text for found in self.conclusions.shown if found.kind == kind)

    def too_long(self, fits: int, command: str) -> str:
        """Return why the table is not fitted that many times more for the page; empty if it can be."""
        if self.quick:
            return f"This is a quick page. Run {command}, or bb.write(fit, path) for the whole page."
        if (pairs := len(self.table)) * fits <= _MOST_PAIRS_FITTED:
            return ""
        return f"{fits:,} more fits of {pairs:,} pairs would take a page too long. Run {command}."

    @property
    def needs_nuts(self) -> bool:
        """Whether each fit of the model takes a sampler that needs up to a minute."""
        return sampler_for(self.spec) == "nuts"


def _as_sets(lists: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    return {name: set(words) for name, words in lists.items()}


def report(
    fit: "xr.DataTree",
    *,
    table: pd.DataFrame | None = None,
    comparison: EmbeddingComparison | None = None,
    claims: RandomListCheck | None = None,
    rope: float | tuple[float, float] | None = None,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
    title: str | None = None,
    quick: bool = False,
) -> FitReport:
    """Return what a fit shows and what it rests on, to be printed or written with `bayesbias.write`.

    Its page holds the question, the data and the lost words, the posterior of all protected words and of each, the
    embedding beside others, checks of sampler, predictions and priors, a comparison of models, what the
    conclusions are sensitive to, what random attribute words would show, single-number measures, conclusions in plain
    English, settings and versions to repeat it, and how to cite it. A section that does not apply says why. The page
    loads nothing; its one script sorts and filters long tables, and no other may run.

    Parameters
    ----------
    fit
        What `bayesbias.fit` returned.
    table
        The fitted table. By default its rows are taken from the fit, where only the names of attribute lists are
        missing.
    comparison
        What `bayesbias.compare_embeddings` returned for the fitted table and others, for the section on them.
    claims
        What `bayesbias.check_random_lists` returned for the same embedding and study, for the section on random words.
    rope
        Region of practical equivalence, in units of cosine distance, as for `bayesbias.contrasts`.
    hdi_prob
        Probability inside the highest posterior density intervals of the results.
    random_seed
        Seed of everything that the page computes: 0 to 2**32 - 1. None takes the fit's own seed, so that the same
        fit gives the same numbers.
    title
        Title of the page; by default it names study and embedding.
    quick
        Whether the page holds only what the fit itself says, which takes seconds: no comparison with other models, no
        refits without each word and list, no simulation from the priors. The page says how to have them.

    Returns
    -------
    FitReport
        Statements, tables and figures; the page's sections are computed when it is written.

    Raises
    ------
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, `table` is not its table, `comparison` does not begin with that table, or another
        argument is not usable.

    Notes
    -----
    To be quick, models are compared with 1,000 draws in each of 4 chains, and fitted again without each word and list
    with 500. Models that need NUTS are neither compared nor fitted again, nor are tables of so many words that it would
    take hours, and the page says so.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = bb.write(bb.report(fit, quick=True), f"{folder}/report.html")
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    given_seed = None if random_seed is None else resolve_seed(random_seed)
    check_probability("hdi_prob", hdi_prob)
    check_rope(rope)
    check_flag("quick", quick)
    if claims is not None:
        check_type("claims", claims, RandomListCheck, "what bb.check_random_lists returned")
    check_fit(fit)
    rows = table_of(fit, table)
    check_comparison(comparison, rows)
    return FitReport(
        fit=fit,
        table=rows,
        comparison=comparison,
        claims=claims,
        rope=rope,
        hdi_prob=hdi_prob,
        seed=resolve_seed(fit_attribute(fit, "seed") if given_seed is None else given_seed),
        quick=quick,
        page_title=title,
    )


def check_request(table: "pd.DataFrame", *, hdi_prob: float = HDI_PROB, rope: float | None = None) -> None:
    """Raise, before anything is sampled, if nothing could be concluded from a fit of `table`.

    Raises
    ------
    ArgumentError, ReportError
        If `hdi_prob` or `rope` is impossible, or the table has nothing to compare or garbled questions.
    """
    check_probability("hdi_prob", hdi_prob)
    check_rope(rope)
    own_questions(table)
    if reason := nothing_to_compare(table["connection"].unique()):
        raise ReportError(f"{reason} Or fit it in Python (bb.fit) and take bb.summary.")


def table_of(fit: "xr.DataTree", table: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows of a fit: the given table if it is the fitted one, else a table rebuilt from the fit.

    Raises
    ------
    ReportError
        If the given table is not the one that was fitted.
    """
    if table is None:
        return fitted_table(fit)
    table = as_frame(table)
    if model_data(table).table_hash != fit_attribute(fit, "table_hash"):
        raise ReportError(
            "The table is not the one that was fitted: their hashes differ. Give the fitted table, or leave `table` "
            "out and the page takes the rows that the fit keeps."
        )
    return validate_table(table)


def check_comparison(comparison: Any, table: pd.DataFrame) -> None:
    """Raise `ReportError` unless a comparison is None, or one whose first distances are those of `table`."""
    if comparison is None:
        return
    if not isinstance(comparison, EmbeddingComparison):
        raise ReportError(f"comparison: give what bb.compare_embeddings returned, not {type(comparison).__name__}.")
    pair = ["protected_word", "attribute_word"]
    compared = fitted_table(comparison.fits[comparison.baseline]).set_index(pair)["cosine_distance"]
    here = table.drop_duplicates(pair).set_index(pair)["cosine_distance"].reindex(compared.index)
    if not (different := (here != compared)).any():
        return
    protected, attribute = compared.index[int(different.to_numpy().argmax())]
    raise ReportError(
        f"comparison: its first table, {comparison.baseline!r}, is not the one that was fitted; the first pair that "
        f"differs is {protected!r} with {attribute!r}. Give bb.compare_embeddings the fitted table first."
    )
