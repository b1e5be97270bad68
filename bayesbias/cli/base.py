"""The application, the options that several commands share, and the printing of results."""

import json
import shlex
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.machine.terminal import show
from bayesbias.base.number_text import counted
from bayesbias.errors import ArgumentError, ModelError

if TYPE_CHECKING:
    import pandas as pd


class Command(TyperCommand):
    """A command whose usage line shows arguments in capitals without braces, as in manual pages."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Duplicates(StrEnum):
    """Treatment of repeated pairs."""

    DROP = "drop"
    KEEP = "keep"


FitFile = Annotated[Path, typer.Argument(metavar="FIT", help="File fit.nc that `bayesbias fit` wrote.")]
StudyName = Annotated[str, typer.Option(help="Bundled study or TOML file.")]
ModelName = Annotated[str, typer.Option(help="Bundled model or TOML file.")]
SeedFiles = Annotated[
    list[Path],
    typer.Argument(metavar="VECTORS...", help="Files of embeddings that differ only in the seed of their training."),
]
Case = Annotated[
    str,
    typer.Option(
        help="Forms of a word to look up, in order, separated by commas: exact, lower, title, upper, unaccented, "
        "underscored."
    ),
]
MaxLost = Annotated[
    float, typer.Option(help="Largest share of a list's words that the embedding may lack, from 0 to 1.")
]
Phrases = Annotated[
    str,
    typer.Option(help="Entries of several words that are not stored: whole (they are lost) or mean (of their words)."),
]
FileFormat = Annotated[
    str,
    typer.Option("--format", help="Format of the embeddings, if it is not recognised."),
]
FilesOutput = Annotated[
    Path,
    typer.Option("--output", "-o", help="Folder for the fit, figures and tables, or a .html, .md or .json file."),
]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="Folder for the page, figures and tables, or a .html, .md or .json file."),
]
OptionalOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the page, figures and tables, or a .html, .md or .json file."),
]
TableFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Table for a paper: a .tex, .docx, .md, .csv or .html file, or a folder."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
HdiProb = Annotated[float, typer.Option(help="Probability inside the highest posterior density intervals.")]
Seed = Annotated[
    int | None, typer.Option(help="Random seed; the same seed gives the same numbers on the same machine.")
]
WorkerCount = Annotated[
    int | None, typer.Option(help="Processes of this machine that share the work; without it, this process alone.")
]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, such as tls://10.0.0.1:8786; one that you trust.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Rope = Annotated[
    float | None,
    typer.Option(help="Half-width of the region of practical equivalence, in units of cosine distance, such as 0.02."),
]
Baseline = Annotated[str, typer.Option(help="Connection from which the others are subtracted.")]
DEFAULT_HDI_PROB, DEFAULT_MAX_LOST = HDI_PROB, MAX_LOST
# A copy of the name in bayesbias.models.spec, which --help need not load.
DEFAULT_MODEL_NAME = "multivariate"


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        print(f"bayesbias {version('bayesbias')}")
        raise typer.Exit


@app.callback()
def bayesbias(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure associations in word embeddings, with their uncertainty.

    Two commands lead from an embedding to an answer:

        bayesbias table vectors.txt --study religion --output religion.csv

        bayesbias fit religion.csv --output religion/

    Begin with `bayesbias demo`, which needs no files. `bayesbias studies` lists the bundled studies.
    """


# Outputs that the command holds until it ends.
held_outputs = ExitStack()


def claim(output: Path) -> None:
    """Hold an output until the command ends, so that another run with the same output fails before its work."""
    from bayesbias.base.files.outputs import claimed

    held_outputs.enter_context(claimed(output))


def answer(text: str, data: Any = None, *, as_json: bool = False, quiet: bool = False) -> None:
    """Print a text, or with `as_json` the data as one JSON object, which quiet commands print too."""
    if as_json:
        from bayesbias.base.statements import plain

        print(json.dumps(plain(data), indent=2))
    elif not quiet:
        show(text)


def begin(output: Path | None, *, overwrite: bool) -> None:
    """Hold an output until the command ends; raise before any work if it cannot be written."""
    if output is not None:
        from bayesbias.delivery.writing import check_target

        check_target(output, overwrite=overwrite)
        claim(output)


def finish(
    result: Any,
    output: Path | None = None,
    *,
    next_step: str = "",
    as_json: bool = False,
    quiet: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a result to `output`, if given, and print its statements or one JSON object."""
    from bayesbias.delivery.writing import PAGE, as_result, write

    shown = as_result(result)
    texts = [str(shown)]
    if output is not None:
        write(shown, output, overwrite=overwrite, progress=not quiet)
        page = output if output.suffix else output / PAGE
        browser = f" Open {page} in a browser." if page.suffix == ".html" and page.exists() else ""
        texts.append(f"Wrote {output}.{browser}")
    data = shown.to_dict() if as_json else None
    if data is not None and output is not None:
        data["output"] = str(output)
    answer("\n\n".join(texts) + (f"\n{next_step}" if next_step else ""), data, as_json=as_json, quiet=quiet)


def command(*arguments: object) -> str:
    """Return a command to type, with what a shell would split or read in quotes."""
    return shlex.join(["bayesbias", *map(str, arguments)])


def file_names(embeddings: list[Path], why: str) -> list[str]:
    """Return the names of at least two embeddings, from their files; `why` ends the message if there is only one."""
    names = [path.stem for path in embeddings]
    if len(names) < 2:
        raise ArgumentError(f"There is one embedding, {embeddings[0]}. Give two or more {why}.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ArgumentError(f"Two embeddings are called {twice!r}. Give each once, in files with different names.")
    return names


OF_SEEDS = "that differ only in the seed of their training"


def describe(table: "pd.DataFrame") -> str:
    """Return a sentence with the size of a distance table."""
    counts = table["connection"].value_counts().sort_index()
    pairs = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return (
        f"{counted(table['protected_word'].nunique(), 'protected word')}, "
        f"{counted(table['attribute_word'].nunique(), 'attribute word')}, {counted(len(table), 'pair')}: {pairs}."
    )


def printed(frame: "pd.DataFrame", *, digits: int = 3) -> str:
    """Return a frame as text."""
    from bayesbias.estimates.estimate_frame import frame_text

    return frame_text(frame, digits=digits, index=False)


def priors_from(texts: list[str]) -> dict[str, str]:
    """Return priors by parameter, from texts such as ``"sigma=HalfNormal(0.2)"``."""
    priors = {}
    for text in texts:
        name, equals, prior_text = text.partition("=")
        if not equals:
            raise ModelError(f"--prior {text!r}: write it as 'parameter=Distribution(...)', in quotes.")
        if name.strip() in priors:
            raise ModelError(f"--prior {text!r}: {name.strip()!r} has a prior already. Give each prior once.")
        priors[name.strip()] = prior_text.strip()
    return priors
