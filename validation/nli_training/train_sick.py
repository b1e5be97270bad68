"""Train models of inference on SICK over seeds, and see what limits them.

    python validation/nli_training/train_sick.py VECTORS SICK [--seeds 1 2 3 4 5] [--parts seeds limits] [--out FOLDER]

VECTORS is any file that bayesbias reads (`load_embedding`); SICK its file of pairs (`bb.nli.read_pairs`). One process
and one thread. README.md says what came out.
"""

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from bayesbias.errors import LostWordsWarning
from bayesbias.nli import training
from bayesbias.nli.model_scores import LABELS, accuracy
from bayesbias.nli.sentences import WordVectors, words_of

FOLDER = Path(__file__).resolve().parent
# What almost every sentence has is no sign of a sentence whose meaning is lost.
FUNCTION_WORDS = {"a", "and", "of", "to"}


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", type=Path, help="file of vectors")
    parser.add_argument("sick", type=Path, help="file of SICK's pairs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--parts", nargs="+", choices=["seeds", "limits"], default=["seeds", "limits"])
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore", LostWordsWarning)  # run.json says how many
    embedding = bb.load_embedding(arguments.vectors)
    splits = [bb.nli.read_pairs(arguments.sick, splits=name) for name in ("TRAIN", "TRIAL", "TEST")]
    facts = {
        "seeds": arguments.seeds,
        "vectors": {"name": embedding.name, "words": len(embedding), "dimensions": embedding.dimensions},
        "pairs": dict(zip(("train", "development", "test"), map(len, splits), strict=True)),
        "words_of_train": lost_share(embedding, splits[0]),
        "machine": {"cores": os.cpu_count(), "threads": 1, "python": platform.python_version()},
        "torch": version("torch"),
    }
    (arguments.out / "run.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    if "seeds" in arguments.parts:
        over_seeds(embedding, splits, arguments.seeds, arguments.epochs, arguments.out)
    if "limits" in arguments.parts:
        limits(embedding, splits, arguments.seeds[0], arguments.epochs, arguments.out)


def lost_share(embedding: bb.Embedding, pairs: pd.DataFrame) -> dict[str, float]:
    """Return how many distinct words pairs have, how many of these are lost, and the share of all words that are."""
    texts = [text for name in ("premise", "hypothesis") for text in pairs[name]]
    vectors = WordVectors.from_embedding(embedding)
    vectors.learn(texts, "the pairs")
    words, lost = [word for text in texts for word in words_of(text)], set(vectors.lost)
    share = sum(word in lost for word in words) / len(words)
    return {"distinct": len(set(words)), "lost": len(lost), "share_of_all": round(share, 4)}


def over_seeds(
    embedding: bb.Embedding, splits: Sequence[pd.DataFrame], seeds: Sequence[int], epochs: int, out: Path
) -> None:
    """Write the accuracy with each seed; with the last one also by how many words a pair lost, and by label."""
    rows = []
    for seed in seeds:
        row, answers, lost = trained(embedding, *splits, seed=seed, epochs=epochs)
        rows.append(row)
        pd.DataFrame(rows).to_csv(out / "accuracy.csv", index=False)
    by_lost_words(answers, splits[2], lost).to_csv(out / "lost_words.csv", index=False)
    labels(answers, splits[2]["label"].to_numpy()).to_csv(out / "labels.csv", index=False)


def trained(
    embedding: bb.Embedding, pairs: pd.DataFrame, development: pd.DataFrame, test: pd.DataFrame, **settings: Any
) -> tuple[dict[str, Any], np.ndarray, tuple[str, ...]]:
    """Return what one training gave, its answers to the test pairs, and the words that the vectors lack."""
    seed = settings.pop("seed")
    wall, processor = time.perf_counter(), time.process_time()
    model = bb.nli.train(embedding, pairs, development=development, random_seed=seed, progress=False, **settings)
    spent = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - processor}
    answers = model(test["premise"].tolist(), test["hypothesis"].tolist())
    measured = accuracy(answers, test["label"].tolist(), hdi_prob=HDI_PROB)
    row = {
        "seed": seed,
        "epochs": len(model.history),
        "best_epoch": int(model.history["accuracy"].argmax()) + 1,
        "train": model.evaluate(pairs).accuracy,
        "development": model.history["accuracy"].max(),
        "test": measured.accuracy,
        "hdi_low": measured.hdi_low,
        "hdi_high": measured.hdi_high,
        "largest_label": measured.largest_label,
        **{name: round(value) for name, value in spent.items()},
    }
    return row, answers, model.lost_words


def by_lost_words(answers: np.ndarray, test: pd.DataFrame, lost: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy of pairs with no, one or two, or more lost words that carry meaning."""
    missing = {word.lower() for word in lost} - FUNCTION_WORDS
    texts = zip(test["premise"], test["hypothesis"], strict=True)
    counts = [len({word.lower() for text in pair for word in words_of(text)} & missing) for pair in texts]
    right = answers.argmax(axis=1) == np.array([LABELS.index(label) for label in test["label"]])
    kind = pd.cut(counts, [-1, 0, 2, 1000], labels=["none", "1 or 2", "3 or more"])
    frame = pd.DataFrame({"lost": kind, "right": right, "largest": test["label"].to_numpy() == "neutral"})
    grouped = frame.groupby("lost", observed=True)
    by_count = grouped.size().rename("pairs").to_frame()
    return by_count.assign(accuracy=grouped["right"].mean(), neutral=grouped["largest"].mean()).reset_index()


def labels(answers: np.ndarray, right: np.ndarray) -> pd.DataFrame:
    """Return the share of each answer among the pairs of each label."""
    rows = []
    for label in LABELS:
        shares = np.eye(3)[answers[right == label].argmax(axis=1)].mean(axis=0)
        rows.append({"right": label, "pairs": int((right == label).sum()), **dict(zip(LABELS, shares, strict=True))})
    return pd.DataFrame(rows)


def limits(embedding: bb.Embedding, splits: Sequence[pd.DataFrame], seed: int, epochs: int, out: Path) -> None:
    """Write what training gives with half of the pairs, and as Parikh et al. start it."""
    pairs, development, test = splits
    half = pairs.sample(frac=0.5, random_state=seed)
    few = min(epochs, 8)
    cases: Mapping[str, tuple[pd.DataFrame, dict[str, Any]]] = {
        "half of the pairs": (half, {"epochs": epochs}),
        "starting weights of sd 0.01, first sums 0, batches of 32": (pairs, {"epochs": few, "batch_size": 32}),
    }
    rows = []
    ours = training._starting_weights, training._FIRST_SUM
    for name, (chosen, settings) in cases.items():
        printed = name.startswith("starting")
        training._starting_weights, training._FIRST_SUM = (as_printed(), 0.0) if printed else ours
        row, _, _ = trained(embedding, chosen, development, test, seed=seed, **settings)
        rows.append({"change": name, "pairs": len(chosen), **row})
        pd.DataFrame(rows).to_csv(out / "limits.csv", index=False)
    training._starting_weights, training._FIRST_SUM = ours


def as_printed() -> Callable[[Mapping[str, tuple[int, ...]], int], dict[str, np.ndarray]]:
    """Return what draws starting weights as Parikh et al. print it: Normal with mean 0 and sd 0.01."""

    def draw(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng([seed, 1])
        return {name: (0.01 * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}

    return draw


if __name__ == "__main__":
    main()
