"""What the posterior says: of all protected words, and of each."""

from typing import TYPE_CHECKING, Any

from bayesbias.base.statements import count_text, distance_text, percent_text, probability_text, signed_text
from bayesbias.delivery.page.blocks import Block, Bullets, Notice, Section, Table, figure, frame_table
from bayesbias.delivery.page.page_input import PageInput
from bayesbias.delivery.plots.posterior.words import plot_connections, plot_words
from bayesbias.errors import QuestionWarning, collected_warnings
from bayesbias.models.fitted.fit_source import fitted_table
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.posterior.questions import own_questions
from bayesbias.reports.posterior.summary import summary

if TYPE_CHECKING:
    import pandas as pd

# A taller figure than this many words make is neither readable nor printable.
_MOST_WORDS = 150

_DIAGNOSTICS: dict[str, Any] = {
    "ess_bulk": ("ESS", count_text),
    "r_hat": ("R\N{NON-BREAKING HYPHEN}hat", distance_text),
}


# Of each level: the column of what is compared, and what it is called.
_OF_EACH = {"protected_group": ("protected_group", "group"), "word": ("protected_word", "word")}


def overall(page: PageInput) -> Section:
    """Show the mean distances of all protected words, by connection, and their differences."""
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
            f"Points with intervals on an axis of mean cosine distance, one a connection: {_intervals(means)}.",
        ),
        frame_table(
            means,
            f"Mean cosine distance of all protected words, {prob} HPDI",
            {
                "connection": ("Connection", None),
                "pairs": ("Pairs", count_text),
                **_moments(distance_text),
                **_worth(means),
            },
        ),
        _differences(page, "overall"),
        *_of_groups(page),
        *_questions(page),
        frame_table(
            others,
            "Spread: how much words, pairs and attribute words differ, in units of cosine distance but for what has "
            f"none (weights, list_effect, slope_sd, list_scale), {prob} HPDI",
            {"parameter": ("Parameter", None), "of": ("Of", None), **_moments(distance_text), **_worth(others)},
            folded=True,
        ),
    ]
    return Section("overall", "All protected words", blocks, page.shown("contrast"))


def words(page: PageInput) -> Section:
    """Show the means of each protected word, and their differences."""
    prob = percent_text(page.hdi_prob)
    frame = summary(page.fit, level="word", hdi_prob=page.hdi_prob)
    frame = frame[frame["parameter"] == "word_mean"]
    number = frame["protected_word"].nunique()
    found = page.shown("words")
    blocks: list[Block] = []
    if number > _MOST_WORDS:
        blocks.append(
            Notice(
                f"With {number:,} words the figure would be too tall for a page: draw it with bb.plots.plot_words(fit)."
            )
        )
    else:
        said = " ".join(found) or f"Nearest: {_intervals(frame.nsmallest(3, 'mean'), 'protected_word')}."
        blocks.append(
            figure(
                plot_words(page.fit, hdi_prob=page.hdi_prob),
                f"Posterior means and {prob} intervals of each protected word, by connection, with those of all words "
                "above. A hollow point is a word that has no pair of that connection.",
                f"Points with intervals for {number} protected words, four connections at most each. {said} The "
                "numbers stand in the tables below.",
            )
        )
    if found:
        blocks.append(Bullets(found))
    columns = {
        "protected_word": ("Word", None),
        "protected_group": ("Group", None),
        "connection": ("Connection", None),
        "pairs": ("Pairs", count_text),
        **_moments(distance_text),
        **_worth(frame),
    }
    blocks += [
        _differences(page, "word"),
        frame_table(frame, f"Mean cosine distance of each protected word, {prob} HPDI", columns, folded=True),
    ]
    return Section("words", "Word by word", blocks, found)


def _differences(page: PageInput, level: str) -> Table | Notice:
    """Return the contrasts of all protected words, of each group or of each word, or why there are none."""
    if reason := page.nothing_to_compare:
        return Notice(f"No differences are shown. {reason}")
    frame = contrasts(page.fit, level=level, hdi_prob=page.hdi_prob, rope=page.rope)
    columns = {"contrast": ("Difference", None), **_difference_columns(frame)}
    reading = f"{percent_text(page.hdi_prob)} HPDI; negative is nearer"
    if level == "overall":
        return frame_table(frame, f"Differences of overall means, {reading}", columns | _worth(frame))
    counts = {"baseline_pairs": ("Pairs", count_text), "other_pairs": ("Other pairs", count_text)}
    name, label = _OF_EACH[level]
    columns = {name: (label.capitalize(), None), **columns, **counts}
    return frame_table(frame, f"Differences for each protected {label}, {reading}", columns, folded=True)


def _of_groups(page: PageInput) -> list[Block]:
    """Return the contrasts of each protected group, where there are several."""
    several = page.table["protected_group"].nunique() > 1
    if not several or page.nothing_to_compare:
        return []
    statements = page.shown("group")
    return [*([Bullets(statements)] if statements else []), _differences(page, "protected_group")]


def _questions(page: PageInput) -> list[Block]:
    """Return the answers to the study's own questions, if it asks any, or why these cannot be answered."""
    if not own_questions(fitted_table(page.fit)):
        return []
    with collected_warnings(QuestionWarning) as caught:
        frame = contrast(page.fit, hdi_prob=page.hdi_prob, rope=page.rope)
    said: list[Block] = [Notice(str(each.message)) for each in caught]
    if frame.empty:
        return said
    columns = {"question": ("Question", None), "pairs": ("Pairs", count_text), **_difference_columns(frame)}
    title = f"The study's own questions, about these protected words, {percent_text(page.hdi_prob)} HPDI"
    return [*said, frame_table(frame, f"{title}; negative is nearer", columns | _worth(frame))]


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


def _worth(frame: "pd.DataFrame") -> dict[str, Any]:
    return {name: column for name, column in _DIAGNOSTICS.items() if name in frame}


def _moments(write: Any) -> dict[str, Any]:
    return {"mean": ("Mean", write), "sd": ("Sd", distance_text), "hdi_low:hdi_high": ("Interval", write)}


def _intervals(frame: "pd.DataFrame", name: str = "connection") -> str:
    return "; ".join(
        f"{row[name]} {distance_text(row['mean'])} "
        f"({distance_text(row['hdi_low'])} to {distance_text(row['hdi_high'])})"
        for row in frame.to_dict("records")
    )
