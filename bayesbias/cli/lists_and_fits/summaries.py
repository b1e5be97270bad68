"""Commands that print the estimates of a fit, and its methods."""

from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Baseline,
    Command,
    FitFile,
    HdiProb,
    Overwrite,
    Rope,
    TableFile,
    answer,
    app,
    begin,
    printed,
)

if TYPE_CHECKING:
    import pandas as pd


@app.command(cls=Command)
def summary(
    fit: FitFile,
    level: Annotated[str, typer.Option(help="Parameters to print: all, overall, word or attribute.")] = "all",
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
    from bayesbias.base.number_text import percent_text
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.posterior.conclusions import conclusions
    from bayesbias.reports.posterior.contrasts import contrasts as contrast_table
    from bayesbias.reports.posterior.summary import UNITS
    from bayesbias.reports.posterior.summary import summary as summary_table

    begin(output, overwrite=overwrite)
    fitted = read_fit(fit)
    parameters = summary_table(fitted, level=level, hdi_prob=hdi_prob)
    differences = contrast_table(fitted, baseline=baseline, level=level, hdi_prob=hdi_prob, rope=rope)
    text = (
        f"Parameters, {percent_text(hdi_prob)} HPDI, {UNITS}\n{printed(parameters)}\n\n"
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
    fit: FitFile,
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
    fit: FitFile,
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
