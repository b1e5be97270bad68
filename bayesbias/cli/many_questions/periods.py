"""The command that asks how an association moved over periods."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Case,
    Command,
    HdiProb,
    Output,
    Overwrite,
    Quiet,
    Rope,
    Seed,
    app,
    begin,
    finish,
)


@app.command(cls=Command)
def trend(
    periods: Annotated[
        list[Path],
        typer.Argument(
            metavar="PERIODS...",
            help="Folder with a file or a folder a period (also HistWords), or files of embeddings or distance tables "
            "in the order of time.",
        ),
    ],
    output: Output,
    study: Annotated[str | None, typer.Option(help="Bundled study or TOML file; not needed for tables.")] = None,
    covariates: Annotated[
        Path | None, typer.Option(help="CSV file with a column 'period' and a column for each covariate.")
    ] = None,
    word_covariates: Annotated[
        Path | None,
        typer.Option(
            help="CSV file with a column 'word', columns of numbers, and perhaps a column 'period': slopes by period."
        ),
    ] = None,
    walk: Annotated[bool, typer.Option("--walk", help="Take the gap as a random walk instead of a line.")] = False,
    these_words: Annotated[
        bool, typer.Option("--these-words", help="Estimates about exactly these protected words, not words like these.")
    ] = False,
    rope: Rope = None,
    draws: Annotated[int, typer.Option(help="Posterior draws of each of 4 chains.")] = 1000,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Show how the gap between associated and other words moved over periods, or between two embeddings.

    Changes between periods are paired, so that their intervals are narrow; words that a period lacks are named. Writes
    a page, a figure, and tables of gaps, changes, the trend and the words that moved.

    Example:

        bayesbias trend decades/ --study gender --output moved/

        bayesbias trend original.csv debiased.csv --output debiased/
    """
    from bayesbias.embeddings.periods import periods_of
    from bayesbias.reports.changes.trend import trend as trend_of

    begin(output, overwrite=overwrite)
    moved = trend_of(
        periods_of(periods),
        study,
        covariates=covariates,
        word_covariates=word_covariates,
        walk=walk,
        scope="these_words" if these_words else "population",
        case=case,
        hdi_prob=hdi_prob,
        rope=rope,
        draws=draws,
        random_seed=seed,
        progress=not quiet,
    )
    finish(moved, output, as_json=as_json, quiet=quiet, overwrite=overwrite)
