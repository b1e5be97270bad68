"""The command that fits a model to a distance table."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    DEFAULT_MODEL_NAME,
    AsJson,
    Command,
    Duplicates,
    FilesOutput,
    HdiProb,
    ModelName,
    Overwrite,
    Quiet,
    Rope,
    Seed,
    app,
    begin,
    command,
    finish,
    priors_from,
)


@app.command(cls=Command)
def fit(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Distance table, such as `bayesbias table` writes.")],
    output: FilesOutput,
    model: ModelName = DEFAULT_MODEL_NAME,
    sampler: Annotated[str, typer.Option(help="Sampler: auto, exact, collapsed, conjugate or nuts.")] = "auto",
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
        f"Look at {output / 'words.png'}; numbers: {command('summary', numbers)}\n"
        f"One page with checks and sensitivity: {command('report', numbers, '-o', 'report.html')}"
    )
    shown = report(fitted, table=distances, hdi_prob=hdi_prob, rope=rope)
    finish(shown, output, next_step=next_step, as_json=as_json, quiet=quiet, overwrite=overwrite)
