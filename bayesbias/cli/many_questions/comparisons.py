"""The command that compares embeddings pair by pair."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Command,
    HdiProb,
    Output,
    Overwrite,
    Quiet,
    Rope,
    Seed,
    app,
    begin,
    finish,
)
from bayesbias.errors import ReportError

if TYPE_CHECKING:
    import pandas as pd


@app.command(cls=Command)
def compare(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLES", help="Distance tables of the same word pairs; each is compared with the first."
        ),
    ],
    output: Output,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    rope: Rope = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare embeddings, such as a debiased one with the original.

    Takes the paired changes of the distances of the same words, and writes a page, figures and tables.

    Example:

        bayesbias compare original.csv debiased.csv --output debiasing/ --seed 1
    """
    from bayesbias.reports.changes.compare import compare_embeddings

    begin(output, overwrite=overwrite)
    compared = compare_embeddings(
        by_embedding(read_each(tables)), hdi_prob=hdi_prob, rope=rope, random_seed=seed, progress=not quiet
    )
    finish(compared, output, as_json=as_json, quiet=quiet, overwrite=overwrite)


def read_each(paths: list[Path]) -> "dict[str, pd.DataFrame]":
    """Return tables by the paths of their files."""
    from bayesbias.tables.table_files import read_table

    names = list(map(str, paths))
    if len(set(names)) < len(names):
        raise ReportError(f"A table is repeated in {', '.join(names)}. Give each once.")
    return {name: read_table(path) for name, path in zip(names, paths, strict=True)}


def by_embedding(tables: "dict[str, pd.DataFrame]") -> "dict[str, pd.DataFrame]":
    """Return tables by the names of their embeddings, or of their files if those are missing or not distinct."""
    embedding_names = [table.attrs.get("bayesbias", {}).get("embedding", {}).get("name") for table in tables.values()]
    files = [Path(name).name.split(".")[0] for name in tables]
    for names in (embedding_names, files):
        if all(names) and len(set(names)) == len(tables):
            return dict(zip(names, tables.values(), strict=True))
    return tables
