"""Commands that fit a model and print what it says."""

from itertools import batched
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    DEFAULT_MODEL_NAME,
    AsJson,
    Baseline,
    Command,
    Duplicates,
    HdiProb,
    Overwrite,
    Quiet,
    Rope,
    answer,
    app,
    claim,
    printed,
    priors_from,
)


@app.command(cls=Command)
def fit(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A distance table, such as `bayesbias table` writes.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")],
    model: Annotated[str, typer.Option(help="A bundled model or a TOML file.")] = DEFAULT_MODEL_NAME,
    sampler: Annotated[str, typer.Option(help="auto, exact, collapsed, conjugate, nutpie, pymc or numpyro.")] = "auto",
    draws: Annotated[int, typer.Option(help="Kept draws a chain.")] = 2000,
    tune: Annotated[int, typer.Option(help="Tuning steps a chain.")] = 2000,
    chains: Annotated[int, typer.Option(help="Chains.")] = 4,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same draws on the same machine.")] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="Change a prior: --prior 'connection_mean=Normal(1, 0.2)'. May be repeated."),
    ] = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    duplicates: Annotated[Duplicates, typer.Option(help="Repeated rows of the table.")] = Duplicates.DROP,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Fit a model to a distance table; write numbers, figure and conclusions to a folder.

    Writes table.csv, fit.nc (all draws), summary.csv, contrasts.csv, words.png, conclusions.txt, conclusions.json, and
    questions.csv where the study asks questions of its own; prints the conclusions. Example:

        bayesbias fit weat7.csv --output weat7/ --seed 1
    """
    from bayesbias.base.outputs import check_folder
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.results import check_request, write_results
    from bayesbias.tables.table_files import read_table

    check_folder(output, overwrite=overwrite)
    claim(output)
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
    )
    found = write_results(fitted, output, table=distances, hdi_prob=hdi_prob, rope=rope, overwrite=overwrite)
    numbers = output / "fit.nc"
    text = (
        f"{found}\n\nWrote {output}. Look at {output / 'words.png'}; numbers: bayesbias summary {numbers}\n"
        f"One page with checks and sensitivity: bayesbias report {numbers} -o report.html"
    )
    answer(text, {"conclusions": found, "output": str(output)}, as_json=as_json, quiet=quiet)


@app.command(cls=Command)
def summary(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="The fit.nc of `bayesbias fit`.")],
    level: Annotated[str, typer.Option(help="all, overall or word.")] = "all",
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    baseline: Baseline = "associated",
    rope: Rope = None,
    as_json: AsJson = False,
) -> None:
    """Print what a fit says: parameters, contrasts, intervals and diagnostics.

    With --json: `summary` and `contrasts`, lists of rows, and `conclusions` (null with another baseline). Example:

        bayesbias summary weat7/fit.nc --level overall --rope 0.02
    """
    from bayesbias.base.statements import percent_text
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.posterior.conclusions import conclusions
    from bayesbias.reports.posterior.contrasts import contrasts as contrast_table
    from bayesbias.reports.posterior.summary import summary as summary_table

    fitted = read_fit(fit)
    parameters = summary_table(fitted, level=level, hdi_prob=hdi_prob)
    differences = contrast_table(fitted, baseline=baseline, level=level, hdi_prob=hdi_prob, rope=rope)
    text = (
        f"Parameters, in units of cosine distance, {percent_text(hdi_prob)} HPDI\n{printed(parameters)}\n\n"
        f"Contrasts: {baseline} minus each other connection; negative is nearer\n{printed(differences)}"
    )
    data: dict[str, Any] = {"summary": parameters, "contrasts": differences, "conclusions": None}
    if as_json and baseline == "associated":
        data["conclusions"] = conclusions(fitted, hdi_prob=hdi_prob, rope=rope)
    answer(text, data, as_json=as_json)


@app.command(cls=Command)
def contrast(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="The fit.nc of `bayesbias fit`.")],
    sides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SIDES",
            help="A protected group and an attribute list, twice; four times: a difference of differences.",
        ),
    ] = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    as_json: AsJson = False,
) -> None:
    """Compare the mean distances of protected groups to attribute lists: the first side minus the second.

    Without sides, the questions of the study ([questions] in its TOML file). Example:

        bayesbias contrast weat7/fit.nc math male arts male
    """
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.posterior.questions import planned_contrasts as compared

    pairs: list[Any] = list(batched(sides or [], 2))  # a side that lacks its list is an error there
    found = compared(read_fit(fit), *pairs, hdi_prob=hdi_prob, rope=rope)
    answer(printed(found), {"questions": found}, as_json=as_json)
