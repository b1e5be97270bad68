"""The command line: thin commands over the public names."""

import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from bayesbias.errors import BayesBiasError, BayesBiasWarning, ModelError

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
studies_app = typer.Typer(help="List the bundled studies, show one, or begin your own.", invoke_without_command=True)
app.add_typer(studies_app, name="studies")


class Case(StrEnum):
    """How a study's word is looked up in an embedding."""

    EXACT = "exact"
    LOWER = "lower"
    EXACT_THEN_LOWER = "exact_then_lower"


class Duplicates(StrEnum):
    """What happens to repeated pairs."""

    DROP = "drop"
    KEEP = "keep"


Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
HdiProb = Annotated[float, typer.Option(help="Probability inside the highest posterior density intervals.")]
Rope = Annotated[
    float | None,
    typer.Option(help="Half-width of the region of practical equivalence, in cosine distance, such as 0.02."),
]
Baseline = Annotated[str, typer.Option(help="The connection that the others are subtracted from.")]
# Those of bayesbias.reports.intervals and bayesbias.models.spec, repeated so that --help loads neither.
_HDI_PROB = 0.89
_MODEL = "crossed_per_list"


@app.callback()
def bayesbias() -> None:
    """Associations in word embeddings, with honest uncertainty.

    Two commands lead from an embedding to an answer:

        bayesbias table vectors.txt --study religion --output religion.csv

        bayesbias fit religion.csv --output religion/

    Begin with `bayesbias demo`, which needs no file; `bayesbias studies` lists the word lists.
    """


@studies_app.callback()
def studies(context: typer.Context) -> None:
    """List the bundled studies."""
    if context.invoked_subcommand is not None:
        return
    from bayesbias.studies import list_studies, load_study

    for name in list_studies():
        study = load_study(name)
        print(f"{name:10} {study.description or study.source}")
    print("\nShow one with `bayesbias studies show NAME`; begin your own with `bayesbias studies new my_study.toml`.")


@studies_app.command("show")
def studies_show(study: Annotated[str, typer.Argument(help="A bundled study or a TOML file.")]) -> None:
    """Show the words of a study, its associations and its source."""
    from bayesbias.studies import load_study

    shown = load_study(study)
    print(f"{shown.name}: {shown.description}".rstrip(": "))
    for title, text in (("Source", shown.source), ("Notes", shown.notes)):
        if text:
            print(f"{title}: {text}")
    for title, lists in (("Protected", shown.protected), ("Attributes", shown.attribute_lists)):
        for group, words in lists.items():
            print(f"{title} {group} ({len(words)}): {', '.join(words)}")
    for protected, attribute in shown.associated:
        print(f"Associated: {protected} with {attribute}")


@studies_app.command("new")
def studies_new(
    path: Annotated[Path, typer.Argument(help="The file to write, such as my_study.toml.")],
    overwrite: Overwrite = False,
) -> None:
    """Write a commented study file to fill in with your own words."""
    from bayesbias.studies import write_study_template

    written = write_study_template(path, overwrite=overwrite)
    print(f"Wrote {written}. Edit its words, then: bayesbias table VECTORS --study {written} --output table.csv")


@app.command()
def table(
    embedding: Annotated[
        Path,
        typer.Argument(help="word2vec, GloVe, fastText (.vec or .bin), .npz or gensim file; gzipped too."),
    ],
    study: Annotated[str, typer.Option(help="A bundled study or a TOML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file; .gz may follow.")],
    case: Annotated[Case, typer.Option(help="How a word is looked up.")] = Case.EXACT,
    file_format: Annotated[str, typer.Option("--format", help="The embedding's format, if it is not recognised.")] = (
        "auto"
    ),
    name: Annotated[str | None, typer.Option(help="A name for the embedding in reports.")] = None,
    duplicates: Annotated[Duplicates, typer.Option(help="Pairs whose words match the same vectors.")] = Duplicates.DROP,
    allow_pickle: Annotated[
        bool,
        typer.Option("--allow-pickle", help="Read gensim's native files. A pickle can run code: trust its source."),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Build the table of cosine distances of a study's words in an embedding.

    Reads only the words that the study needs, so a file of gigabytes is no problem. Example:

        bayesbias table GoogleNews.bin.gz --study weat7 --output weat7.csv
    """
    from bayesbias.embeddings import load_embedding
    from bayesbias.studies import load_study
    from bayesbias.tables.build import distance_table
    from bayesbias.tables.files import check_table_output, write_table

    check_table_output(output, overwrite=overwrite)
    loaded = load_study(study)
    vectors = load_embedding(
        embedding,
        words=loaded.words,
        format=file_format,
        case=case.value,
        name=name,
        allow_pickle=allow_pickle,
    )
    built = distance_table(vectors, loaded, duplicates=duplicates.value)
    write_table(built, output, overwrite=overwrite)
    print(_describe(built))
    print(f"Wrote {output}. Next: bayesbias fit {output} --output {output.name.split('.')[0]}/")


@app.command()
def fit(
    table: Annotated[Path, typer.Argument(help="A distance table, such as `bayesbias table` writes.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")],
    model: Annotated[str, typer.Option(help="A bundled model or a TOML file.")] = _MODEL,
    sampler: Annotated[str, typer.Option(help="auto, nutpie or pymc.")] = "auto",
    draws: Annotated[int, typer.Option(help="Kept draws a chain.")] = 2000,
    tune: Annotated[int, typer.Option(help="Tuning steps a chain.")] = 2000,
    chains: Annotated[int, typer.Option(help="Chains.")] = 4,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same draws.")] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="Change a prior: --prior 'group_mean=Normal(1, 0.2)'. May be repeated."),
    ] = None,
    hdi_prob: HdiProb = _HDI_PROB,
    rope: Rope = None,
    duplicates: Annotated[Duplicates, typer.Option(help="Repeated rows of the table.")] = Duplicates.DROP,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Fit a model to a distance table; write numbers, figure and conclusions to a folder.

    Writes table.csv, fit.nc (all draws), summary.csv, contrasts.csv, words.png and conclusions.txt, and prints the
    conclusions. Example:

        bayesbias fit weat7.csv --output weat7/ --seed 1
    """
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.results import check_folder, check_request, write_results
    from bayesbias.tables.files import read_table

    check_folder(output, overwrite=overwrite)
    distances = read_table(table, duplicates=duplicates.value)
    check_request(distances, output, hdi_prob=hdi_prob, rope=rope, overwrite=overwrite)
    fitted = fit_model(
        distances,
        model,
        sampler=sampler,
        draws=draws,
        tune=tune,
        chains=chains,
        random_seed=seed,
        progress=not quiet,
        priors=_priors(prior or []),
    )
    print(write_results(fitted, output, table=distances, hdi_prob=hdi_prob, rope=rope, overwrite=overwrite))
    print(f"Wrote {output}. Look at {output / 'words.png'}; numbers: bayesbias summary {output / 'fit.nc'}")


@app.command()
def summary(
    fit: Annotated[Path, typer.Argument(help="The fit.nc of `bayesbias fit`.")],
    level: Annotated[str, typer.Option(help="all, group or word.")] = "all",
    hdi_prob: HdiProb = _HDI_PROB,
    baseline: Baseline = "associated",
    rope: Rope = None,
) -> None:
    """Print what a fit says: parameters, contrasts, intervals and diagnostics.

    Example:

        bayesbias summary weat7/fit.nc --level group --rope 0.02
    """
    from bayesbias.models.fits import read_fit
    from bayesbias.reports.contrasts import contrasts as contrast_table
    from bayesbias.reports.summary import summary as summary_table

    fitted = read_fit(fit)
    print(f"Parameters, in units of cosine distance, {hdi_prob:.0%} HPDI")
    print(_printed(summary_table(fitted, level=level, hdi_prob=hdi_prob)))
    print(f"\nContrasts: {baseline} minus each other connection; negative is nearer")
    print(_printed(contrast_table(fitted, baseline=baseline, level=level, hdi_prob=hdi_prob, rope=rope)))


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")] = Path("bayesbias-demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same draws.")] = 1,
    overwrite: Overwrite = False,
) -> None:
    """Run the whole way on bundled vectors: study religion, Wikipedia skip-gram vectors.

    Vectors, table, fit, numbers, figure and conclusions; no file of yours is needed.
    """
    from bayesbias.embeddings import load_embedding
    from bayesbias.files import bundled
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.results import check_folder, write_results
    from bayesbias.studies import load_study
    from bayesbias.tables.build import distance_table

    check_folder(output, overwrite=overwrite)
    study = load_study("religion")
    vectors = load_embedding(
        bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"),
        words=study.words,
        name="Wikipedia 2018 skip-gram",
    )
    built = distance_table(vectors, study)
    print(_describe(built))
    fitted = fit_model(built, random_seed=seed)
    print(write_results(fitted, output, table=built, overwrite=overwrite))
    print(f"Wrote {output}. Look at {output / 'words.png'}; numbers: bayesbias summary {output / 'fit.nc'}")


def _describe(table: "pd.DataFrame") -> str:
    counts = table["connection"].value_counts().sort_index()
    pairs = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return (
        f"{table['protected_word'].nunique()} protected words, {table['attribute_word'].nunique()} attribute words, "
        f"{len(table):,} pairs: {pairs}."
    )


def _printed(frame: "pd.DataFrame") -> str:
    formats: dict[str, Any] = {
        name: (lambda value: f"{value:.0f}") if name.startswith("ess") else (lambda value: f"{value:.3f}")
        for name in frame.columns
        if frame[name].dtype.kind == "f"
    }
    return frame.to_string(index=False, formatters=formats)


def _priors(texts: list[str]) -> dict[str, str]:
    priors = {}
    for text in texts:
        name, equals, prior = text.partition("=")
        if not equals:
            raise ModelError(f"--prior {text!r}: write it as 'parameter=Distribution(...)', quoted.")
        priors[name.strip()] = prior.strip()
    return priors


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, BayesBiasWarning):
        print(f"warning: {message}", file=file or sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)


def main() -> None:
    """Run the command line; a user's mistake ends in one message and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        app()
    except BayesBiasError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        # What is left here is the terminal or the pipe that the output goes to: it is full, or gone.
        print(f"error: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
