"""The command for whether a study's contrasts are stable over the seeds of an embedding's training."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    DEFAULT_MAX_LOST,
    DEFAULT_MODEL_NAME,
    OF_SEEDS,
    AsJson,
    Case,
    Command,
    FileFormat,
    HdiProb,
    MaxLost,
    Output,
    Overwrite,
    Quiet,
    Seed,
    app,
    begin,
    file_names,
    finish,
)
from bayesbias.errors import ReportError


@app.command(cls=Command)
def seeds(
    embeddings: Annotated[
        list[Path], typer.Argument(metavar="VECTORS...", help="Embeddings that differ in the seed only, a file each.")
    ],
    study: Annotated[str, typer.Option(help="A bundled study or a TOML file.")],
    output: Output,
    model: Annotated[str, typer.Option(help="A bundled model or a TOML file.")] = DEFAULT_MODEL_NAME,
    draws: Annotated[int, typer.Option(help="Kept draws a chain, and tuning steps.")] = 500,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: FileFormat = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask whether the contrasts of a study are stable over seeds of the training.

    Fits the model to each embedding, and parts what the seed does from what the choice of words leaves open. Writes a
    page, a figure, and the contrasts over seeds and of each seed. Example:

        bayesbias train corpus.txt --seeds 1-3 --output vectors/

        bayesbias seeds vectors/*.npz --study gender --output stable/
    """
    from bayesbias.base.checks import check_probability, resolve_seed, with_progress
    from bayesbias.base.files import input_file
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.reports.embeddings.seeds import compare_seeds
    from bayesbias.studies.study import load_study
    from bayesbias.tables.build import distance_table

    file_names(embeddings, OF_SEEDS)
    begin(output, overwrite=overwrite)
    check_probability("hdi_prob", hdi_prob)
    chosen = resolve_seed(seed)
    asked = load_study(study)
    tables = {
        path.stem: distance_table(
            load_embedding(input_file(path), words=asked.words, format=file_format, case=case), asked, max_lost=max_lost
        )
        for path in embeddings
    }
    of: dict[bytes, str] = {}
    for name, table in tables.items():
        if (twin := of.setdefault(table["cosine_distance"].to_numpy().tobytes(), name)) != name:
            raise ReportError(
                f"The embeddings {twin!r} and {name!r} have the same distances, so they do not differ in the seed. "
                "Give each once, and such as were trained with different seeds."
            )
    fits: dict[Any, Any] = {
        name: fit_model(table, model, draws=draws, tune=draws, random_seed=chosen, progress=False)
        for name, table in with_progress(list(tables.items()), "Fitting seeds", progress=not quiet)
    }
    compared = compare_seeds(fits, hdi_prob=hdi_prob, random_seed=chosen)
    finish(compared, output, as_json=as_json, quiet=quiet, overwrite=overwrite)
