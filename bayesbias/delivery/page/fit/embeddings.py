"""The section on other embeddings."""

from bayesbias.base.number_text import percent_text, probability_text, signed_text
from bayesbias.base.statements import StatementList, rows_of
from bayesbias.delivery.page.blocks import Block, Bullets, Heading, Paragraph, Section, figure, frame_table
from bayesbias.delivery.plots.embeddings.changes import plot_changes
from bayesbias.reports.changes.result import Changes
from bayesbias.reports.changes.statements import reading_text
from bayesbias.reports.fit_report import FitReport

_TITLE = "Comparison with other embeddings"


def embeddings_section(page: FitReport) -> Section:
    """Return the section on the changes from the fitted embedding to others."""
    changes = page.comparison
    if changes is None:
        return Section("embeddings", _TITLE, [])
    blocks: list[Block] = []
    for name in changes.conditions[1:]:
        blocks += [Heading(f"From {changes.conditions[0]} to {name}"), *_change_blocks(changes, name)]
    # The explanation of figures and tables follows them.
    for part in changes.parts:
        blocks += _part_blocks(part)
    headlines = [*map(str, changes.verdicts), *(f"Beware: {doubt}" for doubt in changes.doubts)]
    return Section("embeddings", _TITLE, blocks, headlines)


def _part_blocks(part: StatementList) -> list[Block]:
    """Return the blocks of a part of the text; none if it is empty."""
    texts = tuple(map(str, part.statements))
    heading: list[Block] = [Heading(part.title)] if part.title and texts else []
    if part.bulleted:
        return [*heading, Bullets(texts)] if texts else []
    return [*heading, *map(Paragraph, texts)]


def _change_blocks(changes: Changes, name: str) -> list[Block]:
    """Return the figure and the tables of the changes to a condition."""
    first, prob = changes.conditions[0], percent_text(changes.facts["hdi_prob"])
    gaps, distances = (frame[frame["second"] == name] for frame in (changes.changes, changes.distances))
    rope = {"probability_in_rope": ("Too small to matter", probability_text)} if changes.facts["rope"] else {}
    estimate = {"mean": ("Change", signed_text), "hdi_low:hdi_high": ("Interval", signed_text)}
    every = (gaps["protected_word"] == "") & (gaps["protected_group"] == "")
    means = "; ".join(f"{row['contrast']} {signed_text(row['mean'])}" for row in rows_of(gaps[every]))
    shown = gaps.assign(
        protected_word=gaps["protected_word"]
        .where(gaps["protected_word"] != "", gaps["protected_group"])
        .where(~every, "all words"),
        reading=[reading_text(reading, name) for reading in gaps["reading"]],
    )
    columns = {
        "contrast": ("Gap", None),
        "protected_word": ("Word", None),
        **estimate,
        "reading": ("Reading", None),
        **rope,
    }
    moments = {
        "connection": ("Connection", None),
        "protected_word": ("Word", None),
        **estimate,
        "direction": (f"In {name}", None),
        "probability_of_direction": ("Probability", probability_text),
        **rope,
    }
    of_all = distances["protected_word"] == ""
    all_words = distances.assign(protected_word=distances["protected_word"].where(~of_all, "all words"))
    return [
        figure(
            plot_changes(changes, second=name),
            f"Changes from {first} to {name}: posterior means and {prob} intervals, filled if settled. Between them "
            f"the gap in {first} (hollow) and in {name} (filled): these come from separate fits and need not differ by "
            "exactly the change, which is the number to use.",
            f"Points with intervals. Changes: {means}.",
        ),
        frame_table(shown[every], f"Changes of gaps, {prob} HPDI", columns),
        frame_table(shown[~every], f"The same for each group and protected word, {prob} HPDI", columns, folded=True),
        frame_table(
            all_words[of_all], f"Changes of mean distances, {prob} HPDI; above 0, farther apart in {name}", moments
        ),
        frame_table(all_words[~of_all], f"Changes of mean distances of each word, {prob} HPDI", moments, folded=True),
    ]
