"""Run the WEFE code of the page "From WEFE", and what its lines on arguments say: `page.json`.

It runs inside an environment that has WEFE and not this package: see README.md.
"""

import contextlib
import hashlib
import io
import json
import logging
import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from run_wefe import DATA, PACKAGES, VECTORS, keyed_vectors, query, study
from wefe.debias.hard_debias import HardDebias
from wefe.metrics import WEAT
from wefe.utils import plot_queries_results, run_queries
from wefe.word_embedding_model import WordEmbeddingModel

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "from_wefe.md"
PAIRS = [["woman", "man"], ["girl", "boy"], ["she", "he"], ["mother", "father"], ["daughter", "son"]]
ARGUMENTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "as it is": ({}, {}, {}),
    "pca_args, 1": ({"pca_args": {"n_components": 1}}, {}, {}),
    "pca_args, 3": ({"pca_args": {"n_components": 3}}, {}, {}),
    "equalize_pairs": ({}, {"equalize_pairs": PAIRS[:2]}, {}),
    "ignore": ({}, {}, {"ignore": ["math", "poetry"]}),
    "target": ({}, {}, {"target": ["math", "poetry"]}),
}


def blocks() -> list[str]:
    """Return the page's WEFE code."""
    return re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def numbers_of(text: str) -> list[float]:
    """Return the numbers that a block printed."""
    return [float(number) for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)]


def printed(code: str) -> list[float]:
    """Return the numbers that a block prints, which may use `wv` and `seeds`."""
    seeds = {f"seed {number}": keyed_vectors(name) for number, name in enumerate(VECTORS, start=1)}
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        exec(code, {"wv": seeds["seed 1"], "seeds": seeds})  # the page's own code
    return numbers_of(shown.getvalue())


def hard_debias() -> dict[str, Any]:
    """Return what WEAT 7 is after hard debiasing with each argument, and the name of the result."""
    results = {}
    for case, (settings, fitting, transforming) in ARGUMENTS.items():
        model = WordEmbeddingModel(keyed_vectors(VECTORS[0]), "Wikipedia")
        before = model.wv.vectors.copy()
        with contextlib.redirect_stdout(io.StringIO()):
            fitted = HardDebias(criterion_name="gender", **settings).fit(model, PAIRS, **fitting)
            after = fitted.transform(model, **transforming)
        units = before / np.linalg.norm(before, axis=1, keepdims=True)
        changed = np.abs(after.wv.vectors - units).max(axis=1) > 1e-6
        results[case] = {
            "name": after.name,
            "effect_size": WEAT().run_query(query(*study("weat7")), after)["effect_size"],
            "changed": int(changed.sum()),
            "original_unchanged": bool(np.array_equal(model.wv.vectors, before)),
        }
    return results


def vocab_prefix() -> dict[str, Any]:
    """Return WEAT 7 in vectors whose words have a prefix, with `vocab_prefix` and without."""
    source = keyed_vectors(VECTORS[0])
    prefixed = KeyedVectors(source.vector_size)
    prefixed.add_vectors([f"/c/en/{word}" for word in source.index_to_key], source.vectors)
    question = query(*study("weat7"))
    models = {prefix: WordEmbeddingModel(prefixed, "prefixed", vocab_prefix=prefix) for prefix in ("/c/en/", None)}
    return {str(prefix): WEAT().run_query(question, model)["effect_size"] for prefix, model in models.items()}


def plotted() -> dict[str, list[float]]:
    """Return the heights of the bars of `plot_queries_results`, by embedding."""
    models = [WordEmbeddingModel(keyed_vectors(name), name) for name in VECTORS]
    questions = [query(*study(name)) for name in ("weat7", "gender")]
    bars = plot_queries_results(run_queries(WEAT, questions, models)).data
    return {bar.name: [float(height) for height in bar.y] for bar in bars}


def main() -> None:
    """Write what WEFE gives."""
    logging.disable(logging.CRITICAL)
    question = query(*study("weat7"))
    results: dict[str, Any] = {
        "command": "python validation/wefe/run_page.py",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in (*PACKAGES, "plotly")},
        "vectors": {
            name: hashlib.sha256((DATA / "vectors" / f"{name}.npz").read_bytes()).hexdigest() for name in VECTORS
        },
        "blocks": [{"code": code, "printed": printed(code)} for code in blocks()],
        "query": {"name": question.query_name, "template": question.template},
        "hard_debias": hard_debias(),
        "vocab_prefix": vocab_prefix(),
        "plot_queries_results": plotted(),
    }
    text = json.dumps(results, indent=1).replace("NaN", "null")
    (HERE / "page.json").write_text(text + "\n", encoding="utf-8")
    print(f"Written to {HERE / 'page.json'}", file=sys.stderr)


if __name__ == "__main__":
    main()
