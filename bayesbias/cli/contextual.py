"""Commands for contexts of words and for the vectors of a language model in these contexts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli.base import AsJson, Command, Overwrite, Quiet, Seed, answer, app, claim
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    from bayesbias.embeddings.contextual import ContextualEmbedding
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.studies.study import Study

Contexts = Annotated[
    Path | None,
    typer.Option(
        help="Index of contexts for a language model (see `bayesbias contexts`); by default, templates such as "
        "'This is X.' are used."
    ),
]
Templates = Annotated[
    Path | None, typer.Option(help="Text file of templates for a language model, one per line, each with WORD in it.")
]
Layer = Annotated[int, typer.Option(help="Layer of a language model: -1 for the last, 0 for the input of the first.")]
Most = Annotated[int, typer.Option(help="Largest number of contexts per word, for a language model.")]
Device = Annotated[
    str | None, typer.Option(help="Device for a language model: cpu, cuda and so on; by default a GPU if there is one.")
]
Cache = Annotated[Path | None, typer.Option(help="Folder that keeps the vectors of a language model for the next run.")]
DEFAULT_LAYER, DEFAULT_MOST, DEFAULT_BATCH = -1, 100, 512


@app.command(cls=Command)
def contexts(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS",
            help="Text file with one paragraph per line, or folder of .txt files; both may be gzipped.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the index.")],
    longest: Annotated[
        int, typer.Option(help="Largest number of characters in a context; longer paragraphs are cut.")
    ] = 1_000,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Index the contexts of words in a corpus, for use with language models.

    An interrupted run continues where it stopped.

    Example:

        bayesbias contexts wikipedia.txt.gz --output wikipedia.contexts
    """
    from bayesbias.embeddings.contexts import index_contexts

    index = index_contexts(corpus, output, longest=longest, overwrite=overwrite, progress=not quiet)
    data = {name: getattr(index, name) for name in ("name", "sha256", "contexts", "words", "longest")}
    answer(
        f"{index.contexts:,} contexts with {index.words:,} words of {index.name}.\nWrote {output}. Next: bayesbias "
        f"table MODEL_FOLDER --study gender --contexts {output} --output table.csv",
        {"file": str(output), **data},
        as_json=as_json,
        quiet=quiet,
    )


@app.command(cls=Command)
def contextual(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Folder of a language model, as written by save_pretrained.")
    ],
    study: Annotated[str, typer.Option(help="Bundled study or TOML file whose words get vectors.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .npz file, which keeps the spread over contexts too.")
    ],
    contexts: Contexts = None,
    templates: Templates = None,
    layer: Layer = DEFAULT_LAYER,
    most: Most = DEFAULT_MOST,
    device: Device = None,
    cache: Cache = None,
    seed: Seed = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the vectors of a study's words in a language model, averaged over contexts, with their spread.

    Every command that takes vectors accepts the file; `bayesbias table` also accepts the folder of the model.

    Example:

        bayesbias contextual bert/ --study weat7 --contexts wikipedia.contexts --output bert.npz
    """
    from bayesbias.embeddings.writing import check_embedding_output, write_embedding
    from bayesbias.errors import OutputError
    from bayesbias.studies.study import load_study

    check_embedding_output(output, overwrite=overwrite)
    if output.suffix.lower() != ".npz":
        raise OutputError(f"{output}: use the ending .npz. Other formats cannot keep the spread over contexts.")
    claim(output)
    embedding = vectors_of_model(
        model,
        load_study(study).words,
        contexts=contexts,
        templates=templates,
        layer=layer,
        most=most,
        device=device,
        cache=cache,
        seed=seed,
        progress=not quiet,
    )
    write_embedding(embedding, output, overwrite=overwrite)
    answer(
        f"{len(embedding):,} words, {embedding.dimensions} dimensions, {int(embedding.contexts.sum()):,} contexts.\n"
        f"Wrote {output}. Next: bayesbias table {output} --study {study} --output table.csv",
        quiet=quiet,
    )


@app.command(cls=Command)
def encode(
    encoder: Annotated[
        Path, typer.Argument(metavar="ENCODER", help="Folder of a sentence-transformers or model2vec encoder.")
    ],
    study: Annotated[str, typer.Option(help="Bundled study or TOML file whose words get vectors.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .npz file, which keeps the spread over templates.")],
    templates: Annotated[
        str | None,
        typer.Option(
            help="Sentences around each word: a text file, each line with WORD in it, or a bundled set such as "
            "'any' or 'name'. By default words are encoded alone."
        ),
    ] = None,
    batch: Annotated[int, typer.Option(help="Texts in one call of the encoder.")] = DEFAULT_BATCH,
    cache: Annotated[Path | None, typer.Option(help="File that keeps the vectors of texts for the next run.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the embedding in reports.")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the vectors that a sentence encoder gives to a study's words, alone or in template sentences.

    The folder's own pooling, normalisation and prompt are applied. Every command that takes vectors accepts the file.

    Example:

        bayesbias encode all-MiniLM-L6-v2/ --study weat7 --templates any --output minilm.npz
    """
    from bayesbias.embeddings.encoders.encoding import encode as encode_words
    from bayesbias.embeddings.writing import check_embedding_output, write_embedding
    from bayesbias.studies.study import load_study

    check_embedding_output(output, overwrite=overwrite)
    claim(output)
    embedding = encode_words(
        encoder, load_study(study), _sentences(templates), batch=batch, cache=cache, name=name, progress=not quiet
    )
    write_embedding(embedding, output, overwrite=overwrite)
    answer(
        f"{len(embedding):,} words, {embedding.dimensions} dimensions.\n"
        f"Wrote {output}. Next: bayesbias table {output} --study {study} --output table.csv",
        quiet=quiet,
    )


def _sentences(templates: str | None) -> Any:
    """Return None, the name of a bundled set, or the lines of a file."""
    from bayesbias.embeddings.contexts.texts import paragraphs

    if templates is None or not Path(templates).is_file():
        return templates
    return [line for line in paragraphs(Path(templates)) if line]


def vectors_of_folder(
    folder: Path, study: "Study", *, name: str | None, contexts: Path | None, templates: Path | None, **settings: Any
) -> "Embedding":
    """Return the vectors of a study's words from an encoder's folder, or from a language model over contexts."""
    from bayesbias.embeddings.encoders.encoding import encode as encode_words
    from bayesbias.embeddings.encoders.folders import folder_kind

    if folder_kind(folder) == "transformers" or contexts is not None:
        return vectors_of_model(folder, study.words, name=name, contexts=contexts, templates=templates, **settings)
    sentences = None if templates is None else _sentences(str(templates))
    cache = settings["cache"] and settings["cache"] / "texts.sqlite"
    return encode_words(folder, study, sentences, name=name, cache=cache, progress=settings["progress"])


def vectors_of_model(
    model: Path, words: Any, *, contexts: Path | None, templates: Path | None, seed: int | None, **settings: Any
) -> "ContextualEmbedding":
    """Return the vectors of words in a language model, in the contexts of an index or in templates."""
    from bayesbias.embeddings.contexts.texts import paragraphs
    from bayesbias.embeddings.contextual import contextual_embedding

    if contexts is not None and templates is not None:
        raise ArgumentError("--contexts and --templates exclude each other. Give one of them.")
    source: Any = contexts or (None if templates is None else [line for line in paragraphs(templates) if line])
    return contextual_embedding(model, words, source, random_seed=seed, **settings)
