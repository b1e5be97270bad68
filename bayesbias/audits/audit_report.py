"""The report of an audit: answers of every measure to every study in every embedding."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from bayesbias.audits.audit_frame import (
    CONTEXTS,
    CONTRAST,
    MOST_PARTS,
    READINGS,
    SETTLED,
    SIGN,
    STANDARDISED,
    AuditRecord,
    answers,
    audit_parts,
    audit_rows,
    comparable_rows,
    failed_cells,
    standardised_text,
)
from bayesbias.audits.ranks import has_ranks, rank
from bayesbias.base.number_text import counted, interval_text, percent_text, shown_name, signed_text, write_csv
from bayesbias.base.results import (
    LIMITS,
    NO_PROOF,
    Contents,
    LinkedPage,
    Result,
    ResultFigure,
    ResultTable,
    forest_figure,
)
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.errors import name_some
from bayesbias.estimates.decisions import DECISION_RATE, Decisions, decisions
from bayesbias.estimates.intervals import mark
from bayesbias.reports.fit_report import report
from bayesbias.reports.plans.frozen_plan import FrozenPlan
from bayesbias.reports.plans.planned_numbers import MARK, SECTION, PlannedNumbers
from bayesbias.reports.plans.record import AskedQuestion, PlanRecord

if TYPE_CHECKING:
    import pandas as pd

_CHANCE = "Which answers are chance. Intervals are those of single questions: the more there are, the more miss."
_CONTRASTS, _MEASURES, _RANKS = "Contrasts", "Single-number measures", "Ranks of the embeddings"
_TOGETHER = "Settled questions together"


@dataclass(frozen=True, eq=False)
class _Variant:
    """The rows of one model and seed; the name is empty if there is only one."""

    name: str
    frame: "pd.DataFrame"
    rows: "pd.DataFrame"
    record: AuditRecord

    @cached_property
    def decided(self) -> "tuple[Decisions, pd.DataFrame] | None":
        """What the settled contrasts of all words are worth together, and their rows; None of fewer than two."""
        contrasts = _overall(self.rows)
        contrasts = contrasts[contrasts[SIGN].notna()]
        settled = contrasts["reading"].isin(SETTLED).to_numpy()
        if len(contrasts) < 2 or not settled.any():
            return None
        together = decisions(contrasts[SIGN], settled, self.record.hdi_prob)
        rows = contrasts.assign(wrong=together.wrong, decided=together.decided)[settled]
        return together, rows.sort_values("wrong", kind="stable")

    def titled(self, title: str) -> str:
        return f"{title}: {self.name}" if self.name else title


@dataclass(frozen=True, eq=False, repr=False)
class AuditReport(Result):
    """Report of an audit. `print` shows the answers; `bayesbias.write` of an audit writes its page or folder.

    Parameters
    ----------
    audit
        An audit from `bayesbias.audit`.
    frozen_plan
        Plan of `freeze_plan`: each number is marked as planned, changed since or exploratory. None: no marks.
    """

    audit: "pd.DataFrame"
    frozen_plan: FrozenPlan | None = None

    def __repr__(self) -> str:
        return f"AuditReport({counted(len(self.audit), 'row')})"

    @cached_property
    def _variants(self) -> list[_Variant]:
        variants = []
        for name, frame in audit_parts(self.audit):
            rows, record = audit_rows(frame)
            variants.append(_Variant(name, frame, self._marked(rows), record))
        return variants

    @cached_property
    def planned(self) -> PlannedNumbers | None:
        """Which numbers were planned; None without a frozen plan."""
        record = getattr(self.audit, "record", None)
        if self.frozen_plan is None or not isinstance(record, AuditRecord):
            return None
        questions = {
            (embedding, study, variant.model): AskedQuestion(
                variant.study_hashes.get(study, ""),
                variant.model_hash,
                study=variant.studies.get(study),
                model=variant.spec,
            )
            for variant in record.variants
            for embedding, study in variant.lost_words
        }
        return PlannedNumbers(
            self.frozen_plan,
            PlanRecord(record.region, record.hdi_prob, questions),
            record.settings,
            lost={key: len(record.lost_words[key[:2]]) for key in questions},
        )

    def _marked(self, rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return rows of the audit with their marks beside a frozen plan."""
        if self.planned is None:
            return rows
        marks = [
            self.planned.mark(
                (str(row["embedding"]), str(row["study"]), str(row["model"])),
                measure=str(row["measure"]),
                contrast=str(row["quantity"]) if row["measure"] == CONTRAST else "",
                level="protected_group" if row["protected_group"] else "overall",
            )
            for row in rows_of(rows)
        ]
        return rows.assign(**{MARK: marks})

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        answered = (StatementList(variant.titled("Answers"), answers(variant.frame)) for variant in self._shown)
        return (
            StatementList("", self.first, bulleted=False),
            *answered,
            *((self.planned.part,) if self.planned else ()),
            StatementList(LIMITS, self._limits(), detail=True),
        )

    @property
    def first(self) -> tuple[Statement, ...]:
        """What is settled, and the largest difference."""
        return tuple(filter(None, (*self._verdicts[:1], self._estimate, *self._verdicts[1:])))

    @cached_property
    def _verdicts(self) -> tuple[Statement, ...]:
        """What is settled, for each model and seed, then the number of questions without an answer."""
        texts = [
            f"{variant.name}: {text}" if variant.name else text
            for variant in self._shown
            if (text := _verdict(variant.rows, variant.record))
        ]
        if failed := len(failed_cells(self.audit)):
            texts.append(f"{counted(failed, 'question has', 'questions have')} no answer.")
        return tuple(Statement("answer", text) for text in texts)

    @cached_property
    def _estimate(self) -> Statement | None:
        """The largest settled difference, or the largest one if none is settled; None without contrasts."""
        first = self._variants[0]
        name = "mean" if first.record.unit else STANDARDISED[1]
        rows = sorted(
            rows_of(_overall(first.rows).dropna(subset=name)),
            key=lambda row: (row["reading"] not in SETTLED, -abs(row[name])),
        )
        if not rows:
            return None
        row = rows[0]
        measure = first.record.unit_of(row["embedding"])
        unit, in_unit = (f" {measure.unit}", "") if measure.unit else ("", f", in {measure.name}")
        text = (
            f"Largest {'settled ' if row['reading'] in SETTLED else ''}difference: {_question_name(row, first.rows)}, "
            f"{signed_text(row['mean'])}{unit}, {percent_text(first.record.hdi_prob)} interval "
            f"{interval_text(row['hdi_low'], row['hdi_high'])}{standardised_text(row, first.record)}{in_unit} "
            f"(below 0, associated words are {measure.nearer})."
            f"{f' {self.planned.sentence(row[MARK])}' if self.planned else ''}"
        )
        return Statement("estimate", text, row)

    @property
    def _shown(self) -> list[_Variant]:
        return self._variants[:MOST_PARTS]

    @cached_property
    def contents(self) -> Contents:
        """Answers, tables of contrasts and measures, ranks, and lost words, omissions and failures."""
        first = self._variants[0]
        studies, embeddings = (list(dict.fromkeys(first.rows[name])) for name in ("study", "embedding"))
        models = list(dict.fromkeys(variant.record.model for variant in self._variants if variant.record.model))
        tables: dict[str, ResultTable] = {}
        figures: dict[str, ResultFigure] = _answer_figure(first)
        further: list[StatementList] = []
        for number, variant in enumerate(self._shown, start=1):
            suffix = f"_{number}" if number > 1 else ""
            tables |= _answer_tables(variant, suffix)
            figures[f"audit{suffix}"] = _figure(variant)
            if has_ranks(variant.frame):
                ranks = rank(variant.frame, hdi_prob=variant.record.hdi_prob)
                title = variant.titled(_RANKS)
                for name, table in ranks.contents.tables.items():
                    key = name if name == "ranks" else f"rank_{name}"
                    tables[f"{key}{suffix}"] = replace(table, section=title)
                figures[f"ranks{suffix}"] = replace(ranks.contents.figures["ranks"], data=ranks, section=title)
                further += [StatementList(title, part.statements, part.bulleted) for part in ranks.contents.parts]
        if len(failed := failed_cells(self.audit)):
            tables["failed"] = ResultTable(failed, "Failed", "Questions without an answer, with the error")
        where = embeddings[0] if len(embeddings) == 1 else first.record.counted_sources(embeddings)
        answered = answers(first.frame)  # which begin with the question
        questions = tuple(
            Statement("question", f"{shown_name(study)}: {question}")
            for study in studies
            if (question := first.record.questions.get(study)) and not any(question in one.text for one in answered)
        )
        cut = f"{len(self._shown)} of {len(self._variants)} models and seeds are shown."
        subject = f"Audit: {counted(len(studies), 'study', 'studies')} in {where}."
        return Contents(
            title=(first.record.questions.get(studies[0]) if len(studies) == 1 else "")
            or f"Which associations are settled in {where}?",
            about=f"{subject} {f'Model {", ".join(models)}' if models else 'No model: values without intervals'}.",
            doubts=(Statement("shown", cut),) if len(self._shown) < len(self._variants) else (),
            answer=self._verdicts[0].text if self._verdicts else "",
            estimate=self._estimate.text if self._estimate else "",
            answers=(*self._verdicts[1:], *answered),
            parts=(
                *((self.planned.part,) if self.planned else ()),
                *((StatementList("Questions", questions),) if questions else ()),
                *further,
            ),
            opened=(SECTION, "Questions", *(first.titled(title) for title in (_TOGETHER, _CONTRASTS))),
            tables=tables,
            figures=figures,
            limits=self._limits(),
            settings={
                **{
                    name: "; ".join(dict.fromkeys(variant.record.settings[name] for variant in self._variants))
                    for name in first.record.settings
                },
                "Interval": f"{percent_text(first.record.hdi_prob)} HPDI",
            },
            files={"audit.csv": partial(write_csv, self._marked(self.audit))},
            pages=tuple(_pages(first)),
        )

    def _limits(self) -> tuple[Statement, ...]:
        """Return the limits of the answers: their number, lost words, and questions without an answer."""
        rows, record, decided = self._variants[0].rows, self._variants[0].record, self._variants[0].decided
        many = f"Which answers are chance. {decided[0].text('question')}" if decided else _CHANCE
        texts = [NO_PROOF, *_scale_texts(rows, record)]
        texts += [
            f"{embedding}, {shown_name(study)}: lost {', '.join(words)}."
            for (embedding, study), words in record.lost_words.items()
            if words
        ]
        left_out = {key: why for variant in self._variants for key, why in variant.record.left_out.items()}
        texts += [
            f"{measure} has no answer to {shown_name(study)} in {embedding}: {why}"
            for (embedding, study, measure), why in left_out.items()
        ]
        numbers = decided[0].numbers if decided else {}
        return Statement("many questions", many, numbers), *(Statement("limits", text) for text in texts)


def _answer_tables(variant: _Variant, suffix: str) -> dict[str, ResultTable]:
    """Return the contrasts and the single-number measures of one model and seed."""
    prob, rows = percent_text(variant.record.hdi_prob), variant.rows
    names = ("study", "embedding") if rows["embedding"].nunique() > 1 else ("study",)
    contrasts, others = rows[rows["measure"] == CONTRAST], rows[rows["measure"] != CONTRAST]
    interval = ("hdi_low", "hdi_high")
    intervals = (*interval, *(CONTEXTS if contrasts[CONTEXTS[0]].notna().any() else ()))
    standardised = STANDARDISED[1:] if _scales(rows) or variant.record.unit is None else ()
    more = (*standardised, "probability_in_rope", "ess_bulk", "r_hat")
    measure = variant.record.unit
    in_unit = measure.in_unit if measure else "each in its unit"
    unit = () if measure else ("contrast_unit",)
    of_all: dict[str, ResultTable] = {}
    if variant.decided:
        together, decided = variant.decided
        of_all[f"decided{suffix}"] = ResultTable(
            decided,
            variant.titled(_TOGETHER),
            f"Settled contrasts, the surest first; {in_unit}, {prob} HPDI",
            (*names, *unit, "mean", "hdi_low", "hdi_high", *(standardised if unit else ()), "wrong", "decided", MARK),
            differences=True,
            note=f"{together.text('question')} This takes the questions as alike: some have no effect, those of the "
            "others are Normal around 0. Intervals stay those of single questions. Decided: the mean "
            f"P(wrong) of the decided ones is at most {percent_text(DECISION_RATE)}, or the rule of Benjamini and "
            "Hochberg at that rate allows it, so that a single P(wrong) can be larger. More are wrong if the errors of "
            "all questions go together.",
        )
    return of_all | {
        f"contrasts{suffix}": ResultTable(
            contrasts.assign(protected_group=contrasts["protected_group"].replace("", "all")),
            variant.titled(_CONTRASTS),
            f"Contrasts, {in_unit}, {prob} HPDI; {variant.record.zero}",
            (*names, "quantity", "protected_group", *unit, "mean", "observed", *intervals, *more, MARK),
            headings={"quantity": "Contrast"},
            differences=True,
            mark=partial(_mark, variant.record),
        ),
        f"measures{suffix}": ResultTable(
            others,
            variant.titled(_MEASURES),
            f"Single-number measures; {prob} intervals of the value without the noise of single pairs",
            (*names, "measure", "observed", "mean", *interval, "p_value", MARK),
        ),
    }


def _scales(rows: "pd.DataFrame") -> list[float]:
    """Return the sds of distances to control words, if the report has contrasts of several embeddings."""
    scales = rows["control_sd"].dropna()
    return sorted(scales) if rows["embedding"].nunique() > 1 else []


def _scale_texts(rows: "pd.DataFrame", record: AuditRecord) -> list[str]:
    """Return which contrasts of several embeddings can be compared."""
    if rows["embedding"].nunique() < 2 or rows[rows["measure"] == CONTRAST].empty:
        return []
    if record.tables_of:
        sizes = "Sizes of raw contrasts, which " + ("are of several models" if record.unit else "have several units")
        return [
            f"{sizes}. To compare them, use the standardised contrast: the contrast divided by the standard deviation "
            "of single numbers of the study's pairs, after subtracting each word's mean within each pair of lists "
            "(pair_sd), which is treated as exact. Compare it within a study, between sources that have the same "
            "words, and not between studies. A mean over more templates or contexts has a smaller deviation, "
            "and so larger standardised contrasts. Ranks "
            "are those of standardised values, with the error of this deviation."
        ]
    scales = _scales(rows)
    if not scales:
        return [
            "Sizes of contrasts of different encoders or training algorithms. Their distances spread differently, and "
            "without control words nothing shows how far. Signs and conclusions can be compared, and ranks, which "
            "are those of values standardised by single pairs (pair_sd)."
        ]
    return [
        "Sizes of raw contrasts, unless the distances of two embeddings spread alike, such as those of one encoder "
        "before and after a change. The standard deviation of single distances to control words, after subtracting "
        f"each word's mean, ranges from {scales[0]:.3f} to {scales[-1]:.3f} here. To compare encoders, use "
        "the standardised contrast: the contrast divided by this deviation, which is treated as exact. Compare it "
        "within a study, between embeddings that have the same words, and not between studies. Ranks are those of "
        "values that are standardised by single pairs (pair_sd), with the error of that deviation."
    ]


def _figure(variant: _Variant) -> ResultFigure:
    prob = percent_text(variant.record.hdi_prob)
    measures = ", ".join(dict.fromkeys(variant.rows["measure"]))
    return ResultFigure(
        "plot_audit",
        f"{f'{variant.name}. ' if variant.name else ''}Estimates (points) with {prob} intervals (lines) if there is "
        "a posterior, and observed values (ticks). A contrast is filled if it is settled. Intervals of other "
        "measures are of the value without the noise of single pairs, so that observed values may lie outside.",
        variant.frame,
        section=variant.titled(_MEASURES),
        alt=f"One panel for each of {measures}. The numbers are in the tables.",
    )


def _overall(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the contrasts of all protected words."""
    chosen: pd.DataFrame = rows[(rows["measure"] == CONTRAST) & (rows["protected_group"] == "")]
    return chosen


def _question_name(row: Mapping[str, Any], rows: "pd.DataFrame") -> str:
    return f"{shown_name(row['study'])}{f' in {row["embedding"]}' if rows['embedding'].nunique() > 1 else ''}"


def _mark(record: AuditRecord, row: Mapping[str, Any]) -> str:
    measure = record.unit_of(row["embedding"])
    row = {**row, "borderline": row["reading"] == "borderline"}
    return mark(row, below=measure.nearer, above=measure.farther)


def _answer_figure(variant: _Variant) -> dict[str, ResultFigure]:
    """Return a forest of the contrasts of all words, settled ones first; empty without contrasts."""
    contrasts = _overall(variant.rows)
    if contrasts.empty:
        return {}
    order = contrasts["reading"].map(list(READINGS).index).sort_values(kind="stable").index
    record, measure = variant.record, variant.record.unit
    rows = comparable_rows(contrasts.loc[order], record)
    rows = rows.assign(
        label=[_question_name(row, variant.rows) for row in rows_of(rows)],
        filled=rows["reading"].isin(SETTLED),
        borderline=rows["reading"] == "borderline",
    )
    difference = "Standardised difference of associated words and others"
    if measure is not None:
        difference = f"{measure.short.capitalize()} {measure.preposition} associated words minus that "
        difference += f"{measure.preposition} others"
    caption = (
        f"{difference} ({record.zero}), and its "
        f"{percent_text(record.hdi_prob)} interval. Filled: settled; with a dot: borderline; hollow: not "
        f"settled.{' Shaded: too small to matter.' if record.rope else ''}"
    )
    label = f"Difference of mean {measure.of_means}" if measure else "Standardised difference"
    return {"answers": forest_figure(caption, rows, label=label, rope=record.rope)}


def _verdict(rows: "pd.DataFrame", record: AuditRecord) -> str:
    """Return a sentence with the numbers of the contrasts by reading, and the studies of those that are settled."""
    contrasts = _overall(rows)
    if contrasts.empty:
        return ""
    embeddings, parts = list(dict.fromkeys(contrasts["embedding"])), []
    kinds = {record.unit_of(name).source for name in embeddings}
    sources = counted(len(embeddings), kinds.pop() if len(kinds) == 1 else "source")
    other = f"settled, but {record.unit.farther}" if record.unit else "settled, but in the opposite direction"
    for name, text in (("nearer", "settled"), ("farther", other)):
        studies = contrasts.loc[contrasts["reading"] == name, "study"].value_counts(sort=False)
        if len(studies):
            several = f" in {{}} of {sources}" if len(embeddings) > 1 else ""
            named = [f"{shown_name(str(study))}{several.format(count)}" for study, count in studies.items()]
            parts.append(f"{studies.sum()} {'is' if studies.sum() == 1 else 'are'} {text} ({name_some(named, 2)})")
    parts += [
        f"{count} {'is' if count == 1 else 'are'} {name}"
        for name in ("borderline", "not settled")
        if (count := int((contrasts["reading"] == name).sum()))
    ]
    return f"Of {counted(len(contrasts), 'association')}, {', '.join(parts)}."


def _pages(variant: _Variant) -> Iterator[LinkedPage]:
    """Yield a quick page for each fit that the audit kept, in the order of the answers."""
    record = variant.record
    several = variant.rows["embedding"].nunique() > 1
    numbers = {key: number for number, key in enumerate(record.fits, start=1)}
    for statement in answers(variant.frame):
        key = statement.numbers["embedding"], statement.numbers["study"]
        if key in record.fits:
            label = f"Page of {key[1]}{f' in {key[0]}' if several else ''}"
            fit_report = report(record.fits[key], table=record.tables[key], hdi_prob=record.hdi_prob, quick=True)
            yield LinkedPage(f"question_{numbers[key]}.html", statement.text, label, fit_report)
