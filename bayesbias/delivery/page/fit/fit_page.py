"""Write the page."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.base.checks import (
    HDI_PROB,
    check_flag,
    check_probability,
    check_rope,
    resolve_seed,
    with_progress,
)
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
from bayesbias.delivery.page.page_input import PageInput, check_comparison, table_of
from bayesbias.delivery.page.template import filled_page, page_target, write_page
from bayesbias.delivery.plots.posterior.contrasts import plot_contrasts
from bayesbias.errors import ReportError
from bayesbias.models.fitted.fits import check_fit, fit_attribute
from bayesbias.reports.embeddings.comparison import EmbeddingComparison
from bayesbias.reports.robustness.random_list_check import RandomListCheck

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SECTIONS: tuple[Callable[[PageInput], Section], ...] = (
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


def write_report(
    fit: "xr.DataTree",
    path: str | os.PathLike[str],
    *,
    table: "pd.DataFrame | None" = None,
    comparison: "EmbeddingComparison | None" = None,
    claims: "RandomListCheck | None" = None,
    rope: float | tuple[float, float] | None = None,
    hdi_prob: float = HDI_PROB,
    random_seed: int | None = None,
    overwrite: bool = False,
    title: str | None = None,
    full: bool = False,
    quick: bool = False,
    progress: bool = True,
) -> Path:
    """Write what a fit shows, and what it rests on, as one HTML file that needs nothing else.

    The page holds the question, the data and the lost words, the posterior of all protected words and of each, the
    embedding beside others, checks of sampler, predictions and priors, a comparison of models, what the
    conclusions are sensitive to, what random attribute words would show, single-number measures, conclusions in plain
    English, settings and versions to repeat it, and how to cite it. A section that does not apply says why. The file
    loads nothing; its one script sorts and filters long tables, and no other may run.

    Parameters
    ----------
    fit
        What `fit` returned.
    path
        A file that ends in ``.html``.
    table
        The fitted table. By default its rows are taken from the fit, where only the names of attribute lists are
        missing.
    comparison
        What `compare_embeddings` returned for the fitted table and others, for the section on them.
    claims
        What `check_random_lists` returned for the same embedding and study, for the section on random attribute words.
    rope
        Region of practical equivalence, in units of cosine distance, as for `contrasts`.
    hdi_prob
        Probability inside the highest posterior density intervals of the results.
    random_seed
        Seed of everything that the page computes: 0 to 2**32 - 1. None takes the fit's own seed, so that the same
        fit gives the same numbers.
    overwrite
        Whether an existing file may be replaced.
    title
        Of the page; by default it names study and embedding.
    full
        Whether the tables that are folded on the screen are printed too; without them a page takes fewer sheets.
    quick
        Whether the page holds only what the fit itself says, which takes seconds: no comparison with other models, no
        refits without each word and list, no simulation from the priors. The page says how to have them.
    progress
        Show a progress bar where there is somebody to see it.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    OutputError
        If the file exists or cannot be written; before anything is computed.
    FitError, ReportError, ArgumentError
        If `fit` is not a fit, `table` is not its table, `comparison` does not begin with that table, or another
        argument is not usable.

    Notes
    -----
    To be quick, models are compared with 1,000 draws in each of 4 chains, and fitted again without each word and list
    with 500.
    Models that need NUTS are neither compared nor fitted again, nor are tables of so many words that it would take
    hours, and the page says so.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = bb.write_report(fit, f"{folder}/report.html")
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    from threadpoolctl import threadpool_limits

    given = None if random_seed is None else resolve_seed(random_seed)
    target = page_target(path, overwrite=overwrite)
    check_probability("hdi_prob", hdi_prob)
    check_rope(rope)
    check_flag("full", full)
    check_flag("quick", quick)
    if claims is not None and not isinstance(claims, RandomListCheck):
        raise ReportError(f"claims: give what bb.check_random_lists returned, not {type(claims).__name__}.")
    check_fit(fit)
    seed = resolve_seed(fit_attribute(fit, "seed") if given is None else given)
    rows = table_of(fit, table)
    check_comparison(comparison, rows)
    page = PageInput(
        fit=fit,
        table=rows,
        comparison=comparison,
        claims=claims,
        rope=rope,
        hdi_prob=hdi_prob,
        seed=seed,
        quick=quick,
    )
    # Many small systems of equations: threads only get into each other's way.
    with threadpool_limits(1, "blas"):
        content = render(page, title, full=full, progress=progress)
    return write_page(target, content, overwrite=overwrite)


def render(page: PageInput, title: str | None, *, full: bool = False, progress: bool = False) -> str:
    """Return the page as HTML; every text is escaped by the template."""
    sections = [section(page) for section in with_progress(SECTIONS, "Sections of the page", progress=progress)]
    study = page.facts.get("study")
    what = f"{study} in {page.embedding}" if study else page.embedding
    # What a reader must know before any number: failed sampling, doubtful data.
    reason = page.nothing_to_compare
    alerts = [reason] if reason else [doubt.text for doubt in page.conclusions.doubts]
    return filled_page(
        title=title or f"Associations of words: {what}",
        description=f"A Bayesian report of associations in word embeddings: {what}.",
        alerts=[Notice(text) for text in alerts],
        verdict="" if reason else page.conclusions.verdict.text,
        sections=sections,
        lead=() if reason else (_forest(page), Bullets(page.shown("contrast")[:1])),
        telling=_TELLING,
        full=full,
        subtitle=f"Model {page.spec.name}.",
    )


def _forest(page: PageInput) -> Figure:
    """Return the figure of the first screen: the contrasts, which are the claim itself."""
    return figure(
        plot_contrasts(page.fit, hdi_prob=page.hdi_prob, rope=page.rope),
        f"How much nearer associated attribute words are: posterior means (points) and {percent_text(page.hdi_prob)} "
        "intervals (lines) of the differences of mean cosine distances, for all protected words, by group and by word. "
        "Points are filled where the interval leaves out 0"
        + ("; the region of practical equivalence is shaded." if page.rope is not None else "."),
        f"A forest of contrasts with a line at 0. {' '.join(page.shown('contrast'))}",
    )
