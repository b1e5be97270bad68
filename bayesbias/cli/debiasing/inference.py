"""The command that asks whether a bias of vectors reaches a model of natural language inference."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from bayesbias.errors import ArgumentError

if TYPE_CHECKING:
    from bayesbias.nli.answers.inference_comparison import InferenceComparison
    from bayesbias.nli.answers.posterior import InferencePosterior

_LEAST_TRAININGS = 3


@app.command(cls=Command)
def nli(
    embeddings: Annotated[
        list[Path],
        typer.Argument(
            metavar="VECTORS...", help="Files of embeddings, or with --models folders; each is compared with the first."
        ),
    ],
    output: Output,
    pairs: Annotated[
        Path | None,
        typer.Option(help="File of labelled pairs of sentences, as SNLI's or as CSV; see bb.nli.read_pairs."),
    ] = None,
    models: Annotated[
        bool,
        typer.Option(
            "--models",
            help="VECTORS are folders of trained transformers, or of such folders, one for each training; none is "
            "trained.",
        ),
    ] = False,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Also debias the embedding by this method, such as misp. May be repeated."),
    ] = None,
    sets: Annotated[str | None, typer.Option(help="With --method: definitional sets and names, as for debias.")] = None,
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

        bayesbias nli vectors.npz --method misp --sets gender_bolukbasi --pairs sick.csv --output inference/

        bayesbias nli --models bert_snli/ bert_debiased/ --output inference/
    """
    from bayesbias.base.files.inputs import input_file
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.nli.answers.debias_and_compare import debias_and_compare
    from bayesbias.nli.answers.train_and_compare import train_and_compare
    from bayesbias.nli.test_sets.pairs import read_pairs
    from bayesbias.nli.test_sets.splits import parts_of

    written: dict[str, Any] = {"as_json": as_json, "quiet": quiet, "overwrite": overwrite}
    settings = {
        name: value for name, value in (("epochs", epochs), ("hidden_units", hidden_units)) if value is not None
    }
    if models:
        if method or sets or settings or checkpoints:
            raise ArgumentError(
                "--method, --sets, --epochs, --hidden-units and --checkpoints train models; with "
                "--models none is trained. Leave them out."
            )
        begin(output, overwrite=overwrite)
        question = _Question(test_set, score, hdi_prob, seed)
        finish(_of_folders(embeddings, pairs, question, progress=not quiet), output, **written)
        return
    if pairs is None:
        raise ArgumentError("Give labelled pairs of sentences to train models on: --pairs FILE.")
    if (method is None) != (sets is None):
        raise ArgumentError(
            "--method and --sets belong together. Give both, such as --method misp --sets gender_bolukbasi."
        )
    if method and len(embeddings) > 1:
        raise ArgumentError(f"--method debiases one embedding, but there are {len(embeddings)}. Give one.")
    names = [path.stem for path in embeddings] if method else file_names(embeddings, "to compare with the first")
    begin(output, overwrite=overwrite)
    training, development, test = parts_of(read_pairs(pairs))
    vectors = {
        name: load_embedding(input_file(path), format=file_format, case=case)
        for name, path in zip(names, embeddings, strict=True)
    }
    options: dict[str, Any] = {
        **{"seeds": seeds, "development": development, "test_pairs": test, "settings": settings},
        **{"checkpoints": checkpoints, "hdi_prob": hdi_prob, "random_seed": seed, "progress": not quiet},
    }
    if method and sets:
        (source,) = vectors.values()
        comparison = debias_and_compare(source, method, sets, training, test_set, score, **options)
    else:
        comparison = train_and_compare(vectors, training, test_set, score=score, **options)
    finish(comparison, output, **written)


@dataclass(frozen=True)
class _Question:
    """What is asked of models, by the options of the same names."""

    test_set: str
    score: str
    hdi_prob: float
    seed: int | None


def _of_folders(
    folders: list[Path], pairs: Path | None, question: _Question, *, progress: bool
) -> "InferencePosterior | InferenceComparison":
    """Return the answers of one model, or the comparison of models that were trained several times."""
    from bayesbias.nli.answers.compare_answers import compare_answers
    from bayesbias.nli.answers.posterior import posterior
    from bayesbias.nli.test_sets.generation import test_set as make_test_set
    from bayesbias.nli.test_sets.pairs import read_pairs
    from bayesbias.nli.test_sets.scores import score as scored
    from bayesbias.nli.trained.hugging_face import pipelines

    rows = make_test_set(question.test_set)
    settings: dict[str, Any] = {"hdi_prob": question.hdi_prob, "random_seed": question.seed}
    if len(folders) == 1:
        trained = pipelines(folders[0], progress=progress)
        if len(trained) > 1:
            raise ArgumentError(f"{folders[0]} holds {len(trained)} models. Give the folder of one, or more folders.")
        if pairs is not None:
            raise ArgumentError(
                "--pairs measures accuracy where models are compared. Leave it out, or give more folders."
            )
        return posterior(scored(rows, trained[0]), question.score, **settings)
    names = file_names(folders, "to compare with the first")
    by_name = {name: pipelines(path, progress=progress) for name, path in zip(names, folders, strict=True)}
    if few := [name for name, trained in by_name.items() if len(trained) < _LEAST_TRAININGS]:
        raise ArgumentError(
            f"{few[0]} holds {len(by_name[few[0]])} trained model(s), but models are compared over at least "
            f"{_LEAST_TRAININGS} trainings each, since one training differs from the next. Put them into folders of "
            f"its folder, or ask one alone: bayesbias nli --models {folders[names.index(few[0])]}."
        )
    test = None if pairs is None else read_pairs(pairs)
    return compare_answers(by_name, rows, question.score, test_pairs=test, **settings)
