"""Debiasing, and its consequences for inference."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import bayesbias as bb
from bayesbias.base.lost_words import MAX_LOST
from bayesbias.base.machine import show
from bayesbias.base.number_text import counted
from bayesbias.cli.base import (
    FileDelivery,
    Loading,
    Settings,
    answer,
    beside_page,
    claim,
    command,
    command_line,
    file_names,
)
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    from bayesbias.audits.debias_report import Measures
    from bayesbias.audits.debias_result import DebiasReport
    from bayesbias.debias import DebiasWords
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.nli.answer_posterior import InferencePosterior
    from bayesbias.nli.inference_comparison import InferenceComparison

_LEAST_TRAININGS = 3


def _print_methods(requested: bool) -> None:
    if requested:
        for name in bb.debias.METHODS:
            show(f"{name:18} {bb.debias.method_requirements(name).replace('`', '')}")
        show("\nSeveral after each other: --method gn_glove+misp. The words: bayesbias debias --help.")
        raise typer.Exit


@command()
def debias(
    embedding: Path,
    sets: str,
    output: Path,
    loading: Annotated[Settings, "bb.load_embedding case prefix suffix format name"],
    reporting: Annotated[Settings, "bb.debias_report max_lost random_seed"],
    method: list[str] | None = None,
    strength: float | None = None,
    components: int | None = None,
    study: list[str] | None = None,
    measure: list[str] | None = None,
    words_in_all: int | None = None,
    quiet: bool = False,
    overwrite: bool = False,
    listed: Annotated[  # noqa: ARG001  # its callback answers
        bool, typer.Option("--list", is_eager=True, callback=_print_methods, help="List the methods, and end.")
    ] = False,
) -> None:
    """Debias an embedding. With several methods, write one METHOD.npz each.

    With --study the page report.html says which method removed the association and what it cost; debias.csv has its
    numbers, debias.png its figure.

    Bundled sets: gender_bolukbasi (for all methods), gender_manzini, race_manzini, religion_manzini. Your own are in a
    TOML file, such as the one line definitional = [["he", "she"], ["man", "woman"]]; other lists that some methods
    need: equalize, specific, sides, names, concept. Examples:

        bayesbias debias vectors.txt --sets religion_manzini --output debiased.npz

        bayesbias debias vectors.txt --sets gender_bolukbasi --method hard --method inlp --method misp -o debiased/
            --study gender --measure recoverability --measure word_similarity=ws353.txt
    """
    from bayesbias.base.files.outputs import check_folder, whole_folder
    from bayesbias.delivery.writing import written_names
    from bayesbias.embeddings.embedding_files import WRITERS, check_embedding_output
    from bayesbias.errors import OutputError

    settings = {"strength": strength, "components": components}
    given = {setting: value for setting, value in settings.items() if value is not None}
    methods = bb.debias.methods_from_names(method or ["hard"], given)
    if study is None and (measure or reporting != {"max_lost": MAX_LOST, "random_seed": None}):
        raise ArgumentError("--measure, --max-lost and --seed need a study. Give --study too.")
    several = len(methods) > 1 or study is not None
    if several and output.suffix.lower() in WRITERS:
        why = "a study" if study is not None else f"{len(methods)} methods"
        raise OutputError(f"{output} has the name of one file, but with {why} a folder is written. Name a folder.")
    if several:
        check_folder(output, overwrite=overwrite)
    else:
        check_embedding_output(output, overwrite=overwrite)
    claim(output)
    vectors = bb.load_embedding(embedding, **loading)
    lines, opened = [], ""
    names = ("*.npz", *written_names(output), "debias.csv", "debias.png", "correlations.csv")
    with whole_folder(output, names=names, overwrite=overwrite) if several else nullcontext() as folder:
        if study is not None and folder is not None:
            written = {label: _Written(chosen, folder / f"{label}.npz") for label, chosen in methods.items()}
            report = _report(
                folder,
                vectors,
                study,
                written,
                sets,
                measures=_measures(measure, words_in_all),
                **reporting,
                progress=not quiet,
            )
            # A method that failed has no file, and the page says why.
            files = [f"{label}.npz" for label in methods if (folder / f"{label}.npz").exists()]
            printed, opened = beside_page(report, output / "report.html")
            lines = [printed, "", *(f"Wrote {output / file}." for file in files)]
            methods = {}
        for label, chosen in methods.items():
            changed = chosen.fit(vectors, sets).transform(vectors)
            if folder is None:
                file = bb.write_embedding(changed, output, overwrite=overwrite)
            else:
                bb.write_embedding(changed, folder / f"{label}.npz")
                file = output / f"{label}.npz"
            lines.append(f"Wrote {file}: {changed.name}, {counted(len(changed), 'word')}.")
    if study is not None:
        lines.append(opened)
    else:
        following = command_line("table", file, "--study", "STUDY", "--output", "debiased.csv")
        lines.append(f"Next: {following}, then bayesbias compare. Over trainings: bayesbias trainings --help")
    answer("\n".join(lines), quiet=quiet)


@dataclass(frozen=True)
class _Written:
    """A method that writes the embeddings that it makes."""

    method: Any
    path: Path

    def __repr__(self) -> str:
        return repr(self.method)

    def fit(self, embedding: "Embedding", sets: "DebiasWords") -> "_Written":
        return replace(self, method=self.method.fit(embedding, sets))

    def transform(self, embedding: "Embedding") -> "Embedding":
        from bayesbias.embeddings.embedding_files import write_embedding

        changed: Embedding = self.method.transform(embedding)
        write_embedding(changed, self.path)
        return changed


def _report(
    folder: Path,
    vectors: "Embedding",
    studies: list[str],
    methods: dict[str, Any],
    sets: str,
    *,
    measures: "Measures",
    **settings: Any,
) -> "DebiasReport":
    from bayesbias.delivery.writing import write_files

    report = bb.debias_report(vectors, studies, methods, sets=sets, measures=measures, **settings)
    write_files(report, folder)
    return report


def _measures(texts: list[str] | None, words_in_all: int | None) -> "Measures":
    """Return scores of whole embeddings from texts such as ``"recoverability"`` or ``"word_similarity=ws353.txt"``."""
    from bayesbias.audits.debias_report import DEFAULT_MEASURES

    options = {} if words_in_all is None else {"words_in_all": words_in_all}
    parts = [text.partition("=") for text in texts or DEFAULT_MEASURES]
    return [
        (name, path or None, options if name in ("recoverability", "clustering") else {}) for name, _, path in parts
    ]


@command()
def nli(
    embeddings: list[Path],
    loading: Loading,
    asking: Annotated[Settings, "bb.nli.train_and_compare test_set score random_seed hdi_prob"],
    training: Annotated[Settings, "bb.nli.train_and_compare trainings checkpoints"],
    delivery: FileDelivery,
    pairs: Path | None = None,
    models: bool = False,
    method: list[str] | None = None,
    sets: str | None = None,
    epochs: int | None = None,
    hidden_units: int | None = None,
) -> None:
    """Train models of inference on embeddings, and compare their answers about groups of people.

    Each model judges whether "A person ate an apple." entails "He ate an apple.", for many words and sentences. The
    column split of the pairs assigns them to training, development and test. Writes a page, a figure, and tables of
    values, changes, words and trainings. Requires the extra nli.

    Example:

        bayesbias debias vectors.npz --sets gender_bolukbasi --method hard --output hard.npz

        bayesbias nli vectors.npz hard.npz --pairs sick.csv --seed 1 --output inference/

        bayesbias nli vectors.npz --method misp --sets gender_bolukbasi --pairs sick.csv --output inference/

        bayesbias nli --models bert_snli/ bert_debiased/ --output inference/
    """
    from bayesbias.base.files.inputs import input_file, printable
    from bayesbias.nli.training import split_pairs

    settings = {
        name: value for name, value in (("epochs", epochs), ("hidden_units", hidden_units)) if value is not None
    }
    if models:
        if method or sets or settings or training["checkpoints"]:
            raise ArgumentError(
                "--method, --sets, --epochs, --hidden-units and --checkpoints train models; with "
                "--models none is trained. Leave them out."
            )
        delivery.begin()
        delivery.finish(_of_folders(embeddings, pairs, **asking, progress=delivery.progress))
        return
    if pairs is None:
        raise ArgumentError("Give labelled pairs of sentences to train models on: --pairs FILE.")
    if (method is None) != (sets is None):
        raise ArgumentError(
            "--method and --sets belong together. Give both, such as --method misp --sets gender_bolukbasi."
        )
    if method and len(embeddings) > 1:
        raise ArgumentError(f"--method debiases one embedding, but there are {len(embeddings)}. Give one.")
    names = (
        [printable(path.stem) for path in embeddings] if method else file_names(embeddings, "to compare with the first")
    )
    delivery.begin()
    training_pairs, development, test = split_pairs(bb.nli.read_pairs(pairs))
    vectors = {
        name: bb.load_embedding(input_file(path), **loading) for name, path in zip(names, embeddings, strict=True)
    }
    options: dict[str, Any] = {
        **asking,
        **training,
        **{"development": development, "test_pairs": test, "settings": settings, "progress": delivery.progress},
    }
    if method and sets:
        (source,) = vectors.values()
        comparison = bb.nli.debias_and_compare(source, method, sets, training_pairs, **options)
    else:
        comparison = bb.nli.train_and_compare(vectors, training_pairs, **options)
    delivery.finish(comparison)


def _of_folders(
    folders: list[Path], pairs: Path | None, *, test_set: str, score: str, progress: bool, **settings: Any
) -> "InferencePosterior | InferenceComparison":
    """Return the answers of one model, or the comparison of models that were trained several times."""
    rows = bb.nli.test_set(test_set)
    if len(folders) == 1:
        trained = bb.nli.pipelines(folders[0], progress=progress)
        if len(trained) > 1:
            raise ArgumentError(f"{folders[0]} holds {len(trained)} models. Give the folder of one, or more folders.")
        if pairs is not None:
            raise ArgumentError(
                "--pairs measures accuracy where models are compared. Leave it out, or give more folders."
            )
        return bb.nli.posterior(bb.nli.score(rows, trained[0]), score, **settings)
    names = file_names(folders, "to compare with the first")
    by_name = {name: bb.nli.pipelines(path, progress=progress) for name, path in zip(names, folders, strict=True)}
    if few := [name for name, trained in by_name.items() if len(trained) < _LEAST_TRAININGS]:
        raise ArgumentError(
            f"{few[0]} holds {len(by_name[few[0]])} trained model(s), but models are compared over at least "
            f"{_LEAST_TRAININGS} trainings each, since one training differs from the next. Put them into folders of "
            f"its folder, or ask one alone: bayesbias nli --models {folders[names.index(few[0])]}."
        )
    test = None if pairs is None else bb.nli.read_pairs(pairs)
    return bb.nli.compare_answers(by_name, rows, score, test_pairs=test, **settings)
