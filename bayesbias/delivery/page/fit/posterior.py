"""Sections on the posterior: all protected words, and each of them."""

from typing import TYPE_CHECKING, Any

from bayesbias.base.number_text import count_text, counted, distance_text, percent_text, probability_text, signed_text
from bayesbias.delivery.page.blocks import Block, Bullets, Notice, Section, Table, figure, frame_table
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

_DIAGNOSTICS: dict[str, Any] = {
    "ess_bulk": ("ESS", count_text),
    "r_hat": ("R\N{NON-BREAKING HYPHEN}hat", distance_text),
}


# Level of a contrast -> its column, and what a row is.
_OF_EACH = {"protected_group": ("protected_group", "group"), "word": ("protected_word", "word")}


def overall_section(page: FitReport) -> Section:
    """Return the section on the mean distances of all protected words and their differences."""
    prob = percent_text(page.hdi_prob)
    frame = summary(page.fit, level="overall", hdi_prob=page.hdi_prob)
    means = frame[frame["parameter"] == "connection_mean"]
    others = frame[frame["parameter"] != "connection_mean"].copy()
    others["of"] = others["connection"]
    for label in ("effect", "attribute_list"):
        if label in others:
            others["of"] = others["of"] + others[label]
    others["of"] = others["of"].replace("", "all")
    blocks: list[Block] = [
        figure(
            plot_connections(page.fit, hdi_prob=page.hdi_prob),
            f"Posterior means (points) and {prob} intervals (lines) of the mean distance of all protected words, "
            "by connection.",
            f"Points with intervals on an axis of mean cosine distance, one per connection: {_intervals(means)}.",
        ),
        frame_table(
            means,
            f"Mean cosine distance of all protected words, {prob} HPDI",
            {
                "connection": ("Connection", None),
                "pairs": ("Pairs", count_text),
                **_moments(distance_text),
                **_diagnostic_columns(means),
            },
        ),
        _differences(page, "overall"),
        *_group_differences(page),
        *_questions(page),
        frame_table(
            others,
            f"Variation between words, pairs and attribute words, {UNITS}; {prob} HPDI",
            {
                "parameter": ("Parameter", None),
                "of": ("Scope", None),
                **_moments(distance_text),
                **_diagnostic_columns(others),
            },
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
    columns = {
        "protected_word": ("Word", None),
        "protected_group": ("Group", None),
        "connection": ("Connection", None),
        "pairs": ("Pairs", count_text),
        **_moments(distance_text),
        **_diagnostic_columns(frame),
    }
    blocks += [
        _differences(page, "word"),
        frame_table(frame, f"Mean cosine distance of each protected word, {prob} HPDI", columns, folded=True),
    ]
    return Section("words", "Word by word", blocks, statements)


def _differences(page: FitReport, level: str) -> Table | Notice:
    """Return the contrasts at a level, or a notice that says why there are none."""
    if reason := page.nothing_to_compare:
        return Notice(f"No differences are shown. {reason}")
    frame = contrasts(page.fit, level=level, hdi_prob=page.hdi_prob, rope=page.rope)
    columns = {"contrast": ("Difference", None), **_difference_columns(frame)}
    if frame.empty:
        return Notice("No differences are shown: no protected group has both sides of one.")
    reading = f"{percent_text(page.hdi_prob)} HPDI; below 0, nearer"
    if level == "overall":
        return frame_table(frame, f"Differences of overall means, {reading}", columns | _diagnostic_columns(frame))
    counts = {"baseline_pairs": ("Pairs", count_text), "other_pairs": ("Other pairs", count_text)}
    name, label = _OF_EACH[level]
    columns = {name: (label.capitalize(), None), **columns, **counts}
    return frame_table(frame, f"Differences for each protected {label}, {reading}", columns, folded=True)


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
    columns = {"question": ("Question", None), "pairs": ("Pairs", count_text), **_difference_columns(frame)}
    title = f"Questions of the study, about these protected words, {percent_text(page.hdi_prob)} HPDI"
    return [*notices, frame_table(frame, f"{title}; below 0, nearer", columns | _diagnostic_columns(frame))]


def _difference_columns(frame: "pd.DataFrame") -> dict[str, Any]:
    columns: dict[str, Any] = {
        **_moments(signed_text),
        "direction": ("Direction", None),
        "probability_of_direction": ("Probability", probability_text),
        "observed": ("Plain difference", signed_text),
    }
    if "net_mean" in frame:
        columns |= {
            "list_nearness": ("Nearness of lists", signed_text),
            "net_mean": ("Without it", signed_text),
            "net_low:net_high": ("Its interval", signed_text),
        }
    if "probability_in_rope" in frame:
        columns["probability_in_rope"] = ("Too small to matter", probability_text)
    return columns


def _diagnostic_columns(frame: "pd.DataFrame") -> dict[str, Any]:
    return {name: column for name, column in _DIAGNOSTICS.items() if name in frame}


def _moments(write: Any) -> dict[str, Any]:
    return {"mean": ("Mean", write), "sd": ("SD", distance_text), "hdi_low:hdi_high": ("Interval", write)}


def _intervals(frame: "pd.DataFrame", name: str = "connection") -> str:
    return "; ".join(
        f"{row[name]} {distance_text(row['mean'])} "
        f"({distance_text(row['hdi_low'])} to {distance_text(row['hdi_high'])})"
        for row in frame.to_dict("records")
    )
