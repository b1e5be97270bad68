"""The command that trains embeddings with several seeds."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    AsJson,
    Command,
    Quiet,
    Scheduler,
    WorkerCount,
    answer,
    app,
    command,
)
from bayesbias.errors import ArgumentError


class Algorithm(StrEnum):
    """Algorithms of training."""

    SKIPGRAM = "skipgram"
    CBOW = "cbow"
    FASTTEXT = "fasttext"
    GLOVE = "glove"
    GN_GLOVE = "gn_glove"


class Resample(StrEnum):
    """What is drawn with replacement."""

    DOCUMENTS = "documents"


@app.command(cls=Command)
def train(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS",
            help="Text file with one document per line, or folder of .txt files, one per document; may be gzipped.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the embeddings, one file per seed.")],
    algorithm: Annotated[
        Algorithm, typer.Option(help="Algorithm of training; all but glove and gn_glove are gensim's.")
    ] = Algorithm.SKIPGRAM,
    seeds: Annotated[str, typer.Option(help="Seeds, such as 1-8 or 1,4,9.")] = "1-3",
    dimensions: Annotated[int, typer.Option(help="Dimensions of a vector.")] = 300,
    min_count: Annotated[int, typer.Option(help="Smallest number of occurrences of a word that gets a vector.")] = 5,
    window: Annotated[
        int | None, typer.Option(help="Largest distance of a context word; by default 5, for GloVe 15.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the corpus; by default 5, for GloVe 15.")] = None,
    negative: Annotated[
        int | None, typer.Option(help="Noise words per context word; by default 5. Not for GloVe.")
    ] = None,
    x_max: Annotated[
        float | None,
        typer.Option(help="Number of co-occurrences from which a pair has full weight (GloVe); by default 100."),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Exponent of the weights of rarer pairs (GloVe); by default 0.75.")
    ] = None,
    resample: Annotated[
        Resample | None,
        typer.Option(help="Train each seed on documents drawn with replacement, as other samples of such documents."),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option(help="Definitional pairs and sides (gn_glove): a bundled name, or a TOML file, as in debias."),
    ] = None,
    threads: Annotated[
        int, typer.Option(help="Threads of one training. With more than one, only GloVe is reproducible.")
    ] = 1,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files of another training.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train embeddings on a corpus, one for each seed.

    An interrupted run continues with the seeds that have no file. With --workers or --scheduler several seeds are
    trained at once; the files are the same. Workers are sent the corpus and need no path of it.

    Example:

        bayesbias train corpus.txt --seeds 1-8 --workers 4 --output skipgram/

        bayesbias train corpus.txt --algorithm gn_glove --sets gender_bolukbasi --output gn_glove/
    """
    from bayesbias.debias import load_debias_words
    from bayesbias.embeddings.training import train_embeddings

    words = None if sets is None else load_debias_words(sets)
    trained = train_embeddings(
        corpus,
        output,
        algorithm=algorithm.value,
        seeds=seeds_from(seeds),
        dimensions=dimensions,
        min_count=min_count,
        window=window,
        epochs=epochs,
        negative=negative,
        x_max=x_max,
        alpha=alpha,
        resample=None if resample is None else resample.value,
        pairs=None if words is None else words.definitional,
        sides=None if words is None else words.sides or None,
        threads=threads,
        workers=workers,
        scheduler=scheduler,
        overwrite=overwrite,
        progress=not quiet,
    )
    first = next(iter(trained.paths.values()))
    question = "--study gender --output"
    if resample is not None:
        files = [part for path in trained.paths.values() for part in ("--resampled", path)]
        following = f"{command('seeds')} SEEDS/*.npz {shlex.join(map(str, files))} {question} stable"
        following += ", where SEEDS has no resampled documents"
    elif len(trained) > 1:
        following = f"{command('seeds', output)}/*.npz {question} stable"
    else:
        following = f"{command('table', first)} {question} table.csv"
    data = {"files": {seed: str(path) for seed, path in trained.paths.items()}, **trained.provenance}
    answer(
        f"{trained}.\n{output} holds {', '.join(path.name for path in trained.paths.values())}.\nNext: {following}",
        data,
        as_json=as_json,
        quiet=quiet,
    )


def seeds_from(text: str) -> list[int]:
    """Return seeds from a text such as ``"1-8"`` or ``"1,4,9"``."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise ArgumentError(f"--seeds {text!r}: write whole numbers and ranges, such as 1-8 or 1,4,9.")
        ends = int(first), int(last or first)
        if ends[1] - ends[0] not in range(10_000):
            raise ArgumentError(f"--seeds {text!r}: {part.strip()} must be a range from a smaller to a larger number.")
        seeds += range(ends[0], ends[1] + 1)
    return seeds
