"""Train models of inference on original and debiased vectors, over seeds, and ask whether they treat groups alike.

    python validation/downstream/make_downstream.py VECTORS SICK [--answers] [--out FOLDER]

VECTORS is any file that bayesbias reads (`load_embedding`), SICK its file of pairs (`bb.nli.read_pairs`). It needs the
extra `nli`, and three to six minutes for each of 15 trainings. Each training goes to its end: it stops when the
accuracy on SICK's trial split has not risen for five passes. A run that was interrupted goes on where it stopped, from
the `.checkpoint` files. With --answers it trains nothing, reads the answers that it kept, and needs no extra.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.errors import LostWordsWarning

FOLDER = Path(__file__).resolve().parent
METHODS = ("hard", "misp")
SETS = "gender_bolukbasi"
SEEDS, EPOCHS, PATIENCE, RANDOM_SEED = 5, 100, 5, 1
ANSWERS = "answers.npz"


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", type=Path, help="file of vectors")
    parser.add_argument("sick", type=Path, help="file of SICK's pairs")
    parser.add_argument("--answers", action="store_true", help="read the answers that were kept")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    embeddings = debiased(bb.load_embedding(arguments.vectors))
    if not arguments.answers:
        train_all(embeddings, arguments.sick, arguments.out)
    write(compared(arguments.out), arguments.out)
    measured(embeddings).to_csv(arguments.out / "measures.csv")


def debiased(original: bb.Embedding, methods: Iterable[str] = METHODS) -> dict[str, bb.Embedding]:
    """Return the embedding, and what each method makes of it."""
    embeddings = {"original": original}
    for name in methods:
        embeddings[name] = bb.debias.METHODS[name]().fit(original, SETS).transform(original)
    return embeddings


def train_all(
    embeddings: dict[str, bb.Embedding],
    sick: Path,
    out: Path,
    *,
    seeds: int = SEEDS,
    epochs: int = EPOCHS,
    hidden_units: int = 200,
    asked: pd.DataFrame | None = None,
) -> None:
    """Train on each embedding, over seeds, and keep what the models answer to the explicit test set.

    The files are written after each seed, so that all embeddings in them have the same seeds.
    """
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore", LostWordsWarning)  # run.json says how many
    training, trial, test = (bb.nli.read_pairs(sick, splits=name) for name in ("TRAIN", "TRIAL", "TEST"))
    asked = bb.nli.test_set("explicit") if asked is None else asked
    answers: dict[tuple[str, int], np.ndarray] = {}
    trainings: dict[tuple[str, int], dict[str, str | float]] = {}
    seconds = 0.0
    for seed in range(1, seeds + 1):
        for name, vectors in embeddings.items():
            begun = time.process_time()
            model = bb.nli.train(
                vectors,
                training,
                development=trial,
                epochs=epochs,
                patience=PATIENCE,
                hidden_units=hidden_units,
                random_seed=seed,
                checkpoint=out / f"{name}-{seed}.checkpoint",
                progress=False,
            )
            seconds += time.process_time() - begun
            probabilities = model(asked["premise"].tolist(), asked["hypothesis"].tolist())
            answers[name, seed] = probabilities[:, 1:].astype(np.float16)
            trainings[name, seed] = {
                "embedding": name,
                "seed": seed,
                "best_pass": int(model.history["accuracy"].to_numpy().argmax()) + 1,
                "passes": len(model.history),
                "trial_accuracy": float(model.history["accuracy"].max()),
                "accuracy": model.evaluate(test).accuracy,
            }
            print(trainings[name, seed], round(seconds), flush=True)
        order = [(name, number) for name in embeddings for number in range(1, seed + 1)]
        np.savez_compressed(out / ANSWERS, **{f"{name}-{number}": answers[name, number] for name, number in order})
        pd.DataFrame([trainings[key] for key in order]).to_csv(out / "accuracy.csv", index=False)
        facts = {
            "random_seed": RANDOM_SEED,
            "trainings": len(trainings),
            "processor_seconds": round(seconds),
            "epochs": epochs,
            "patience": PATIENCE,
            "lost_words": len(model.lost_words),
            "torch": version("torch"),
            "bayesbias": bb.__version__,
        }
        (out / "run.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def kept_models(folder: Path) -> dict[str, list[Callable[[Sequence[str], Sequence[str]], np.ndarray]]]:
    """Return models that answer what the trained ones did to the explicit test set, in its order."""
    models: dict[str, list[Callable[[Sequence[str], Sequence[str]], np.ndarray]]] = {}
    with np.load(folder / ANSWERS, allow_pickle=False) as answers:
        for key in answers.files:
            probabilities = answers[key].astype(np.float64)
            answered = np.column_stack([1 - probabilities.sum(axis=1), probabilities]).clip(0, 1)
            models.setdefault(key.rpartition("-")[0], []).append(
                lambda _premises, _hypotheses, answered=answered: answered
            )
    return models


def compared(folder: Path, questions: pd.DataFrame | None = None) -> bb.nli.InferenceComparison:
    """Compare what the trained models answered."""
    questions = bb.nli.test_set("explicit") if questions is None else questions
    return bb.nli.compare_answers(kept_models(folder), questions, draws=20_000, random_seed=RANDOM_SEED)


def measured(embeddings: dict[str, bb.Embedding]) -> pd.DataFrame:
    """Return measures of the vectors: a row an embedding; directions are those of the original where one is asked."""
    names = bb.debias.load_debias_words(SETS).names
    original = embeddings["original"]
    rows = {}
    for name, embedding in embeddings.items():
        direct = bb.metrics.vocabulary_direct_bias(embedding, reference=original, random_seed=RANDOM_SEED)
        weighted = bb.metrics.midb(embedding, names, normalize=True, random_seed=RANDOM_SEED)
        rows[name] = {"vocabulary_direct_bias": direct.value, "midb": weighted.value}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("embedding")


def write(comparison: bb.nli.InferenceComparison, out: Path) -> None:
    """Write what came out, as numbers, text and figure."""
    for name in ("values", "changes", "words", "word_pairs", "runs"):
        getattr(comparison, name).to_csv(out / f"{name}.csv", index=False)
    (out / "inference.txt").write_text(f"{comparison}\n", encoding="utf-8")
    bb.nli.plot_inference(comparison).savefig(out / "inference.png", dpi=150)


if __name__ == "__main__":
    main()
