"""Whether the numbers can be trusted: the sampler, the model's predictions, and its priors."""

from bayesbias.models.fits import fit_fact
from bayesbias.page.blocks import (
    Block,
    Bullets,
    Notice,
    Paragraph,
    Section,
    count,
    distance,
    figure,
    frame_table,
    share,
    signed,
)
from bayesbias.page.subject import Subject
from bayesbias.plots.checks import plot_check, plot_prior_check
from bayesbias.reports.checks import check_posterior
from bayesbias.reports.prior_checks import check_prior


def sampler(subject: Subject) -> Section:
    """Say whether the draws can be trusted."""
    problems = fit_fact(subject.fit, "convergence_problems")
    name, draws, chains = (fit_fact(subject.fit, fact) for fact in ("sampler", "draws", "chains"))
    said = f"The sampler {name} drew {draws * chains:,} times ({draws:,} in each of {chains} chains)."
    if not problems:
        headline = f"{said} No diagnostic speaks against the draws."
        return Section("sampler", "Did the sampler converge?", [Paragraph(headline)])
    blocks: list[Block] = [
        Notice(f"Do not report these numbers: the sampler did not converge. {said}"),
        Bullets(tuple(problems)),
    ]
    return Section("sampler", "Did the sampler converge?", blocks)


def predictions(subject: Subject) -> Section:
    """Compare the observed distances with those that the fitted model predicts."""
    check = check_posterior(subject.fit, random_seed=subject.seed)
    every = check.coverage.iloc[0]
    inside = (
        f"{share(every['inside_89'])} of the observed distances lie inside the model's 89% intervals and "
        f"{share(every['inside_50'])} inside its 50% intervals."
    )
    said = "; ".join(
        f"{row['connection']} {share(row['inside_89'])} and {share(row['inside_50'])}"
        for row in check.coverage.to_dict("records")
    )
    blocks: list[Block] = [
        Paragraph(inside),
        *(
            [Paragraph("Where the model fails:"), Bullets(check.problems)]
            if check.problems
            else [Paragraph("No failure was found: the observed distances look like those that the model makes.")]
        ),
        figure(
            plot_check(check),
            "Above: each pair's actual distance against the model's mean prediction, with 89% (light) and 50% (dark) "
            "predictive intervals. Below: the densities of actual (filled) and replicated (line, with band) distances.",
            "Scatter plots of actual against predicted distances, and densities of both, one column a connection. "
            f"Share of actual distances inside the 89% and the 50% intervals: {said}.",
        ),
        frame_table(
            check.coverage,
            "Share of observed distances inside the predictive intervals; the error is that of a share if the model is "
            "right and pairs are independent",
            {
                "connection": ("Connection", None),
                "pairs": ("Pairs", count),
                "inside_89": ("In 89%", share),
                "se_89": ("Error", share),
                "loo_inside_89": ("In 89%, unseen", share),
                "inside_50": ("In 50%", share),
                "se_50": ("Error", share),
                "loo_inside_50": ("In 50%, unseen", share),
                "pit_distance": ("LOO-PIT from uniform", distance),
                "k_high": ("High Pareto k", count),
            },
        ),
        frame_table(
            check.statistics,
            f"Test statistics of the observed distances, and 89% of those of {check.replicates:,} replicated tables",
            {
                "connection": ("Connection", None),
                "statistic": ("Statistic", None),
                "observed": ("Observed", distance),
                "low:high": ("Replicated", distance),
                "p_value": ("Share larger", distance),
                "p_value_se": ("Error", distance),
            },
            folded=True,
        ),
        Paragraph(f"bb.check_posterior with {check.draws:,} draws, seed {check.seed}."),
    ]
    fails = " The check found faults, and says which." if check.problems else " The check found no fault."
    return Section("predictions", "Does the model describe the data?", blocks, [inside + fails])


def priors(subject: Subject) -> Section:
    """Say what the priors alone say of distances."""
    check = check_prior(subject.table, subject.spec, random_seed=subject.seed)
    every = check.distances.iloc[0]
    blocks: list[Block] = [
        Paragraph(
            f"Before any distance is seen, the model puts {share(every['outside'])} of its probability (Monte Carlo "
            f"error {share(every['outside_se'])}) on distances below 0 or above 2, which cannot be."
        ),
        *([Bullets(check.problems)] if check.problems else []),
        figure(
            plot_prior_check(check),
            "Left: the prior density of a distance (line) and the observed distances (filled); impossible distances "
            "are hatched. Right: 89% of the prior of group means and contrasts, and what was observed.",
            f"Prior densities of distances by connection. For all pairs 89% of the prior lies between "
            f"{distance(every['low'])} and {distance(every['high'])}, {share(every['outside'])} outside 0 to 2; "
            f"observed are {distance(every['smallest'])} to {distance(every['largest'])}.",
        ),
        frame_table(
            check.distances,
            "Prior predictive distances, with 89% of them in the interval, beside the observed ones",
            {
                "connection": ("Connection", None),
                "median": ("Prior median", distance),
                "low:high": ("Prior interval", distance),
                "outside": ("Outside 0 to 2", share),
                "outside_se": ("Error", share),
                "smallest:largest": ("Observed range", distance),
                "inside_observed": ("Prior inside it", share),
            },
        ),
        frame_table(
            check.parameters,
            "Priors of the parameters, with 89% of the prior in the interval",
            {
                "parameter": ("Parameter", None),
                "connection": ("Of", None),
                "mean": ("Mean", signed),
                "sd": ("Sd", distance),
                "low:high": ("Interval", signed),
            },
            folded=True,
        ),
        Paragraph(f"bb.check_prior with {check.draws:,} draws, seed {check.seed}."),
    ]
    return Section("priors", "What the priors say alone", blocks)
