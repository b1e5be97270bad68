"""Commands that follow a fit: predictive checks, random lists, comparison of embeddings, and the page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    DEFAULT_MAX_LOST,
    DEFAULT_MODEL_NAME,
    AsJson,
    Case,
    Command,
    FileFormat,
    HdiProb,
    MaxLost,
    ModelName,
    OptionalOutput,
    Output,
    Overwrite,
    Quiet,
    Rope,
    Seed,
    StudyName,
    answer,
    app,
    begin,
    finish,
)
from bayesbias.errors import ReportError

if TYPE_CHECKING:
    import pandas as pd


FitFile = Annotated[Path, typer.Argument(metavar="FIT", help="File fit.nc that `bayesbias fit` wrote.")]


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


@app.command("random-lists", cls=Command)
def random_lists(
    embedding: Annotated[
        Path, typer.Argument(metavar="VECTORS", help="Embedding, as for `bayesbias table`; all its words are read.")
    ],
    study: StudyName,
    model: ModelName = DEFAULT_MODEL_NAME,
    samples: Annotated[int, typer.Option(help="Number of random lists.")] = 200,
    match: Annotated[
        str, typer.Option(help="Property in which drawn words match the study's words: rank, norm or none.")
    ] = "rank",
    window: Annotated[int, typer.Option(help="Number of words, nearest in rank or norm, to draw from.")] = 1000,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: FileFormat = "auto",
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Count how often a model and tests claim an association for attribute words drawn at random.

    Example:

        bayesbias random-lists vectors.txt --study weat7 --seed 1
    """
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.reports.robustness.random_list_check import check_random_lists

    checked = check_random_lists(
        load_embedding(embedding, format=file_format, case=case),
        study,
        model=model,
        samples=samples,
        match=None if match == "none" else match,
        window=window,
        hdi_prob=hdi_prob,
        random_seed=seed,
        max_lost=max_lost,
        progress=not quiet,
    )
    finish(checked, as_json=as_json, quiet=quiet)


@app.command(cls=Command)
def compare(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLES", help="Distance tables of the same word pairs; each is compared with the first."
        ),
    ],
    output: Output,
    model: ModelName = DEFAULT_MODEL_NAME,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare embeddings pair by pair, such as a debiased one with the original.

    Models the difference between the two distances of each pair, and writes a page, figures and tables.

    Example:

        bayesbias compare original.csv debiased.csv --output debiasing/ --seed 1
    """
    from bayesbias.reports.embeddings.comparison import compare_embeddings

    begin(output, overwrite=overwrite)
    settings: dict[str, Any] = {"hdi_prob": hdi_prob, "rope": rope, "random_seed": seed, "progress": not quiet}
    compared = compare_embeddings(_by_embedding(_read_each(tables)), model, **settings)
    finish(compared, output, as_json=as_json, quiet=quiet, overwrite=overwrite)


@app.command(cls=Command)
def report(
    fit: FitFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder, or a .html, .md or .json file.")],
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
    from bayesbias.models.fitted.fit_source import fitted_table
    from bayesbias.models.fitted.fits import fit_attribute, read_fit
    from bayesbias.reports import fit_report
    from bayesbias.reports.embeddings.comparison import compare_embeddings
    from bayesbias.tables.table_files import read_table

    begin(output, overwrite=overwrite)
    fitted = read_fit(fit)
    beside = fit.parent / "table.csv"
    table = read_table(beside, duplicates="keep") if beside.is_file() else None
    chosen_seed = fit_attribute(fitted, "random_seed") if seed is None else seed
    comparison = None
    if compare_with:
        original = table if table is not None else fitted_table(fitted)
        tables = {str(beside): original, **_read_each(compare_with)}
        comparison = compare_embeddings(
            _by_embedding(tables), hdi_prob=hdi_prob, rope=rope, random_seed=chosen_seed, progress=not quiet
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


def _read_each(paths: list[Path]) -> "dict[str, pd.DataFrame]":
    """Return tables by the paths of their files."""
    from bayesbias.tables.table_files import read_table

    names = list(map(str, paths))
    if len(set(names)) < len(names):
        raise ReportError(f"A table is repeated in {', '.join(names)}. Give each once.")
    return {name: read_table(path) for name, path in zip(names, paths, strict=True)}


def _by_embedding(tables: "dict[str, pd.DataFrame]") -> "dict[str, pd.DataFrame]":
    """Return tables by the names of their embeddings, or of their files if those are missing or not distinct."""
    embedding_names = [table.attrs.get("bayesbias", {}).get("embedding", {}).get("name") for table in tables.values()]
    files = [Path(name).name.split(".")[0] for name in tables]
    for names in (embedding_names, files):
        if all(names) and len(set(names)) == len(tables):
            return dict(zip(names, tables.values(), strict=True))
    return tables
