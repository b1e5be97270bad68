"""Commands for word lists: studies, and their words in a vocabulary."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.base.machine.terminal import show
from bayesbias.cli.base import (
    DEFAULT_MAX_LOST,
    AsJson,
    Case,
    Command,
    FileFormat,
    MaxLost,
    OptionalOutput,
    Overwrite,
    Phrases,
    Quiet,
    StudyName,
    app,
    begin,
    command,
    finish,
)

studies_app = typer.Typer(help="List the bundled studies, show one, or begin your own.", invoke_without_command=True)
app.add_typer(studies_app, name="studies")


@studies_app.callback()
def studies(context: typer.Context) -> None:
    """List the bundled studies."""
    if context.invoked_subcommand is None:
        studies_list()


@studies_app.command("list", cls=Command)
def studies_list() -> None:
    """List the bundled studies."""
    from bayesbias.studies.study import list_studies, load_study

    for name in list_studies():
        study = load_study(name)
        show(f"{name:10} {study.description or study.source}")
    show("\nShow one with `bayesbias studies show NAME`; begin your own with `bayesbias studies new my_study.toml`.")


@studies_app.command("show", cls=Command)
def studies_show(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Bundled study or TOML file.")],
) -> None:
    """Show the words, associations and source of a study."""
    from bayesbias.studies.faults import is_english
    from bayesbias.studies.study import load_study

    shown = load_study(study)
    show(f"{shown.name}: {shown.description}".rstrip(": "))
    language = "" if is_english(shown.language) else shown.language
    for title, text in (("Language", language), ("Source", shown.source), ("Notes", shown.notes)):
        if text:
            show(f"{title}: {text}")
    for title, lists in (("Protected", shown.protected), ("Attributes", shown.attribute_lists)):
        for group, words in lists.items():
            show(f"{title} {group} ({len(words)}): {', '.join(words)}")
    for protected, attribute in shown.associated:
        show(f"Associated: {protected} with {attribute}")


@studies_app.command("new", cls=Command)
def studies_new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write, such as my_study.toml.")],
    overwrite: Overwrite = False,
) -> None:
    """Write a commented study file, to be filled in with your own words."""
    from bayesbias.studies.study import write_study_template

    written = write_study_template(path, overwrite=overwrite)
    show(f"Wrote {written}. Edit its words, then: bayesbias table VECTORS --study {written} --output table.csv")


@studies_app.command("weathub", cls=Command)
def studies_weathub(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="WEATHub: its folder data, or one JSON file.")],
    lists: Annotated[str, typer.Argument(metavar="LISTS", help="Language and kind of lists, such as de_human.")],
    test: Annotated[str, typer.Argument(metavar="TEST", help="Name of the test, such as weat7.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Study file to write, such as german.toml.")],
    overwrite: Overwrite = False,
) -> None:
    """Write a study of word lists in another language, from your copy of WEATHub."""
    from bayesbias.base.files.outputs import atomic_path
    from bayesbias.studies.study import study_text
    from bayesbias.studies.weathub import load_weathub

    study = load_weathub(path, lists, test)
    with atomic_path(output, overwrite=overwrite) as temporary:
        temporary.write_text(f"{study_text(study)}\n", encoding="utf-8")
    show(f"Wrote {output}. {study.notes} Next: {command('words', 'VECTORS', '--study', output)}".replace("  ", " "))


@app.command(cls=Command)
def words(
    embedding: Annotated[Path, typer.Argument(metavar="VECTORS", help="File of vectors, as for `table`.")],
    study: StudyName,
    output: OptionalOutput = None,
    case: Case = "exact",
    phrases: Phrases = "whole",
    file_format: FileFormat = "auto",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    allow_pickle: Annotated[bool, typer.Option("--allow-pickle", help="Read native files of gensim.")] = False,
    as_json: AsJson = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Look up the words of a study in a vocabulary: stored, lost and why, near spellings, places.

    For example:

        bayesbias words cc.de.300.vec.gz --study my_study.toml
    """
    from bayesbias.reports.embeddings.word_check import check_words

    begin(output, overwrite=overwrite)
    check = check_words(
        embedding,
        study,
        case=case,
        phrases=phrases,  # type: ignore[arg-type]  # check_words checks it
        max_lost=max_lost,
        format=file_format,
        allow_pickle=allow_pickle,
    )
    finish(check, output, as_json=as_json, quiet=quiet, overwrite=overwrite)
