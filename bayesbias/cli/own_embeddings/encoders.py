"""Commands for encoders: the vectors that they give to words, and what these vectors share."""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.base.number_text import counted
from bayesbias.cli.base import (
    AsJson,
    Command,
    Overwrite,
    Quiet,
    answer,
    app,
    claim,
    command,
    printed,
)
from bayesbias.cli.own_embeddings.contextual import NoControls, cost_text, study_of_command, vectors_of_model
from bayesbias.errors import ArgumentError, library_reason

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.studies.study import Study

DEFAULT_BATCH = 512


@app.command(cls=Command)
def encode(
    encoder: Annotated[
        str,
        typer.Argument(
            metavar="ENCODER",
            help="Folder of a sentence-transformers or model2vec encoder; or MODULE:FUNCTION, a function of your own.",
        ),
    ],
    study: Annotated[
        list[str], typer.Option(help="Bundled study or TOML file whose words get vectors; may be given several times.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .npz file, which keeps the spread over templates.")],
    templates: Annotated[
        str | None,
        typer.Option(
            help="Sentences around each word: a text file, each line with WORD in it; a bundled set such as 'any' or "
            "'name'; or a TOML file with a set or sentences for each list of the study. By default words are encoded "
            "alone."
        ),
    ] = None,
    batch: Annotated[int, typer.Option(help="Texts in one call of the encoder.")] = DEFAULT_BATCH,
    attempts: Annotated[int, typer.Option(help="Calls for a batch whose call fails.")] = 3,
    cache: Annotated[Path | None, typer.Option(help="File that keeps the vectors of texts for the next run.")] = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            help="Text file of at least 1,000 random words, one a line: what chance resemblance is, beside which words "
            "of a list depend on each other. For a folder, bundled English words by default; for a function, none."
        ),
    ] = None,
    no_controls: NoControls = False,
    name: Annotated[str | None, typer.Option(help="Name of the embedding in reports.")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the vectors that a sentence encoder gives to a study's words, alone or in template sentences.

    A folder's own pooling, normalisation and prompt are applied. A function takes a list of texts and returns one
    vector a text: my_client:embed is the function embed of my_client.py in this folder, whose code is run. Every
    command that takes vectors accepts the file.

    Examples
    --------
        bayesbias encode all-MiniLM-L6-v2/ --study weat7 --templates any --output minilm.npz

        bayesbias encode my_client:embed --study weat7 --study gender --cache texts.sqlite --output client.npz
    """
    from bayesbias.embeddings.encoders.encoding import encode as encode_words
    from bayesbias.embeddings.writing import check_embedding_output, write_embedding
    from bayesbias.studies.study import load_study

    check_embedding_output(output, overwrite=overwrite)
    claim(output)
    studies = [study_of_command(load_study(source), no_controls=no_controls) for source in study]
    sentences = _sentences(templates, studies)
    words = list(dict.fromkeys(word for loaded in studies for word in loaded.words))
    answer(_cost(studies, words, sentences), quiet=quiet)
    source = _encoder(encoder)
    words_of_reference = _reference(reference, folder=not callable(source))
    label = name or (encoder if callable(source) else None)
    embedding = encode_words(
        source,
        words,
        sentences,
        batch=batch,
        attempts=attempts,
        cache=cache,
        name=label,
        reference=words_of_reference,
        progress=not quiet,
    )
    write_embedding(embedding, output, overwrite=overwrite)
    answer(
        f"{counted(len(embedding), 'word')}, {counted(embedding.dimensions, 'dimension')}.\n"
        f"Wrote {output}. Next: {command('table', output, '--study', study[0], '--output', 'table.csv')}",
        quiet=quiet,
    )


@app.command("common-part", cls=Command)
def common_part(
    vectors: Annotated[Path, typer.Argument(metavar="VECTORS", help="File of vectors, as for `table`.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .npz file for the vectors without their common part.")
    ] = None,
    components: Annotated[int, typer.Option(help="Principal components to remove, after the mean.")] = 0,
    reference: Annotated[
        Path | None, typer.Option(help="File of vectors that give the mean and the components; by default VECTORS.")
    ] = None,
    as_json: AsJson = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Show what all vectors share and how far their cosines spread; with --output, remove mean and top components.

    A .npz file records what was removed, and so do tables made of it (all-but-the-top: Mu and Viswanath 2018).

    For example:

        bayesbias common-part minilm.npz --components 3 --output minilm-3.npz
    """
    import pandas as pd

    from bayesbias.embeddings.isotropy import common_part as measure
    from bayesbias.embeddings.isotropy import without_common_part
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.embeddings.writing import check_embedding_output, write_embedding

    if output is not None:
        check_embedding_output(output, overwrite=overwrite)
        claim(output)
    source = load_embedding(vectors)
    changed = without_common_part(source, components, reference=reference)
    frame = pd.concat([measure(source), measure(changed)], ignore_index=True)
    wrote = ""
    if output is not None:
        write_embedding(changed, output, overwrite=overwrite)
        wrote = f"\nWrote {output}."
    answer(printed(frame) + wrote, {"common_part": frame}, as_json=as_json, quiet=quiet)


def _encoder(text: str) -> Any:
    """Return a folder's path, or the function that MODULE:FUNCTION names."""
    if Path(text).exists() or ":" not in text:
        return Path(text)
    module, _, function = text.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module in this folder, as for `python -m`
    try:
        named = getattr(import_module(module), function)
    except (ImportError, AttributeError) as fault:
        raise ArgumentError(
            f"ENCODER {text!r} names no function ({library_reason(fault)[:-1]}). Give MODULE:FUNCTION, such as "
            "my_client:embed for the function embed of my_client.py in this folder."
        ) from fault
    if not callable(named):
        raise ArgumentError(f"ENCODER {text!r} is no function, but of type {type(named).__name__}.")
    return named


def _reference(path: Path | None, *, folder: bool) -> "tuple[str, ...] | None":
    """Return the words of a file, or the bundled common ones for the folder of an encoder."""
    from bayesbias.embeddings.contexts.texts import paragraphs
    from bayesbias.embeddings.vocabulary_sample import common_words

    if path is None:
        return common_words() if folder else None
    return tuple(dict.fromkeys(word for line in paragraphs(path) if (word := line.strip())))


def _sentences(templates: str | None, studies: "list[Study]") -> Any:
    """Return None, the name of a bundled set, the lines of a file, or the sentences of each word."""
    from bayesbias.base.files.inputs import read_toml
    from bayesbias.embeddings.contexts.texts import paragraphs
    from bayesbias.embeddings.templates import templates_by_list

    if templates is None or not Path(templates).is_file():
        return templates
    if Path(templates).suffix != ".toml":
        return [line for line in paragraphs(Path(templates)) if line]
    if len(studies) > 1:
        raise ArgumentError("--templates: a TOML file names the lists of one study. Encode the studies one by one.")
    return templates_by_list(studies[0], read_toml(templates, ArgumentError))


def _cost(studies: "list[Study]", words: list[str], sentences: Any) -> str:
    from bayesbias.embeddings.templates import MARK, templates_of_words

    if sentences is None:
        return cost_text(studies, 1, "texts")
    counts = [len(listed) for listed in templates_of_words(words, sentences or (MARK,)).values()]
    return cost_text(studies, max(counts), "texts")


def vectors_of_folder(
    folder: Path, study: "Study", *, name: str | None, contexts: Path | None, templates: str | None, **settings: Any
) -> "Embedding":
    """Return the vectors of a study's words from an encoder's folder, or from a language model over contexts."""
    from bayesbias.embeddings.encoders.encoding import encode as encode_words
    from bayesbias.embeddings.encoders.folders import folder_kind

    quiet = not settings["progress"]
    if folder_kind(folder) == "transformers" or contexts is not None:
        answer(cost_text([study], settings["most"] if contexts else None, "vectors in context"), quiet=quiet)
        file = None if templates is None else Path(templates)
        return vectors_of_model(folder, study.words, name=name, contexts=contexts, templates=file, **settings)
    sentences = _sentences(templates, [study])
    answer(_cost([study], list(study.words), sentences), quiet=quiet)
    cache = settings["cache"] and settings["cache"] / "texts.sqlite"
    return encode_words(
        folder,
        study,
        sentences,
        name=name,
        cache=cache,
        reference=_reference(None, folder=True),
        progress=settings["progress"],
    )
