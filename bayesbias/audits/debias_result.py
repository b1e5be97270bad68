"""The report on debiasing: effects of methods on associations, on what is left of a bias, and on quality."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import check_type
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.number_text import counted, interval_text, listed, percent_text, shown_name, signed_text
from bayesbias.base.results import (
    BEFORE_ANSWER,
    DOUBTS,
    LIMITS,
    MOST_LINES,
    Contents,
    Result,
    ResultFigure,
    ResultTable,
    alerts_and_others,
    contents_of,
)
from bayesbias.base.statements import Statement, StatementList, rows_of
from bayesbias.changes.readings import READINGS, change_mark, claims_sentence, is_claim, reading_text
from bayesbias.errors import ReportError, name_some, setting
from bayesbias.estimates.correlations import CORRELATION_COLUMNS, LEAST_EMBEDDINGS, correlated
from bayesbias.estimates.decisions import judged_together
from bayesbias.estimates.intervals import is_settled, mark_of, settled_text

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

ASSOCIATION = "association"
"""Kind of the rows that a model answers; the other kinds are those of `Measure.about`."""
ORIGINAL = "original"
"""Name in the place of a method where nothing was done."""

TEXTS = ("embedding", "method", "kind", "measure", "quantity", "better", "reading")
VALUES = (
    *("value", "value_low", "value_high", "observed"),
    *("change", "change_low", "change_high", "change_observed", "probability_of_direction"),
)
COLUMNS = (*TEXTS[:6], *VALUES, "reading", "items", "lost")
_DEBIASED = "the debiased vectors"
_OPENED = "What each method changed"
_TINY = 0.0005  # changes that three decimals do not show
_LIMITS = (
    "Whether an association is gone. A method removes what it was fitted to. Words to which it was fitted, or that it "
    "equalized, say little: ask with other words, and ask a model that uses the vectors.",
    "Which changes are chance. Each change has an interval of its own; among many, some exclude 0 by chance. A "
    "sentence beside many settled changes of associations says how many are expected to be wrong.",
)
_NO_QUALITY = (
    "What a method cost. No measure of quality was asked for. Give a file of word similarity or analogies, such as "
    "{option}. Gensim has such files: gensim.test.utils.datapath('wordsim353.tsv') is the path of one."
)


@dataclass(frozen=True, eq=False, repr=False)
class DebiasReport(Result):
    """Report on which method removed an association and what that cost.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per embedding, method (``"original"``: no debiasing) and measure:

        - `kind`: ``"association"`` (a study's contrast in units of cosine distance), ``"bias"`` (what is left of a bias
          in the geometry) or ``"quality"``;
        - `measure`, `quantity`; `better`: which values are better, ``"lower"``, ``"higher"`` or ``"nearer to 0"``,
          empty for an association;
        - `value`, `value_low` to `value_high`: the value and its interval;
        - `change`, `change_low` to `change_high`: after the method minus before on the same words; of an association
          the paired change of `trend`, and not just the difference of two values;
        - `observed`, `change_observed`: of an association the observed contrast of the averages and its change; of a
          score along drawn directions, the formula with equal weights;
        - `probability_of_direction`: of the change of an association, the probability of its sign;
        - `reading`: of an association, as in `compare_embeddings`;
        - `items`: number behind the value (word pairs, words, questions, splits); `lost`: how many were lost.
    failed
        (embedding, method) -> error of a method that gave no embedding.
    left_out
        (embedding, method, measure) -> reason why there is no value.
    not_converged
        (embedding, method) -> warning about draws that did not converge.
    hdi_prob
        Probability inside the intervals.
    settings
        Settings by name, as texts.
    doubts
        (embedding, method, study) -> doubts about a change, as `Changes` has them: shifted controls, equalized words.
    questions
        Study -> its question, in its own words.
    """

    table: "pd.DataFrame"
    failed: Mapping[tuple[str, str], str]
    left_out: Mapping[tuple[str, str, str], str]
    not_converged: Mapping[tuple[str, str], str]
    hdi_prob: float
    settings: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[tuple[str, str, str], tuple[Statement, ...]] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = {name: self.table[name].nunique() for name in ("embedding", "method", "measure")}
        return f"DebiasReport({', '.join(counted(count, name) for name, count in counts.items())})"

    @property
    def verdict(self) -> Statement:
        """The effect of each method: a sentence for each study, and for each measure of quality."""
        rows = self.table[(self.table["kind"] == ASSOCIATION) & (self.table["method"] != ORIGINAL)]
        sentences = []
        for study, some in rows.groupby("measure", sort=False):
            several = some["embedding"].nunique()
            by_reading = []
            for reading in READINGS:
                counts = some.loc[some["reading"] == reading, "method"].value_counts(sort=False).items()
                names = [f"{name} (in {count} of {several})" if several > 1 else str(name) for name, count in counts]
                if names:
                    by_reading.append(f"after {name_some(names, 12)}: {reading_text(reading, _DEBIASED)}")
            sentences.append(f"{shown_name(str(study))}, {'; '.join(by_reading)}.")
        rows = self.table[(self.table["kind"] == "quality") & (self.table["method"] != ORIGINAL)]
        sentences += [_cost_text(str(measure), rows_of(some)) for measure, some in rows.groupby("measure", sort=False)]
        return Statement("verdict", " ".join(sentences))

    @property
    def _parts(self) -> tuple[StatementList, ...]:
        rows = self.table
        answers = [
            _association_statement(str(embedding), str(study), rows_of(some))
            for (embedding, study), some in rows[rows["kind"] == ASSOCIATION].groupby(
                ["embedding", "measure"], sort=False
            )
        ]
        geometry, quality = (
            [
                _score_statement(str(embedding), str(measure), rows_of(some))
                for (embedding, measure), some in rows[rows["kind"] == kind].groupby(
                    ["embedding", "measure"], sort=False
                )
            ]
            for kind in ("bias", "quality")
        )
        alerts, doubts = alerts_and_others(
            (
                *_unconverged(self.not_converged),
                *_missing(self.failed, self.left_out),
                *_thin(rows),
                *self._doubts(),
            )
        )
        interval, by_method = f"{percent_text(self.hdi_prob)} HPDI", self._by_method
        answer = " ".join(filter(None, (self._answer(by_method), self._estimate(by_method))))
        return (
            StatementList(BEFORE_ANSWER, alerts),
            StatementList("", (Statement("answer", answer),), bulleted=False),
            StatementList(
                f"Did the association change? (cosine distance, {interval})", (*answers, *self._settled_together)
            ),
            StatementList(f"What is left in the geometry ({interval})", tuple(geometry)),
            StatementList(f"What it cost ({interval})", tuple(quality)),
            StatementList(DOUBTS, doubts),
            StatementList(LIMITS, tuple(Statement("other", text) for text in self._limits), detail=True),
        )

    @cached_property
    def _settled_together(self) -> tuple[Statement, ...]:
        """What the settled changes of associations, of all methods, studies and embeddings, are worth together."""
        rows = self.table[(self.table["kind"] == ASSOCIATION) & (self.table["method"] != ORIGINAL)]
        rows = rows.rename(columns={"change_low": "hdi_low", "change_high": "hdi_high", "quantity": "contrast"})
        names = ("embedding", "method", "measure")
        keys = [name for name in names if name == "method" or rows[name].nunique() > 1]
        rows = rows.assign(settled=rows["reading"].map(is_claim), name=rows[keys].astype(str).agg(", ".join, axis=1))
        noun = "method" if keys == ["method"] else "result"
        where = "" if keys == ["method"] else f" (one for each {listed(keys, 3).replace('measure', 'study')})"
        return tuple(judged_together(rows, "name", noun, "change", self.hdi_prob, where))

    @property
    def _limits(self) -> tuple[str, ...]:
        if (self.table["kind"] == "quality").any():
            return _LIMITS
        option = setting("measures", [("word_similarity", "ws353.txt")], option="--measure word_similarity=ws353.txt")
        return (*_LIMITS, _NO_QUALITY.format(option=option))

    def _doubts(self) -> Iterator[Statement]:
        """Yield each doubt about changes once, with the methods that it concerns."""
        by_text: dict[tuple[str, str, str, str], list[str]] = {}
        for (embedding, method, study), doubts in self.doubts.items():
            for doubt in doubts:
                by_text.setdefault((embedding, study, doubt.kind, doubt.text), []).append(method)
        for (embedding, study, kind, text), methods in by_text.items():
            yield Statement(
                kind, f"{shown_name(study)} in {embedding}, {name_some(methods, 12)}: {text}", {"methods": methods}
            )

    @cached_property
    def contents(self) -> Contents:
        """What became of associations, geometry and quality, and how far measures agree."""
        prob = percent_text(self.hdi_prob)
        methods = [name for name in dict.fromkeys(self.table["method"]) if name != ORIGINAL]
        shown = tuple(name for name in COLUMNS if name not in ("kind", "quantity", "better"))
        tables = {
            "debias": ResultTable(
                self.table,
                "Before and after",
                f"Values and changes on the same words, {prob} intervals",
                shown if self.table["embedding"].nunique() > 1 else shown[1:],
            )
        }
        if (correlated := _correlation_frame(self)) is not None:
            tables["correlations"] = ResultTable(
                correlated,
                "Do the measures agree?",
                f"Pearson's correlation of values over original and debiased embeddings, {prob} intervals",
                note="Embeddings derived from one original are not independent, so the intervals are at best "
                "as long as they should be. If values are far from Normal, those of Pearson's correlation are too "
                "short: rely on those of the ranks.",
            )
        methods_table = self._by_method
        cost = ", and what it cost" if (self.table["kind"] == "quality").any() else ""
        is_association = methods_table["kind"] == ASSOCIATION
        several = self.table["embedding"].nunique() > 1
        interval = f"{prob} intervals{', on average over embeddings' if several else ''}"
        columns = ("method", "measure", "change", "change_low", "change_high", "in_embeddings", "value")
        headings = {"measure": "Study", "in_embeddings": "Settled in", "value": "Afterwards"}
        derived: dict[str, Any] = {"differences": True, "in_folder": False}
        by_method = {
            "methods": ResultTable(
                methods_table[is_association],
                _OPENED,
                f"Change of the contrast after each method, {interval}; above 0, associated words are farther",
                columns,
                headings,
                note=" ".join(map(str, self._settled_together)),
                mark=change_mark,
                **derived,
            ),
            "scores": ResultTable(
                methods_table[~is_association],
                _OPENED,
                f"What is left of a bias{cost}: change of each score, {interval}",
                columns,
                headings | {"measure": "Score"},
                mark=_score_mark,
                **derived,
            ),
        }
        caption = (
            f"Points: values after each method, filled if the change is settled; lines: {prob} intervals; dashed: the "
            "original. Before and after concern the same words, so two lines may overlap although the change is "
            f"settled.{' Colours and shapes: embeddings.' if several else ''}"
        )
        study = str(self.table["measure"].iloc[0])
        cut = f" Of {len(methods)} methods, the first {MOST_LINES - 1} are shown." * (len(methods) >= MOST_LINES)
        usual_title, question = f"What did debiasing change? {name_some(methods, 3)}", ""
        if len(self.questions) == 1:
            (question,) = self.questions.values()
        contents = contents_of(
            self,
            title=question or usual_title,
            about=f"{f'{usual_title}. ' if question else ''}Contrasts come from the default model; changes compare the "
            "same words before and after.",
            figures={
                "debias": ResultFigure(
                    "plot_debias_report", f"{study}. {caption}{cut}", options={"measure": study, "most": MOST_LINES}
                ),
                "measures": ResultFigure("plot_debias_report", caption, section="Before and after"),
            },
            answer=self._answer(methods_table),
            estimate=self._estimate(methods_table),
            opened=(_OPENED,),
        )
        tables = {name: table for name, table in by_method.items() if len(table.frame)} | tables
        return replace(contents, answers=(self.verdict,), tables=tables, settings=self.settings)

    @cached_property
    def _by_method(self) -> "pd.DataFrame":
        """A row for each measure and method: the change over embeddings with its interval, and its reading."""
        import numpy as np
        import pandas as pd

        rows = []
        changed = self.table[self.table["method"] != ORIGINAL]
        for (kind, measure, method), some in changed.groupby(["kind", "measure", "method"], sort=False):
            change, low, high = some["change"].mean(), some["change_low"].iloc[0], some["change_high"].iloc[0]
            if len(some) > 1:
                changes, lows, highs = some[["change", "change_low", "change_high"]].to_numpy().T
                low, high = interval_over_embeddings(changes, lows, highs, self.hdi_prob)
            settled = [is_settled(row["change_low"], row["change_high"]) for row in rows_of(some)]
            gains = some["reading"] if kind == ASSOCIATION else pd.Series([_gain(row) for row in rows_of(some)])
            reading = str(gains[np.array(settled)].mode().iloc[0]) if any(settled) else "not settled"
            if set(gains) == {"no change"}:
                reading = "no change"
            elif not is_settled(low, high):
                reading = "borderline" if len(some) == 1 and gains.iloc[0] == "borderline" else "not settled"
            in_embeddings = f"{sum(settled)} of {len(some)}" if len(some) > 1 else ""
            numbers = (change, low, high, some["value"].mean(), change, reading, in_embeddings)
            rows.append((kind, measure, method, *numbers))
        names = ["kind", "measure", "method", "change", "change_low", "change_high", "value", "mean", "reading"]
        return pd.DataFrame(rows, columns=[*names, "in_embeddings"])

    def _answer(self, by_method: "pd.DataFrame") -> str:
        rows = by_method[by_method["kind"] == ASSOCIATION]
        if rows.empty:
            return "The report has no association: see the scores below."
        study = rows["measure"].iloc[0]
        readings = {row["method"]: row["reading"] for row in rows_of(rows[rows["measure"] == study])}
        count = self.table["embedding"].nunique()
        over = f"Over {count} embeddings, the" if count > 1 else "The"
        return claims_sentence(f"{over} contrast of {shown_name(study)}", readings, "after")

    def _estimate(self, by_method: "pd.DataFrame") -> str:
        if by_method.empty:
            return ""
        row, count = rows_of(by_method)[0], self.table["embedding"].nunique()
        over = f" (on average over {count} embeddings)" if count > 1 else ""
        unit = " in cosine distance" if row["kind"] == ASSOCIATION else f" of {row['measure']}"
        return (
            f"Change after {row['method']}: {signed_text(row['change'])}{unit}, {percent_text(self.hdi_prob)} interval "
            f"{interval_text(row['change_low'], row['change_high'])}{over}."
        )


def interval_over_embeddings(
    changes: "np.ndarray", low: "np.ndarray", high: "np.ndarray", prob: float
) -> tuple[float, float]:
    """Return the interval of the mean of changes over embeddings, given the interval of each.

    The error in each embedding is that of the words, which all have in common, so that it is not smaller on average;
    beside it stands the error of the mean over embeddings (Student's).

    >>> low, high = interval_over_embeddings(np.array([0.1, 0.3]), np.array([0.0, 0.2]), np.array([0.2, 0.4]), 0.5)
    >>> round(low, 3), round(high, 3)
    (0.059, 0.341)
    """
    from scipy import stats

    half = stats.t.ppf((1 + prob) / 2, len(changes) - 1) * changes.std(ddof=1) / len(changes) ** 0.5
    below, above = (((sizes.mean() ** 2 + half**2) ** 0.5) for sizes in (changes - low, high - changes))
    return float(changes.mean() - below), float(changes.mean() + above)


def _gain(row: Mapping[str, Any]) -> str:
    """Return whether a change of a score is for the better or the worse."""
    if row["better"] == "nearer to 0":
        return "better" if abs(row["value"]) < abs(row["value"] - row["change"]) else "worse"
    return "better" if (row["change"] > 0) == (row["better"] == "higher") else "worse"


def _score_mark(row: Mapping[str, Any]) -> str:
    """Return the mark of the change of a score."""
    reading = row["reading"]
    return mark_of(reading, row["change"], is_settled=reading not in ("not settled", "no change"))


def _correlation_frame(report: DebiasReport) -> "pd.DataFrame | None":
    """Return how measures agree over the embeddings, or None where there are too few of either."""
    try:
        return measure_correlations(report)
    except ReportError:
        return None


def measure_correlations(report: DebiasReport) -> "pd.DataFrame":
    """Return correlations of a report's measures over its embeddings, original and debiased.

    Parameters
    ----------
    report
        Result of `debias_report` for at least 4 embeddings, debiased ones included.

    Returns
    -------
    pandas.DataFrame
        One row for each pair of measures: `first`, `second`, `embeddings` that have both, Pearson's `correlation`, its
        interval `hdi_low` to `hdi_high`, and `probability_of_direction`, the probability of its sign (0.5 to 1);
        Spearman's `rank_correlation` and its interval `rank_correlation_low` to
        `rank_correlation_high`.

    Raises
    ------
    ReportError, ArgumentError
        If fewer than 4 embeddings have two measures, or `report` is not a report.

    Notes
    -----
    See `correlation_interval`, whose intervals are too short where values have heavy tails, such as one embedding far
    from the others; use those of ranks there (`rank_correlation_interval`). Embeddings derived from the same original
    are not independent, and values have errors of their own, which pull a correlation towards 0: the intervals are the
    shortest that can be defended.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> methods = ["linear", "hard", "soft", "misp"]
    >>> settings = {"measures": ["vocabulary_direct_bias"], "random_seed": 1}
    >>> report = bb.debias_report(vectors, "weat7", methods, sets="gender_bolukbasi", max_lost=0.4, **settings)
    >>> bb.audits.measure_correlations(report)[["first", "second", "embeddings"]]
       first                  second  embeddings
    0  weat7  vocabulary_direct_bias           5
    """
    import pandas as pd

    check_type("report", report, DebiasReport, "what bb.debias_report returned")
    values = report.table.pivot(index=["embedding", "method"], columns="measure", values="value")
    names = list(dict.fromkeys(report.table["measure"]))
    rows = []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            both = values[[first, second]].dropna()
            if len(both) < LEAST_EMBEDDINGS or (both.nunique() < 2).any():
                continue
            numbers = correlated(both[first], both[second], hdi_prob=report.hdi_prob)
            rows.append((first, second, len(both), *numbers))
    if not rows:
        raise ReportError(
            f"Correlations take at least {LEAST_EMBEDDINGS} embeddings that have two measures, and that differ: the "
            f"report has {counted(len(values), 'embedding')} and {counted(len(names), 'measure')}. Ask for more "
            "methods or measures."
        )
    return pd.DataFrame(rows, columns=["first", "second", "embeddings", *CORRELATION_COLUMNS])


def _association_statement(embedding: str, study: str, rows: list[dict[str, Any]]) -> Statement:
    before = next((row for row in rows if row["method"] == ORIGINAL), None)
    head = f"{shown_name(study)} in {embedding}"
    if lost := max(row["lost"] for row in rows):
        head += f" ({counted(lost, 'word')} of its lists lost)"
    if before is not None:
        head += (
            f": {signed_text(before['value'])} (observed {signed_text(before['observed'])}, interval "
            f"{interval_text(before['value_low'], before['value_high'])}) "
            f"in the original, {settled_text(before['value_low'], before['value_high'])}"
        )
    sentences = []
    for reading in READINGS:
        methods = [f"{row['method']} ({_change_text(row)})" for row in rows if row["reading"] == reading]
        if methods:
            text = reading_text(reading, _DEBIASED)
            sentences.append(f"{text[0].upper()}{text[1:]}: {', '.join(methods)}.")
    return Statement("association", " ".join([f"{head}.", *sentences]), {"rows": rows})


def _score_statement(embedding: str, measure: str, rows: list[dict[str, Any]]) -> Statement:
    """Return which methods changed a score, and how."""
    before = next((row for row in rows if row["method"] == ORIGINAL), None)
    head = f"{measure} of {embedding} ({rows[0]['better']} is better)"
    if before is not None:
        head += f": {before['value']:.3f} ({before['value_low']:.3f} to {before['value_high']:.3f}) in the original"
    changed = [row for row in rows if row["method"] != ORIGINAL]
    moved = [row for row in changed if is_settled(row["change_low"], row["change_high"])]
    sentences = (
        [f"Settled changes: {', '.join(f'{row["method"]} ({_change_text(row)})' for row in moved)}."] if moved else []
    )
    if still := [row["method"] for row in changed if row not in moved]:
        sentences.append(f"No change is settled after {name_some(still, 12)}.")
    return Statement("score", " ".join([f"{head}.", *sentences]), {"rows": rows})


def _cost_text(measure: str, rows: list[dict[str, Any]]) -> str:
    """Return after which methods a measure of quality is worse or better."""
    places: dict[str, list[str]] = {}
    several = len({row["embedding"] for row in rows}) > 1
    for row in rows:
        moved = is_settled(row["change_low"], row["change_high"])
        gained = (row["change"] > 0) == (row["better"] == "higher")
        way = ("better" if gained else "worse") + " after" if moved else "no change is settled after"
        places.setdefault(way, []).append(f"{row['method']} ({row['embedding']})" if several else row["method"])
    ways = ("worse after", "better after", "no change is settled after")
    return f"{measure}: {'; '.join(f'{way} {name_some(places[way], 12)}' for way in ways if way in places)}."


def _change_text(row: Mapping[str, Any]) -> str:
    """Return a change with its interval; a tiny one with its power of ten, and none as 0."""
    if max(abs(row["change_low"]), abs(row["change_high"])) < _TINY:
        return f"{row['change']:+.1e}" if row["change"] else "0"
    return f"{signed_text(row['change'])}, {interval_text(row['change_low'], row['change_high'])}"


def _unconverged(not_converged: Mapping[tuple[str, str], str]) -> list[Statement]:
    """Return a statement for each embedding whose draws did not converge."""
    return [
        Statement("convergence", f"DO NOT REPORT THE NUMBERS OF {method} ({embedding}) YET. {text}", {"method": method})
        for (embedding, method), text in not_converged.items()
    ]


def _missing(failed: Mapping[tuple[str, str], str], left_out: Mapping[tuple[str, str, str], str]) -> list[Statement]:
    """Return the reasons why values are missing, each once."""
    statements = [
        Statement("failed", f"{method} of {embedding} gave no embedding: {text}", {"method": method})
        for (embedding, method), text in failed.items()
    ]
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for (embedding, method, measure), text in left_out.items():
        reasons.setdefault((measure, embedding, text), []).append(method)
    statements += [
        Statement("left out", f"{measure} of {embedding} ({name_some(methods, 12)}): {text}", {"methods": methods})
        for (measure, embedding, text), methods in reasons.items()
    ]
    return statements


def _thin(table: "pd.DataFrame") -> list[Statement]:
    """Return a statement for each embedding whose scores rest on few of their items."""
    rows = table[(table["kind"] != ASSOCIATION) & (table["lost"] > MAX_LOST * (table["items"] + table["lost"]))]
    statements = []
    for embedding, some in rows.drop_duplicates(["embedding", "measure"]).groupby("embedding", sort=False):
        scores = {row["measure"]: (row["items"], row["items"] + row["lost"]) for row in rows_of(some)}
        shares = [f"{measure} ({present:,} of {total:,})" for measure, (present, total) in scores.items()]
        text = (
            f"{embedding} lacks words of many items of {', '.join(shares)}. These values describe only the "
            "remaining items."
        )
        statements.append(Statement("lost items", text, {"items": scores}))
    return statements
