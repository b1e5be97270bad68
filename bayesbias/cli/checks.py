"""Commands that look at a fit again: predictive checks, random lists, other embeddings, the page."""

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
    HdiProb,
    MaxLost,
    Overwrite,
    Quiet,
    Rope,
    Seed,
    answer,
    app,
    claim,
)
from bayesbias.errors import ReportError

if TYPE_CHECKING:
    import pandas as pd


FitFile = Annotated[Path, typer.Argument(metavar="FIT", help="The fit.nc of `bayesbias fit`.")]


@app.command(cls=Command)
def check(
    fit: FitFile,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A folder for figures and numbers.")] = None,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Check what a fitted model predicts against the distances, and what its priors say of them.

    Prints where the model fails; with --output also writes check.png, prior.png and their numbers. Example:

        bayesbias check weat7/fit.nc --output weat7-check/
    """
    from bayesbias.base.outputs import check_folder
    from bayesbias.models.fitted.fit_source import fitted_model, fitted_table
    from bayesbias.models.fitted.fits import read_fit
    from bayesbias.reports.checks.posterior_check import check_posterior
    from bayesbias.reports.checks.prior_check import check_prior
    from bayesbias.results import write_checks

    if output is not None:
        check_folder(output, overwrite=overwrite)
        claim(output)
    fitted = read_fit(fit)
    posterior = check_posterior(fitted, random_seed=seed, progress=not quiet)
    table, model = fitted_table(fitted), fitted_model(fitted)
    prior = check_prior(table, model, random_seed=posterior.seed, progress=not quiet)
    answer(f"{posterior}\n\n{prior}", {"posterior": posterior, "prior": prior}, as_json=as_json, quiet=quiet)
    if output is not None:
        write_checks(posterior, prior, output, overwrite=overwrite)
        found = f"Wrote {output}. Look at {output / 'check.png'} and {output / 'prior.png'}."
        answer(found, quiet=quiet or as_json)


@app.command(cls=Command)
def claims(
    embedding: Annotated[
        Path, typer.Argument(metavar="VECTORS", help="An embedding, as for `bayesbias table`; it is read whole.")
    ],
    study: Annotated[str, typer.Option(help="A bundled study or a TOML file.")],
    model: Annotated[str, typer.Option(help="A bundled model or a TOML file.")] = DEFAULT_MODEL_NAME,
    samples: Annotated[int, typer.Option(help="Random lists.")] = 200,
    match: Annotated[str, typer.Option(help="What drawn words share with the study's: rank, norm or none.")] = "rank",
    window: Annotated[int, typer.Option(help="How many words, the nearest in rank or norm, to draw from.")] = 1000,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: Annotated[str, typer.Option("--format", help="The embedding's format, if not recognised.")] = "auto",
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say how often a model and the tests claim an association for attribute words drawn at random.

    Example:

        bayesbias claims vectors.txt --study weat7 --seed 1
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
    answer(str(checked), checked, as_json=as_json, quiet=quiet)


@app.command(cls=Command)
def compare(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLES", help="Distance tables of the same word pairs; the others are compared with the first."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")],
    model: Annotated[str, typer.Option(help="A bundled model or a TOML file.")] = DEFAULT_MODEL_NAME,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare embeddings pair by pair, such as an original with a debiased one.

    Models the difference of each pair's distances, and writes numbers, figures and conclusions to a folder. Example:

        bayesbias compare original.csv debiased.csv --output debiasing/ --seed 1
    """
    from bayesbias.base.outputs import check_folder
    from bayesbias.reports.embeddings.comparison import compare_embeddings
    from bayesbias.results import write_comparison

    check_folder(output, overwrite=overwrite)
    claim(output)
    settings: dict[str, Any] = {"hdi_prob": hdi_prob, "rope": rope, "random_seed": seed, "progress": not quiet}
    compared = compare_embeddings(_by_embedding(_read_each(tables)), model, **settings)
    text = write_comparison(compared, output, overwrite=overwrite)
    text += f"\nWrote {output}. Look at {output / 'difference_1.png'}."
    answer(text, compared, as_json=as_json, quiet=quiet)


@app.command(cls=Command)
def report(
    fit: FitFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="An .html file.")],
    compare_with: Annotated[
        list[Path] | None,
        typer.Option(
            "--compare", help="The distance table of another embedding, such as a debiased one. May be repeated."
        ),
    ] = None,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Print the tables that are folded on the screen too.")] = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Write one HTML page that says what a fit shows and what it rests on.

    The table.csv beside the fit is used where it is there. Example:

        bayesbias report weat7/fit.nc --output weat7.html --compare debiased.csv
    """
    from bayesbias.base.outputs import check_output
    from bayesbias.delivery.page import write_report
    from bayesbias.models.fitted.fit_source import fitted_table
    from bayesbias.models.fitted.fits import fit_attribute, read_fit
    from bayesbias.reports.embeddings.comparison import compare_embeddings
    from bayesbias.tables.table_files import read_table

    check_output(output, overwrite=overwrite)
    claim(output)
    fitted = read_fit(fit)
    beside = fit.parent / "table.csv"
    table = read_table(beside, duplicates="keep") if beside.is_file() else None
    chosen_seed = fit_attribute(fitted, "seed") if seed is None else seed
    comparison = None
    if compare_with:
        original = table if table is not None else fitted_table(fitted)
        tables = {str(beside): original, **_read_each(compare_with)}
        comparison = compare_embeddings(
            _by_embedding(tables), hdi_prob=hdi_prob, rope=rope, random_seed=chosen_seed, progress=not quiet
        )
    write_report(
        fitted,
        output,
        table=table,
        comparison=comparison,
        rope=rope,
        hdi_prob=hdi_prob,
        random_seed=chosen_seed,
        overwrite=overwrite,
        title=title,
        full=full,
        progress=not quiet,
    )
    answer(f"Wrote {output}. Open it in a browser; it needs no network.", quiet=quiet)


def _read_each(paths: list[Path]) -> "dict[str, pd.DataFrame]":
    """Read tables, each by the path of its file."""
    from bayesbias.tables.table_files import read_table

    names = list(map(str, paths))
    if len(set(names)) < len(names):
        raise ReportError(f"A table is listed twice among {', '.join(names)}. Give each once.")
    return {name: read_table(path) for name, path in zip(names, paths, strict=True)}


def _by_embedding(tables: "dict[str, pd.DataFrame]") -> "dict[str, pd.DataFrame]":
    """Name tables by their embeddings; by their files where embeddings are not known, or not distinct."""
    known = [table.attrs.get("bayesbias", {}).get("embedding", {}).get("name") for table in tables.values()]
    files = [Path(name).name.split(".")[0] for name in tables]
    for names in (known, files):
        if all(names) and len(set(names)) == len(tables):
            return dict(zip(names, tables.values(), strict=True))
    return tables
