"""The original embedding beside a debiased one."""

from bayesbias.page.blocks import Block, Bullets, Heading, Paragraph, Section, figure, frame_table
from bayesbias.page.page_input import Subject
from bayesbias.plots.embeddings import plot_embeddings
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.statements import count_text, distance_text, interval_text, percent_text, probability_text, signed_text

_TITLE = "Original and debiased"
_READING = Heading("How to read it")


def before_and_after(subject: Subject) -> Section:
    """Show how each pair changed from one embedding to others."""
    comparison = subject.comparison
    if comparison is None:
        missing = (
            "No other embedding was given to compare this one with. Make one with bb.compare_embeddings and hand it "
            "over: bb.write_report(fit, path, comparison=compared)."
        )
        return Section("debiasing", _TITLE, [Paragraph(missing)])
    blocks: list[Block] = []
    for name in comparison.names:
        blocks += _one(comparison, name)
    told = _told(comparison.conclusions)
    if _READING in told:
        # It explains the figures and tables, so it stands right under them.
        start = told.index(_READING)
        blocks += told[start : start + 2]
        del told[start : start + 2]
    blocks += told
    return Section("debiasing", _TITLE, blocks, _headlines(comparison))


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
            "fits, need not add up to the change, which is the number to trust.",
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


def _headlines(comparison: EmbeddingComparison) -> list[str]:
    """Return for each embedding what became of the gap, or else of the distances, and what to beware of."""
    texts = _paragraphs(comparison.conclusions)
    starts = [place for place, text in enumerate(texts) if text.startswith("FROM ")]
    found = []
    for name, start, end in zip(comparison.names, starts, [*starts[1:], len(texts)], strict=True):
        said = [text.removeprefix("- ") for text in texts[start + 1 : end] if not _is_title(text)]
        gaps = [text for text in said if text.startswith("Associated minus ")]
        found.append(f"From {comparison.baseline} to {name}: {(gaps or said)[0]}")
        found += [text for text in said if text.startswith("Beware: ")]
    return found


def _told(text: str) -> list[Block]:
    """Return titles, paragraphs and bullets of a text whose bullets begin with a dash."""
    blocks: list[Block] = []
    bullets: list[str] = []
    for part in [*_paragraphs(text), ""]:
        if part.startswith("- "):
            bullets.append(part.removeprefix("- "))
            continue
        if bullets:
            blocks.append(Bullets(tuple(bullets)))
            bullets = []
        if _is_title(part):
            title, bracket, rest = part.partition(" (")
            blocks.append(Heading(title.capitalize() + bracket + rest))
        elif part:
            blocks.append(Paragraph(part))
    return blocks


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _is_title(part: str) -> bool:
    return part.split(" (")[0].isupper()
