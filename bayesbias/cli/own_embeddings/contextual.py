"""Commands for contexts of words and for the vectors of a language model in these contexts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.base.number_text import counted
from bayesbias.cli.base import (
    AsJson,
    Command,
    Overwrite,
    Quiet,
    Seed,
    answer,
    app,
    claim,
    command,
)
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayesbias.embeddings.contextual import ContextualEmbedding
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
NoControls = Annotated[
    bool,
    typer.Option("--no-controls", help="Leave out the human and neutral control words, which are most of a study."),
]
Cache = Annotated[Path | None, typer.Option(help="Folder that keeps the vectors of a language model for the next run.")]
DEFAULT_LAYER, DEFAULT_MOST = -1, 100


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
        f"{counted(index.contexts, 'context')} with {counted(index.words, 'word')} of {index.name}.\nWrote {output}. "
        "Next: " + command("table", "MODEL_FOLDER", "--study", "gender", "--contexts", output, "--output", "table.csv"),
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
    no_controls: NoControls = False,
    seed: Seed = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the vectors of a study's words in a language model, averaged over contexts, with their spread.

    Every command that takes vectors accepts the file; `bayesbias table` also accepts the folder of the model. For the
    vectors that a sentence encoder itself gives, use `bayesbias encode`.

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
    loaded = study_of_command(load_study(study), no_controls=no_controls)
    sentences = most if contexts else None
    answer(cost_text([loaded], sentences, "vectors in context"), quiet=quiet)
    embedding = vectors_of_model(
        model,
        loaded.words,
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
        f"{counted(len(embedding), 'word')}, {counted(embedding.dimensions, 'dimension')}, "
        f"{counted(int(embedding.contexts.sum()), 'context')}.\nWrote {output}. Next: "
        + command("table", output, "--study", study, "--output", "table.csv"),
        quiet=quiet,
    )


def study_of_command(study: "Study", *, no_controls: bool) -> "Study":
    """Return a study, without its control words if they are not wanted."""
    return study.without_controls() if no_controls else study


def cost_text(studies: "Sequence[Study]", sentences: int | None, what: str) -> str:
    """Return how many vectors the words of studies need, and how to spare those of control words.

    `sentences` is the number of sentences of a word, None for the fourteen templates.
    """
    from bayesbias.embeddings.templates import load_templates

    texts_a_word = len(load_templates()) if sentences is None else sentences
    words = {word for study in studies for word in study.words}
    controls = words - {word for study in studies for word in study.without_controls().words}
    text = f"{len(words) * texts_a_word:,} {what} at most: {counted(len(words), 'word')}, {texts_a_word:,} for each."
    if controls:
        share = round(100 * len(controls) / len(words))
        text += f" {len(controls):,} of the words ({share}%) are control words, which --no-controls leaves out."
    return text


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
