"""The command that asks whether the leans of words follow a covariate."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Command,
    HdiProb,
    Output,
    Overwrite,
    Quiet,
    Seed,
    app,
    begin,
    finish,
)
from bayesbias.errors import ArgumentError


@app.command(cls=Command)
def covariate(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Distance table, such as `bayesbias table` writes.")],
    covariates: Annotated[
        Path, typer.Option(help="CSV file with a column 'word' and a column of numbers for each covariate.")
    ],
    output: Output,
    lists: Annotated[
        str, typer.Option(help="Two attribute lists, such as female,male; by default associated minus different.")
    ] = "",
    within_groups: Annotated[
        bool, typer.Option("--within-groups", help="Compare words of the same protected group only.")
    ] = False,
    draws: Annotated[int, typer.Option(help="Draws per chain.")] = 2000,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask whether the lean of words follows a covariate, such as the share of women in an occupation.

    Fits the default model with the covariates, and writes slopes, correlations, a figure and a page.

    Example:

        bayesbias table vectors.txt --study occupations.toml --output occupations.csv

        bayesbias covariate occupations.csv --covariates shares.csv --lists female,male --output shares/
    """
    from bayesbias.models.covariates import read_covariates
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.reports.covariates.covariate_effect import covariate_effect
    from bayesbias.tables.table_files import read_table

    begin(output, overwrite=overwrite)
    names = [name.strip() for name in lists.split(",")] if lists else []
    if len(names) not in (0, 2):
        raise ArgumentError(f"--lists {lists}: give two attribute lists with a comma, such as female,male.")
    fitted = fit_model(
        read_table(table),
        draws=draws,
        random_seed=seed,
        progress=not quiet,
        covariates=read_covariates(covariates),
    )
    pair = (names[0], names[1]) if names else None
    effect = covariate_effect(fitted, pair, within_groups=within_groups, hdi_prob=hdi_prob)
    finish(effect, output, as_json=as_json, quiet=quiet, overwrite=overwrite)
