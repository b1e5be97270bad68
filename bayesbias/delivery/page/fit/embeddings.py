"""The section on other embeddings."""

from bayesbias.base.number_text import count_text, distance_text, percent_text, probability_text, signed_text
from bayesbias.base.statements import StatementList, rows_of
from bayesbias.delivery.page.blocks import Block, Bullets, Heading, Paragraph, Section, figure, frame_table
from bayesbias.delivery.plots.embeddings.comparison import plot_embeddings
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.reports.embeddings.comparison_conclusions import difference_parts, reading_text
from bayesbias.reports.fit_report import FitReport

_TITLE = "Comparison with other embeddings"


def embeddings_section(page: FitReport) -> Section:
    """Return the section on the differences between other embeddings and the fitted one."""
    comparison = page.comparison
    if comparison is None:
        return Section("embeddings", _TITLE, [])
    conclusions = comparison.conclusions
    blocks: list[Block] = []
    for name in comparison.names:
        blocks += [Heading(f"{name} minus {comparison.baseline}"), *_comparison_blocks(comparison, name)]
    # The explanation of figures and tables follows them.
    texts = [
        StatementList("How to read it", conclusions.reading),
        StatementList("Do not report these numbers yet: a sampler did not converge", conclusions.doubts),
        *(part for embedding in conclusions.embeddings.values() for part in difference_parts(embedding)),
        StatementList("What it does not show", conclusions.limits),
    ]
    for part in texts:
        blocks += _part_blocks(part)
    headlines = []
    for embedding in conclusions.embeddings.values():
        headlines.append(str(embedding.verdict))
        headlines += [f"Beware: {doubt}" for doubt in embedding.doubts]
    return Section("embeddings", _TITLE, blocks, headlines)


def _part_blocks(part: StatementList) -> list[Block]:
    """Return the blocks of a part of the text; none if it is empty."""
    texts = tuple(map(str, part.statements))
    heading: list[Block] = [Heading(part.title)] if part.title and texts else []
    if part.bulleted:
        return [*heading, Bullets(texts)] if texts else []
    return [*heading, *map(Paragraph, texts)]


def _comparison_blocks(comparison: EmbeddingComparison, name: str) -> list[Block]:
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
            f"Differences, {name} minus {baseline}: posterior means and {prob} intervals, filled if the interval "
            f"excludes 0. Between them the gap in {baseline} (hollow) and in {name} (filled): these come from "
            "separate fits and need not differ by exactly the difference, which is the number to use.",
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
            f"Mean difference between the distances of a pair, {name} minus {baseline}, {prob} HPDI; above 0, farther",
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
