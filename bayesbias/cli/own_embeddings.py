"""Embeddings of your own: training, contexts of words, language models, encoders."""

import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import bayesbias as bb
from bayesbias.base.files.settings import is_foreign_folder
from bayesbias.base.machine import INTERRUPTED, TERMINATED
from bayesbias.base.number_text import counted
from bayesbias.cli.base import Settings, answer, claim, command, command_line, printed
from bayesbias.errors import ArgumentError, library_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.embeddings.language_models import ContextualEmbedding
    from bayesbias.studies.study import Study


@command()
def train(
    corpus: Path,
    output: Path,
    training: Annotated[
        Settings,
        "bb.embeddings.train_embeddings algorithm dimensions min_count window epochs negative x_max alpha resample "
        "threads workers scheduler overwrite",
    ],
    seeds: str = "1-3",
    sets: str | None = None,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Train embeddings on a corpus, one for each seed.

    An interrupted run continues with the seeds that have no file. With --workers or --scheduler several seeds are
    trained at once; the files are the same. Workers are sent the corpus and need no path of it.

    Example:

        bayesbias train corpus.txt --seeds 1-8 --workers 4 --output skipgram/

        bayesbias train corpus.txt --algorithm gn_glove --sets gender_bolukbasi --output gn_glove/
    """
    words = None if sets is None else bb.debias.load_debias_words(sets)
    trained = bb.embeddings.train_embeddings(
        corpus,
        output,
        **training,
        seeds=seeds_from(seeds),
        pairs=None if words is None else words.definitional,
        sides=None if words is None else words.sides or None,
        progress=not quiet,
    )
    first = next(iter(trained.paths.values()))
    question = "--study gender --output"
    if training["resample"] is not None:
        files = [part for path in trained.paths.values() for part in ("--resampled", path)]
        following = f"{command_line('trainings')} SEEDS/*.npz {shlex.join(map(str, files))} {question} stable"
        following += ", where SEEDS has no resampled documents"
    elif len(trained) > 1:
        following = f"{command_line('trainings', output)}/*.npz {question} stable"
    else:
        following = f"{command_line('table', first)} {question} table.csv"
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


@command()
def index_contexts(
    corpus: Path,
    output: Path,
    indexing: Annotated[Settings, "bb.embeddings.index_contexts longest overwrite"],
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Index the contexts of words in a corpus, for use with language models.

    An interrupted run continues where it stopped.

    Example:

        bayesbias index-contexts wikipedia.txt.gz --output wikipedia.contexts
    """
    index = bb.embeddings.index_contexts(corpus, output, **indexing, progress=not quiet)
    data = {name: getattr(index, name) for name in ("name", "sha256", "contexts", "words", "longest")}
    answer(
        f"{counted(index.contexts, 'context')} with {counted(index.words, 'word')} of {index.name}.\nWrote {output}. "
        "Next: "
        + command_line("table", "MODEL_FOLDER", "--study", "gender", "--contexts", output, "--output", "table.csv"),
        {"file": str(output), **data},
        as_json=as_json,
        quiet=quiet,
    )


@command()
def contextual(
    model: Path,
    study: str,
    output: Path,
    modelling: Annotated[Settings, "bb.embeddings.contextual_embedding layer most device precision cache random_seed"],
    contexts: Path | None = None,
    templates: Path | None = None,
    controls: bool = True,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Write the vectors of a study's words in a language model, averaged over contexts, with their spread.

    Every command that takes vectors accepts the file; `bayesbias table` also accepts the folder of the model. For the
    vectors that a sentence encoder itself gives, use `bayesbias encode`.

    Example:

        bayesbias contextual bert/ --study weat7 --contexts wikipedia.contexts --output bert.npz
    """
    from bayesbias.embeddings.embedding_files import check_embedding_output
    from bayesbias.errors import OutputError

    check_embedding_output(output, overwrite=overwrite)
    if output.suffix.lower() != ".npz":
        raise OutputError(f"{output}: use the ending .npz. Other formats cannot keep the spread over contexts.")
    claim(output)
    loaded = study_of_command(bb.load_study(study), controls=controls)
    answer(cost_text([loaded], modelling["most"] if contexts else None, "vectors in context"), quiet=quiet)
    sources = {"contexts": contexts, "templates": templates}
    embedding = vectors_of_model(model, loaded.words, **sources, **modelling, progress=not quiet)
    bb.write_embedding(embedding, output, overwrite=overwrite)
    answer(
        f"{counted(len(embedding), 'word')}, {counted(embedding.dimensions, 'dimension')}, "
        f"{counted(int(embedding.contexts.sum()), 'context')}.\nWrote {output}. Next: "
        + command_line("table", output, "--study", study, "--output", "table.csv"),
        quiet=quiet,
    )


def study_of_command(study: "Study", *, controls: bool) -> "Study":
    """Return a study, without its control words if they are not wanted."""
    return study if controls else study.without_controls()


def cost_text(studies: "Sequence[Study]", sentences: int | None, what: str) -> str:
    """Return how many vectors the words of studies need, and how to spare those of control words.

    `sentences` is the number of sentences of a word, None for the fourteen templates.
    """
    texts_a_word = len(bb.embeddings.load_templates()) if sentences is None else sentences
    words = {word for study in studies for word in study.words}
    text = f"{len(words) * texts_a_word:,} {what} at most: {counted(len(words), 'word')}, {texts_a_word:,} for each."
    return text + _control_share(studies)


def _control_share(studies: "Sequence[Study]") -> str:
    """Return a sentence on the control words of studies; empty if they have none."""
    words = {word for study in studies for word in study.words}
    if not (controls := words - {word for study in studies for word in study.without_controls().words}):
        return ""
    share = round(100 * len(controls) / len(words))
    return (
        f" {len(controls):,} of the {counted(len(words), 'word')} ({share}%) are control words, which --no-controls "
        "leaves out."
    )


def vectors_of_model(
    model: Path, words: Any, *, contexts: Path | None, templates: Path | None, **settings: Any
) -> "ContextualEmbedding":
    """Return the vectors of words in a language model, in the contexts of an index or in templates."""
    from bayesbias.embeddings.language_models.texts import paragraphs

    if contexts is not None and templates is not None:
        raise ArgumentError("--contexts and --templates exclude each other. Give one of them.")
    source: Any = contexts or (None if templates is None else [line for line in paragraphs(templates) if line])
    return bb.embeddings.contextual_embedding(model, words, source, **settings)


@command()
def encode(
    encoder: str,
    study: list[str],
    output: Path,
    encoding: Annotated[Settings, "bb.encode batch attempts timeout precision cache version"],
    templates: str | None = None,
    reference: Path | None = None,
    controls: bool = True,
    name: str | None = None,
    overwrite: bool = False,
    quiet: bool = False,
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
    from bayesbias.embeddings.embedding_files import check_embedding_output

    check_embedding_output(output, overwrite=overwrite)
    claim(output)
    studies = [study_of_command(bb.load_study(source), controls=controls) for source in study]
    sentences = _sentences(templates, studies)
    source = folder_or_function("ENCODER", encoder)
    embedding = _encoded(
        source,
        studies,
        sentences,
        name=name or (encoder if callable(source) else None),
        reference=_reference(reference, folder=not callable(source)),
        progress=not quiet,
        **encoding,
    )
    bb.write_embedding(embedding, output, overwrite=overwrite)
    answer(
        f"{counted(len(embedding), 'word')}, {counted(embedding.dimensions, 'dimension')}.\n"
        f"Wrote {output}. Next: {command_line('table', output, '--study', study[0], '--output', 'table.csv')}",
        quiet=quiet,
    )


@command()
def common_part(
    embedding: Path,
    removing: Annotated[Settings, "bb.embeddings.without_common_part components reference"],
    output: Path | None = None,
    as_json: bool = False,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Show what all vectors share and how far their cosines spread; with --output, remove mean and top components.

    A .npz file records what was removed, and so do tables made of it (all-but-the-top: Mu and Viswanath 2018).

    For example:

        bayesbias common-part minilm.npz --components 3 --output minilm-3.npz
    """
    import pandas as pd

    from bayesbias.embeddings.embedding_files import check_embedding_output

    if output is not None:
        check_embedding_output(output, overwrite=overwrite)
        claim(output)
    source = bb.load_embedding(embedding)
    changed = bb.embeddings.without_common_part(source, **removing)
    frame = pd.concat([bb.embeddings.common_part(source), bb.embeddings.common_part(changed)], ignore_index=True)
    wrote = ""
    if output is not None:
        bb.write_embedding(changed, output, overwrite=overwrite)
        wrote = f"\nWrote {output}."
    answer(printed(frame) + wrote, {"common_part": frame}, as_json=as_json, quiet=quiet)


def folder_or_function(argument: str, text: str) -> Any:
    """Return the path of a folder, or the function that MODULE:FUNCTION names, which stands for an argument."""
    if Path(text).exists() or ":" not in text:
        return Path(text)
    module, _, function = text.partition(":")
    if "" not in sys.path and not is_foreign_folder():
        sys.path.insert(0, "")  # a module in this folder, as for `python -m`
    try:
        named = getattr(import_module(module), function)
    except (ImportError, AttributeError) as fault:
        advice = "such as my_client:embed for the function embed of my_client.py in this folder"
        if is_foreign_folder():
            advice = "from a folder to which others cannot write: modules of this one are not imported"
        raise ArgumentError(
            f"{argument} {text!r} names no function ({library_reason(fault)[:-1]}). Give MODULE:FUNCTION, {advice}."
        ) from fault
    except SystemExit as stop:
        if stop.code in (INTERRUPTED, TERMINATED):
            raise
        raise ArgumentError(
            f"{argument} {text!r}: {module} ends the program while it is imported (sys.exit({stop.code!r})). Put what "
            "it does as a script under if __name__ == '__main__'."
        ) from stop
    if not callable(named):
        raise ArgumentError(f"{argument} {text!r} is no function, but of type {type(named).__name__}.")
    return named


def _reference(path: Path | None, *, folder: bool) -> "tuple[str, ...] | None":
    """Return the words of a file, or the bundled common ones for the folder of an encoder."""
    from bayesbias.embeddings.language_models.texts import paragraphs

    if path is None:
        return bb.embeddings.common_words() if folder else None
    return tuple(dict.fromkeys(word for line in paragraphs(path) if (word := line.strip())))


def _is_file(templates: str) -> bool:
    """Return whether templates are a file; the name of a bundled set is none, whatever others put into this folder."""
    from bayesbias.base.files.inputs import bundled, read_toml

    sets = (read_toml(bundled("data", "templates", file), ArgumentError) for file in ("seat.toml", "pairs.toml"))
    return not any(templates in content["templates"] for content in sets) and Path(templates).is_file()


def lines_or_name(templates: str) -> str | list[str]:
    """Return the lines of a file of templates, or the name of a bundled set if there is no such file."""
    from bayesbias.embeddings.language_models.texts import paragraphs

    return [line for line in paragraphs(Path(templates)) if line] if _is_file(templates) else templates


def _sentences(templates: str | None, studies: "list[Study]") -> Any:
    """Return None, the name of a bundled set, the lines of a file, or the sentences of each word."""
    from bayesbias.base.files.inputs import read_toml

    if templates is None or not _is_file(templates):
        return templates
    if Path(templates).suffix != ".toml":
        return lines_or_name(templates)
    if len(studies) > 1:
        raise ArgumentError("--templates: a TOML file names the lists of one study. Encode the studies one by one.")
    return bb.embeddings.templates_by_list(studies[0], read_toml(templates, ArgumentError))


def _encoded(
    encoder: Any,
    studies: "list[Study]",
    sentences: Any,
    *,
    cache: Path | None,
    progress: bool,
    name: str | None,
    reference: "tuple[str, ...] | None",
    precision: Any = None,
    version: str | None = None,
    **calls: Any,
) -> "Embedding":
    """Return the vectors of the words of studies, after a line on how many texts are sent to the encoder."""
    from bayesbias.embeddings.encoders.calls import REPEATED
    from bayesbias.embeddings.encoders.encoding import counts_text, encoding_of

    words = list(dict.fromkeys(word for loaded in studies for word in loaded.words))
    settings: Settings = {"precision": precision, "name": name, "version": version, "reference": reference}
    encoding = encoding_of(encoder, words, sentences, **settings)
    sent, stored = encoding.counts(cache)
    again = f", {min(stored, REPEATED)} of which are sent again to compare" if stored and callable(encoder) else ""
    answer(f"{counts_text(sent, stored)}{again}.{_control_share(studies) if sent else ''}", quiet=not progress)
    return encoding.embedding(cache=cache, progress=progress, **calls)


def vectors_of_folder(
    folder: Path, study: "Study", *, name: str | None, contexts: Path | None, templates: str | None, **settings: Any
) -> "Embedding":
    """Return the vectors of a study's words from an encoder's folder, or from a language model over contexts."""
    from bayesbias.embeddings.encoders.folders import folder_kind

    quiet = not settings["progress"]
    if folder_kind(folder) == "transformers" or contexts is not None:
        answer(cost_text([study], settings["most"] if contexts else None, "vectors in context"), quiet=quiet)
        file = None if templates is None else Path(templates)
        return vectors_of_model(folder, study.words, name=name, contexts=contexts, templates=file, **settings)
    return _encoded(
        folder,
        [study],
        _sentences(templates, [study]),
        name=name,
        reference=_reference(None, folder=True),
        cache=settings["cache"],
        progress=settings["progress"],
        batch=512,
        attempts=3,
        timeout=None,
    )
