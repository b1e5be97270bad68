"""The page of an audit: what every measure answers to every study in every embedding."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.base.checks import with_progress
from bayesbias.base.statements import (
    count_text,
    digits_text,
    p_value_text,
    percent_text,
    probability_text,
    rows_of,
    signed_text,
)
from bayesbias.delivery.page.blocks import (
    Block,
    Bullets,
    Figure,
    Heading,
    Links,
    Notice,
    Paragraph,
    Section,
    fact_table,
    figure,
    frame_table,
)
from bayesbias.delivery.page.fit.fit_page import write_report
from bayesbias.delivery.page.template import filled_page, page_target, write_page
from bayesbias.delivery.plots.embeddings.audits import plot_audit, plot_ranks
from bayesbias.errors import name_some
from bayesbias.reports.audits.answers import answers
from bayesbias.reports.audits.audit_frame import (
    CONTRAST,
    MOST_PARTS,
    AuditRecord,
    audit_parts,
    audit_rows,
    failed_cells,
)
from bayesbias.reports.audits.ranks import ALL_STUDIES, has_ranks, rank

if TYPE_CHECKING:
    import pandas as pd


# The pages of single questions, by their number.
QUESTION_PAGES = "question_[0-9]*.html"


def write_audit_pages(audit: "pd.DataFrame", folder: Path, *, progress: bool = True) -> None:
    """Write ``audit.html``, and ``question_NUMBER.html`` of each fit that the audit kept, to which it links.

    The pages of questions are quick ones (`write_report`). The folder is a new one: the caller makes it whole.
    """
    _, record = audit_rows(audit_parts(audit)[0][1])
    pages = {}
    for number, ((embedding, study), fit) in enumerate(
        with_progress(list(record.fits.items()), "Pages of the questions", progress=progress), start=1
    ):
        pages[embedding, study] = f"question_{number}.html"
        table = record.tables[embedding, study]
        page = folder / pages[embedding, study]
        write_report(fit, page, table=table, hdi_prob=record.hdi_prob, quick=True, progress=False)
    _write(audit, folder / "audit.html", pages, overwrite=False)


def write_audit_page(audit: "pd.DataFrame", path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write an audit as one HTML file that needs nothing else.

    Parameters
    ----------
    audit
        What `bayesbias.audit` returned.
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
    ReportError
        If it is no audit.
    OutputError
        If the file exists or cannot be written; before anything is computed.

    Examples
    --------
    >>> import tempfile
    >>> vectors = {"Wikipedia": bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")}
    >>> found = bb.audit(vectors, ["weat7"], ["weat", "mac"], model=None, random_seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bb.write_audit_page(found, f"{folder}/audit.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    return _write(audit, path, {}, overwrite=overwrite)


def _write(
    audit: "pd.DataFrame", path: str | os.PathLike[str], pages: Mapping[tuple[str, str], str], *, overwrite: bool
) -> Path:
    """Write the page of an audit, with links to `pages`: (embedding, study) -> address."""
    every = audit_parts(audit)  # one, or one for each model and seed
    parts = every[:MOST_PARTS]
    checked = [audit_rows(part) for _, part in parts]
    target = page_target(path, overwrite=overwrite)
    rows, record = checked[0]
    studies, embeddings = (list(dict.fromkeys(rows[name])) for name in ("study", "embedding"))
    where = embeddings[0] if len(embeddings) == 1 else f"{len(embeddings)} embeddings"
    lead = _lead(parts[0][1], record, pages)
    if parts[0][0] and isinstance(lead[0], Figure):
        lead = (replace(lead[0], caption=f"{parts[0][0]}. {lead[0].caption}"), *lead[1:])
    sections = [
        _titled(section, name, at)
        for at, (name, part) in enumerate(parts)
        for section in (_answers(part, *checked[at], drawn=at > 0), *_ranks(part, record.hdi_prob))
    ]
    models = list(dict.fromkeys(each.model for _, each in checked if each.model))
    records = [each for _, each in checked]
    sections += [_limits(rows, records, failed_cells(audit)), _settings(records)]
    content = filled_page(
        title=f"Audit: {len(studies)} studies in {where}",
        description=f"An audit of associations in word embeddings: {', '.join(studies)}.",
        subtitle=f"Model {', '.join(models)}." if models else "No model: values without intervals.",
        alerts=[Notice(f"{len(parts)} of {len(every)} models and seeds are shown.")] if len(every) > len(parts) else [],
        verdict=" ".join(
            f"{name}: {said}" if name else said
            for (name, _), (some, _) in zip(parts, checked, strict=True)
            if (said := _verdict(some))
        ),
        sections=sections,
        lead=lead,
    )
    return write_page(target, content, overwrite=overwrite)


def _verdict(audit: "pd.DataFrame") -> str:
    """Say in a sentence how many contrasts are settled, and which way, and of which studies."""
    contrast = audit[(audit["measure"] == CONTRAST) & (audit["protected_group"] == "")]
    if contrast.empty:
        return ""
    said = []
    for name in ("nearer", "farther", "borderline", "not settled"):
        studies = contrast.loc[contrast["conclusion"] == name, "study"]
        if len(studies):
            said.append(f"{len(studies)} {name} ({name_some(dict.fromkeys(studies), 5)})")
    return f"Of {len(contrast)} contrasts of associated with other attribute words: {', '.join(said)}."


def _lead(audit: "pd.DataFrame", record: AuditRecord, pages: Mapping[tuple[str, str], str]) -> tuple[Block, ...]:
    """Return the figure of what is settled and what is not, and the answers with links to their pages."""
    contrasts = audit[audit["measure"] == CONTRAST]
    drawn = _figure(contrasts if len(contrasts) else audit, record)
    several = contrasts["embedding"].nunique() > 1
    links = []
    for said in answers(audit):
        key = said.numbers["embedding"], said.numbers["study"]
        if key in pages:
            links.append((said.text, pages[key], f"Page of {key[1]}{f' in {key[0]}' if several else ''}"))
    return (drawn, Links(tuple(links))) if links else (drawn,)


def _figure(audit: "pd.DataFrame", record: AuditRecord) -> Figure:
    prob = percent_text(record.hdi_prob)
    return figure(
        plot_audit(audit),
        f"Estimates (points) with {prob} intervals (lines) where there is a posterior, and observed values (crosses). "
        "A contrast is filled where its interval leaves out 0.",
        f"A panel for each of {', '.join(dict.fromkeys(audit['measure']))}; the numbers are in the tables.",
    )


def _titled(section: Section, name: str, at: int) -> Section:
    """Return a section of one of several models and seeds with its name in the title, and a place of its own."""
    if not name:
        return section
    slug = f"{section.slug}-{at + 1}" if at else section.slug
    return replace(section, slug=slug, title=f"{section.title}: {name}")


def _answers(frame: "pd.DataFrame", audit: "pd.DataFrame", record: AuditRecord, *, drawn: bool) -> Section:
    """Return the tables of all answers, and figures: of the contrasts where they are not the page's first (`drawn`)."""
    prob = percent_text(record.hdi_prob)
    blocks: list[Block] = list(_lead(frame, record, {})) if drawn else []
    names: dict[str, tuple[str, None]] = {"study": ("Study", None)}
    if audit["embedding"].nunique() > 1:
        names["embedding"] = ("Embedding", None)
    contrast = audit[audit["measure"] == CONTRAST]
    if len(contrast):
        blocks.append(
            frame_table(
                contrast.assign(protected_group=contrast["protected_group"].replace("", "all")),
                f"Contrasts, in units of cosine distance, {prob} HPDI; below 0: associated words are nearer",
                {
                    **names,
                    "quantity": ("Contrast", None),
                    "protected_group": ("Group", None),
                    "estimate": ("Mean", signed_text),
                    "hdi_low:hdi_high": ("Interval", signed_text),
                    "conclusion": ("Conclusion", None),
                    "ess_bulk": ("ESS", count_text),
                    "r_hat": ("R-hat", lambda value: _known(value, lambda known: digits_text(known, 4))),
                },
            )
        )
    others = audit[audit["measure"] != CONTRAST]
    if len(others) and len(contrast):
        blocks.append(_figure(frame[frame["measure"] != CONTRAST], record))
    if len(others):
        blocks.append(
            frame_table(
                others,
                f"Single-number measures; {prob} intervals of the value without the noise of single pairs",
                {
                    **names,
                    "measure": ("Measure", None),
                    "observed": ("Observed", digits_text),
                    "hdi_low:hdi_high": ("Interval", lambda value: _known(value, digits_text)),
                    "p_value": ("p (one-sided)", lambda value: _known(value, p_value_text)),
                },
            )
        )
    return Section("answers", "Answers", blocks)


def _ranks(audit: "pd.DataFrame", hdi_prob: float) -> list[Section]:
    if not has_ranks(audit):
        return []
    ranks = rank(audit, hdi_prob=hdi_prob)
    overall = ranks.ranks[ranks.ranks["study"] == ALL_STUDIES]

    blocks: list[Block] = [
        figure(
            plot_ranks(ranks),
            "Ranks over all studies, 1 the weakest association.",
            "A panel a measure, a row an embedding; the numbers are in the table below.",
        ),
        frame_table(
            overall,
            "Ranks over all studies",
            {
                "measure": ("Measure", None),
                "embedding": ("Embedding", None),
                "strength": ("Mean strength", digits_text),
                "rank": ("Rank", digits_text),
                "probability": ("Probability of this rank", lambda value: _known(value, probability_text)),
                "strongest": ("Probability of the strongest", lambda value: _known(value, probability_text)),
            },
        ),
    ]
    for part in ranks.parts[1:]:
        blocks += [Heading(part.title)] if part.title else []
        texts = tuple(map(str, part.statements))
        blocks += [Bullets(texts)] if part.bulleted else [Paragraph(text) for text in texts]
    return [Section("ranks", "Ranks of the embeddings", blocks)]


def _limits(audit: "pd.DataFrame", records: Sequence[AuditRecord], failures: "pd.DataFrame") -> Section:
    record = records[0]
    asked = len(audit[["embedding", "study"]].drop_duplicates())
    expected = asked * (1 - record.hdi_prob)
    limits = [
        f"{asked} questions were asked. No correction for their number is made: of {asked} intervals of "
        f"{percent_text(record.hdi_prob)}, {expected:.1f} are expected to miss their value.",
        "An association is no proof of bias, and where none is settled there may still be one: see the intervals.",
    ]
    lost = [
        f"{embedding}, {study}: lost {', '.join(words)}."
        for (embedding, study), words in record.lost_words.items()
        if words
    ]
    left_out = {key: reason for each in records for key, reason in each.left_out.items()}
    out = [
        f"{measure} has no answer to {study} in {embedding}: {reason}"
        for (embedding, study, measure), reason in left_out.items()
    ]
    failed = [
        f"{cell['study']} in {cell['embedding']}, by {cell['model'] or 'no model'} with seed {cell['seed']}: "
        f"{cell['error']}"
        for cell in rows_of(failures)
    ]
    blocks: list[Block] = [Bullets(tuple(limits))]
    blocks += [Heading("Lost words of the studies' groups"), Bullets(tuple(lost))] if lost else []
    blocks += [Heading("Left out"), Bullets(tuple(out))] if out else []
    blocks += [Heading("Failed"), Bullets(tuple(failed))] if failed else []
    return Section("limits", "What it does not show", blocks)


def _settings(records: Sequence[AuditRecord]) -> Section:
    from importlib.metadata import version

    settings = {
        **{name: "; ".join(dict.fromkeys(each.settings[name] for each in records)) for name in records[0].settings},
        "Interval": f"{percent_text(records[0].hdi_prob)} HPDI",
        "bayesbias": version("bayesbias"),
    }
    return Section("reproduce", "How to repeat it", [fact_table("Settings", settings, header=("Setting", "Value"))])


def _known(value: float, write: Callable[[float], str]) -> str:
    return write(value) if value == value else "none"
