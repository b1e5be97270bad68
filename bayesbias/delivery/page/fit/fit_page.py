"""The page of a fit: its sections in reading order."""

from collections.abc import Callable

from bayesbias.base.checks import with_progress
from bayesbias.base.statements import percent_text
from bayesbias.delivery.page.blocks import Bullets, Figure, Notice, Section, figure
from bayesbias.delivery.page.fit.checks import predictions_section, priors_section, sampler_section
from bayesbias.delivery.page.fit.conclusions import citation_section, conclusions_section, reproduction_section
from bayesbias.delivery.page.fit.embeddings import embeddings_section
from bayesbias.delivery.page.fit.posterior import overall_section, words_section
from bayesbias.delivery.page.fit.question_and_data import data_section, question_section
from bayesbias.delivery.page.fit.random_lists import random_lists_section
from bayesbias.delivery.page.fit.robustness import comparison_section, sensitivity_section
from bayesbias.delivery.page.fit.single_numbers import single_numbers_section
from bayesbias.delivery.page.template import Page, filled_page
from bayesbias.delivery.plots.posterior.contrasts import plot_contrasts
from bayesbias.reports.fit_report import FitReport

SECTIONS: tuple[Callable[[FitReport], Section], ...] = (
    question_section,
    data_section,
    overall_section,
    words_section,
    embeddings_section,
    sampler_section,
    predictions_section,
    priors_section,
    comparison_section,
    sensitivity_section,
    random_lists_section,
    single_numbers_section,
    conclusions_section,
    reproduction_section,
    citation_section,
)


# Sections whose headlines may appear on the first screen; those that most often qualify the verdict come first.
_TELLING = ("embeddings", "sensitivity", "predictions", "comparison", "random-lists", "words")


def fit_page(report: FitReport, *, full: bool = False, progress: bool = False) -> str:
    """Return the page of a fit as HTML."""
    from threadpoolctl import threadpool_limits

    # Threads slow down the many small systems of equations.
    with threadpool_limits(1, "blas"):
        sections = [section(report) for section in with_progress(SECTIONS, "Sections of the page", progress=progress)]
    # Failed sampling and doubtful data precede all numbers.
    reason = report.nothing_to_compare
    alerts = [reason] if reason else [doubt.text for doubt in report.conclusions.doubts]
    page = Page(
        title=report.page_title or f"Associations of words: {report.subject}",
        description=f"A Bayesian report of associations in word embeddings: {report.subject}.",
        alerts=[Notice(text) for text in alerts],
        verdict="" if reason else report.conclusions.verdict.text,
        sections=sections,
        lead=() if reason else (_forest(report), Bullets(report.statements("contrast")[:1])),
        telling=_TELLING,
        subtitle=f"Model {report.spec.name}.",
    )
    return filled_page(page, full=full)


def _forest(page: FitReport) -> Figure:
    """Return the figure of the first screen: the contrasts."""
    return figure(
        plot_contrasts(page.fit, hdi_prob=page.hdi_prob, rope=page.rope),
        "Differences of mean cosine distances, associated minus other attribute words, for all protected words, by "
        f"group and by word: posterior means (points) and {percent_text(page.hdi_prob)} intervals (lines). Below 0, "
        "associated words are nearer. Points are filled if the interval excludes 0"
        + ("; the region of practical equivalence is shaded." if page.rope is not None else "."),
        f"A forest of contrasts with a line at 0. {' '.join(page.statements('contrast'))}",
    )
