"""The command that writes one page about a fit."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    Command,
    FitFile,
    HdiProb,
    Overwrite,
    Quiet,
    Rope,
    Seed,
    answer,
    app,
    begin,
)
from bayesbias.cli.many_questions.comparisons import by_embedding, read_each


@app.command(cls=Command)
def report(
    fit: FitFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the page: .html.")],
    compare_with: Annotated[
        list[Path] | None,
        typer.Option("--compare", help="Distance table of another embedding, such as a debiased one. May be repeated."),
    ] = None,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Print also the tables that are folded on the screen.")] = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Write one page with the results of a fit, its checks and its sensitivity.

    Reads table.csv in the folder of the fit, if it exists.

    Example:

        bayesbias report weat7/fit.nc --output weat7.html --compare debiased.csv
    """
    from bayesbias.delivery.writing import write
    from bayesbias.errors import OutputError
    from bayesbias.models.fitted.fit_source import fitted_table
    from bayesbias.models.fitted.fits import fit_attribute, read_fit
    from bayesbias.reports import fit_report
    from bayesbias.reports.changes.compare import compare_embeddings
    from bayesbias.tables.table_files import read_table

    if output.suffix.lower() != ".html":
        raise OutputError(
            f"{output} is not the name of a page. Give a .html file; bb.write(fit, path) writes other forms, without "
            "the checks of the page."
        )
    begin(output, overwrite=overwrite)
    fitted = read_fit(fit)
    beside = fit.parent / "table.csv"
    table = read_table(beside, duplicates="keep") if beside.is_file() else None
    chosen_seed = fit_attribute(fitted, "random_seed") if seed is None else seed
    comparison = None
    if compare_with:
        original = table if table is not None else fitted_table(fitted)
        tables = {str(beside): original, **read_each(compare_with)}
        comparison = compare_embeddings(
            by_embedding(tables), hdi_prob=hdi_prob, rope=rope, random_seed=chosen_seed, progress=not quiet
        )
    shown = fit_report.report(
        fitted,
        table=table,
        comparison=comparison,
        rope=rope,
        hdi_prob=hdi_prob,
        random_seed=chosen_seed,
        title=title,
    )
    write(shown, output, overwrite=overwrite, full=full, progress=not quiet)
    answer(f"Wrote {output}. Open it in a browser; it needs no network.", quiet=quiet)
