"""Sections that a fit has if it is asked: covariates, other embeddings, and attribute words drawn at random."""

from dataclasses import replace

from bayesbias.delivery.page.blocks import Paragraph, Section
from bayesbias.delivery.page.sections import embedded
from bayesbias.reports.covariates.covariate_effect import covariate_effect
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.robustness.random_list_check import RandomListCheck

_COVARIATES = "What follows the covariates?"


def covariates_section(page: FitReport) -> Section:
    """Return the section on how the leans of words, associated minus different, follow the covariates of the fit."""
    have_both = {"associated", "different"} <= set(page.fit["posterior"].coords["connection"].to_numpy().tolist())
    if "covariate_value" not in page.fit["constant_data"] or not have_both:
        ask = (
            "Covariates: none. To ask whether leans follow a number of each word, such as the share of women in an "
            "occupation, fit with bb.fit(table, covariates=...), or run bayesbias covariate TABLE --covariates FILE."
        )
        return Section("covariates", _COVARIATES, [], [ask])
    effect = covariate_effect(page.fit, hdi_prob=page.hdi_prob)
    contents = effect.contents
    section = embedded(
        effect,
        "covariates",
        _COVARIATES,
        [str(contents.answers[0]), *(f"Beware: {doubt}" for doubt in contents.diagnostics)],
    )
    lists = (
        "For the contrast of two attribute lists, use bb.covariate_effect(fit, (first, second)) or bayesbias covariate "
        "TABLE --lists first,second."
    )
    return replace(section, blocks=[*section.blocks, Paragraph(lists)])


_EMBEDDINGS = "Comparison with other embeddings"


def embeddings_section(page: FitReport) -> Section:
    """Return the section on the changes from the fitted embedding to others."""
    changes = page.comparison
    if changes is None:
        return Section("embeddings", _EMBEDDINGS, [])
    headlines = [*map(str, changes.verdicts), *(f"Beware: {doubt}" for doubt in changes.doubts)]
    return embedded(changes, "embeddings", _EMBEDDINGS, headlines)


_RANDOM_LISTS = "Is it only frequency? Claims for random words"


def random_lists_section(page: FitReport) -> Section:
    """Return the section on how often methods claim an association for random attribute words."""
    claims: RandomListCheck | None = page.claims
    if claims is None:
        study = page.facts.get("study", "STUDY")
        ask = (
            "Is it only frequency? To see what random words of about the same frequency show, run bayesbias "
            f"random-lists VECTORS --study {study}, or give bb.report(fit, claims=bb.check_random_lists(...))."
        )
        return Section("random-lists", _RANDOM_LISTS, [], [ask])
    headlines = [str(claims.summary[1]), *(f"Beware: {statement}" for statement in claims.problems)]
    return embedded(claims, "random-lists", _RANDOM_LISTS, headlines)
