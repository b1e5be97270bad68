"""The original embedding beside a debiased one."""

from bayesbias.page.blocks import Block, Bullets, Heading, Paragraph, Section, figure, frame_table
from bayesbias.page.page_input import PageInput
from bayesbias.plots.embeddings import plot_embeddings
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.statements import (
    Part,
    count_text,
    distance_text,
    interval_text,
    percent_text,
    probability_text,
    signed_text,
)

_TITLE = "Original and debiased"


def before_and_after(page: PageInput) -> Section:
    """Show how each pair changed from one embedding to others."""
    comparison = page.comparison
    if comparison is None:
        missing = (
            "No other embedding was given to compare this one with. Compare it with bb.compare_embeddings, and give "
            "the result to the page: bb.write_report(fit, path, comparison=compared)."
        )
        return Section("debiasing", _TITLE, [Paragraph(missing)])
    blocks: list[Block] = []
    for name in comparison.names:
        blocks += _one(comparison, name)
    said = comparison.conclusions
    # How to read figures and tables is explained right under them.
    texts = [
        Part("How to read it", said.reading),
        Part("Do not report these numbers yet: a sampler did not converge", said.doubts),
        *(part for each in said.embeddings.values() for part in each.parts),
        Part("What it does not show", said.limits),
    ]
    for part in texts:
        blocks += _blocks(part)
    headlines = []
    for name, each in said.embeddings.items():
        headlines.append(f"From {comparison.baseline} to {name}: {each.verdict}")
        headlines += [f"Beware: {doubt}" for doubt in each.doubts]
    return Section("debiasing", _TITLE, blocks, headlines)


def _blocks(part: Part) -> list[Block]:
    """Return a part of a text as blocks of the page: none if it says nothing."""
    texts = tuple(map(str, part.statements))
    heading: list[Block] = [Heading(part.title)] if part.title and texts else []
    if part.bulleted:
        return [*heading, Bullets(texts)] if texts else []
    return [*heading, *map(Paragraph, texts)]


def _one(comparison: EmbeddingComparison, name: str) -> list[Block]:
    prob = percent_text(comparison.facts["hdi_prob"])
    change, by_word, gaps = (
        frame[frame["embedding"] == name]
        for frame in (comparison.change, comparison.change_by_word, comparison.contrasts)
    )
    said = "; ".join(
        f"{row['connection']} {signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])})"
        for row in change.to_dict("records")
    )
    rope = {"probability_in_rope": ("Too small to matter", probability_text)} if "probability_in_rope" in change else {}
    moments = {
        "mean": ("Change", signed_text),
        "hdi_low:hdi_high": ("Interval", signed_text),
        "direction": ("Direction", None),
        "probability_of_direction": ("Probability", probability_text),
        **rope,
    }
    blocks: list[Block] = [
        Heading(f"From {comparison.baseline} to {name}"),
        figure(
            plot_embeddings(comparison, after=name),
            f"Left: posterior means and {prob} intervals of {comparison.baseline} (hollow) and {name} (filled). Right: "
            "the mean change of the same pairs; filled where the interval leaves out 0. Before and after, from two "
            "fits, need not add up to the change, which is the number to read.",
            f"Points with intervals before and after, and their change. Mean change by connection: {said}.",
        ),
        frame_table(
            change,
            f"Mean change of the distance of a pair, {name} minus {comparison.baseline}, {prob} HPDI; positive is "
            "farther",
            {
                "connection": ("Connection", None),
                "pairs": ("Pairs", count_text),
                "average_before": ("Average before", distance_text),
                "average_after": ("Average after", distance_text),
                **moments,
            },
        ),
    ]
    if len(gaps):
        every = gaps["protected_word"] == ""
        shown = gaps.assign(protected_word=gaps["protected_word"].where(~every, "all words"))
        columns = {
            "contrast": ("Gap", None),
            "protected_word": ("Word", None),
            "before": ("Before", signed_text),
            "before_low:before_high": ("Interval before", signed_text),
            "after": ("After", signed_text),
            "after_low:after_high": ("Interval after", signed_text),
            "mean": ("Change", signed_text),
            "hdi_low:hdi_high": ("Interval of the change", signed_text),
            "gap": ("What became of it", None),
        }
        blocks += [
            frame_table(shown[every], f"The gap between associated and other attribute words, {prob} HPDI", columns),
            frame_table(shown[~every], f"The same gaps for each protected word, {prob} HPDI", columns, folded=True),
        ]
        if (gaps["gap"] != "unchanged").any():
            note = "The change is the number to trust. The words for what became of a gap are explained below."
            blocks.append(Paragraph(note))
    blocks.append(
        frame_table(
            by_word,
            f"Mean change for each protected word, {prob} HPDI",
            {
                "protected_word": ("Word", None),
                "connection": ("Connection", None),
                "pairs": ("Pairs", count_text),
                **moments,
            },
            folded=True,
        )
    )
    return blocks
