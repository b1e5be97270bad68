"""A gate: each question of an audit passes, fails or stays undecided by a region of practical equivalence."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.audits.audit_frame import CONTEXTS, CONTRAST, AuditRecord, audit_parts, audit_rows
from bayesbias.audits.coherence import COHERENCE, Coherence
from bayesbias.audits.gate_files import (
    KEPT_DRAWS,
    SCHEMA_VERSION,
    checksum,
    gate_files,
    junit_xml,
    model_card,
    read_baseline,
)
from bayesbias.audits.gate_notes import GROUP, LIST, gate_notes
from bayesbias.audits.gate_rule import asked_question, decided, question_of
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_flag
from bayesbias.base.exit_codes import (
    CHANGED,
    EXIT_CODES,
    FAIL,
    INCOMPARABLE,
    PASS,
    SEVERITY,
    UNANSWERED,
    UNDECIDED,
)
from bayesbias.base.number_text import counted, exact_text, interval_text, json_text, percent_text, signed_text
from bayesbias.base.results import (
    LIMITS,
    NO_PROOF,
    SHOWS,
    Contents,
    Result,
    ResultFigure,
    ResultTable,
    forest_figure,
)
from bayesbias.base.statements import Statement, StatementList, plain, rows_of
from bayesbias.errors import ReportError, name_some, setting
from bayesbias.reports.plans.record import (
    DEPENDENCE,
    PlanRecord,
    Region,
    RopeLike,
    check_region,
    check_region_unit,
)
from bayesbias.tables.measures import COSINE_DISTANCE, Measure

if TYPE_CHECKING:
    import pandas as pd


_COUNTED = {
    FAIL: ("fails", "fail"),
    UNANSWERED: ("has no answer", "have no answer"),
    INCOMPARABLE: ("is not comparable", "are not comparable"),
    UNDECIDED: ("is undecided", "are undecided"),
    PASS: ("passes", "pass"),
}
_MOST_NAMED = 3
_NO_SAMPLE = "come without random words of their vocabulary, which show how far words of a list depend on each other"
_NO_RECORD = "does not say how far words of a list depend on each other"
_KEY = ("embedding", "study", "model")
_SPREADS = ("pair_sd", "word_sd", "mean_number")
_NUMBERS = (
    *("mean", "sd", "hdi_low", "hdi_high", "probability_in_rope", "baseline_mean", "probability_worse"),
    *("rope_low", "rope_high", *COHERENCE, *_SPREADS),
)


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """Outcome of each question of an audit, and of all of them.

    Parameters
    ----------
    questions
        One row per question:

        - `embedding`, `study`, `model`, `random_seed`, `study_hash`, `model_hash`, `words_hash`, `vectors_hash`,
          `lost_words`; `interval_includes`: what its interval includes besides the choice of independent words;
          `question`: the study's, in words;
        - `outcome`: ``"pass"``, ``"fail"``, ``"undecided"``, ``"not comparable"`` or ``"unanswered"``; `reason`: why,
          in words;
        - `mean`, `sd`, `hdi_low`, `hdi_high`: the contrast in its unit, `contrast_unit`; `probability_in_rope`;
        - `baseline_mean`, `probability_worse`: missing without a baseline;
        - `compared_by`: ``"draws"``, ``"mean and sd"`` or empty;
        - `rope_low`, `rope_high`: the region that decided, in the same unit;
        - `coherence`: mean cosine of two words of one list minus that of a protected and an attribute word;
          `centred_coherence`: the same without the mean of these words' unit vectors; `mean_cosine`: that of a
          protected and an attribute word; `chance`: share of random exchanges of words between lists that make them
          more coherent. Missing of tables;
        - `pair_sd`, `word_sd`, `mean_number`: standard deviation of single numbers of the study's pairs, without the
          mean of each word in each pair of lists; that of these means; mean of the numbers of the table.
    region
        Region of practical equivalence.
    hdi_prob
        Probability inside the intervals, and smallest probability of being worse than the baseline at which a question
        fails.
    baseline
        Name of the baseline file, or an empty text. `settings` have its checksum and what it says of its vectors.
    missing
        Questions of the baseline that were not asked.
    changes
        How the plan differs otherwise from that of the baseline.
    notes
        What else to know: a question that passes although one of its groups or lists moved, or with an interval that is
        much narrower or wider than the baseline's; and whether the baseline is of the same vectors, of another version
        of this package, or did not pass itself.
    strict
        Whether another plan than that of the baseline is an outcome.
    groups
        Contrast of each protected group: `embedding`, `study`, `model`, `random_seed`, `protected_group`, `mean`,
        `hdi_low`, `hdi_high`.
    lists
        Mean number of each protected group and attribute list, without the means of both: `embedding`, `study`,
        `model`, `random_seed`, `protected_group`, `attribute_group`, `mean`.
    settings
        Settings of the audit.
    draws
        Posterior draws of each row of `questions`; empty for a question without an answer.
    measures
        What contrasts are differences of, with their units and directions.
    tables
        Names of the embeddings that are tables in place of vectors.
    """

    questions: "pd.DataFrame"
    region: Region
    hdi_prob: float
    baseline: str = ""
    missing: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = True
    groups: Sequence[Mapping[str, Any]] = ()
    lists: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    draws: tuple[Floats, ...] = ()
    measures: tuple[Measure, ...] = (COSINE_DISTANCE,)
    tables: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """The most severe outcome: a failure, a changed plan, then a question that is unanswered or not comparable."""
        outcomes = {*self.questions["outcome"], *([CHANGED] if self.strict and self.plan_changes else [])}
        return next(outcome for outcome in SEVERITY if outcome in outcomes)

    @property
    def exit_code(self) -> int:
        """Exit code of `bayesbias gate`: 0 pass, 3 fail, 4 undecided, 5 unanswered, 6 not comparable, 7 other plan."""
        return EXIT_CODES[self.outcome].code

    @property
    def rope(self) -> tuple[float, float]:
        """Ends of the region of practical equivalence, in its units."""
        return self.region.low, self.region.high

    @cached_property
    def plan_changes(self) -> tuple[Statement, ...]:
        """A statement for each question of the baseline that was not asked, and each other change of its plan."""
        dropped = [
            f"NOT ASKED {question}: the baseline {self.baseline} has this question." for question in self.missing
        ]
        changed = [f"CHANGED {change}." for change in self.changes]
        return tuple(Statement(CHANGED, text) for text in (*dropped, *changed))

    @cached_property
    def lines(self) -> tuple[Statement, ...]:
        """One statement per question, each on one line."""
        return tuple(Statement(str(row["outcome"]), self._line(row), row) for row in rows_of(self.questions))

    @property
    def summary(self) -> Statement:
        """The outcome with the numbers of questions by outcome, of which the first ones are named."""
        named = {
            name: [self._named(row) for row in rows_of(self.questions) if row["outcome"] == name] for name in _COUNTED
        }
        parts = [
            f"{len(names)} {_COUNTED[name][len(names) > 1]}"
            + (f" ({name_some(names, _MOST_NAMED)})" if name != PASS else "")
            for name, names in named.items()
            if names
        ]
        count = counted(len(self.questions), "question")
        text = f"Gate: {self.outcome} (exit code {self.exit_code}). Of {count}, {', '.join(parts)}."
        if self.plan_changes:
            text += f" The plan is not that of the baseline ({counted(len(self.plan_changes), 'change')})."
        return Statement("outcome", text, {"outcome": self.outcome, "exit_code": self.exit_code})

    @property
    def _worst(self) -> dict[str, Any]:
        """The row with the most severe outcome: of several, the farthest from the middle of the region."""
        worst = next(outcome for outcome in SEVERITY if outcome in set(self.questions["outcome"]))
        rows = [row for row in rows_of(self.questions) if row["outcome"] == worst]
        middle = 0.0 if self.region.standardised else sum(self.rope) / 2

        def distance(row: Mapping[str, Any]) -> float:
            """Return how far a contrast is from the middle, in units of its region if there are several units."""
            unit = self._unit(row) if len(self.measures) > 1 else 1.0
            return abs(row["mean"] - middle) / unit if unit == unit else 0.0

        return max(rows, key=lambda row: distance(row) if worst != UNANSWERED else 0)

    def _unit(self, row: Mapping[str, Any]) -> float:
        """Return what a contrast is divided by to be in the unit of the region."""
        return float((row["rope_high"] - row["rope_low"]) / (self.region.high - self.region.low))

    @property
    def _in_unit(self) -> str:
        """The unit of the region, as texts have it."""
        if not (self.region.standardised and self.tables):
            return self.region.in_unit
        of_tables = "the standard deviation of single pairs"
        is_mixed = set(self.tables) < set(self.questions["embedding"])
        return f"in units of {f'coherence, of tables of {of_tables}' if is_mixed else of_tables}"

    @property
    def _differences(self) -> str:
        """What contrasts are, and what those below 0 mean."""
        names = " or ".join(f"{one.name}{f' ({one.unit})' if one.unit else ''}" for one in self.measures)
        nearer = " or ".join(dict.fromkeys(one.nearer for one in self.measures))
        return f"differences of {names} (negative: associated words are {nearer})"

    def __str__(self) -> str:
        notes = (f"NOTE {note}." for note in self.notes)
        return "\n".join([*(statement.text for statement in (self.summary, *self.lines, *self.plan_changes)), *notes])

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        outcomes = StatementList("Outcomes", (*self.lines, *self.plan_changes))
        return StatementList("", (self.summary,), bulleted=False), outcomes, StatementList(LIMITS, self._limits())

    @property
    def junit(self) -> str:
        """JUnit XML: fails are failures, undecided questions skipped, what has no answer or is not comparable errors.

        Changes of the plan are errors too, or skipped if the gate is not strict.
        """
        changes = [statement.text for statement in self.plan_changes]
        return junit_xml(rows_of(self.questions), changes, strict=self.strict)

    @property
    def model_card(self) -> str:
        """Section "Bias, Risks, and Limitations" of a model card, in Markdown."""
        texts = [statement.text for statement in (*self.plan_changes, *self._limits())]
        region = f"{interval_text(*self.rope)} {self._in_unit}"
        return model_card(rows_of(self.questions), region, self.hdi_prob, texts, self._differences)

    @property
    def contents(self) -> Contents:
        """Outcomes as statements and a table; in a folder also gate.json, junit.xml and model_card.md."""
        low, high = self.rope
        embeddings = list(dict.fromkeys(self.questions["embedding"].map(str)))
        return Contents(
            title=f"Are the associations of {name_some(embeddings, _MOST_NAMED)} small enough?",
            about=f"Too small to matter: {interval_text(low, high)} {self._in_unit}."
            + (
                f" What lies outside passes too, unless it is worse than in the baseline, {self.baseline}."
                if self.baseline
                else ""
            ),
            answer=self.summary.text,
            estimate="" if self._worst["outcome"] == UNANSWERED else self._line(self._worst),
            answers=(*self.lines, *self.plan_changes),
            opened=("Questions", SHOWS),
            figures=self._figures(),
            tables={
                "questions": ResultTable(
                    self.questions,
                    "Questions",
                    f"Contrasts {self.measures[0].in_unit if len(self.measures) == 1 else 'in their units'}, "
                    f"{percent_text(self.hdi_prob)} HPDI",
                    (
                        "study",
                        *(("embedding",) if len(embeddings) > 1 else ()),
                        "question",
                        "outcome",
                        *(("contrast_unit",) if len(self.measures) > 1 else ()),
                        "mean",
                        "hdi_low",
                        "hdi_high",
                        "probability_in_rope",
                        *(("baseline_mean", "probability_worse") if self.baseline else ()),
                    ),
                    differences=True,
                )
            },
            limits=self._limits(),
            settings={
                **self.settings,
                "Region of practical equivalence": f"{exact_text(low)} to {exact_text(high)} {self._in_unit}",
                "Interval": f"{percent_text(self.hdi_prob)} HPDI",
            },
            files=gate_files(self._json, lambda: self.junit, lambda: self.model_card),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return schema version, outcome and questions, then statements and settings, as plain Python for JSON."""
        head = {"schema_version": SCHEMA_VERSION, "outcome": self.outcome, "exit_code": self.exit_code}
        facts = {"rope": list(self.rope), "standardised": self.region.standardised, "unit": self.region.unit}
        facts |= {"hdi_prob": self.hdi_prob}
        facts |= {"baseline": self.baseline, "missing": list(self.missing), "changes": list(self.changes)}
        numbers = {"questions": plain(self.questions), "groups": plain(self.groups), "lists": plain(self.lists)}
        content = head | facts | numbers | super().to_dict()
        return content | {"checksum": checksum(content)}

    def _json(self) -> str:
        """Return the JSON with draws, by which a later gate compares exactly."""
        content = self.to_dict()
        for question, draws in zip(content["questions"], self.draws, strict=True):
            thinned = draws[np.linspace(0, len(draws) - 1, min(len(draws), KEPT_DRAWS)).astype(int)]
            question["draws"] = [float(f"{value:.6g}") for value in thinned]
        return json_text(content | {"checksum": checksum(content)}, indent=1)

    def _figures(self) -> dict[str, ResultFigure]:
        """Return a forest of the questions that have an answer, the most severe outcomes first."""
        rows = self.questions[self.questions["outcome"] != UNANSWERED]
        if rows.empty:
            return {}
        order = rows["outcome"].map(SEVERITY.index).sort_values(kind="stable").index
        rows = rows.loc[order]
        rows = rows.assign(label=[self._named(row) for row in rows_of(rows)], filled=rows["outcome"].isin([PASS, FAIL]))
        rope = None if self.region.standardised else self.rope  # each question has its own region then
        measure = self.measures[0]
        difference = f"{measure.short} {measure.preposition} associated words minus that {measure.preposition} others"
        difference += f" (below 0, associated words are {measure.nearer})"
        label = f"Difference of mean {measure.of_means}"
        if len(self.measures) > 1:  # all are shown in the unit of the region, which is standardised
            rows = rows[rows["rope_high"].notna()]
            units = np.array([self._unit(row) for row in rows_of(rows)])
            rows = rows.assign(**{name: rows[name] / units for name in ("mean", "hdi_low", "hdi_high")})
            difference, label, rope = f"contrast {self._in_unit}", "Standardised difference", self.rope
        caption = (
            f"Each question: {difference}, and its {percent_text(self.hdi_prob)} interval. "
            f"{'' if rope is None else 'Shaded: too small to matter. '}"
            f"Filled: passed or failed; hollow and grey: neither."
        )
        return {"gate": forest_figure(caption, rows, label=label, rope=rope)} if len(rows) else {}

    def _named(self, row: Mapping[str, Any]) -> str:
        """Return the name of a question, with what else differs between questions."""
        several = self.questions["embedding"].nunique() > 1
        return f"{row['study']}{f' in {row["embedding"]}' if several else ''}{self._variant(row)}"

    def _variant(self, row: Mapping[str, Any]) -> str:
        differing = (name for name in ("model", "random_seed") if self.questions[name].nunique() > 1)
        return "".join(f", {name.removeprefix('random_')} {row[name]}" for name in differing)

    def _line(self, row: Mapping[str, Any]) -> str:
        named = f"{row['embedding']}, {row['study']}{self._variant(row)}"
        text = ""
        if row["outcome"] != UNANSWERED:
            interval = interval_text(row["hdi_low"], row["hdi_high"])
            unit = "" if row["contrast_unit"] == COSINE_DISTANCE.name else f" {row['contrast_unit']}"
            text = f"{signed_text(row['mean'])}{unit} ({percent_text(self.hdi_prob)} interval {interval}), "
        return " ".join(f"{row['outcome'].upper()} {named}: {text}{row['reason']}".split())

    def _limits(self) -> tuple[Statement, ...]:
        texts = [
            "Which outcomes are chance. Each question is decided alone, by its "
            f"{percent_text(self.hdi_prob)} interval, without a correction for their number.",
            "What was not asked. A contrast is a mean over groups, which can differ in opposite directions. A pass "
            "holds for these word lists and this model of them; other words can have associations.",
            NO_PROOF,
        ]
        texts += [f"{note}." for note in self.notes]
        lossy = [row for row in rows_of(self.questions) if row["lost_words"]]
        texts += [
            f"{row['embedding']}, {row['study']}: {counted(row['lost_words'], 'word')} of its groups lost."
            for row in lossy
        ]
        alone = [row for row in rows_of(self.questions) if DEPENDENCE not in row["interval_includes"]]
        alone_names = dict.fromkeys(row["embedding"] for row in alone if row["outcome"] != UNANSWERED)
        texts += [
            f"{name}: its {'table' if name in self.tables else 'vectors'} "
            f"{_NO_RECORD if name in self.tables else _NO_SAMPLE}. Intervals can be too narrow."
            for name in alone_names
        ]
        return tuple(Statement("limits", text) for text in texts)


def gate(
    audit: "pd.DataFrame",
    *,
    rope: RopeLike | None = None,
    baseline: str | os.PathLike[str] | None = None,
    strict: bool = True,
) -> GateResult:
    """Return which questions of an audit pass, fail or stay undecided, by a region of practical equivalence.

    Parameters
    ----------
    audit
        An audit with contrasts, from `bayesbias.audit`. A question that has no answer becomes an outcome of its own.
    rope
        Region of practical equivalence (ROPE): contrasts too small to matter, in units of cosine distance. A
        half-width, or (low, high); ``{"nats": 0.1}`` in another unit, of an audit whose contrasts all have it; or
        ``{"standardised": 0.3}``, in units of coherence, as for `bayesbias.audit`. By default that of the audit.
    baseline
        Path of a ``gate.json``, or another JSON file of a gate: only what got worse fails. None: the region alone.
    strict
        Whether a plan that differs from that of the baseline is the outcome ``"changed plan"``, unless a question
        fails: dropped questions, another region, interval or model, other word lists, lost words or forms of words.

    Returns
    -------
    GateResult
        Its `outcome`, `exit_code` and `questions`; `write` makes a folder with ``gate.json``, ``junit.xml`` and
        ``model_card.md``.

    Raises
    ------
    ReportError
        If `audit` is not an audit, has no contrasts, or was changed; if there is no region; or if the baseline is not
        the JSON of a gate, or has an older form.
    ArgumentError
        If `rope` is not usable.

    Notes
    -----
    The rule is that of Kruschke (2018): a question passes if the whole interval lies inside the region, fails if the
    whole interval lies outside it, and is undecided otherwise. It is undecided too if its draws did not converge, or if
    an end lies within three Monte Carlo standard errors of an edge, so that the draws do not decide. Of vectors
    that are means over contexts or templates, a question is undecided if the interval that includes the choice of
    sentences has another outcome.

    With a baseline, worse means farther from the middle of the region, as the absolute value is for a symmetric one. A
    question that does not pass by its interval fails or is undecided only if it got worse with a probability of at
    least `hdi_prob`; with less it passes, and within three Monte Carlo standard errors of it a fail is undecided. The
    probability is computed over all pairs of a draw of this audit and one of the baseline; if the file has no draws, a
    Normal distribution with its mean and sd replaces them (`compared_by`). The draws are treated as independent. Since
    two embeddings share their words, the probability is cautious. A question whose lists, model, lost words or forms of
    words changed, or whose answer in the baseline is missing or not comparable, is decided by the region alone.

    A question is not comparable if none of its lists has two words with a vector; if they are no more coherent than
    chance, as those of random vectors; if it would pass by a region in units of cosine distance, without a baseline,
    and the mean cosine of its words is above 0.5; and with a baseline if the ratio of the centred coherence to the
    baseline's, or for such a region that of the coherence, is below 0.85 or above 1.25. Inside these bounds a smaller
    coherence makes the region and the draws of the baseline smaller by the same factor, so that vectors of less
    structure gain nothing. Tables, such as those of language models, have no coherence: none of these checks is made of
    them, which a note says if they pass. A standardised region is in units of their `pair_sd`, of which the smaller one
    of now and of the baseline counts, since noise makes it larger. With a baseline, a question does not pass as no
    worse if its posterior sd is above 1.25 times the baseline's and its interval reaches farther from the middle of the
    region.

    References
    ----------
    Kruschke (2018), Rejecting or accepting parameter values in Bayesian estimation. Advances in Methods and Practices
    in Psychological Science 1(2), 270-280.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> audit = bb.audit({"Wikipedia": vectors}, ["gender"], ["contrast"], random_seed=1, progress=False)
    >>> result = bb.gate(audit, rope=0.01)
    >>> result.outcome, result.exit_code
    ('fail', 3)
    """
    record = getattr(audit, "record", None)
    if not isinstance(record, AuditRecord):
        raise ReportError("audit: give what bb.audit returned; a frame that was joined or read keeps no draws.")
    region = check_region(rope) or record.region
    if region is None:
        raise ReportError(f"rope: the gate needs a region of practical equivalence, such as {setting('rope', 0.02)}.")
    check_region_unit(region, record.units)
    check_flag("strict", strict)
    before = None if baseline is None else read_baseline(baseline)
    parts = [audit_rows(part) for _, part in audit_parts(audit)] if len(audit) else []
    groups, lists = _groups(parts), _lists(record)
    rows: list[dict[str, Any]] = []
    draws: list[Floats] = []
    for row, values in _questions(parts, record):
        rows.append({**row, **decided(row, values, region, record.hdi_prob, before)})
        draws.append(values)
    if not rows:
        raise ReportError("audit: it has no contrasts. Ask for the measure 'contrast', with a model.")
    baseline_text = "none"
    if baseline is not None and before is not None:
        baseline_text = f"{Path(baseline).name} (checksum {before.checksum}), of {before.vectors}"
    counts = {question_of(row): len(values) for row, values in zip(rows, draws, strict=True)}
    plan = PlanRecord(region, record.hdi_prob, {question_of(row): asked_question(row) for row in rows})
    return GateResult(
        questions=_frame(rows),
        region=region,
        hdi_prob=record.hdi_prob,
        baseline="" if baseline is None else Path(baseline).name,
        missing=() if before is None else before.plan.not_asked(plan),
        changes=() if before is None else (*before.plan.changes(plan), *before.fewer_draws(counts)),
        notes=(
            *gate_notes(rows, groups, lists, region, record.hdi_prob, before),
            *(() if before is None else before.notes(record.settings)),
        ),
        groups=groups,
        lists=lists,
        strict=strict,
        settings={**record.settings, "Baseline": baseline_text},
        draws=tuple(draws),
        measures=tuple(dict.fromkeys(record.units.values())) or (COSINE_DISTANCE,),
        tables=tuple(name for name in record.units if name in record.tables_of),
    )


_COLUMNS = (
    *(*_KEY, "random_seed", "outcome", "contrast_unit", "mean", "sd", "hdi_low", "hdi_high", "probability_in_rope"),
    *("baseline_mean", "probability_worse", "compared_by", "rope_low", "rope_high", *COHERENCE, *_SPREADS),
    *("lost_words", "study_hash", "model_hash", "words_hash", "vectors_hash"),
    *("interval_includes", "question", "reason"),
)


def _frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows).reindex(columns=list(_COLUMNS)).astype(dict.fromkeys(_NUMBERS, float))


type _Parts = Sequence[tuple["pd.DataFrame", AuditRecord]]
"""The rows of each model and seed of an audit, with their record."""


def _groups(parts: _Parts) -> list[dict[str, Any]]:
    """Return the contrast of each protected group of each question of an audit."""
    return [
        {name: row[name] for name in ("embedding", "study", *GROUP)}
        | {"model": variant.model, "random_seed": variant.random_seed}
        for rows, variant in parts
        for row in rows_of(rows[(rows["measure"] == CONTRAST) & (rows["protected_group"] != "")])
    ]


def _lists(record: AuditRecord) -> list[dict[str, Any]]:
    """Return the mean numbers of groups and attribute lists of each question of an audit."""
    return [
        {"embedding": embedding, "study": study, "model": variant.model, "random_seed": variant.random_seed}
        | dict(zip(LIST, item, strict=True))
        for variant in record.variants
        for (embedding, study), items in variant.list_means.items()
        for item in items
    ]


def _questions(parts: _Parts, record: AuditRecord) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield the facts and draws of each question of an audit, in its order; of one without an answer, its error."""
    answered = {
        (variant.model, variant.random_seed, row["embedding"], row["study"]): row
        for rows, variant in parts
        for row in rows_of(rows[(rows["measure"] == CONTRAST) & (rows["protected_group"] == "")])
    }
    for variant in record.variants:
        left_out = {key[:2]: why for key, why in variant.left_out.items() if key[2] == CONTRAST}
        for (embedding, study), lost in variant.lost_words.items():
            facts: dict[str, Any] = {"embedding": embedding, "study": study, "model": variant.model}
            facts |= {"random_seed": variant.random_seed, "lost_words": len(lost)}
            facts |= {"study_hash": variant.study_hashes.get(study, ""), "model_hash": variant.model_hash}
            facts |= {"words_hash": variant.words_hashes.get((embedding, study), "")}
            facts |= {"interval_includes": variant.interval_includes.get(embedding, "")}
            facts |= {"vectors_hash": variant.vectors_hashes.get((embedding, study), "")}
            facts |= {"question": variant.questions.get(study, ""), "is_table": embedding in variant.tables_of}
            facts |= {"contrast_unit": variant.unit_of(embedding).unit_name}
            row = answered.get((variant.model, variant.random_seed, embedding, study))
            if row is not None:
                numbers = {name: row[name] for name in ("mean", "hdi_low", "hdi_high", *CONTEXTS, "r_hat")}
                coherence = variant.coherences.get((embedding, study), Coherence(*[np.nan] * len(COHERENCE)))
                spreads = variant.spreads.get((embedding, study), {})
                numbers |= {name: spreads.get(name, np.nan) for name in _SPREADS}
                numbers["unconverged"] = (embedding, study) in variant.unconverged
                yield facts | numbers | vars(coherence), variant.draws[embedding, study, CONTRAST]
            elif error := variant.failed.get((embedding, study), left_out.get((embedding, study))):
                yield facts | {"error": error}, np.empty(0)
