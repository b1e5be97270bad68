"""Sections on the reliability of a fit: sampler, predictions and priors."""

from bayesbias.delivery.page.blocks import Block, Bullets, Notice, Section
from bayesbias.delivery.page.sections import embedded
from bayesbias.errors import NotEnoughMemoryError
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.reports.checks.posterior_check import check_posterior
from bayesbias.reports.checks.prior_check import check_prior
from bayesbias.reports.fit_report import FitReport

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
