"""Sections on the posterior: all protected words, and each of them."""

from typing import TYPE_CHECKING

from bayesbias.base.number_text import counted, distance_text, percent_text
from bayesbias.base.results import ResultTable
from bayesbias.delivery.page.blocks import Block, Bullets, Notice, Section, Table, figure
from bayesbias.delivery.page.sections import table_block
from bayesbias.delivery.plots.posterior.words import plot_connections, plot_words
from bayesbias.errors import QuestionWarning, collected_warnings
from bayesbias.models.fitted.fit_source import fitted_table
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.questions import own_questions, planned_contrasts
from bayesbias.reports.posterior.summary import UNITS, summary

if TYPE_CHECKING:
    import pandas as pd

# A figure of more words is too tall to read and to print.
_MOST_WORDS = 150
_MOST_OPEN = 5

_MOMENTS = ("mean", "sd", "hdi_low", "hdi_high")
_DIAGNOSTICS = ("ess_bulk", "r_hat")
_DIFFERENCE = (
    *(*_MOMENTS, "direction", "probability_of_direction", "observed", "list_nearness"),
    *("net_mean", "net_low", "net_high", "probability_in_rope"),
)

# Level of a contrast -> its column, and what a row is.
_OF_EACH = {"protected_group": ("protected_group", "group"), "word": ("protected_word", "word")}


def overall_section(page: FitReport) -> Section:
    """Return the section on the mean distances of all protected words and their differences."""
    prob = percent_text(page.hdi_prob)
    frame = summary(page.fit, level="overall", hdi_prob=page.hdi_prob)
    means = frame[frame["parameter"] == "connection_mean"]
    others = frame[frame["parameter"] != "connection_mean"]
    blocks: list[Block] = [
        figure(
            plot_connections(page.fit, hdi_prob=page.hdi_prob),
            f"Posterior means (points) and {prob} intervals (lines) of the mean distance of all protected words, "
            "by connection.",
            f"Points with intervals on an axis of mean cosine distance, one per connection: {_intervals(means)}.",
        ),
        _table(
            means,
            f"Mean cosine distance of all protected words, {prob} HPDI",
            ("connection", "pairs", *_MOMENTS, *_DIAGNOSTICS),
        ),
        _differences(page, "overall"),
        *_group_differences(page),
        *_questions(page),
        _table(
            others,
            f"Variation between words, pairs and attribute words, {UNITS}; {prob} HPDI",
            ("parameter", "connection", "effect", "attribute_list", *_MOMENTS, *_DIAGNOSTICS),
            folded=True,
        ),
    ]
    return Section("overall", "All protected words", blocks, [*page.statements("contrast"), *_open_statements(page)])


def words_section(page: FitReport) -> Section:
    """Return the section on the means of each protected word and their differences."""
    prob = percent_text(page.hdi_prob)
    frame = summary(page.fit, level="word", hdi_prob=page.hdi_prob)
    frame = frame[frame["parameter"] == "word_mean"]
    word_count = frame["protected_word"].nunique()
    statements = page.statements("words")
    blocks: list[Block] = []
    if word_count > _MOST_WORDS:
        blocks.append(
            Notice(f"A figure of {word_count:,} words would be too tall for a page. Draw it: bb.plots.plot_words(fit).")
        )
    else:
        nearest_text = " ".join(statements) or f"Nearest: {_intervals(frame.nsmallest(3, 'mean'), 'protected_word')}."
        blocks.append(
            figure(
                plot_words(page.fit, hdi_prob=page.hdi_prob),
                f"Posterior means and {prob} intervals of each protected word, by connection; the top panel has those "
                "of all words. A hollow point is a word without any pair of that connection.",
                f"Points with intervals for {counted(word_count, 'protected word')}, at most four connections. "
                f"{nearest_text} The tables below hold the numbers.",
            )
        )
    columns = ("protected_word", "protected_group", "connection", "pairs", *_MOMENTS, *_DIAGNOSTICS)
    blocks += [
        _differences(page, "word"),
        _table(frame, f"Mean cosine distance of each protected word, {prob} HPDI", columns, folded=True),
    ]
    return Section("words", "Word by word", blocks, statements)


def _differences(page: FitReport, level: str) -> Table | Notice:
    """Return the contrasts at a level, or a notice that says why there are none."""
    if reason := page.nothing_to_compare:
        return Notice(f"No differences are shown. {reason}")
    frame = contrasts(page.fit, level=level, hdi_prob=page.hdi_prob, rope=page.rope)
    if frame.empty:
        return Notice("No differences are shown: no protected group has both sides of one.")
    reading = f"{percent_text(page.hdi_prob)} HPDI; below 0, nearer"
    if level == "overall":
        shown = ("contrast", *_DIFFERENCE, *_DIAGNOSTICS)
        return _table(frame, f"Differences of overall means, {reading}", shown, differences=True)
    name, label = _OF_EACH[level]
    of_each = (name, "contrast", *_DIFFERENCE, "baseline_pairs", "other_pairs")
    return _table(frame, f"Differences for each protected {label}, {reading}", of_each, differences=True, folded=True)


def _group_differences(page: FitReport) -> list[Block]:
    """Return the contrasts of each protected group if there are several, else nothing."""
    if len(page.compared_groups) == 1 or page.nothing_to_compare:
        return []
    folded_statements = () if _open_statements(page) else page.statements("group")
    return [*([Bullets(folded_statements)] if folded_statements else []), _differences(page, "protected_group")]


def _open_statements(page: FitReport) -> tuple[str, ...]:
    """Return the statements on groups if they are few enough to stand open."""
    statements = page.statements("group")
    return tuple(statements) if len(statements) <= _MOST_OPEN else ()


def _questions(page: FitReport) -> list[Block]:
    """Return the answers to the study's own questions, or notices that say why there are none."""
    if not own_questions(fitted_table(page.fit)):
        return []
    with collected_warnings(QuestionWarning) as caught:
        frame = planned_contrasts(page.fit, hdi_prob=page.hdi_prob, rope=page.rope)
    notices: list[Block] = [Notice(str(warning.message)) for warning in caught]
    if frame.empty:
        return notices
    title = f"Questions of the study, about these protected words, {percent_text(page.hdi_prob)} HPDI; below 0, nearer"
    columns = ("question", "pairs", *_DIFFERENCE, *_DIAGNOSTICS)
    return [*notices, _table(frame, title, columns, differences=True)]


def _table(
    frame: "pd.DataFrame", caption: str, columns: tuple[str, ...], *, differences: bool = False, folded: bool = False
) -> Table:
    headings = {
        "contrast": "Difference",
        "observed": "Plain difference",
        "net_mean": "Without it",
        "net_low": "Its interval",
    }
    return table_block(ResultTable(frame, "", caption, columns, headings, differences=differences, folded=folded))


def _intervals(frame: "pd.DataFrame", name: str = "connection") -> str:
    return "; ".join(
        f"{row[name]} {distance_text(row['mean'])} "
        f"({distance_text(row['hdi_low'])} to {distance_text(row['hdi_high'])})"
        for row in frame.to_dict("records")
    )
