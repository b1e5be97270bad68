"""The application, the options that several commands share, and how frames are printed."""

import json
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from bayesbias.base.checks import HDI_PROB
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.errors import ArgumentError, ModelError

if TYPE_CHECKING:
    import pandas as pd


class Command(TyperCommand):
    """A command whose usage line has capitals and no braces, as manual pages have."""

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
    """What happens to repeated pairs."""

    DROP = "drop"
    KEEP = "keep"


Case = Annotated[
    str,
    typer.Option(
        help="Forms of a word that are looked up, in order: exact, lower, title, upper, unaccented; with commas."
    ),
]
MaxLost = Annotated[float, typer.Option(help="Share of a list's words that the embedding may lack, from 0 to 1.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
HdiProb = Annotated[float, typer.Option(help="Probability inside the highest posterior density intervals.")]
Seed = Annotated[int | None, typer.Option(help="The same seed gives the same numbers on the same machine.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Rope = Annotated[
    float | None,
    typer.Option(help="Half-width of the region of practical equivalence, in cosine distance, such as 0.02."),
]
Baseline = Annotated[str, typer.Option(help="The connection that the others are subtracted from.")]
DEFAULT_HDI_PROB, DEFAULT_MAX_LOST = HDI_PROB, MAX_LOST
# That of bayesbias.models.spec, repeated so that --help does not load it.
DEFAULT_MODEL_NAME = "multivariate"


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"bayesbias {version('bayesbias')}")
        raise typer.Exit


@app.callback()
def bayesbias(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version, and end.")
    ] = False,
) -> None:
    """Associations in word embeddings, with honest uncertainty.

    Two commands lead from an embedding to an answer:

        bayesbias table vectors.txt --study religion --output religion.csv

        bayesbias fit religion.csv --output religion/

    Begin with `bayesbias demo`, which needs no file; `bayesbias studies` lists the word lists.
    """


# What a command holds until it ends.
held_outputs = ExitStack()


def claim(output: Path) -> None:
    """Hold an output until the command ends: another run that wants it is told at once, and not after its work."""
    from bayesbias.base.outputs import claimed

    held_outputs.enter_context(claimed(output))


def answer(text: str, data: Any = None, *, as_json: bool = False, quiet: bool = False) -> None:
    """Print what a command has to say: a text, or its numbers as one JSON object, which quiet commands print too."""
    if as_json:
        from bayesbias.base.statements import plain

        print(json.dumps(plain(data), indent=2))
    elif not quiet:
        print(text, flush=True)  # a reader of a pipe sees it when it is said


def file_names(embeddings: list[Path], why: str) -> list[str]:
    """Return the names of embeddings by their files, of which there must be two at least, each once; `why` says it."""
    names = [path.stem for path in embeddings]
    if len(names) < 2:
        raise ArgumentError(f"There is one embedding, {embeddings[0]}. Give two or more {why}.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ArgumentError(f"Two embeddings are called {twice!r}. Give each once, in files of different names.")
    return names


OF_SEEDS = "that differ in the seed: of one seed nothing can be said over seeds"


def describe(table: "pd.DataFrame") -> str:
    """Return the size of a distance table in words."""
    counts = table["connection"].value_counts().sort_index()
    pairs = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return (
        f"{table['protected_word'].nunique()} protected words, {table['attribute_word'].nunique()} attribute words, "
        f"{len(table):,} pairs: {pairs}."
    )


def printed(frame: "pd.DataFrame", *, digits: int = 3) -> str:
    """Return a frame as text."""
    from bayesbias.estimates.estimate_frame import frame_text

    return frame_text(frame, digits=digits, index=False)


def priors_from(texts: list[str]) -> dict[str, str]:
    """Return priors by parameter, from texts such as ``"sigma=HalfNormal(0.2)"``."""
    found = {}
    for text in texts:
        name, equals, prior = text.partition("=")
        if not equals:
            raise ModelError(f"--prior {text!r}: write it as 'parameter=Distribution(...)', quoted.")
        if name.strip() in found:
            raise ModelError(f"--prior {text!r}: {name.strip()!r} was given before. Give each prior once.")
        found[name.strip()] = prior.strip()
    return found
