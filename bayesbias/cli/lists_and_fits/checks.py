"""The command that compares the predictions of a fitted model with the distances."""

from bayesbias.cli.base import AsJson, Command, FitFile, OptionalOutput, Overwrite, Quiet, Seed, app, begin, finish


@app.command(cls=Command)
def check(
    fit: FitFile,
    output: OptionalOutput = None,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare the predictions of a fitted model, and of its priors alone, with the distances.

    Prints where the model fails; with --output also writes a page, figures and tables.

    Example:

        bayesbias check weat7/fit.nc --output weat7-check/
    """
    from bayesbias.base.results import ResultGroup
    from bayesbias.models.fitted.fit_source import fitted_model, fitted_table
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.checks.posterior_check import check_posterior
    from bayesbias.reports.checks.prior_check import check_prior

    begin(output, overwrite=overwrite)
    fitted = read_fit(fit)
    posterior = check_posterior(fitted, random_seed=seed, progress=not quiet)
    table, model = fitted_table(fitted), fitted_model(fitted)
    prior = check_prior(table, model, random_seed=posterior.random_seed, progress=not quiet)
    checks = ResultGroup("Checks of model and priors", {"posterior": posterior, "prior": prior})
    finish(checks, output, as_json=as_json, quiet=quiet, overwrite=overwrite)
