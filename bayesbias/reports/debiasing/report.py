"""Did debiasing work: what methods did to associations, to what is left of a bias, and to an embedding's quality."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.base.checks import check_type
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.statements import (
    Rendered,
    Statement,
    StatementList,
    interval_text,
    percent_text,
    rows_of,
    signed_text,
)
from bayesbias.errors import BayesBiasWarning, ConvergenceWarning, ReportError, name_some, warn_user
from bayesbias.estimates.correlations import correlation_interval
from bayesbias.estimates.intervals import settled
from bayesbias.reports.audits.assembly import repeat
from bayesbias.reports.audits.cells import Answer
from bayesbias.reports.debiasing.cells import ASSOCIATION, ORIGINAL, AskedScore, DebiasCell

if TYPE_CHECKING:
    import pandas as pd

TEXTS = ("embedding", "method", "kind", "measure", "quantity", "better", "reading")
_VALUES = (
    *("value", "value_low", "value_high", "value_plain"),
    *("change", "change_low", "change_high", "change_plain"),
)
COLUMNS = (*TEXTS[:6], *_VALUES, "reading", "items", "lost")
_TINY = 0.0005  # changes that three decimals do not show
_FEWEST = 4  # embeddings over which a correlation says anything at all
# What the intervals of the difference and of both gaps say, by `reading` of `compare_embeddings`, and in this order.
_READINGS = {
    "baseline only": "Smaller, and not settled any more, after",
    "narrower": "Smaller after",
    "equal": "The same after",
    "not settled": "No change is settled after",
    "neither": "Changed, but settled neither before nor after",
    "wider": "Larger after",
    "other only": "Settled only after",
    "reversed": "Turned round by",
}


@dataclass(frozen=True, eq=False, repr=False)
class DebiasReport(Rendered):
    """What `debias_report` found; printed, which method took the association away and what that cost.

    Parameters
    ----------
    table : pandas.DataFrame
        One row an embedding, method (``"original"``: nothing done) and measure: `kind` (``"association"``, a study's
        contrast in units of cosine distance; ``"bias"``, what is left of a bias in the geometry; ``"quality"``),
        `measure` and `quantity`; `better`, which values of it are (``"lower"``, ``"higher"``, ``"nearer to 0"``; of an
        association empty); `value` with its interval `value_low` to `value_high`; `change`, after the method
        minus before on the same words, with an interval of its own, `change_low` to `change_high` (of an association
        it is modelled from the differences of pairs, see `compare_embeddings`, and not just the difference of two
        values); of an association also the plain gap of the averages, `value_plain`, and its change, `change_plain`;
        `reading` of an association, as `compare_embeddings` has it; `items` behind the number (word pairs,
        words, questions, splits), and how many were `lost`.
    failed
        (embedding, method) -> why there is no embedding of it.
    left_out
        (embedding, method, measure) -> why it has no number.
    not_converged
        (embedding, method) -> what is wrong with draws that its numbers come from.
    hdi_prob
        Probability inside the intervals.
    settings
        All that was asked, by name, as texts.
    """

    table: "pd.DataFrame"
    failed: Mapping[tuple[str, str], str]
    left_out: Mapping[tuple[str, str, str], str]
    not_converged: Mapping[tuple[str, str], str]
    hdi_prob: float
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = {name: self.table[name].nunique() for name in ("embedding", "method", "measure")}
        return f"DebiasReport({', '.join(f'{count} {name}s' for name, count in counts.items())})"

    @property
    def verdict(self) -> Statement:
        """What each method did to the associations, in a sentence a study, and to quality, in one a measure."""
        rows = self.table[(self.table["kind"] == ASSOCIATION) & (self.table["method"] != ORIGINAL)]
        said = []
        for study, some in rows.groupby("measure", sort=False):
            several = some["embedding"].nunique()
            by_reading = []
            for reading, text in _READINGS.items():
                counts = some.loc[some["reading"] == reading, "method"].value_counts(sort=False).items()
                names = [f"{name} (in {count} of {several})" if several > 1 else str(name) for name, count in counts]
                if names:
                    by_reading.append(f"{text[0].lower()}{text[1:]} {name_some(names, 12)}")
            said.append(f"{study}: {'; '.join(by_reading)}.")
        rows = self.table[(self.table["kind"] == "quality") & (self.table["method"] != ORIGINAL)]
        said += [_cost_text(str(measure), rows_of(some)) for measure, some in rows.groupby("measure", sort=False)]
        return Statement("verdict", " ".join(said))

    @property
    def parts(self) -> tuple[StatementList, ...]:
        """The parts of the text, in the order in which they are read."""
        rows = self.table
        answers = [
            _association_statement(str(embedding), str(study), rows_of(some))
            for (embedding, study), some in rows[rows["kind"] == ASSOCIATION].groupby(
                ["embedding", "measure"], sort=False
            )
        ]
        kept, cost = (
            [
                _score_statement(str(embedding), str(measure), rows_of(some))
                for (embedding, measure), some in rows[rows["kind"] == kind].groupby(
                    ["embedding", "measure"], sort=False
                )
            ]
            for kind in ("bias", "quality")
        )
        doubts = (*_unconverged(self.not_converged), *_missing(self.failed, self.left_out), *_thin(rows))
        interval = f"{percent_text(self.hdi_prob)} HPDI"
        parts = (
            StatementList("Beware", doubts),
            StatementList(f"Did the association go? (cosine distance, {interval})", tuple(answers)),
            StatementList(f"What is left in the geometry ({interval})", tuple(kept)),
            StatementList(f"What it cost ({interval})", tuple(cost)),
            StatementList("What it does not show", tuple(Statement("other", text) for text in _LIMITS)),
        )
        return tuple(part for part in parts if part.statements)


_LIMITS = (
    "That a bias is gone: a method closes what it was fitted to. Words that were among its own, or that it equalized, "
    "say little; ask with other words, and of a model that uses the vectors.",
    "Changes of several methods and measures are each given with an interval of their own; of many that are nothing, "
    "some are settled by chance.",
)


def assembled(
    cells: Sequence[DebiasCell],
    answers: Mapping[str, Answer],
    failed: Mapping[str, str],
    settings: Mapping[str, str],
) -> DebiasReport:
    """Return the report that the answers of all cells make, and warn of what was lost, left out, or failed."""
    import pandas as pd

    from bayesbias.estimates.estimate_frame import EstimateFrame

    rows = [
        {"embedding": cell.embedding, "method": cell.method, **row}
        for cell in cells
        if cell.digest in answers
        for row in answers[cell.digest].rows
    ]
    repeat(each for answer in answers.values() for each in answer.warned)
    gone = {(cell.embedding, cell.method): failed[cell.digest] for cell in cells if cell.digest in failed}
    left_out = {
        (cell.embedding, cell.method, measure): reason
        for cell in cells
        if cell.digest in answers
        for measure, reason in answers[cell.digest].left_out.items()
    }
    reasons = list(dict.fromkeys([*gone.values(), *left_out.values()]))
    methods = {cell.method for cell in cells}
    if not rows or (methods > {ORIGINAL} and {row["method"] for row in rows} == {ORIGINAL}):
        raise ReportError(f"No method has an answer. {' '.join(reasons[:3])}")
    if reasons:
        missing = ((len(gone), "debiased embedding"), (len(left_out), "number"))
        counts = [f"{count} {name}{'s' * (count > 1)}" for count, name in missing if count]
        warn_user(
            f"The report lacks {' and '.join(counts)}, as it says under Beware: {' '.join(reasons[:3])}",
            BayesBiasWarning,
        )
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS)).astype(dict.fromkeys(_VALUES, float))
    frame["reading"] = frame["reading"].astype(object).fillna("")
    not_converged = {
        (cell.embedding, cell.method): text
        for cell in cells
        if cell.digest in answers
        for kind, text in answers[cell.digest].warned
        if kind == ConvergenceWarning.__name__
    }
    return DebiasReport(EstimateFrame(frame), gone, left_out, not_converged, cells[0].hdi_prob, settings)


def measure_correlations(report: DebiasReport) -> "pd.DataFrame":
    """Return how a report's measures go together over its embeddings, original and debiased.

    Parameters
    ----------
    report
        What `debias_report` returned, of at least 4 embeddings, debiased ones included.

    Returns
    -------
    pandas.DataFrame
        One row two measures: `first`, `second`, `embeddings` that have both, Pearson's `correlation`, its interval
        `hdi_low` to `hdi_high`, and `probability_of_positive`, the posterior probability that it is above 0.

    Raises
    ------
    ReportError, ArgumentError
        If fewer than 4 embeddings have two measures, or it is no report.

    Notes
    -----
    See `correlation_interval`. Embeddings that one original was made into are not independent, and values have errors
    of their own, which draw a correlation towards 0: take the intervals as the shortest that can be defended.

    Examples
    --------
    >>> vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> methods = ["linear", "hard", "soft", "misp"]
    >>> asked = {"model": "no_pooling", "measures": ["vocabulary_direct_bias"], "random_seed": 1}
    >>> report = bb.debias_report(vectors, "weat7", methods, "gender_bolukbasi", max_lost=0.4, **asked)
    >>> bb.reports.measure_correlations(report)[["first", "second", "embeddings"]]
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
            if len(both) < _FEWEST or (both.nunique() < 2).any():
                continue
            r = float(np.corrcoef(both.to_numpy(), rowvar=False)[0, 1])
            rows.append((first, second, len(both), r, *correlation_interval(r, len(both), hdi_prob=report.hdi_prob)))
    if not rows:
        raise ReportError(
            f"Correlations take at least {_FEWEST} embeddings that have two measures, and that differ: the report has "
            f"{len(values)} embeddings and {len(names)} measures. Ask for more methods or measures."
        )
    names = ["first", "second", "embeddings", "correlation", "hdi_low", "hdi_high", "probability_of_positive"]
    return pd.DataFrame(rows, columns=names)


def setting_texts(cells: Sequence[DebiasCell]) -> dict[str, str]:
    """Return all that was asked, by name, as texts."""
    one = cells[0]
    methods = {cell.method: repr(cell.chosen) for cell in cells if cell.chosen is not None}
    return {
        "Embeddings": ", ".join({cell.embedding: f"{cell.embedding} (hash {cell.vectors})" for cell in cells}.values()),
        "Methods": "; ".join(f"{name}: {said}" for name, said in methods.items()),
        "Words of the methods": one.sets.name,
        "Studies": ", ".join(study.name for study in one.studies),
        "Measures": ", ".join(map(_asked_text, one.scores)),
        "Largest share of lost words": f"{one.max_lost:g}",
        "Model": f"{one.model.name} (hash {one.model.digest})",
        "Draws": f"{one.draws:,} in each of {one.chains} chains",
        "Seed": str(one.random_seed),
    }


def _asked_text(asked: AskedScore) -> str:
    options = ", ".join(f"{name}={value!r}" for name, value in asked.options)
    return f"{asked.label} ({options})" if options else asked.label


def _association_statement(embedding: str, study: str, rows: Iterable[dict[str, Any]]) -> Statement:
    """Say of each method what became of an association."""
    rows = list(rows)
    before = next((row for row in rows if row["method"] == ORIGINAL), None)
    head = f"{study} in {embedding}"
    if lost := max(row["lost"] for row in rows):
        head += f" ({lost:,} word{'s' * (lost > 1)} of its lists lost)"
    if before is not None:
        found = settled(before["value_low"], before["value_high"])
        head += (
            f": {signed_text(before['value'])} (plain {signed_text(before['value_plain'])}, interval "
            f"{interval_text(before['value_low'], before['value_high'])}) "
            f"in the original, {'settled' if found else 'not settled'}"
        )
    said = []
    for reading, text in _READINGS.items():
        methods = [f"{row['method']} ({_change_text(row)})" for row in rows if row["reading"] == reading]
        if methods:
            said.append(f"{text} {', '.join(methods)}.")
    return Statement("association", " ".join([f"{head}.", *said]), {"rows": rows})


def _score_statement(embedding: str, measure: str, rows: Iterable[dict[str, Any]]) -> Statement:
    """Say which methods changed a score, and how."""
    rows = list(rows)
    before = next((row for row in rows if row["method"] == ORIGINAL), None)
    head = f"{measure} of {embedding} ({rows[0]['better']} is better)"
    if before is not None:
        head += f": {before['value']:.3f} ({before['value_low']:.3f} to {before['value_high']:.3f}) in the original"
    changed = [row for row in rows if row["method"] != ORIGINAL]
    moved = [row for row in changed if settled(row["change_low"], row["change_high"])]
    said = (
        [f"Settled changes: {', '.join(f'{row["method"]} ({_change_text(row)})' for row in moved)}."] if moved else []
    )
    if still := [row["method"] for row in changed if row not in moved]:
        said.append(f"No change is settled after {name_some(still, 12)}.")
    return Statement("score", " ".join([f"{head}.", *said]), {"rows": rows})


def _cost_text(measure: str, rows: Iterable[dict[str, Any]]) -> str:
    """Say after which methods a measure of quality is worse or better, in words."""
    places: dict[str, list[str]] = {}
    rows = list(rows)
    several = len({row["embedding"] for row in rows}) > 1
    for row in rows:
        moved = settled(row["change_low"], row["change_high"])
        gained = (row["change"] > 0) == (row["better"] == "higher")
        way = ("better" if gained else "worse") + " after" if moved else "no change is settled after"
        places.setdefault(way, []).append(f"{row['method']} ({row['embedding']})" if several else row["method"])
    ways = ("worse after", "better after", "no change is settled after")
    return f"{measure}: {'; '.join(f'{way} {name_some(places[way], 12)}' for way in ways if way in places)}."


def _change_text(row: Mapping[str, Any]) -> str:
    """Return a change with its interval; a tiny one with its power of ten."""
    if max(abs(row["change_low"]), abs(row["change_high"])) < _TINY:
        return f"{row['change']:+.1e}"
    return f"{signed_text(row['change'])}, {interval_text(row['change_low'], row['change_high'])}"


def _unconverged(found: Mapping[tuple[str, str], str]) -> list[Statement]:
    """Say which numbers come from draws that did not converge."""
    return [
        Statement("convergence", f"DO NOT REPORT THE NUMBERS OF {method} ({embedding}) YET. {text}", {"method": method})
        for (embedding, method), text in found.items()
    ]


def _missing(failed: Mapping[tuple[str, str], str], left_out: Mapping[tuple[str, str, str], str]) -> list[Statement]:
    """Say what has no number and why, each reason once."""
    found = [
        Statement("failed", f"{method} of {embedding} gave no embedding: {text}", {"method": method})
        for (embedding, method), text in failed.items()
    ]
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for (embedding, method, measure), text in left_out.items():
        reasons.setdefault((measure, embedding, text), []).append(method)
    found += [
        Statement("left out", f"{measure} of {embedding} ({name_some(methods, 12)}): {text}", {"methods": methods})
        for (measure, embedding, text), methods in reasons.items()
    ]
    return found


def _thin(table: "pd.DataFrame") -> list[Statement]:
    """Say which scores rest on few of the items that were asked for, in a sentence an embedding."""
    rows = table[(table["kind"] != ASSOCIATION) & (table["lost"] > MAX_LOST * (table["items"] + table["lost"]))]
    found = []
    for embedding, some in rows.drop_duplicates(["embedding", "measure"]).groupby("embedding", sort=False):
        scores = {row["measure"]: (row["items"], row["items"] + row["lost"]) for row in rows_of(some)}
        shares = [f"{measure} ({known:,} of {asked:,})" for measure, (known, asked) in scores.items()]
        text = (
            f"{embedding} lacks words of many items of {', '.join(shares)}. Take these values as ones of the items "
            "that are left."
        )
        found.append(Statement("lost items", text, {"items": scores}))
    return found
