"""The page of asymmetry: which word of a pair evokes the other more, for people and for vectors or models."""

import os
from math import isfinite
from pathlib import Path

from bayesbias.asymmetry.ratios.report import AsymmetryReport
from bayesbias.base.checks import check_type
from bayesbias.base.statements import count_text, percent_text, probability_text, share_text, signed_text
from bayesbias.delivery.page.blocks import (
    Block,
    Bullets,
    Format,
    Heading,
    Paragraph,
    Section,
    fact_table,
    figure,
    frame_table,
)
from bayesbias.delivery.page.template import filled_page, page_target, write_page
from bayesbias.delivery.plots.embeddings.asymmetry import plot_asymmetry
from bayesbias.delivery.plots.embeddings.relations import plot_relations

MOST_ROWS = 500


def write_asymmetry_page(report: AsymmetryReport, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write which word of a pair evokes the other more as one HTML file that needs nothing else.

    Parameters
    ----------
    report
        What `bayesbias.asymmetry.ratios.report` returned.
    path
        A file that ends in ``.html``.
    overwrite
        Whether an existing file may be replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ArgumentError
        If it is no such report.
    OutputError
        If the file exists or cannot be written; before anything is computed.

    Examples
    --------
    >>> import tempfile
    >>> words = bb.load_study("weat7").protected_words[:6]
    >>> rows = [(a, b, 2 + at, 100) for a in words for at, b in enumerate(words) if a != b]
    >>> table = pd.DataFrame(rows, columns=["cue", "response", "count", "participants"])
    >>> vectors = bb.asymmetry.static(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    >>> report = bb.asymmetry.report(bb.asymmetry.evocation(table), [vectors], random_seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.write_asymmetry_page(report, f"{folder}/asymmetry.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_type("report", report, AsymmetryReport, "what bb.asymmetry.report returned")
    target = page_target(path, overwrite=overwrite)
    prob = percent_text(report.hdi_prob)
    sources = ", ".join(report.sources)
    drawn = figure(
        plot_asymmetry(report),
        f"The log asymmetry ratio of pairs of words in {report.norms} and in {sources}: posterior means and {prob} "
        "intervals. Above 0: the first word evokes the second more than the reverse.",
        "The numbers are in the tables.",
    )
    content = filled_page(
        title=f"Which word evokes the other more? {report.norms}",
        description=f"Asymmetry of associations in {report.norms} and {sources}.",
        subtitle=f"{report.norms}, and beside it {sources}.",
        alerts=[],
        verdict=" ".join(said.text for said in (*report.parts[0].statements[:1], *report.parts[1].statements)),
        sections=[_agreement(report), _relations(report), _pairs(report), _limits(report), _settings(report)],
        lead=(drawn,),
    )
    return write_page(target, content, overwrite=overwrite)


def _agreement(report: AsymmetryReport) -> Section:
    prob = percent_text(report.hdi_prob)
    unsaid = [f"{name}: {why}" for name, why in report.not_compared.items()]
    if report.agreement.empty:
        return Section("agreement", "Agreement", [Paragraph("It cannot be said."), Bullets(tuple(unsaid))])
    right = frame_table(
        report.accuracy.assign(clear=[_optional_share(value) for value in report.accuracy["clear_accuracy"]]),
        f"Directions that are right, {prob} intervals",
        {
            "source": ("Source", None),
            "relation": ("Relation", None),
            "pairs": ("Pairs", count_text),
            "accuracy": ("Right", share_text),
            "hdi_low:hdi_high": ("Interval", share_text),
            "clear": ("Where it is clear", None),
        },
        folded=True,
    )
    blocks: list[Block] = [
        Paragraph(
            "CAM is the rank correlation of the log asymmetry ratios of people and of a source; SA its mean over "
            "relations, weighted by their pairs; SR the same without pairs that have no relation. The last columns say "
            "what it would be with endlessly many participants."
        ),
        frame_table(
            report.agreement,
            f"Correlation on asymmetry, {prob} intervals",
            {
                "source": ("Source", None),
                "relation": ("Relation", None),
                "pairs": ("Pairs", count_text),
                "cam": ("CAM", signed_text),
                "hdi_low:hdi_high": ("Interval", signed_text),
                "endless": ("Endless", signed_text),
                "endless_low:endless_high": ("Interval", signed_text),
            },
        ),
        right,
        *([Bullets(tuple(unsaid))] if unsaid else []),
    ]
    return Section("agreement", "Agreement", blocks)


def _optional_share(value: float) -> str:
    return share_text(value) if isfinite(value) else "none"


def _relations(report: AsymmetryReport) -> Section:
    if report.relations.empty:
        text = "No pair has a relation that says which of its words comes first."
        return Section("relations", "Relations", [Paragraph(text)])
    table = frame_table(
        report.relations,
        f"Mean log asymmetry ratio (ALAR) of each relation, {percent_text(report.hdi_prob)} HPDI; above 0: the first "
        "word evokes the second more",
        {
            "source": ("Source", None),
            "relation": ("Relation", None),
            "pairs": ("Pairs", count_text),
            "observed": ("Observed", signed_text),
            "mean": ("Mean", signed_text),
            "hdi_low:hdi_high": ("Interval", signed_text),
            "probability_of_direction": ("Direction", probability_text),
        },
    )
    drawn = figure(
        plot_relations(report),
        "Mean log asymmetry ratio of each relation, in the norms and beside them. Filled: settled. Above 0: the first "
        "word evokes the second more.",
        "The numbers are in the table.",
    )
    return Section("relations", "Relations", [drawn, table])


def _pairs(report: AsymmetryReport) -> Section:
    frame = report.ratios[(report.ratios["left_out"] == "") & (report.ratios["source"] == report.norms)]
    shown = frame.nlargest(MOST_ROWS, "probability_of_direction").sort_values("lar", ascending=False)
    more = f"; {len(shown):,} of {len(frame):,}, the clearest" if len(shown) < len(frame) else ""
    columns: dict[str, tuple[str, Format | None]] = {}
    for at, name in enumerate(report.sources):
        own = report.ratios[(report.ratios["source"] == name) & (report.ratios["left_out"] == "")]
        known = dict(zip(zip(own["a"], own["b"], strict=True), own["lar"], strict=True))
        keys = zip(shown["a"], shown["b"], strict=True)
        shown = shown.assign(**{f"source {at}": [_optional_lar(known.get(key)) for key in keys]})
        columns[f"source {at}"] = (name, None)
    table = frame_table(
        shown,
        f"LAR of pairs, with intervals in {report.norms}{more}",
        {
            "a": ("First", None),
            "b": ("Second", None),
            "lar": (report.norms, signed_text),
            "hdi_low:hdi_high": ("Interval", signed_text),
            "probability_of_direction": ("Direction", probability_text),
            **columns,
        },
        folded=True,
    )
    return Section("pairs", "Pairs", [table])


def _optional_lar(value: float | None) -> str:
    return "none" if value is None else signed_text(value)


def _limits(report: AsymmetryReport) -> Section:
    texts = [
        "That a word evokes another more than the reverse is no bias, and says nothing of who is harmed.",
        "A word that is on everybody's mind is evoked by many words: ratios are about that too.",
        "With one matrix of vectors a ratio is one of lengths and of how many neighbours a word has.",
    ]
    blocks: list[Block] = [Bullets(tuple(texts))]
    if len(report.left_out):
        lost = report.left_out.head(MOST_ROWS)
        columns = {"source": ("Source", None), "left_out": ("Why", None), "pairs": ("Pairs", count_text)}
        blocks += [Heading("Left out"), frame_table(lost, "Pairs without a number, by reason", columns, folded=True)]
    return Section("limits", "What it does not show", blocks)


def _settings(report: AsymmetryReport) -> Section:
    from importlib.metadata import version

    settings = {
        "Norms": report.norms,
        "Sources": ", ".join(report.sources),
        "Pairs": f"{(report.ratios['source'] == report.norms).sum():,}",
        "Interval": f"{percent_text(report.hdi_prob)} HPDI",
        "Seed of the draws": str(report.random_seed),
        "bayesbias": version("bayesbias"),
    }
    return Section("reproduce", "How to repeat it", [fact_table("Settings", settings, header=("Setting", "Value"))])
