"""The command for whether a bias of vectors reaches a model of natural language inference."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Case,
    Command,
    HdiProb,
    Overwrite,
    Quiet,
    Seed,
    answer,
    app,
    claim,
    file_names,
)

_PAGE = "inference.html"


@app.command(cls=Command)
def nli(
    embeddings: Annotated[
        list[Path],
        typer.Argument(metavar="VECTORS...", help="Embeddings, a file each; the others are compared with the first."),
    ],
    pairs: Annotated[
        Path, typer.Option(help="Labelled pairs of sentences: SNLI's format, or CSV; see bb.nli.read_pairs.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the results.")],
    test_set: Annotated[
        str, typer.Option(help="explicit, names, occupations, dev_occupations, or a TOML file.")
    ] = "explicit",
    score: Annotated[str, typer.Option(help="error (its mean is E), neutral, entailment or contradiction.")] = "error",
    seeds: Annotated[int, typer.Option(help="Trainings of each embedding, at least 3.")] = 5,
    epochs: Annotated[int | None, typer.Option(help="Most passes over the pairs.")] = None,
    hidden_units: Annotated[int | None, typer.Option(help="Size of the model's layers; by default 200.")] = None,
    checkpoints: Annotated[
        Path | None, typer.Option(help="A folder for trainings: with --seed, the same command goes on there.")
    ] = None,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    file_format: Annotated[str, typer.Option("--format", help="The embeddings' format, if not recognised.")] = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Train models of inference on embeddings, and ask whether they treat groups alike.

    Each model says whether "A person ate an apple." entails "He ate an apple.", for many words and sentences. The
    column split of the pairs says which to train on, to stop by and to test. Writes inference.html, inference.png,
    inference.txt, values.csv, changes.csv, words.csv,
    word_pairs.csv and runs.csv. It needs the extra nli. Example:

        bayesbias debias vectors.npz --sets gender_bolukbasi --method hard --output hard.npz

        bayesbias nli vectors.npz hard.npz --pairs sick.csv --seed 1 --output inference/
    """
    from bayesbias.base.files import input_file
    from bayesbias.base.outputs import check_folder, whole_folder
    from bayesbias.delivery.page.inference import write_inference_page
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.nli.test_sets.pairs import read_pairs
    from bayesbias.nli.test_sets.splits import parts_of
    from bayesbias.results import INFERENCE, write_inference

    names = file_names(embeddings, "to compare: the others with the first")
    check_folder(output, overwrite=overwrite)
    claim(output)
    training, development, test = parts_of(read_pairs(pairs))
    settings = {"epochs": epochs, "hidden_units": hidden_units}
    vectors = {
        name: load_embedding(input_file(path), format=file_format, case=case)
        for name, path in zip(names, embeddings, strict=True)
    }
    found = compare(
        vectors,
        training,
        test_set,
        score,
        seeds=seeds,
        development=development,
        test_pairs=test,
        settings={name: value for name, value in settings.items() if value is not None},
        checkpoints=checkpoints,
        hdi_prob=hdi_prob,
        random_seed=seed,
        progress=not quiet,
    )
    with whole_folder(output, names=(*INFERENCE, _PAGE), overwrite=overwrite) as folder:
        write_inference(found, folder)
        write_inference_page(found, folder / _PAGE)
    answer(
        f"{found}\n\nWrote {output}. Open {output / _PAGE} in a browser: the answer on one page.",
        {"comparison": found, "output": str(output)},
        as_json=as_json,
        quiet=quiet,
    )
