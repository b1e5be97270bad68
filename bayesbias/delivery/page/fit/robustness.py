"""Sections on robustness: sampler, predictions, priors, other models, and fits without words or with other priors."""

from dataclasses import replace

import pandas as pd

from bayesbias.base.number_text import interval_text, signed_text
from bayesbias.base.statements import rows_of
from bayesbias.delivery.page.blocks import Block, Bullets, Heading, Notice, Section
from bayesbias.delivery.page.sections import embedded
from bayesbias.errors import NotEnoughMemoryError, name_some
from bayesbias.estimates.intervals import settled
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.checks.posterior_check import check_posterior
from bayesbias.reports.checks.prior_check import check_prior
from bayesbias.reports.fit_report import FitReport
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.reports.robustness.model_comparison import (
    AS_GOOD,
    FEWEST_WORDS,
    MODELS,
    PREFERRED,
    WORSE,
    compare_models,
)
from bayesbias.reports.robustness.sensitivity import LEAVE_OUT, sensitivity

# The shares of a thousand samples have an error below 2 %; the function itself takes 4,000.
PRIOR_SAMPLES = 1000
_PREDICTIONS = "Does the model describe the data?"
_PRIORS = "What the priors alone predict"


def sampler_section(page: FitReport) -> Section:
    """Return the section on the convergence of the sampler."""
    problems = fit_attribute(page.fit, "convergence_problems")
    name, draws, chains = (fit_attribute(page.fit, fact) for fact in ("sampler", "draws", "chains"))
    draw_count = f"The sampler {name} made {draws * chains:,} draws ({draws:,} in each of {chains} chains)."
    if not problems:
        headline = f"{draw_count} No diagnostic indicates a problem."
        return Section("sampler", "Did the sampler converge?", [], [headline])
    blocks: list[Block] = [
        Notice(f"Do not report these numbers: the sampler did not converge. {draw_count}"),
        Bullets(tuple(problems)),
    ]
    return Section("sampler", "Did the sampler converge?", blocks)


def predictions_section(page: FitReport) -> Section:
    """Return the section that compares observed distances with predictions of the fitted model."""
    try:
        check = check_posterior(page.fit, random_seed=page.random_seed, progress=False)
    except NotEnoughMemoryError as error:
        return Section("predictions", _PREDICTIONS, [Notice(f"Not computed. {error}")])
    fails = " The check found faults, listed there." if check.problems else " The check found no fault."
    return embedded(check, "predictions", _PREDICTIONS, [check.summary[1].text + fails])


def priors_section(page: FitReport) -> Section:
    """Return the section on the distances that the priors alone predict."""
    if page.quick:
        return Section("priors", _PRIORS, [Notice(f"Not computed. {page.skip_reason(1, 'bb.check_prior(table)')}")])
    check = check_prior(page.table, page.spec, samples=PRIOR_SAMPLES, random_seed=page.random_seed, progress=False)
    return embedded(check, "priors", _PRIORS)


# Enough to rank models and refits; the functions themselves draw more by default.
_COMPARISON_DRAWS = 500
_SENSITIVITY_DRAWS = 500
_COMPARISON = "Which model to trust"
_SENSITIVITY = "What the conclusions are sensitive to"


def comparison_section(page: FitReport) -> Section:
    """Return the section that compares the fitted model with others."""
    name = page.spec.name
    if page.table["attribute_word"].nunique() < FEWEST_WORDS:
        alone = "Not computed. Models are compared by leaving out one attribute word at a time; there is only one."
        return Section("comparison", _COMPARISON, [Notice(alone)])
    models: list[str | ModelSpec] = [
        *([] if page.needs_nuts else [page.spec]),
        *[model for model in MODELS if model != name],
    ]
    # The prediction of each pair and attribute word from each draw costs about 20 fits.
    if reason := page.skip_reason(20 * len(models), "bb.compare_models(table)"):
        return Section("comparison", _COMPARISON, [Notice(f"Not computed. {reason}")])
    try:
        compared = compare_models(
            page.table,
            models,
            hdi_prob=page.hdi_prob,
            draws=_COMPARISON_DRAWS,
            random_seed=page.random_seed,
            progress=False,
        )
    except NotEnoughMemoryError as error:
        return Section("comparison", _COMPARISON, [Notice(f"Not computed. {error}")])
    if not page.nothing_to_compare:
        compared = replace(compared, contrasts=_with_those_of_the_fit(page, compared.contrasts))
    reading = dict(zip(compared.models["model"], compared.models["reading"], strict=True)).get(name)
    headlines = [_headline(name, reading, compared.models), *_headline_of_others(page, compared.contrasts)]
    section = embedded(compared, "comparison", _COMPARISON, headlines)
    if reading in (None, WORSE):
        return replace(section, blocks=[Notice(headlines[0]), *section.blocks])
    return section


def _headline(name: str, reading: str | None, models: pd.DataFrame) -> str:
    """Return how well the fitted model predicts beside others; without a reading, why it was not compared."""
    if reading is None:
        return (
            f"The fitted model, {name}, is sampled by NUTS and not compared here, because leaving out words takes "
            f"minutes. Run bb.compare_models(table, ['{name}', ...])."
        )
    if reading == WORSE:
        return (
            f"The fitted model, {name}, predicts unseen attribute words worse than {models['model'].iloc[0]}: "
            "its intervals may be too narrow or too wide. Fit the better model."
        )
    predictions = {
        PREFERRED: "predicts unseen attribute words best",
        AS_GOOD: "predicts about as well as the best one",
    }
    return f"Of {len(models)} models compared, the fitted one, {name}, {predictions[reading]}."


def _with_those_of_the_fit(page: FitReport, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the contrasts of other models, and of the fit itself in place of its shorter repetition."""
    of_the_fit = contrasts(page.fit, hdi_prob=page.hdi_prob).assign(model=page.spec.name)
    return pd.concat([of_the_fit, rows[rows["model"] != page.spec.name]]).sort_values("contrast", kind="stable")


def _headline_of_others(page: FitReport, rows: pd.DataFrame) -> list[str]:
    """Return a sentence with the first contrast in the other models, if there is one."""
    if rows.empty:
        return []
    first = rows[(rows["contrast"] == rows["contrast"].iloc[0]) & (rows["model"] != page.spec.name)]
    texts = [
        f"{signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])}) in {row['model']}"
        for row in rows_of(first)
    ]
    return [f"In other models '{first['contrast'].iloc[0]}' is {' and '.join(texts)}."]


def sensitivity_section(page: FitReport) -> Section:
    """Return the section on fits without each word and list, and with other priors."""
    blocks: list[Block] = []
    deciding: dict[str, list[str]] = {}
    edges: list[str] = []
    refits = 0
    reason = page.nothing_to_compare
    if not reason and page.needs_nuts:
        reason = (
            f"The model {page.spec.name} is sampled by NUTS and would have to be fitted again for each word. Run "
            f"bb.sensitivity(table, '{page.spec.name}'), or report a crossed model."
        )
    reason = reason or page.skip_reason(
        page.table["attribute_word"].nunique() + page.table["protected_word"].nunique(), "bb.sensitivity(table)"
    )
    if reason:
        return Section("sensitivity", _SENSITIVITY, [Notice(f"Not computed. {reason}")])
    for leave_out in LEAVE_OUT:
        changes = sensitivity(
            page.table,
            page.spec,
            leave_out=leave_out,
            hdi_prob=page.hdi_prob,
            draws=_SENSITIVITY_DRAWS,
            random_seed=page.random_seed,
            progress=False,
        )
        if changes.stopped:  # an interrupt is meant for the page
            raise KeyboardInterrupt
        blocks += [Heading(changes.contents.title), *embedded(changes, "sensitivity", _SENSITIVITY).blocks]
        refits += changes.refits
        if leave_out == LEAVE_OUT[0]:  # the refit with everything is the same for all
            edges = _edges(page, changes.contrasts)
        for contrast, names in changes.deciding.items():
            deciding.setdefault(contrast, []).extend(names)
    changed = {contrast: names for contrast, names in deciding.items() if names}
    headlines = [
        f"The conclusion on '{contrast}' changes in {len(names)} of {refits:,} variations (without a word or a list, "
        f"or with another prior): {name_some(names, 5)}."
        for contrast, names in changed.items()
    ]
    blocks = [*map(Notice, edges), *blocks]
    unchanged = (
        f"No conclusion changes in any of {refits:,} variations (without a word or a list, or with another prior)."
    )
    return Section("sensitivity", _SENSITIVITY, blocks, [*edges, *(headlines or [unchanged])])


def _edges(page: FitReport, refitted: pd.DataFrame) -> list[str]:
    """Return sentences on intervals so near to 0 that a refit of the same model changes the conclusion."""
    fitted = contrasts(page.fit, hdi_prob=page.hdi_prob).set_index("contrast")
    edges = []
    for row in rows_of(refitted):
        fitted_row = fitted.loc[row["contrast"]]
        settles = settled(fitted_row["hdi_low"], fitted_row["hdi_high"])
        if settles != (row["conclusion"] != "not settled"):
            edges.append(
                f"The conclusion on '{row['contrast']}' is on the edge: its interval ends so near to 0 that chance "
                f"in the simulation decides it "
                f"({interval_text(fitted_row['hdi_low'], fitted_row['hdi_high'])} in the fit, "
                f"{interval_text(row['hdi_low'], row['hdi_high'])} in a refit with all words). Do not rely on it."
            )
    return edges
