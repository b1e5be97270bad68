"""The command that builds a distance table."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_MAX_LOST,
    Case,
    Command,
    Duplicates,
    FileFormat,
    MaxLost,
    Overwrite,
    Phrases,
    Quiet,
    Seed,
    StudyName,
    answer,
    app,
    claim,
    command,
    describe,
)
from bayesbias.cli.own_embeddings.contextual import (
    DEFAULT_LAYER,
    DEFAULT_MOST,
    Cache,
    Contexts,
    Device,
    Layer,
    Most,
    NoControls,
    study_of_command,
)
from bayesbias.cli.own_embeddings.encoders import vectors_of_folder
from bayesbias.errors import ArgumentError


@app.command(cls=Command)
def table(
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="VECTORS",
            help="File of word2vec, GloVe, fastText (.vec or .bin), .npz or gensim, which may be gzipped; or folder of "
            "a language model.",
        ),
    ],
    study: StudyName,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file, which may end in .gz.")],
    case: Case = "exact",
    phrases: Phrases = "whole",
    file_format: FileFormat = "auto",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    name: Annotated[str | None, typer.Option(help="Name of the embedding in reports.")] = None,
    duplicates: Annotated[
        Duplicates, typer.Option(help="Treatment of pairs whose words match the same vectors.")
    ] = Duplicates.DROP,
    allow_pickle: Annotated[
        bool,
        typer.Option("--allow-pickle", help="Read native files of gensim. A pickle can run code, so trust its source."),
    ] = False,
    contexts: Contexts = None,
    templates: Annotated[
        str | None,
        typer.Option(help="Sentences around each word, for an encoder or a language model: see `bayesbias encode`."),
    ] = None,
    layer: Layer = DEFAULT_LAYER,
    most: Most = DEFAULT_MOST,
    device: Device = None,
    cache: Cache = None,
    no_controls: NoControls = False,
    seed: Seed = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            help="Vectors of random words of the same source, for files that hold only words of studies: what chance "
            "resemblance is, beside which words of a list depend on each other."
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Build the table of cosine distances between the words of a study.

    The vectors come from an embedding, from the folder of a sentence encoder, or from a language model such as BERT.
    Reads only the words of the study, so the file may hold gigabytes. An encoder gives vectors of words alone, or means
    over templates; a language model means over contexts. With templates or contexts, each pair gets the error of its
    cosine (cosine_sd).

    For example:

        bayesbias table GoogleNews.bin.gz --study weat7 --output weat7.csv

        bayesbias table bert/ --study weat7 --contexts wikipedia.contexts --output weat7.csv
    """
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.studies.study import load_study
    from bayesbias.tables.build import distance_table
    from bayesbias.tables.table_files import check_table_output, write_table

    check_table_output(output, overwrite=overwrite)
    claim(output)
    loaded = study_of_command(load_study(study), no_controls=no_controls)
    vectors: Embedding
    if embedding.is_dir():
        vectors = vectors_of_folder(
            embedding,
            loaded,
            contexts=contexts,
            templates=templates,
            layer=layer,
            most=most,
            device=device,
            cache=cache,
            name=name,
            seed=seed,
            progress=not quiet,
        )
    elif contexts is not None or templates is not None:
        raise ArgumentError(f"--contexts and --templates need the folder of a language model, and {embedding} is none.")
    else:
        vectors = load_embedding(
            embedding,
            words=loaded.words,
            format=file_format,
            case=case,
            name=name,
            allow_pickle=allow_pickle,
            phrases=phrases,  # type: ignore[arg-type]  # load_embedding checks it
        )
    built = distance_table(vectors, loaded, duplicates=duplicates.value, max_lost=max_lost, reference=reference)
    write_table(built, output, overwrite=overwrite)
    answer(
        f"{describe(built)}\nWrote {output}. Next: "
        + command("fit", output, "--output", f"{output.name.split('.')[0]}/"),
        quiet=quiet,
    )
