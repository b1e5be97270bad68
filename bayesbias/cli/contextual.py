"""Contexts of words, and vectors of a language model in them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli.base import AsJson, Command, Overwrite, Quiet, Seed, answer, app, claim
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    from bayesbias.embeddings.contextual import ContextualEmbedding

Contexts = Annotated[
    Path | None,
    typer.Option(
        help="Of a language model: an index of contexts (bayesbias contexts); default: templates such as 'This is X.'"
    ),
]
Templates = Annotated[
    Path | None, typer.Option(help="Of a language model: a text file of templates, one a line, that hold WORD.")
]
Layer = Annotated[int, typer.Option(help="Of a language model: the layer; -1 is the last, 0 before the first.")]
Most = Annotated[int, typer.Option(help="Of a language model: contexts of a word, at most.")]
Device = Annotated[str | None, typer.Option(help="Of a language model: cpu, cuda and so on; default: a card if any.")]
Cache = Annotated[Path | None, typer.Option(help="Of a language model: a folder that keeps vectors for the next run.")]
DEFAULT_LAYER, DEFAULT_MOST = -1, 100


@app.command(cls=Command)
def contexts(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS", help="A text file, one paragraph a line, or a folder of .txt files; gzipped too."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file of the index.")],
    longest: Annotated[int, typer.Option(help="Characters of a context; longer paragraphs are cut.")] = 1_000,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Index the words of a corpus, so that language models can be asked about words in their contexts.

    A run that was interrupted goes on where it was. Example:

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
        Path, typer.Argument(metavar="MODEL", help="A folder of a language model that save_pretrained wrote.")
    ],
    study: Annotated[str, typer.Option(help="A bundled study or a TOML file: its words get vectors.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="An .npz file, which keeps the spread too.")],
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
    """Write the vectors that a language model gives a study's words, averaged over contexts, with their spread.

    Every command that takes vectors takes the file; `bayesbias table` takes the model's folder too. Example:

        bayesbias contextual bert/ --study weat7 --contexts wikipedia.contexts --output bert.npz
    """
    from bayesbias.embeddings.writing import check_embedding_output, write_embedding
    from bayesbias.errors import OutputError
    from bayesbias.studies.study import load_study

    check_embedding_output(output, overwrite=overwrite)
    if output.suffix.lower() != ".npz":
        raise OutputError(f"{output}: give it the ending .npz. The other formats cannot keep the spread over contexts.")
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


def vectors_of_model(
    model: Path, words: Any, *, contexts: Path | None, templates: Path | None, seed: int | None, **settings: Any
) -> "ContextualEmbedding":
    """Return the vectors of words that a language model gives, in an index, in templates of a file, or in the usual."""
    from bayesbias.embeddings.contexts.texts import paragraphs
    from bayesbias.embeddings.contextual import contextual_embedding
    from bayesbias.embeddings.contextual.vectors import TEMPLATES

    if contexts is not None and templates is not None:
        raise ArgumentError("--contexts and --templates: give one of them.")
    source: Any = contexts or (TEMPLATES if templates is None else [line for line in paragraphs(templates) if line])
    return contextual_embedding(model, words, source, random_seed=seed, **settings)
