"""A gate: each question of an audit passes, fails or stays undecided by a region of practical equivalence."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.audits.audit_frame import CONTEXTS, CONTRAST, AuditRecord, audit_parts, audit_rows
from bayesbias.audits.gate_files import (
    SCHEMA_VERSION,
    Earlier,
    junit_xml,
    model_card,
    not_asked,
    probability_worse,
    read_baseline,
)
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_rope
from bayesbias.base.number_text import counted, interval_text, json_text, percent_text, probability_text, signed_text
from bayesbias.base.results import LIMITS, MOST_LINES, NO_PROOF, SHOWS, Contents, Result, ResultFigure, ResultTable
from bayesbias.base.statements import Statement, StatementList, plain, rows_of
from bayesbias.errors import ReportError, name_some, setting
from bayesbias.estimates.intervals import BORDERLINE
from bayesbias.models.numerics.contrast_estimate import Interval, draws_interval
from bayesbias.models.numerics.diagnostics import RHAT_MAX

if TYPE_CHECKING:
    import pandas as pd


PASS, FAIL, UNDECIDED, UNANSWERED = "pass", "fail", "undecided", "unanswered"
EXIT_CODES: Mapping[str, int] = {FAIL: 3, UNANSWERED: 5, UNDECIDED: 4, PASS: 0}
"""Outcome -> exit code of `bayesbias gate`, the most severe outcome first."""

KEPT_DRAWS = 1000
"""Largest number of draws of a question in gate.json."""
_COUNTED = {
    FAIL: ("fails", "fail"),
    UNANSWERED: ("has no answer", "have no answer"),
    UNDECIDED: ("is undecided", "are undecided"),
    PASS: ("passes", "pass"),
}
_MOST_NAMED = 3
_KEY = ("embedding", "study", "model")
_NUMBERS = ("mean", "sd", "hdi_low", "hdi_high", "probability_in_rope", "baseline_mean", "probability_worse")


def decided(
    row: Mapping[str, Any],
    draws: Floats,
    region: tuple[float, float],
    hdi_prob: float,
    earlier: Mapping[tuple[str, str, str], Earlier],
) -> dict[str, Any]:
    """Return the outcome of a question with its numbers and its reason."""
    if "error" in row:
        return {"outcome": UNANSWERED, "compared_by": "", "reason": row["error"]}
    errors = draws_interval(draws, hdi_prob)
    interval = Interval(row["hdi_low"], row["hdi_high"], errors.low_se, errors.high_se)
    outcome, reason = outcome_of(interval, region)
    low, high = (row[name] for name in CONTEXTS)
    with_contexts = replace(interval, low=low, high=high)
    if np.isfinite(low) and outcome_of(with_contexts, region)[0] != outcome:
        outcome, reason = UNDECIDED, f"with the choice of sentences its interval is {interval_text(low, high)}"
    if row["r_hat"] > RHAT_MAX:
        outcome, reason = UNDECIDED, f"its draws did not converge (R-hat {row['r_hat']:.3f})"
    inside = float(((draws >= region[0]) & (draws <= region[1])).mean())
    numbers = {"sd": float(draws.std(ddof=1)), "probability_in_rope": inside, "compared_by": ""}
    before = earlier.get((row["embedding"], row["study"], row["model"]))
    if before is None:
        reason += "; not in the baseline" if earlier else ""
    elif before.study_hash != row["study_hash"]:
        reason += "; its word lists are not those of the baseline"
    elif before.lost_words != row["lost_words"]:
        reason += f"; {counted(row['lost_words'], 'word')} of its groups were lost, {before.lost_words} in the baseline"
    elif not len(before.draws):
        reason += "; without an answer in the baseline"
    else:
        worse = probability_worse(draws, before.draws, sum(region) / 2)
        numbers |= {"baseline_mean": before.mean, "probability_worse": worse, "compared_by": before.compared_by}
        shown = "worse" if worse >= hdi_prob else "not shown to be worse"
        reason += (
            f"; {shown} than the baseline ({signed_text(before.mean)}; probability of worse "
            f"{probability_text(worse)}, by {before.compared_by})"
        )
        if worse < hdi_prob and not row["r_hat"] > RHAT_MAX:
            outcome = PASS
    return {"outcome": outcome, "reason": f"{reason.rstrip('.')}.", **numbers}


def outcome_of(interval: Interval, region: tuple[float, float]) -> tuple[str, str]:
    """Return the outcome of an interval beside a region of practical equivalence, and the reason.

    >>> outcome_of(Interval(-0.01, 0.01, 0.001, 0.001), (-0.02, 0.02))
    ('pass', 'inside -0.020 to +0.020')
    >>> outcome_of(Interval(0.021, 0.05, 0.001, 0.001), (-0.02, 0.02))
    ('undecided', 'an end is within its Monte Carlo error of an edge of -0.020 to +0.020')
    """
    low, high = region
    if low <= interval.low and interval.high <= high:
        outcome, place = PASS, "inside"
        margins = [(interval.low - low, interval.low_se), (high - interval.high, interval.high_se)]
    elif interval.low > high or interval.high < low:
        outcome, place = FAIL, "outside"
        above = interval.low > high
        margins = [(interval.low - high, interval.low_se) if above else (low - interval.high, interval.high_se)]
    else:
        return UNDECIDED, f"partly outside {interval_text(low, high)}"
    if any(margin <= BORDERLINE * error for margin, error in margins):
        return UNDECIDED, f"an end is within its Monte Carlo error of an edge of {interval_text(low, high)}"
    return outcome, f"{place} {interval_text(low, high)}"


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(Result):
    """Outcome of each question of an audit, and of all of them.

    Parameters
    ----------
    questions
        One row per question:

        - `embedding`, `study`, `model`, `random_seed`, `study_hash`, `lost_words`; `question`: the study's, in words;
        - `outcome`: ``"pass"``, ``"fail"``, ``"undecided"`` or ``"unanswered"``; `reason`: why, in words;
        - `mean`, `sd`, `hdi_low`, `hdi_high`: the contrast in units of cosine distance; `probability_in_rope`;
        - `baseline_mean`, `probability_worse`: missing without a baseline;
        - `compared_by`: ``"draws"``, ``"mean and sd"`` or empty.
    rope
        Region of practical equivalence, (low, high).
    hdi_prob
        Probability inside the intervals, and smallest probability of being worse than the baseline at which a question
        fails.
    baseline
        Name of the baseline file, or an empty text.
    missing
        Questions of the baseline that were not asked.
    settings
        Settings of the audit.
    draws
        Posterior draws of each row of `questions`; empty for a question without an answer.
    """

    questions: "pd.DataFrame"
    rope: tuple[float, float]
    hdi_prob: float
    baseline: str = ""
    missing: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    draws: tuple[Floats, ...] = ()

    @property
    def outcome(self) -> str:
        """The most severe outcome: a failure, then a question without an answer, then an undecided one."""
        return next(outcome for outcome in EXIT_CODES if outcome in set(self.questions["outcome"]))

    @property
    def exit_code(self) -> int:
        """Exit code of `bayesbias gate`: 0 pass, 3 fail, 4 undecided, 5 a question without an answer."""
        return EXIT_CODES[self.outcome]

    @cached_property
    def lines(self) -> tuple[Statement, ...]:
        """One statement per question, each on one line."""
        return tuple(Statement(str(row["outcome"]), self._line(row), row) for row in rows_of(self.questions))

    @property
    def summary(self) -> Statement:
        """The outcome with the numbers of questions by outcome, of which the first ones are named."""
        named = {
            name: [self._named(row) for row in rows_of(self.questions) if row["outcome"] == name] for name in EXIT_CODES
        }
        parts = [
            f"{len(names)} {_COUNTED[name][len(names) > 1]}"
            + (f" ({name_some(names, _MOST_NAMED)})" if name != PASS else "")
            for name, names in named.items()
            if names
        ]
        count = counted(len(self.questions), "question")
        text = f"Gate: {self.outcome} (exit code {self.exit_code}). Of {count}, {', '.join(parts)}."
        return Statement("outcome", text, {"outcome": self.outcome, "exit_code": self.exit_code})

    @property
    def _worst(self) -> dict[str, Any]:
        """The row that decides the outcome: of those with this outcome, the farthest from the middle of the region."""
        rows = [row for row in rows_of(self.questions) if row["outcome"] == self.outcome]
        return max(rows, key=lambda row: abs(row["mean"] - sum(self.rope) / 2) if row["outcome"] != UNANSWERED else 0)

    def __str__(self) -> str:
        return "\n".join(statement.text for statement in (self.summary, *self.lines, *self._beside()))

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        outcomes = StatementList("Outcomes", (*self.lines, *self._beside()))
        return StatementList("", (self.summary,), bulleted=False), outcomes, StatementList(LIMITS, self._limits())

    @property
    def junit(self) -> str:
        """JUnit XML: failed questions are failures, undecided and dropped ones skipped, unanswered ones errors."""
        return junit_xml(rows_of(self.questions), [statement.text for statement in self._beside()])

    @property
    def model_card(self) -> str:
        """Section "Bias, Risks, and Limitations" of a model card, in Markdown."""
        texts = [statement.text for statement in (*self._beside(), *self._limits())]
        return model_card(rows_of(self.questions), self.rope, self.hdi_prob, texts)

    @property
    def contents(self) -> Contents:
        """Outcomes as statements and a table; in a folder also gate.json, junit.xml and model_card.md."""
        low, high = self.rope
        files: dict[str, Callable[[Path], object]] = {
            "gate.json": lambda path: path.write_text(self._json(), encoding="utf-8"),
            "junit.xml": lambda path: path.write_text(self.junit, encoding="utf-8"),
            "model_card.md": lambda path: path.write_text(self.model_card, encoding="utf-8"),
        }
        embeddings = list(dict.fromkeys(self.questions["embedding"].map(str)))
        return Contents(
            title=f"Are the associations of {name_some(embeddings, _MOST_NAMED)} small enough?",
            about=f"Too small to matter: {interval_text(low, high)} in cosine distance."
            + (
                f" What lies outside passes too, unless it is worse than in the baseline, {self.baseline}."
                if self.baseline
                else ""
            ),
            answer=self.summary.text,
            estimate="" if self._worst["outcome"] == UNANSWERED else self._line(self._worst),
            answers=(*self.lines, *self._beside()),
            opened=("Questions", SHOWS),
            figures=self._figures(),
            tables={
                "questions": ResultTable(
                    self.questions,
                    "Questions",
                    f"Contrasts in units of cosine distance, {percent_text(self.hdi_prob)} HPDI",
                    (
                        "study",
                        *(("embedding",) if len(embeddings) > 1 else ()),
                        "question",
                        "outcome",
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
                "Region of practical equivalence": f"{low:g} to {high:g}",
                "Interval": f"{percent_text(self.hdi_prob)} HPDI",
                "Baseline": self.baseline or "none",
            },
            files=files,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return schema version, outcome and questions, then statements and settings, as plain Python for JSON."""
        head = {"schema_version": SCHEMA_VERSION, "outcome": self.outcome, "exit_code": self.exit_code}
        facts = {"rope": list(self.rope), "hdi_prob": self.hdi_prob, "baseline": self.baseline}
        return head | facts | {"missing": list(self.missing), "questions": plain(self.questions)} | super().to_dict()

    def _json(self) -> str:
        """Return the JSON with draws, by which a later gate compares exactly."""
        content = self.to_dict()
        for question, draws in zip(content["questions"], self.draws, strict=True):
            thinned = draws[np.linspace(0, len(draws) - 1, min(len(draws), KEPT_DRAWS)).astype(int)]
            question["draws"] = [float(f"{value:.6g}") for value in thinned]
        return json_text(content, indent=1)

    def _figures(self) -> dict[str, ResultFigure]:
        """Return a forest of the questions that have an answer, the most severe outcomes first."""
        rows = self.questions[self.questions["outcome"] != UNANSWERED]
        if rows.empty:
            return {}
        order = rows["outcome"].map(list(EXIT_CODES).index).sort_values(kind="stable").index
        rows = rows.loc[order].head(MOST_LINES)
        rows = rows.assign(label=[self._named(row) for row in rows_of(rows)], filled=rows["outcome"] != UNDECIDED)
        count = len(self.questions)
        cut = f" {len(rows)} of {count:,} questions are shown; the table has all." if len(rows) < count else ""
        caption = (
            "Each question: distance to associated words minus that to others (below 0, associated words are nearer), "
            f"and its {percent_text(self.hdi_prob)} interval. Shaded: too small to matter. Filled: passed or failed; "
            f"hollow and grey: undecided.{cut}"
        )
        options = {"label": "Difference of mean cosine distances", "rope": self.rope}
        return {"gate": ResultFigure("delivery.plots.style.forest", caption, rows, options)}

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
            text = f"{signed_text(row['mean'])} ({percent_text(self.hdi_prob)} interval {interval}), "
        return " ".join(f"{row['outcome'].upper()} {named}: {text}{row['reason']}".split())

    def _beside(self) -> tuple[Statement, ...]:
        """Return a statement for each question of the baseline that was not asked."""
        return tuple(
            Statement("missing", f"NOT ASKED {question}: the baseline {self.baseline} has this question.")
            for question in self.missing
        )

    def _limits(self) -> tuple[Statement, ...]:
        texts = [
            "Which outcomes are chance. Each question is decided alone, by its "
            f"{percent_text(self.hdi_prob)} interval, without a correction for their number.",
            "What was not asked. A contrast is a mean over groups, which can differ in opposite directions. A pass "
            "holds for these word lists and this model of them; other words can have associations.",
            NO_PROOF,
        ]
        lossy = [row for row in rows_of(self.questions) if row["lost_words"]]
        texts += [
            f"{row['embedding']}, {row['study']}: {counted(row['lost_words'], 'word')} of its groups lost."
            for row in lossy
        ]
        return tuple(Statement("limits", text) for text in texts)


def gate(
    audit: "pd.DataFrame",
    *,
    rope: float | tuple[float, float] | None = None,
    baseline: str | os.PathLike[str] | None = None,
) -> GateResult:
    """Return which questions of an audit pass, fail or stay undecided, by a region of practical equivalence.

    Parameters
    ----------
    audit
        An audit with contrasts, from `bayesbias.audit`. With ``skip_unanswered=True`` a question that an embedding
        cannot answer becomes an outcome of its own.
    rope
        Region of practical equivalence (ROPE): contrasts too small to matter, in units of cosine distance. A
        half-width, or (low, high). By default that of the audit.
    baseline
        Path of a ``gate.json``, or another JSON file of a gate: only what got worse fails. None: the region alone.

    Returns
    -------
    GateResult
        Its `outcome`, `exit_code` and `questions`; `write` makes a folder with ``gate.json``, ``junit.xml`` and
        ``model_card.md``.

    Raises
    ------
    ReportError
        If `audit` is not an audit, has no contrasts, or was changed; if there is no region; or if the baseline is not
        the JSON of a gate.
    ArgumentError
        If `rope` is not usable.

    Notes
    -----
    The rule is that of Kruschke (2018): a question passes if the whole interval lies inside the region, fails if the
    whole interval lies outside it, and is undecided otherwise. It is undecided too if its draws did not converge, or if
    an end lies within three Monte Carlo standard errors of an edge, where another seed may decide otherwise. Of vectors
    that are means over contexts or templates, a question is undecided if the interval that includes the choice of
    sentences has another outcome.

    With a baseline, worse means farther from the middle of the region, as the absolute value is for a symmetric one. A
    question that does not pass by its interval fails or is undecided only if it got worse with a probability of at
    least `hdi_prob`; with less it passes. The probability is computed over all pairs of a draw of this audit and one of
    the baseline; if the file has no draws, a Normal distribution with its mean and sd replaces them (`compared_by`).
    The draws are treated as independent. Since two embeddings share their words, the probability is cautious. A
    question whose lists, model or number of lost words changed, or that the baseline has not answered, is decided by
    the region alone.

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
    region = check_rope(rope) or record.rope
    if region is None:
        raise ReportError(f"rope: the gate needs a region of practical equivalence, such as {setting('rope', 0.02)}.")
    earlier = {} if baseline is None else read_baseline(baseline)
    rows: list[dict[str, Any]] = []
    draws: list[Floats] = []
    for row, values in _questions(audit, record):
        rows.append({**row, **decided(row, values, region, record.hdi_prob, earlier)})
        draws.append(values)
    if not rows:
        raise ReportError("audit: it has no contrasts. Ask for the measure 'contrast', with a model.")
    return GateResult(
        questions=_frame(rows),
        rope=region,
        hdi_prob=record.hdi_prob,
        baseline="" if baseline is None else Path(baseline).name,
        missing=not_asked(earlier, [tuple(row[name] for name in _KEY) for row in rows]),
        settings=record.settings,
        draws=tuple(draws),
    )


_COLUMNS = (
    *(*_KEY, "random_seed", "outcome", "mean", "sd", "hdi_low", "hdi_high", "probability_in_rope"),
    *("baseline_mean", "probability_worse", "compared_by", "lost_words", "study_hash", "question", "reason"),
)


def _frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows).reindex(columns=list(_COLUMNS)).astype(dict.fromkeys(_NUMBERS, float))


def _questions(audit: "pd.DataFrame", record: AuditRecord) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield the facts and draws of each question of an audit, in its order; of one without an answer, its error."""
    parts = [audit_rows(part) for _, part in audit_parts(audit)] if len(audit) else []
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
            facts |= {"study_hash": variant.study_hashes.get(study, ""), "question": variant.questions.get(study, "")}
            row = answered.get((variant.model, variant.random_seed, embedding, study))
            if row is not None:
                numbers = {name: row[name] for name in ("mean", "hdi_low", "hdi_high", *CONTEXTS, "r_hat")}
                yield facts | numbers, variant.draws[embedding, study, CONTRAST]
            elif error := variant.failed.get((embedding, study), left_out.get((embedding, study))):
                yield facts | {"error": error}, np.empty(0)
