"""The section on covariates of the protected words."""

from dataclasses import replace

from bayesbias.delivery.page.blocks import Paragraph, Section
from bayesbias.delivery.page.sections import embedded
from bayesbias.reports.covariates.covariate_effect import covariate_effect
from bayesbias.reports.fit_report import FitReport

_TITLE = "What follows the covariates?"


def covariates_section(page: FitReport) -> Section:
    """Return the section on how the leans of words, associated minus different, follow the covariates of the fit."""
    have_both = {"associated", "different"} <= set(page.fit["posterior"].coords["connection"].to_numpy().tolist())
    if "covariate_value" not in page.fit["constant_data"] or not have_both:
        ask = (
            "Covariates: none. To ask whether leans follow a number of each word, such as the share of women in an "
            "occupation, fit with bb.fit(table, covariates=...), or run bayesbias covariate TABLE --covariates FILE."
        )
        return Section("covariates", _TITLE, [], [ask])
    effect = covariate_effect(page.fit, hdi_prob=page.hdi_prob)
    contents = effect.contents
    section = embedded(
        effect,
        "covariates",
        _TITLE,
        [str(contents.answers[0]), *(f"Beware: {doubt}" for doubt in contents.diagnostics)],
    )
    lists = (
        "For the contrast of two attribute lists, use bb.covariate_effect(fit, (first, second)) or bayesbias covariate "
        "TABLE --lists first,second."
    )
    return replace(section, blocks=[*section.blocks, Paragraph(lists)])
