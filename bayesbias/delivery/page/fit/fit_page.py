"""The page of a fit: its sections, in the order in which they are read."""

from collections.abc import Callable

from bayesbias.base.checks import with_progress
from bayesbias.base.statements import percent_text
from bayesbias.delivery.page.blocks import Bullets, Figure, Notice, Section, figure
from bayesbias.delivery.page.fit.checks import predictions, priors, sampler
from bayesbias.delivery.page.fit.conclusions import cite, concluded, reproduce
from bayesbias.delivery.page.fit.embeddings import other_embeddings
from bayesbias.delivery.page.fit.posterior import overall, words
from bayesbias.delivery.page.fit.question_and_data import data, question
from bayesbias.delivery.page.fit.random_lists import claims_for_random_words
from bayesbias.delivery.page.fit.robustness import comparison as compared
from bayesbias.delivery.page.fit.robustness import what_it_is_sensitive_to
from bayesbias.delivery.page.fit.single_numbers import single_numbers
from bayesbias.delivery.page.template import filled_page
from bayesbias.delivery.plots.posterior.contrasts import plot_contrasts
from bayesbias.reports.fit_report import FitReport

SECTIONS: tuple[Callable[[FitReport], Section], ...] = (
    question,
    data,
    overall,
    words,
    other_embeddings,
    sampler,
    predictions,
    priors,
    compared,
    what_it_is_sensitive_to,
    claims_for_random_words,
    single_numbers,
    concluded,
    reproduce,
    cite,
)


# The sections whose headlines may stand on the first screen: what most often changes a reader's mind comes first.
_TELLING = ("embeddings", "sensitivity", "predictions", "comparison", "random-lists", "words")


def fit_page(report: FitReport, *, full: bool = False, progress: bool = False) -> str:
    """Return the page of a fit as HTML; every text is escaped by the template."""
    from threadpoolctl import threadpool_limits

    # Many small systems of equations: threads only get into each other's way.
    with threadpool_limits(1, "blas"):
        sections = [section(report) for section in with_progress(SECTIONS, "Sections of the page", progress=progress)]
    # What a reader must know before any number: failed sampling, doubtful data.
    reason = report.nothing_to_compare
    alerts = [reason] if reason else [doubt.text for doubt in report.conclusions.doubts]
    return filled_page(
        title=report.page_title or f"Associations of words: {report.subject}",
        description=f"A Bayesian report of associations in word embeddings: {report.subject}.",
        alerts=[Notice(text) for text in alerts],
        verdict="" if reason else report.conclusions.verdict.text,
        sections=sections,
        lead=() if reason else (_forest(report), Bullets(report.shown("contrast")[:1])),
        telling=_TELLING,
        full=full,
        subtitle=f"Model {report.spec.name}.",
    )


def _forest(page: FitReport) -> Figure:
    """Return the figure of the first screen: the contrasts, which are the claim itself."""
    return figure(
        plot_contrasts(page.fit, hdi_prob=page.hdi_prob, rope=page.rope),
        f"How much nearer associated attribute words are: posterior means (points) and {percent_text(page.hdi_prob)} "
        "intervals (lines) of the differences of mean cosine distances, for all protected words, by group and by word. "
        "Points are filled where the interval leaves out 0"
        + ("; the region of practical equivalence is shaded." if page.rope is not None else "."),
        f"A forest of contrasts with a line at 0. {' '.join(page.shown('contrast'))}",
    )
