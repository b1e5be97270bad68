"""The command that counts claims for attribute words drawn at random."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    DEFAULT_MAX_LOST,
    DEFAULT_MODEL_NAME,
    AsJson,
    Case,
    Command,
    FileFormat,
    HdiProb,
    MaxLost,
    ModelName,
    Quiet,
    Seed,
    StudyName,
    app,
    finish,
)


@app.command("random-lists", cls=Command)
def random_lists(
    embedding: Annotated[
        Path, typer.Argument(metavar="VECTORS", help="Embedding, as for `bayesbias table`; all its words are read.")
    ],
    study: StudyName,
    model: ModelName = DEFAULT_MODEL_NAME,
    samples: Annotated[int, typer.Option(help="Number of random lists.")] = 200,
    match: Annotated[
        str,
        typer.Option(help="Property in which drawn words match the study's: rank, norm, coherence (of lists) or none."),
    ] = "rank",
    window: Annotated[int, typer.Option(help="Number of words, nearest in rank or norm, to draw from.")] = 1000,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: FileFormat = "auto",
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Count how often a model and tests claim an association for attribute words drawn at random.

    Example:

        bayesbias random-lists vectors.txt --study weat7 --seed 1
    """
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.reports.robustness.random_list_check import check_random_lists

    checked = check_random_lists(
        load_embedding(embedding, format=file_format, case=case),
        study,
        model=model,
        samples=samples,
        match=None if match == "none" else match,
        window=window,
        hdi_prob=hdi_prob,
        random_seed=seed,
        max_lost=max_lost,
        progress=not quiet,
    )
    finish(checked, as_json=as_json, quiet=quiet)
