"""The frame of an audit, its record, and its answers: whether each question is settled, and in which direction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.audits.coherence import Coherence
from bayesbias.audits.word_contributions import WordContributions
from bayesbias.base.checks import check_frame
from bayesbias.base.number_text import counted, interval_text, listed, p_text, percent_text, shown_name, signed_text
from bayesbias.base.results import MORE_DRAWS, VERDICTS
from bayesbias.base.statements import Described, Facts, Statement, rows_of
from bayesbias.errors import ReportError, name_some
from bayesbias.estimates.frames import notebook_html
from bayesbias.metrics.registry import MEASURES
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.plans.record import Region
from bayesbias.studies.study import Study
from bayesbias.tables.measures import COSINE_DISTANCE, Measure

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


CONTRAST = "contrast"
"""The model's own measure: how much nearer associated words are than the others."""
TEXTS = ("embedding", "study", "model", "measure", "quantity", "protected_group", "reading", "contrast_unit")
STANDARDISED = ("control_sd", "standardised", "standardised_low", "standardised_high")
"""Columns of a contrast as a multiple of the standard deviation of single distances to control words, or of pairs."""
PAIR_SD = "pair_sd"
"""Column of the standard deviation of single numbers of a study's own pairs, by which other units are standardised."""
CONTEXTS = ("context_low", "context_high")
SIGN = "probability_of_direction"
BESIDE = ("hdi_low", "hdi_high", *CONTEXTS, SIGN, "probability_in_rope", "ess_bulk", "ess_tail", "r_hat")
NUMBERS = ("observed", "mean", "p_value", "p_value_mcse", *BESIDE, *STANDARDISED, PAIR_SD)
MOST_PARTS = 8
"""Largest number of models and seeds whose figures are drawn."""
COLUMNS = (
    *("embedding", "study", "model", "random_seed", "measure", "quantity", "protected_group", "contrast_unit"),
    *(
        "observed",
        "mean",
        "hdi_low",
        "hdi_high",
        *CONTEXTS,
        "reading",
        SIGN,
        "probability_in_rope",
        "p_value",
        "p_value_mcse",
    ),
    *("ess_bulk", "ess_tail", "r_hat", "lost_words"),
    *STANDARDISED,
    PAIR_SD,
)

_CHANGED, _AGAIN = "audit: its rows were changed after they were computed", "Give rows as bb.audit returned them."
SETTLED = ("nearer", "farther")
"""Readings of a contrast whose interval excludes 0."""
READINGS = {
    "nearer": "Associated words are nearer, and this is settled",
    "farther": "Associated words are farther, and this is settled",
    "borderline": f"Borderline ({VERDICTS['borderline']}; {MORE_DRAWS})",
    "not settled": "Not settled",
}
"""Readings of a contrast, settled ones first, and their sentences."""


@dataclass(frozen=True, eq=False, repr=False)
class AuditRecord(Described):
    """Draws, lost words, errors and settings of an audit by one model and seed.

    Parameters
    ----------
    draws
        (embedding, study, measure) -> posterior draws of the value, shape (draws,), of all protected words, in an
        order in which those of different questions are independent.
    lost_words
        (embedding, study) -> words of the study's groups that the embedding lacks.
    left_out
        (embedding, study, measure) -> reason why the measure has no answer.
    hdi_prob, model
        Settings; `model` is empty if no model was fitted.
    settings
        Settings by name, as texts.
    questions
        study -> its question in words, or an empty text.
    fits, tables
        (embedding, study) -> fit and distance table, with `keep_fits`.
    random_seed
        Seed that was given, or drawn.
    failed
        (embedding, study) -> error of a cell that has no answer.
    others
        Records of the other models and seeds, if there are several.
    region
        Region of practical equivalence of contrasts, in their unit or standardised, if one was given.
    study_hashes
        study -> hash of its word lists and comparisons, by which a later audit recognises the same question.
    words_hashes
        (embedding, study) -> hash of the words of the study's groups that have a vector, and of their forms there.
    interval_includes
        embedding -> what intervals include besides the choice of independent words.
    model_hash
        Hash of the model.
    coherences
        (embedding, study) -> how much more the words of a list resemble each other than those of different lists.
    vectors_hashes
        (embedding, study) -> hash of the words and vectors that can enter the answer.
    unconverged
        (embedding, study) of the answers whose sampler did not converge.
    contributions
        (embedding, study, measure) -> what each word contributes to the error of the value, a contrast standardised by
        `pair_sd`, by which `rank` compares embeddings in pairs.
    units
        embedding -> what its contrasts are differences of, with its unit and directions; cosine distances if missing.
    tables_of
        Those of the embeddings that are language models or scores: tables in place of vectors.
    spreads
        (embedding, study) -> mean of the numbers of its table (`mean_number`), and standard deviations of single ones:
        `control_sd` and `pair_sd`, as in the frame; and that of the means of single words (`word_sd`).
    list_means
        (embedding, study) -> protected group, attribute list, and mean number of the two without the means of each.
    studies
        study -> its lists, by which changes since a frozen plan are named.
    spec
        Model, if one was fitted.
    """

    draws: Mapping[tuple[str, str, str], np.ndarray] = field(repr=False)
    lost_words: Mapping[tuple[str, str], tuple[str, ...]] = field(repr=False)
    left_out: Mapping[tuple[str, str, str], str]
    hdi_prob: float
    model: str
    settings: Mapping[str, str] = field(repr=False, default_factory=dict)
    questions: Mapping[str, str] = field(repr=False, default_factory=dict)
    fits: "Mapping[tuple[str, str], xr.DataTree]" = field(repr=False, default_factory=dict)
    tables: Mapping[tuple[str, str], pd.DataFrame] = field(repr=False, default_factory=dict)
    random_seed: int = 0
    failed: Mapping[tuple[str, str], str] = field(repr=False, default_factory=dict)
    others: tuple["AuditRecord", ...] = field(repr=False, default=())
    region: Region | None = None
    study_hashes: Mapping[str, str] = field(repr=False, default_factory=dict)
    words_hashes: Mapping[tuple[str, str], str] = field(repr=False, default_factory=dict)
    interval_includes: Mapping[str, str] = field(repr=False, default_factory=dict)
    model_hash: str = ""
    coherences: Mapping[tuple[str, str], Coherence] = field(repr=False, default_factory=dict)
    vectors_hashes: Mapping[tuple[str, str], str] = field(repr=False, default_factory=dict)
    unconverged: frozenset[tuple[str, str]] = frozenset()
    contributions: Mapping[tuple[str, str, str], WordContributions] = field(repr=False, default_factory=dict)
    units: Mapping[str, Measure] = field(repr=False, default_factory=dict)
    tables_of: frozenset[str] = frozenset()
    spreads: Mapping[tuple[str, str], Mapping[str, float]] = field(repr=False, default_factory=dict)
    list_means: Mapping[tuple[str, str], Sequence[tuple[str, str, float]]] = field(repr=False, default_factory=dict)
    studies: Mapping[str, Study] = field(repr=False, default_factory=dict)
    spec: ModelSpec | None = field(repr=False, default=None)

    @property
    def _facts(self) -> Facts:
        return {
            "embeddings": list(dict.fromkeys(embedding for embedding, _ in self.lost_words)),
            "studies": list(dict.fromkeys(study for _, study in self.lost_words)),
            "model": self.model,
            "hdi_prob": self.hdi_prob,
            "left_out": {", ".join(key): why for key, why in self.left_out.items()},
            "lost_words": {", ".join(key): words for key, words in self.lost_words.items() if words},
        }

    @property
    def rope(self) -> tuple[float, float] | None:
        """Ends of the region in the unit of the contrasts; None without one, or if it is standardised."""
        return None if self.region is None or self.region.standardised else (self.region.low, self.region.high)

    def unit_of(self, name: str) -> Measure:
        """Return what the contrasts of an embedding, language model or table are differences of."""
        return self.units.get(name, COSINE_DISTANCE)

    @property
    def unit(self) -> Measure | None:
        """What all contrasts are differences of; None if they have several units."""
        measures = set(self.units.values()) or {COSINE_DISTANCE}
        return next(iter(measures)) if len(measures) == 1 else None

    @property
    def zero(self) -> str:
        """What a contrast below 0 means, in sentences."""
        measures = dict.fromkeys(measure.nearer for measure in (*self.units.values(),) or (COSINE_DISTANCE,))
        return f"below 0, associated words are {' or '.join(measures)}"

    def counted_sources(self, embeddings: Sequence[str]) -> str:
        """Return how many embeddings, language models and tables there are."""
        kinds = [self.unit_of(name).source for name in embeddings]
        return listed([counted(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)], len(kinds))

    @property
    def variants(self) -> tuple["AuditRecord", ...]:
        """The records of all models and seeds, of which this is the first."""
        return (self, *self.others)


class AuditFrame(pd.DataFrame):
    """Pandas frame that keeps the record of its audit while rows are selected, sorted or copied.

    `audit` lists its columns.

    Parameters
    ----------
    record : AuditRecord
        Record; None once frames are joined or read from a file.
    """

    _metadata = ["record"]  # noqa: RUF012 - as pandas asks for it
    record: AuditRecord | None

    @property
    def _constructor(self) -> Callable[..., "AuditFrame"]:
        return AuditFrame

    def _repr_html_(self) -> str | None:
        return notebook_html(self)


def audit_rows(audit: Any) -> tuple[pd.DataFrame, AuditRecord]:
    """Return the rows of an audit as a plain frame, and its record.

    Raises `ReportError` if `audit` is not an audit, has lost its record, has several models or seeds, or was changed,
    so that its numbers no longer match its draws.
    """
    check_frame("audit", audit, "what bb.audit returned")
    record = getattr(audit, "record", None)
    if not isinstance(record, AuditRecord) or not set(COLUMNS) <= set(audit.columns):
        raise ReportError("audit: give what bb.audit returned; a frame that was joined or read keeps no draws.")
    record = _selected(audit, record)
    answered = set(audit["embedding"].astype(str))
    if not answered >= record.units.keys():  # so that rows of one unit are shown in it
        record = replace(record, units={name: unit for name, unit in record.units.items() if name in answered})
    rows = pd.DataFrame(
        {name: audit[name].astype(object).map(str) for name in TEXTS}
        | {name: pd.to_numeric(audit[name], errors="coerce").astype(float) for name in NUMBERS}
        | {name: audit[name] for name in ("random_seed", "lost_words")}
    )[list(COLUMNS)].reset_index(drop=True)
    if rows.empty:
        raise ReportError("audit: no rows are left. Select more.")
    if rows.duplicated(["embedding", "study", "measure", "protected_group"]).any():
        raise ReportError(f"{_CHANGED}: some occur twice. {_AGAIN}")
    for row in rows[rows["protected_group"] == ""].to_dict("records"):
        key = row["embedding"], row["study"], row["measure"]
        computed = key[:2] in record.lost_words and (key[2] in MEASURES or key[2] == CONTRAST)
        draws = record.draws.get(key)
        if draws is None:  # no posterior
            same = np.isnan([row["mean"], row["hdi_low"]]).all()
        else:
            same = np.isclose(draws.mean(), row["mean"], rtol=1e-6)
        if not computed or not np.isfinite(row["observed"]) or not same:
            raise ReportError(f"{_CHANGED}: {', '.join(key)}. {_AGAIN}")
    return rows, record


def comparable_rows(rows: pd.DataFrame, record: AuditRecord) -> pd.DataFrame:
    """Return rows of an audit whose contrasts can stand side by side: standardised ones if they have several units.

    The column `divisor` has what a contrast, and its draws, were divided by; questions without one are left out.
    """
    rows = rows.assign(divisor=1.0)
    if record.unit is not None:
        return rows
    contrasts = (rows["measure"] == CONTRAST).to_numpy()
    rows.loc[contrasts, "divisor"] = rows.loc[contrasts, PAIR_SD]
    for name in ("observed", "mean", "hdi_low", "hdi_high", *CONTEXTS):
        rows[name] = rows[name] / rows["divisor"]
    return rows[rows["divisor"].notna()]


def central_values(rows: pd.DataFrame) -> "pd.Series[float]":
    """Return the posterior mean of each row of an audit, or the observed value where it has no posterior."""
    return rows["mean"].fillna(rows["observed"])


def audit_parts(audit: Any) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each model and seed of an audit with a name, which is empty if there is only one.

    Raises `ReportError` as for `audit_rows`.
    """
    record = getattr(audit, "record", None)
    if not isinstance(record, AuditRecord) or not record.others or not {"model", "random_seed"} <= set(audit.columns):
        return [("", audit)]
    models, seeds = ({getattr(variant, name) for variant in record.variants} for name in ("model", "random_seed"))
    parts = []
    for variant in record.variants:
        rows = audit[(audit["model"] == variant.model) & (audit["random_seed"] == variant.random_seed)]
        seed = [f"seed {variant.random_seed}"] if len(seeds) > 1 else []
        named = ", ".join(([variant.model or "no model"] if len(models) > 1 else []) + seed)
        parts += [(named, rows)] if len(rows) else []
    return parts or [("", audit)]


def failed_cells(audit: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of an audit that have no answer: `embedding`, `study`, `model`, `random_seed` and `error`."""
    record = getattr(audit, "record", None)
    rows = [
        (*question, variant.model, variant.random_seed, error)
        for variant in (record.variants if isinstance(record, AuditRecord) else ())
        for question, error in variant.failed.items()
    ]
    return pd.DataFrame(rows, columns=["embedding", "study", "model", "random_seed", "error"])


def _selected(audit: pd.DataFrame, record: AuditRecord) -> AuditRecord:
    """Return the record of the model and seed whose rows these are."""
    parts = audit_parts(audit)
    if len(parts) > 1:
        names = name_some((name for name, _ in parts), 3)
        raise ReportError(
            f"audit: it has rows of several models or seeds ({names}), which answer the same questions. Select "
            "one, such as audit[audit['model'] == 'crossed'], and one seed."
        )
    if not record.others:
        return record
    for variant in record.variants:
        if ((audit["model"] == variant.model) & (audit["random_seed"] == variant.random_seed)).all():
            return variant
    raise ReportError(f"{_CHANGED}: models and seeds are not those of its record. {_AGAIN}")


def standardised_text(row: Mapping[str, Any], record: AuditRecord) -> str:
    """Return a contrast in its standardised form with its interval, if contrasts have several units; else nothing."""
    names = STANDARDISED[1:]
    if record.unit is not None or any(row[name] != row[name] for name in names):
        return ""
    mean, low, high = (row[name] for name in names)
    return f"; standardised {signed_text(mean)} ({interval_text(low, high)})"


def answers(audit: "pd.DataFrame") -> tuple[Statement, ...]:
    """Return a statement for each contrast of all protected words: whether it is settled, and WEAT's p-value, if any.

    Returns
    -------
    tuple of Statement
        One statement per question, settled ones first. Its kind is the reading; its numbers are those of the row,
        and WEAT's one-sided `weat_p`, if any. Empty without contrasts.

    Raises `ReportError` if `audit` is not an audit.
    """
    audited, record = audit_rows(audit)
    rows = audited[(audited["measure"] == CONTRAST) & (audited["protected_group"] == "")]
    weat = audited[audited["measure"] == "weat"].set_index(["embedding", "study"])["p_value"].to_dict()
    several = rows["embedding"].nunique() > 1
    prob = percent_text(record.hdi_prob)
    statements = []
    for row in rows_of(rows):
        key = row["embedding"], row["study"]
        question = f"{text} " if (text := record.questions.get(row["study"])) else ""
        measure = record.unit_of(key[0])
        unit = "" if record.unit == COSINE_DISTANCE else f" {measure.in_difference}"
        text = (
            f"{shown_name(key[1])}{f' in {key[0]}' if several else ''}: {question}"
            f"{measure.phrase(READINGS[row['reading']])}. "
            f"The difference is {signed_text(row['mean'])}{unit} (observed {signed_text(row['observed'])}), {prob} "
            f"interval {interval_text(row['hdi_low'], row['hdi_high'])}{standardised_text(row, record)}."
        )
        p = weat.get(key)
        if p is not None and p == p:
            text += f" WEAT: {p_text(p)}."
            row["weat_p"] = p
        statements.append(Statement(row["reading"], text, row))
    return tuple(sorted(statements, key=lambda statement: list(READINGS).index(statement.kind)))
