"""The page of a fit in four parts: answer, words, robustness and methods."""

from collections.abc import Callable

from bayesbias.base.progress import with_progress
from bayesbias.delivery.page.blocks import Notice, Section
from bayesbias.delivery.page.fit.answer import answer_blocks, answer_sentence
from bayesbias.delivery.page.fit.conclusions import citation_section, conclusions_section, reproduction_section
from bayesbias.delivery.page.fit.model import model_section
from bayesbias.delivery.page.fit.optional_sections import covariates_section, embeddings_section, random_lists_section
from bayesbias.delivery.page.fit.posterior import overall_section, words_section
from bayesbias.delivery.page.fit.question_and_data import data_section, question_section
from bayesbias.delivery.page.fit.robustness import (
    comparison_section,
    predictions_section,
    priors_section,
    sampler_section,
    sensitivity_section,
)
from bayesbias.delivery.page.fit.single_numbers import single_numbers_section
from bayesbias.delivery.page.template import Page, filled_page
from bayesbias.reports.fit_report import FitReport

# Title of a part -> its folded sections.
PARTS: dict[str, tuple[Callable[[FitReport], Section], ...]] = {
    "Words": (words_section, overall_section, covariates_section, question_section, data_section),
    "Robustness": (
        conclusions_section,
        sampler_section,
        predictions_section,
        sensitivity_section,
        comparison_section,
        embeddings_section,
        random_lists_section,
        priors_section,
        single_numbers_section,
    ),
    "Methods": (model_section, reproduction_section, citation_section),
}


def fit_page(report: FitReport, *, full: bool = False, progress: bool = False) -> str:
    """Return the page of a fit as HTML."""
    from bayesbias.base.machine.threads import threadpool_limits

    steps = [(part, section) for part, sections in PARTS.items() for section in sections]
    folded: dict[str, list[Section]] = {part: [] for part in PARTS}
    # Threads slow down the many small systems of equations.
    with threadpool_limits(1, "blas"):
        for part, section in with_progress(steps, "Sections of the page", progress=progress):
            folded[part].append(section(report))
    # Failed sampling precedes all numbers.
    reason = report.nothing_to_compare
    alerts = [reason] if reason else [doubt.text for doubt in report.conclusions.doubts if doubt.kind == "convergence"]
    page = Page(
        title=report.page_title or f"Associations of words: {report.subject}",
        description=f"A Bayesian report of associations in word embeddings: {report.subject}.",
        alerts=[Notice(text) for text in alerts],
        verdict="" if reason else answer_sentence(report),
        sections=[Section(f"part-{part.lower()}", part, [], details=details) for part, details in folded.items()],
        lead=() if reason else tuple(answer_blocks(report)),
        subtitle=f"Model {report.spec.name}.",
        summary="Answer",
    )
    return filled_page(page, full=full)
