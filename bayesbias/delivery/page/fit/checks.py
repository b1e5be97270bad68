"""Sections on the reliability of a fit: sampler, predictions and priors."""

from bayesbias.base.number_text import count_text, distance_text, share_text, signed_text
from bayesbias.delivery.page.blocks import Block, Bullets, Notice, Paragraph, Section, figure, frame_table
from bayesbias.delivery.plots.posterior.checks import plot_check, plot_prior_check
from bayesbias.errors import NotEnoughMemoryError
from bayesbias.models.fitted.fits import fit_attribute
from bayesbias.reports.checks.posterior_check import check_posterior
from bayesbias.reports.checks.posterior_problems import TAIL
from bayesbias.reports.checks.prior_check import check_prior
from bayesbias.reports.fit_report import FitReport

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
    coverage_text = "; ".join(
        f"{row['connection']} {share_text(row['inside_89'])} and {share_text(row['inside_50'])}"
        for row in check.coverage.to_dict("records")
    )
    failures: list[Block] = [
        Paragraph(
            "Where the model fails (a statistic is listed if fewer than "
            f"{100 * TAIL:.2f} % of replicated tables are as extreme on its side):"
        ),
        Bullets(tuple(map(str, check.problems))),
    ]
    blocks: list[Block] = [
        *(Paragraph(statement.text) for statement in check.summary[1:]),
        *(failures if check.problems else []),
        figure(
            plot_check(check),
            "Above: each pair's actual distance against the model's mean prediction, with 89% (light) and 50% (dark) "
            "predictive intervals. Below: the densities of actual (filled) and replicated (line, with band) distances.",
            "Scatter plots of actual against predicted distances, and densities of both, one column per connection. "
            f"Share of actual distances inside the 89% and the 50% intervals: {coverage_text}.",
        ),
        frame_table(
            check.coverage,
            "Share of observed distances inside the predictive intervals; its error if the model is right and pairs "
            "are independent",
            {
                "connection": ("Connection", None),
                "pairs": ("Pairs", count_text),
                "inside_89": ("In 89%", share_text),
                "se_89": ("Error", share_text),
                "loo_inside_89": ("In 89%, unseen", share_text),
                "inside_50": ("In 50%", share_text),
                "se_50": ("Error", share_text),
                "loo_inside_50": ("In 50%, unseen", share_text),
                "pit_distance": ("LOO-PIT from uniform", distance_text),
                "k_high": ("High Pareto k", count_text),
            },
        ),
        frame_table(
            check.statistics,
            f"Test statistics of the observed distances, and 89% intervals of {check.replicates:,} replicated tables",
            {
                "connection": ("Connection", None),
                "statistic": ("Statistic", None),
                "observed": ("Observed", distance_text),
                "low:high": ("Replicated", distance_text),
                "p_value": ("Share larger", distance_text),
                "p_value_se": ("Error", distance_text),
            },
            folded=True,
        ),
        Paragraph(f"bb.check_posterior with {check.draws:,} draws, seed {check.random_seed}."),
    ]
    fails = " The check found faults, listed there." if check.problems else " The check found no fault."
    return Section("predictions", _PREDICTIONS, blocks, [check.summary[1].text + fails])


def priors_section(page: FitReport) -> Section:
    """Return the section on the distances that the priors alone predict."""
    if page.quick:
        return Section("priors", _PRIORS, [Notice(f"Not computed. {page.skip_reason(1, 'bb.check_prior(table)')}")])
    check = check_prior(page.table, page.spec, random_seed=page.random_seed, progress=False)
    every = check.distances.iloc[0]
    blocks: list[Block] = [
        *(Paragraph(statement.text) for statement in check.summary[1:3]),
        *([Bullets(tuple(map(str, check.problems)))] if check.problems else []),
        figure(
            plot_prior_check(check),
            "Left: the prior density of a distance (line) and the observed distances (filled); impossible distances "
            "are hatched. Right: 89% intervals of the priors of connection means and contrasts, and observed values.",
            f"Prior densities of distances by connection. For all pairs 89% of the prior lies between "
            f"{distance_text(every['low'])} and {distance_text(every['high'])}, {share_text(every['outside'])} outside "
            f"0 to 2; observed are {distance_text(every['smallest'])} to {distance_text(every['largest'])}.",
        ),
        frame_table(
            check.distances,
            "Prior predictive distances with 89% intervals, and observed distances",
            {
                "connection": ("Connection", None),
                "median": ("Prior median", distance_text),
                "low:high": ("Prior interval", distance_text),
                "outside": ("Outside 0 to 2", share_text),
                "outside_se": ("Error", share_text),
                "smallest:largest": ("Observed range", distance_text),
                "inside_observed": ("Prior inside it", share_text),
            },
        ),
        frame_table(
            check.parameters,
            "Priors of the parameters, with 89% intervals",
            {
                "parameter": ("Parameter", None),
                "connection": ("Connection", None),
                "mean": ("Mean", signed_text),
                "sd": ("SD", distance_text),
                "low:high": ("Interval", signed_text),
            },
            folded=True,
        ),
        Paragraph(f"bb.check_prior with {check.samples:,} samples, seed {check.random_seed}."),
    ]
    return Section("priors", _PRIORS, blocks)
