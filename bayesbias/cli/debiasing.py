"""The command that debiases an embedding, by one method or several."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import Case, Command, Overwrite, Quiet, answer, app, claim


def _print_methods(asked: bool) -> None:
    if asked:
        from bayesbias.debias import METHODS, what_it_needs

        for name in METHODS:
            print(f"{name:18} {what_it_needs(name)}")
        print("\nSeveral after each other: --method gn_glove+misp. The words: bayesbias debias --help.")
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
        typer.Option(help="Such as hard (by default), inlp or gn_glove+misp; see --list. May be repeated."),
    ] = None,
    strength: Annotated[float | None, typer.Option(help="Of soft debiasing (lambda); by default 0.2.")] = None,
    components: Annotated[int | None, typer.Option(help="Directions to remove; by default the method's.")] = None,
    case: Case = "exact",
    file_format: Annotated[str, typer.Option("--format", help="The embedding's format, if not recognised.")] = "auto",
    name: Annotated[str | None, typer.Option(help="A name for the embedding in reports.")] = None,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    listed: Annotated[  # noqa: ARG001  # its callback answers
        bool, typer.Option("--list", is_eager=True, callback=_print_methods, help="List the methods, and end.")
    ] = False,
) -> None:
    """Write debiased embeddings, to be compared with the original: of several methods, one file METHOD.npz each.

    Bundled sets: gender_bolukbasi (for all methods), gender_manzini, race_manzini, religion_manzini. Examples:

        bayesbias debias vectors.txt --sets religion_manzini --output debiased.npz

        bayesbias debias vectors.txt --sets gender_bolukbasi --method hard --method inlp --method misp -o debiased/
    """
    from bayesbias.debias import methods_from_names
    from bayesbias.embeddings import load_embedding
    from bayesbias.embeddings.writing import check_embedding_output, write_embedding
    from bayesbias.outputs import check_folder, whole_folder

    settings = {"strength": strength, "components": components}
    given = {setting: value for setting, value in settings.items() if value is not None}
    methods = methods_from_names(method or ["hard"], given)
    several = len(methods) > 1
    if several:
        check_folder(output, overwrite=overwrite)
    else:
        check_embedding_output(output, overwrite=overwrite)
    claim(output)
    vectors = load_embedding(embedding, format=file_format, case=case, name=name)
    said = []
    with whole_folder(output, names=("*.npz",), overwrite=overwrite) if several else nullcontext() as folder:
        for each, chosen in methods.items():
            changed = chosen.fit(vectors, sets).transform(vectors)
            if folder is None:
                file = write_embedding(changed, output, overwrite=overwrite)
            else:
                write_embedding(changed, folder / f"{each}.npz")
                file = output / f"{each}.npz"
            said.append(f"Wrote {file}: {changed.name}, {len(changed):,} words.")
    said.append(f"Next: bayesbias table {file} --study STUDY --output debiased.csv, then bayesbias compare.")
    answer("\n".join(said), quiet=quiet)
