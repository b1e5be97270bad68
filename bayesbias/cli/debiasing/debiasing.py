"""The command that debiases an embedding, by one method or several."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.base.machine.terminal import show
from bayesbias.base.number_text import counted
from bayesbias.cli.base import (
    DEFAULT_MAX_LOST,
    Case,
    Command,
    FileFormat,
    MaxLost,
    Overwrite,
    Quiet,
    answer,
    app,
    claim,
    command,
)

if TYPE_CHECKING:
    from bayesbias.cells.debias_report import Measures
    from bayesbias.debias import DebiasWords
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.reports.debiasing.report import DebiasReport


def _print_methods(requested: bool) -> None:
    if requested:
        from bayesbias.debias import METHODS, method_requirements

        for name in METHODS:
            show(f"{name:18} {method_requirements(name).replace('`', '')}")
        show("\nSeveral after each other: --method gn_glove+misp. The words: bayesbias debias --help.")
        raise typer.Exit


@app.command(cls=Command)
def debias(
    embedding: Annotated[
        Path, typer.Argument(metavar="VECTORS", help="An embedding, as for `bayesbias table`; it is read whole.")
    ],
    sets: Annotated[str, typer.Option(help="Definitional sets: a bundled name, or a TOML file.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="A file .npz, .bin, .txt or .vec; for several methods a folder."),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(help="Method (default: hard), such as inlp or gn_glove+misp; see --list. May be repeated."),
    ] = None,
    strength: Annotated[float | None, typer.Option(help="Of soft debiasing (lambda); by default 0.2.")] = None,
    components: Annotated[int | None, typer.Option(help="Directions to remove; by default the method's.")] = None,
    study: Annotated[
        list[str] | None,
        typer.Option(help="Study to test; also writes a page on what each method changed. May be repeated."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="With --study: a score of the whole embedding, such as recoverability, word_similarity=ws353.txt or "
            "midb (with the names of --sets; of others: midb=own.toml).",
        ),
    ] = None,
    words_in_all: Annotated[
        int | None, typer.Option(help="Of recoverability and clustering: how many words; by default 5,000 and 1,500.")
    ] = None,
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    seed: Annotated[int | None, typer.Option(help="With --study: the same seed gives the same numbers.")] = None,
    case: Case = "exact",
    file_format: FileFormat = "auto",
    name: Annotated[str | None, typer.Option(help="A name for the embedding in reports.")] = None,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
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
    from bayesbias.debias import methods_from_names
    from bayesbias.delivery.writing import written_names
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.embeddings.writing import WRITERS, check_embedding_output, write_embedding
    from bayesbias.errors import ArgumentError, OutputError

    settings = {"strength": strength, "components": components}
    given = {setting: value for setting, value in settings.items() if value is not None}
    methods = methods_from_names(method or ["hard"], given)
    if study is None and (measure or seed is not None or max_lost != DEFAULT_MAX_LOST):
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
    vectors = load_embedding(embedding, format=file_format, case=case, name=name)
    lines = []
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
                max_lost=max_lost,
                random_seed=seed,
                progress=not quiet,
            )
            # A method that failed has no file, and the page says why.
            files = [f"{label}.npz" for label in methods if (folder / f"{label}.npz").exists()]
            lines = [str(report), "", *(f"Wrote {output / file}." for file in files)]
            methods = {}
        for label, chosen in methods.items():
            changed = chosen.fit(vectors, sets).transform(vectors)
            if folder is None:
                file = write_embedding(changed, output, overwrite=overwrite)
            else:
                write_embedding(changed, folder / f"{label}.npz")
                file = output / f"{label}.npz"
            lines.append(f"Wrote {file}: {changed.name}, {counted(len(changed), 'word')}.")
    if study is not None:
        lines.append(f"Open {output / 'report.html'} in a browser.")
    else:
        lines.append(
            f"Next: {command('table', file, '--study', 'STUDY', '--output', 'debiased.csv')}, then bayesbias compare."
        )
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
        from bayesbias.embeddings.writing import write_embedding

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
    """Return the report on methods, and write its page, table and figure."""
    from bayesbias.cells.debias_report import debias_report
    from bayesbias.delivery.writing import write_files

    report = debias_report(vectors, studies, methods, sets=sets, measures=measures, **settings)
    write_files(report, folder)
    return report


def _measures(texts: list[str] | None, words_in_all: int | None) -> "Measures":
    """Return scores of whole embeddings from texts such as ``"recoverability"`` or ``"word_similarity=ws353.txt"``."""
    from bayesbias.cells.debias_report import DEFAULT_MEASURES

    options = {} if words_in_all is None else {"words_in_all": words_in_all}
    parts = [text.partition("=") for text in texts or DEFAULT_MEASURES]
    return [
        (name, path or None, options if name in ("recoverability", "clustering") else {}) for name, _, path in parts
    ]
