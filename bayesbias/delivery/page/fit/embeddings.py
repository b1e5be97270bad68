"""How other embeddings differ from the fitted one."""

from bayesbias.base.statements import (
    StatementList,
    count_text,
    distance_text,
    percent_text,
    probability_text,
    rows_of,
    signed_text,
)
from bayesbias.delivery.page.blocks import Block, Bullets, Heading, Paragraph, Section, figure, frame_table
from bayesbias.delivery.page.page_input import PageInput
from bayesbias.delivery.plots.embeddings.comparison import plot_embeddings
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.reports.embeddings.comparison_conclusions import difference_parts, reading_text

_TITLE = "Beside other embeddings"


def other_embeddings(page: PageInput) -> Section:
    """Show the difference of gaps between the fitted embedding and others, then that of each pair."""
    comparison = page.comparison
    if comparison is None:
        missing = (
            "No other embedding was given to compare this one with. Compare it with bb.compare_embeddings, and give "
            "the result to the page: bb.write_report(fit, path, comparison=compared)."
        )
        return Section("embeddings", _TITLE, [Paragraph(missing)])
    said = comparison.conclusions
    blocks: list[Block] = []
    for name in comparison.names:
        blocks += [Heading(f"{name} minus {comparison.baseline}"), *_one(comparison, name)]
    # How to read figures and tables is explained right under them.
    texts = [
        StatementList("How to read it", said.reading),
        StatementList("Do not report these numbers yet: a sampler did not converge", said.doubts),
        *(part for each in said.embeddings.values() for part in difference_parts(each)),
        StatementList("What it does not show", said.limits),
    ]
    for part in texts:
        blocks += _blocks(part)
    headlines = []
    for each in said.embeddings.values():
        headlines.append(str(each.verdict))
        headlines += [f"Beware: {doubt}" for doubt in each.doubts]
    return Section("embeddings", _TITLE, blocks, headlines)


def _blocks(part: StatementList) -> list[Block]:
    """Return a part of a text as blocks of the page: none if it says nothing."""
    texts = tuple(map(str, part.statements))
    heading: list[Block] = [Heading(part.title)] if part.title and texts else []
    if part.bulleted:
        return [*heading, Bullets(texts)] if texts else []
    return [*heading, *map(Paragraph, texts)]


def _one(comparison: EmbeddingComparison, name: str) -> list[Block]:
    baseline, prob = comparison.baseline, percent_text(comparison.facts["hdi_prob"])
    differences, by_word, gaps = (
        frame[frame["embedding"] == name]
        for frame in (comparison.differences, comparison.differences_by_word, comparison.gaps)
    )
    rope = {"probability_in_rope": ("Too small to matter", probability_text)} if comparison.facts["rope"] else {}
    estimate = {"mean": ("Difference", signed_text), "hdi_low:hdi_high": ("Interval", signed_text)}
    moments = {
        **estimate,
        "direction": (f"In {name}", None),
        "probability_of_direction": ("Probability", probability_text),
        **rope,
    }
    drawn = gaps[gaps["protected_word"] == ""] if len(gaps) else differences
    means = "; ".join(
        f"{row['contrast' if len(gaps) else 'connection']} {signed_text(row['mean'])}" for row in rows_of(drawn)
    )
    blocks: list[Block] = [
        figure(
            plot_embeddings(comparison, other=name),
            f"Differences, {name} minus {baseline}: posterior means and {prob} intervals, filled where the interval "
            f"leaves out 0. Between them the gap in {baseline} (hollow) and in {name} (filled): these come from two "
            "fits, and need not differ by the difference, which is the number to read.",
            f"Points with intervals. Differences: {means}.",
        )
    ]
    if len(gaps):
        every = gaps["protected_word"] == ""
        shown = gaps.assign(
            protected_word=gaps["protected_word"].where(~every, "all words"),
            reading=[reading_text(reading, baseline, name) for reading in gaps["reading"]],
        )
        columns = {
            "contrast": ("Gap", None),
            "protected_word": ("Word", None),
            **estimate,
            "reading": ("Reading", None),
            "other_gap": (f"Gap in {name}", signed_text),
            "other_low:other_high": ("Its interval", signed_text),
            "baseline_gap": (f"Gap in {baseline}", signed_text),
            "baseline_low:baseline_high": ("Its interval", signed_text),
            **rope,
        }
        blocks += [
            frame_table(shown[every], f"Difference of gaps, {name} minus {baseline}, {prob} HPDI", columns),
            frame_table(shown[~every], f"The same for each protected word, {prob} HPDI", columns, folded=True),
        ]
    blocks += [
        frame_table(
            differences,
            f"Mean difference of the distance of a pair, {name} minus {baseline}, {prob} HPDI; positive is farther",
            {
                "connection": ("Connection", None),
                "pairs": ("Pairs", count_text),
                **moments,
                "average_other": (f"Average in {name}", distance_text),
                "average_baseline": (f"Average in {baseline}", distance_text),
            },
        ),
        frame_table(
            by_word,
            f"Mean difference of distances for each protected word, {prob} HPDI",
            {
                "protected_word": ("Word", None),
                "connection": ("Connection", None),
                "pairs": ("Pairs", count_text),
                **moments,
            },
            folded=True,
        ),
    ]
    return blocks
