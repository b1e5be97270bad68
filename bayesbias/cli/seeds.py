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
    HdiProb,
    MaxLost,
    Overwrite,
    Quiet,
    Seed,
    answer,
    app,
    claim,
    file_names,
)
from bayesbias.errors import ReportError

_PAGE = "seeds.html"


@app.command(cls=Command)
def seeds(
    embeddings: Annotated[
        list[Path], typer.Argument(metavar="VECTORS...", help="Embeddings that differ in the seed only, a file each.")
    ],
    study: Annotated[str, typer.Option(help="A bundled study or a TOML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")],
    model: Annotated[str, typer.Option(help="A bundled model or a TOML file.")] = DEFAULT_MODEL_NAME,
    draws: Annotated[int, typer.Option(help="Kept draws a chain, and tuning steps.")] = 500,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    max_lost: MaxLost = DEFAULT_MAX_LOST,
    file_format: Annotated[str, typer.Option("--format", help="The embeddings' format, if not recognised.")] = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Ask whether the contrasts of a study are stable over seeds of the training.

    Fits the model to each embedding, and parts what the seed does from what the choice of words leaves open. Writes
    the page seeds.html, seeds.png, seeds.txt, contrasts.csv (over seeds) and by_seed.csv. Example:

        bayesbias train corpus.txt --seeds 1-3 --output vectors/

        bayesbias seeds vectors/*.npz --study gender --output stable/
    """
    from bayesbias.base.checks import check_probability, resolve_seed, with_progress
    from bayesbias.base.files import input_file
    from bayesbias.base.outputs import check_folder, whole_folder
    from bayesbias.delivery.page.seeds import write_seeds_page
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.models.sampling import fit as fit_model
    from bayesbias.reports.embeddings.seeds import compare_seeds
    from bayesbias.results import SEEDS, write_seeds
    from bayesbias.studies.study import load_study
    from bayesbias.tables.build import distance_table

    file_names(embeddings, OF_SEEDS)
    check_folder(output, overwrite=overwrite)
    claim(output)
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
    with whole_folder(output, names=(*SEEDS, _PAGE), overwrite=overwrite) as folder:
        write_seeds(compared, folder)
        write_seeds_page(compared, folder / _PAGE)
    answer(
        f"{compared}\n\nWrote {output}. Open {output / _PAGE} in a browser: the answer on one page.",
        {"verdict": compared.verdict, "comparison": compared, "output": str(output)},
        as_json=as_json,
        quiet=quiet,
    )
