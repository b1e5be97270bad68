"""The command that asks whether a bias of vectors reaches a model of natural language inference."""

from pathlib import Path
from typing import Annotated

import typer

from bayesbias.cli.base import (
    DEFAULT_HDI_PROB,
    AsJson,
    Case,
    Command,
    FileFormat,
    HdiProb,
    Output,
    Overwrite,
    Quiet,
    Seed,
    app,
    begin,
    file_names,
    finish,
)


@app.command(cls=Command)
def nli(
    embeddings: Annotated[
        list[Path],
        typer.Argument(metavar="VECTORS...", help="Files of embeddings; each is compared with the first."),
    ],
    pairs: Annotated[
        Path, typer.Option(help="File of labelled pairs of sentences, as SNLI's or as CSV; see bb.nli.read_pairs.")
    ],
    output: Output,
    test_set: Annotated[
        str, typer.Option(help="Test set: explicit, names, occupations, dev_occupations or a TOML file.")
    ] = "explicit",
    score: Annotated[
        str, typer.Option(help="Score of an answer: error (with mean E), neutral, entailment or contradiction.")
    ] = "error",
    seeds: Annotated[int, typer.Option(help="Number of trainings for each embedding, at least 3.")] = 5,
    epochs: Annotated[int | None, typer.Option(help="Largest number of passes over the pairs.")] = None,
    hidden_units: Annotated[int | None, typer.Option(help="Units in each layer of the model; by default 200.")] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps trainings; with --seed, the same command continues from them."),
    ] = None,
    seed: Seed = None,
    hdi_prob: HdiProb = DEFAULT_HDI_PROB,
    case: Case = "exact",
    file_format: FileFormat = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Train models of inference on embeddings, and compare their answers about groups of people.

    Each model judges whether "A person ate an apple." entails "He ate an apple.", for many words and sentences. The
    column split of the pairs assigns them to training, development and test. Writes a page, a figure, and tables of
    values, changes, words and trainings. Requires the extra nli.

    Example:

        bayesbias debias vectors.npz --sets gender_bolukbasi --method hard --output hard.npz

        bayesbias nli vectors.npz hard.npz --pairs sick.csv --seed 1 --output inference/
    """
    from bayesbias.base.files import input_file
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.nli.answers.train_and_compare import train_and_compare
    from bayesbias.nli.test_sets.pairs import read_pairs
    from bayesbias.nli.test_sets.splits import parts_of

    names = file_names(embeddings, "to compare with the first")
    begin(output, overwrite=overwrite)
    training, development, test = parts_of(read_pairs(pairs))
    settings = {"epochs": epochs, "hidden_units": hidden_units}
    vectors = {
        name: load_embedding(input_file(path), format=file_format, case=case)
        for name, path in zip(names, embeddings, strict=True)
    }
    comparison = train_and_compare(
        vectors,
        training,
        test_set,
        score=score,
        seeds=seeds,
        development=development,
        test_pairs=test,
        settings={name: value for name, value in settings.items() if value is not None},
        checkpoints=checkpoints,
        hdi_prob=hdi_prob,
        random_seed=seed,
        progress=not quiet,
    )
    finish(comparison, output, as_json=as_json, quiet=quiet, overwrite=overwrite)
