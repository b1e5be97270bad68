"""The command that asks whether contrasts are stable over the seeds of an embedding's training."""

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
    ModelName,
    Output,
    Overwrite,
    Quiet,
    Seed,
    SeedFiles,
    StudyName,
    app,
    begin,
    file_names,
    finish,
)
from bayesbias.errors import ReportError


@app.command(cls=Command)
def seeds(
    embeddings: SeedFiles,
    study: StudyName,
    output: Output,
    resampled: Annotated[
        list[Path] | None,
        typer.Option(help="Embedding trained on resampled documents of the same corpus. May be repeated."),
    ] = None,
    model: ModelName = DEFAULT_MODEL_NAME,
    draws: Annotated[int, typer.Option(help="Draws per chain, and tuning steps.")] = 500,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: FileFormat = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare the contrasts of a study between embeddings that were trained with different seeds.

    Fits the model to each embedding, and separates the variation between seeds from the uncertainty due to the choice
    of words. With --resampled, also the variation between samples of documents. Writes a page, a figure, and tables of
    the contrasts over seeds and of each seed.

    Example:

        bayesbias train corpus.txt --seeds 1-3 --output vectors/

        bayesbias seeds vectors/*.npz --study gender --output stable/
    """
    from bayesbias.base.checks import check_probability, resolve_seed
    from bayesbias.base.files.inputs import input_file
    from bayesbias.base.progress import with_progress
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.embeddings.training.trained import is_resampled
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.reports.embeddings.trainings import compare_trainings
    from bayesbias.studies.study import load_study
    from bayesbias.tables.build import distance_table

    file_names(embeddings, OF_SEEDS)
    begin(output, overwrite=overwrite)
    check_probability("hdi_prob", hdi_prob)
    chosen = resolve_seed(seed)
    loaded = load_study(study)
    samples = resampled or []
    if drawn := next((path for path in embeddings if is_resampled(path)), None):
        raise ReportError(
            f"{drawn} was trained on resampled documents, so it does not differ from the others in the seed alone. "
            f"Give embeddings trained on all documents, and such files as --resampled {drawn}."
        )
    if samples:
        file_names(samples, "trained on resampled documents")
    tables = {
        path: distance_table(
            load_embedding(input_file(path), words=loaded.words, format=file_format, case=case),
            loaded,
            max_lost=max_lost,
        )
        for path in (*embeddings, *samples)
    }
    name_by_distances: dict[bytes, Path] = {}
    for name, table in tables.items():
        if (twin := name_by_distances.setdefault(table["cosine_distance"].to_numpy().tobytes(), name)) != name:
            raise ReportError(
                f"The embeddings {twin.stem!r} and {name.stem!r} have the same distances, so they do not differ in the "
                "seed. Give embeddings that were trained with different seeds, each once."
            )
    fits: dict[Any, Any] = {
        name: fit_model(table, model, draws=draws, tune=draws, random_seed=chosen, progress=False)
        for name, table in with_progress(list(tables.items()), "Fitting seeds", progress=not quiet)
    }
    by_kind: list[dict[Any, Any]] = [{path.stem: fits[path] for path in paths} for paths in (embeddings, samples)]
    comparison = compare_trainings(by_kind[0], resampled=by_kind[1] or None, hdi_prob=hdi_prob, random_seed=chosen)
    finish(comparison, output, as_json=as_json, quiet=quiet, overwrite=overwrite)
