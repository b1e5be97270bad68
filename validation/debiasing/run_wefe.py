"""Run WEFE's debiasing methods on the bundled vectors, and keep what they give: `wefe.json`.

It runs inside an environment that has WEFE and not this package: see README.md.
"""

import contextlib
import hashlib
import io
import json
import logging
import platform
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from wefe.debias.double_hard_debias import DoubleHardDebias
from wefe.debias.half_sibling_regression import HalfSiblingRegression
from wefe.word_embedding_model import WordEmbeddingModel

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
VECTORS = "wikipedia2018_skipgram_seed1"
SHOWN = ["math", "poetry", "nurse", "engineer", "science", "art", "lawyer", "janitor", "love", "agony"]
WORDS, CANDIDATES = 100, 4  # of double-hard debiasing: 1,000 would be more than there are


def model() -> WordEmbeddingModel:
    """Return the bundled vectors as WEFE's."""
    with np.load(DATA / "vectors" / f"{VECTORS}.npz") as file:
        keyed = KeyedVectors(file["vectors"].shape[1])
        keyed.add_vectors(file["words"].tolist(), file["vectors"])
    return WordEmbeddingModel(keyed, VECTORS)


def vectors(model: WordEmbeddingModel, words: list[str]) -> list[list[float]]:
    """Return the vectors of words, rounded to what float32 holds."""
    return [[float(f"{number:.9g}") for number in model[word]] for word in words]


def main() -> None:
    """Write what WEFE gives."""
    logging.disable(logging.CRITICAL)
    lists = tomllib.loads((DATA / "debias" / "gender_bolukbasi.toml").read_text(encoding="utf-8"))
    has = set(model().vocab)
    pairs = [pair for pair in lists["definitional"] if has.issuperset(pair)]
    specific = [word for word in lists["specific"] if word in has]
    all_words = list(dict.fromkeys([*(word for pair in pairs for word in pair), *specific]))
    shown = [word for word in SHOWN if word in has]
    results: dict[str, Any] = {"pairs": pairs, "specific": specific, "shown": shown}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        half = HalfSiblingRegression().fit(model(), definitional_words=all_words).transform(model())
        results["half_sibling"] = {"known": all_words, "alpha": 60, "vectors": vectors(half, shown)}
        double = DoubleHardDebias(n_words=WORDS, n_components=CANDIDATES, incremental_pca=False)
        fitted = double.fit(model(), definitional_pairs=pairs, bias_representation=["he", "she"])
        np.random.seed(0)  # noqa: NPY002  # k-means starts at random, with NumPy's global generator
        choose, chosen = fitted._get_optimal_dimension, []
        fitted._get_optimal_dimension = lambda *given: chosen.append(choose(*given)) or chosen[-1]
        after = fitted.transform(model(), ignore=all_words)
        targets = fitted.target_words
        left = [word for word in shown if word in targets]
        results["double_hard"] = {
            "n_words": WORDS,
            "targets": targets,
            "direction": fitted.bias_direction.astype(float).tolist(),
            "mean": fitted.embeddings_mean.astype(float).tolist(),
            "components": fitted.pca[:CANDIDATES].astype(float).tolist(),
            "chosen": int(chosen[-1]) + 1,
            "words": targets[:3] + targets[-3:] + left,
            "vectors": vectors(after, targets[:3] + targets[-3:] + left),
            "changed": int(sum(not np.array_equal(after[word], model()[word]) for word in has)),
        }
    results |= {
        "command": "python validation/debiasing/run_wefe.py",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("wefe", "gensim", "numpy", "scikit-learn", "scipy")},
        "sha256": hashlib.sha256((DATA / "vectors" / f"{VECTORS}.npz").read_bytes()).hexdigest(),
    }
    (HERE / "wefe.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"Written to {HERE / 'wefe.json'}", file=sys.stderr)


if __name__ == "__main__":
    main()
