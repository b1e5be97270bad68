"""Commands that fit a model and print its results."""

from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    DEFAULT_MODEL_NAME,
    AsJson,
    Baseline,
    Command,
    Duplicates,
    HdiProb,
    ModelName,
    Output,
    Overwrite,
    Quiet,
    Rope,
    Seed,
    TableFile,
    answer,
    app,
    begin,
    finish,
    printed,
    priors_from,
)

if TYPE_CHECKING:
    import pandas as pd


@app.command(cls=Command)
def fit(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Distance table, such as `bayesbias table` writes.")],
    output: Output,
    model: ModelName = DEFAULT_MODEL_NAME,
    sampler: Annotated[
        str, typer.Option(help="Sampler: auto, exact, collapsed, conjugate, nutpie, pymc or numpyro.")
    ] = "auto",
    draws: Annotated[int, typer.Option(help="Draws per chain, after tuning.")] = 2000,
    tune: Annotated[int, typer.Option(help="Tuning steps per chain.")] = 2000,
    chains: Annotated[int, typer.Option(help="Number of chains.")] = 4,
    seed: Seed = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="Prior that replaces the model's, such as 'connection_mean=Normal(1, 0.2)'. May be repeated."
        ),
    ] = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    duplicates: Annotated[Duplicates, typer.Option(help="Treatment of repeated rows of the table.")] = Duplicates.DROP,
    covariates: Annotated[
        Path | None,
        typer.Option(help="CSV file with a column 'word' and a column of numbers for each covariate of the words."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Fit a model to a distance table; print and write the conclusions.

    Writes table.csv, fit.nc (all draws), summary.csv, contrasts.csv, words.png, conclusions.txt and conclusions.json;
    also questions.csv if the study asks questions of its own.

    Example:

        bayesbias fit weat7.csv --output weat7/ --seed 1
    """
    from bayesbias.delivery.plots.style import new_figure
    from bayesbias.models.covariates import read_covariates
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.reports.fit_report import check_request, report
    from bayesbias.tables.table_files import read_table

    begin(output, overwrite=overwrite)
    new_figure(1, 1)  # settings with which matplotlib cannot draw raise an error before the work
    distances = read_table(table, duplicates=duplicates.value)
    check_request(distances, hdi_prob=hdi_prob, rope=rope)
    fitted = fit_model(
        distances,
        model,
        sampler=sampler,
        draws=draws,
        tune=tune,
        chains=chains,
        random_seed=seed,
        progress=not quiet,
        priors=priors_from(prior or []),
        covariates=None if covariates is None else read_covariates(covariates),
    )
    numbers = output / "fit.nc"
    next_step = (
        f"Look at {output / 'words.png'}; numbers: bayesbias summary {numbers}\n"
        f"One page with checks and sensitivity: bayesbias report {numbers} -o report.html"
    )
    shown = report(fitted, table=distances, hdi_prob=hdi_prob, rope=rope)
    finish(shown, output, next_step=next_step, as_json=as_json, quiet=quiet, overwrite=overwrite)


@app.command(cls=Command)
def summary(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="File fit.nc that `bayesbias fit` wrote.")],
    level: Annotated[str, typer.Option(help="Parameters to print: all, overall or word.")] = "all",
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    baseline: Baseline = "associated",
    rope: Rope = None,
    output: TableFile = None,
    as_json: AsJson = False,
    overwrite: Overwrite = False,
) -> None:
    """Print the parameters and contrasts of a fit, with intervals and diagnostics.

    With --output also write both as tables for a paper. With --json: `summary` and `contrasts` as lists of rows, and
    `conclusions`, which is null for another baseline.

    Example:

        bayesbias summary weat7/fit.nc --level overall --rope 0.02
    """
    from bayesbias.base.statements import percent_text
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.posterior.conclusions import conclusions
    from bayesbias.reports.posterior.contrasts import contrasts as contrast_table
    from bayesbias.reports.posterior.summary import summary as summary_table

    begin(output, overwrite=overwrite)
    fitted = read_fit(fit)
    parameters = summary_table(fitted, level=level, hdi_prob=hdi_prob)
    differences = contrast_table(fitted, baseline=baseline, level=level, hdi_prob=hdi_prob, rope=rope)
    text = (
        f"Parameters, in units of cosine distance, {percent_text(hdi_prob)} HPDI\n{printed(parameters)}\n\n"
        f"Contrasts: {baseline} minus each other connection; below 0, {baseline} words are nearer\n"
        f"{printed(differences)}"
    )
    text += _write_tables({"summary": parameters, "contrasts": differences}, output, overwrite=overwrite)
    data: dict[str, Any] = {"summary": parameters, "contrasts": differences, "conclusions": None}
    if as_json and baseline == "associated":
        data["conclusions"] = conclusions(fitted, hdi_prob=hdi_prob, rope=rope)
    answer(text, data, as_json=as_json)


@app.command(cls=Command)
def contrast(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="File fit.nc that `bayesbias fit` wrote.")],
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SIDES",
            help="Two pairs of a protected group and an attribute list; four pairs for a difference of differences.",
        ),
    ] = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    output: TableFile = None,
    as_json: AsJson = False,
    overwrite: Overwrite = False,
) -> None:
    """Print differences between the mean distances of protected groups to attribute lists.

    Subtracts the second side from the first. Without sides, answers the questions of the study ([questions] in its TOML
    file).

    Example:

        bayesbias contrast weat7/fit.nc math male arts male
    """
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.posterior.questions import planned_contrasts as compared

    begin(output, overwrite=overwrite)
    pairs: list[Any] = list(batched(sides or [], 2))  # `compared` raises an error if a side lacks its list
    questions = compared(read_fit(fit), *pairs, hdi_prob=hdi_prob, rope=rope)
    text = printed(questions) + _write_tables({"questions": questions}, output, overwrite=overwrite)
    answer(text, {"questions": questions}, as_json=as_json)


def _write_tables(frames: "dict[str, pd.DataFrame]", output: Path | None, *, overwrite: bool) -> str:
    """Write tables to a file if it is given, and return the sentence that says so."""
    if output is None:
        return ""
    from bayesbias.delivery.writing import write
    from bayesbias.reports.posterior.estimate_tables import EstimateTables

    return f"\n\nWrote {write(EstimateTables(frames), output, overwrite=overwrite)}."


@app.command(cls=Command)
def methods(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="File fit.nc that `bayesbias fit` wrote.")],
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    as_json: AsJson = False,
) -> None:
    """Print the methods section of a paper for a fit, in Markdown.

    Example:

        bayesbias methods weat7/fit.nc
    """
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.posterior.methods import methods as methods_text

    text = methods_text(read_fit(fit), hdi_prob=hdi_prob)
    answer(text, {"methods": text}, as_json=as_json)
