"""Run WEFE on the bundled vectors and word lists, and keep what it gives: `wefe.json`.

It runs inside an environment that has WEFE and not this package: see README.md.
"""

import argparse
import contextlib
import hashlib
import io
import json
import logging
import platform
import sys
import tomllib
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from wefe.datasets import load_bingliu
from wefe.debias.hard_debias import HardDebias
from wefe.debias.multiclass_hard_debias import MulticlassHardDebias
from wefe.metrics import ECT, MAC, RIPA, RND, RNSB, WEAT
from wefe.query import Query
from wefe.utils import create_ranking, run_queries
from wefe.word_embedding_model import WordEmbeddingModel

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
VECTORS = [f"wikipedia2018_skipgram_seed{seed}" for seed in (1, 2, 3)]
ITERATIONS = 500  # of its p-values: 10,000, its default, takes most of a minute each
PACKAGES = ("wefe", "gensim", "numpy", "pandas", "scikit-learn", "scipy")
Lists = dict[str, list[str]]


def keyed_vectors(name: str) -> KeyedVectors:
    """Return bundled vectors as gensim's."""
    with np.load(DATA / "vectors" / f"{name}.npz") as file:
        keyed = KeyedVectors(file["vectors"].shape[1])
        keyed.add_vectors(file["words"].tolist(), file["vectors"])
    return keyed


def study(name: str) -> tuple[Lists, Lists]:
    """Return the protected and the attribute lists of a bundled study."""
    document = tomllib.loads((DATA / "studies" / f"{name}.toml").read_text(encoding="utf-8"))
    return document["protected"], document["attributes"]


def query(targets: Lists, attributes: Lists) -> Query:
    """Return lists as a query."""
    return Query(list(targets.values()), list(attributes.values()), list(targets), list(attributes))


def ten_queries(vocabulary: Any) -> list[tuple[str, Lists, Lists]]:
    """Return ten questions of two and two lists, of those words of bundled studies that the vectors have."""
    queries = []
    for name in ("weat7", "weat8", "weat9", "gender", "religion", "race"):
        targets, attributes = study(name)
        for pair in combinations(range(len(targets)), 2):
            halves = [
                {key: [word for word in words if word in vocabulary] for key, words in list(lists.items())}
                for lists in (targets, attributes)
            ]
            chosen = [{key: half[key] for key in [list(half)[place] for place in pair]} for half in halves]
            title = name if len(targets) == 2 else f"{name}: {', '.join(chosen[0])}"
            queries.append((title, chosen[0], chosen[1]))
    return queries


class RecordedDraws:
    """NumPy's generator, seeded, that counts in how many draws of words a word occurs twice."""

    def __init__(self, seed: int) -> None:
        self.random, self.draws, self.with_a_word_twice = np.random.default_rng(seed), 0, 0

    def choice(self, words: list[str], size: int) -> Any:
        """Draw as NumPy does, and count."""
        drawn = self.random.choice(words, size=size)
        self.draws += 1
        self.with_a_word_twice += len(set(drawn.tolist())) < size
        return drawn


def permutation(question: Query, model: WordEmbeddingModel, seed: int, **options: Any) -> dict[str, Any]:
    """Return WEAT with a p-value, and how many draws it took."""
    recorded = RecordedDraws(seed)
    original = np.random.default_rng
    np.random.default_rng = lambda *_: recorded  # WEFE takes an unseeded generator: this one repeats
    try:
        result = WEAT().run_query(question, model, calculate_p_value=True, p_value_iterations=ITERATIONS, **options)
    finally:
        np.random.default_rng = original
    return {**result, "draws": recorded.draws, "draws_with_a_word_twice": recorded.with_a_word_twice}


def attempt(run: Any) -> dict[str, Any]:
    """Return a result, or the error in its place."""
    try:
        return {"result": run()}
    except Exception as error:  # noqa: BLE001  # whatever WEFE raises is what is kept
        return {"error": f"{type(error).__name__}: {error}"}


def measures(model: WordEmbeddingModel) -> dict[str, Any]:
    """Return what the measures give."""
    targets, attributes = study("weat7")
    question = query(targets, attributes)
    swapped = query(dict(reversed(targets.items())), attributes)
    shorter = {"math": targets["math"], "arts": targets["arts"][:5]}
    fewer = {"male": attributes["male"], "female": attributes["female"][:6]}
    male = {"male": attributes["male"]}
    results: dict[str, Any] = {"lists": {"targets": targets, "attributes": attributes}}
    results["weat"] = WEAT().run_query(question, model)
    results["weat_normalize"] = WEAT().run_query(question, model, normalize=True)
    results["weat_swapped"] = WEAT().run_query(swapped, model)
    results["weat_unequal"] = WEAT().run_query(query(shorter, fewer), model)
    results["weat_p"] = {
        f"{name}, {side}": permutation(side_question, model, seed, p_value_test_type=side)
        for name, side_question in (("as asked", question), ("swapped", swapped))
        for seed, side in enumerate(("right-sided", "left-sided", "two-sided"), start=1)
    }
    results["weat_p_exact"] = attempt(
        lambda: WEAT().run_query(question, model, calculate_p_value=True, p_value_method="exact")
    )
    pairs = {name: words[:2] for name, words in targets.items()}
    results["weat_p_of_two_and_two"] = permutation(query(pairs, attributes), model, 1)
    results["rnd"] = {
        f"{distance}, normalize={normalize}": RND().run_query(
            query(targets, male), model, distance=distance, normalize=normalize
        )
        for distance in ("norm", "cos")
        for normalize in (False, True)
    }
    results["ect"] = {
        f"normalize={normalize}": ECT().run_query(query(targets, male), model, normalize=normalize)
        for normalize in (False, True)
    }
    results["rnsb"] = {
        f"normalize={normalize}": RNSB().run_query(question, model, holdout=False, normalize=normalize)
        for normalize in (False, True)
    }
    results["rnsb_holdout"] = {
        f"random_state={seed}": RNSB().run_query(question, model, random_state=seed)["rnsb"] for seed in range(1, 6)
    }
    religion = [
        {name: [word for word in words if word in model] for name, words in lists.items()}
        for lists in study("religion")
    ]
    results["mac"] = MAC().run_query(query(*religion), model)
    results["rnsb_three_groups"] = RNSB().run_query(query(religion[0], attributes), model, holdout=False)
    return results


def ripa(model: WordEmbeddingModel) -> dict[str, Any]:
    """Return RIPA of pairs that are whole, that lost a word on one side, and that lost one on either side."""
    math = {"math": study("weat7")[0]["math"]}
    whole = {"male": ["man", "boy", "he", "brother", "son"], "female": ["woman", "girl", "she", "sister", "daughter"]}
    cases = {
        "whole": whole,
        "one side lost": {"male": whole["male"], "female": ["woman", "?", "she", "sister", "daughter"]},
        "both sides lost": {
            "male": ["man", "boy", "he", "?", "son"],
            "female": ["woman", "?", "she", "sister", "daughter"],
        },
    }
    return {
        name: {"targets": pairs, **attempt(lambda pairs=pairs: RIPA().run_query(query(pairs, math), model))}
        for name, pairs in cases.items()
    }


def look_up(model: WordEmbeddingModel) -> dict[str, Any]:
    """Return what lost words and other forms of words do."""
    targets, attributes = study("weat7")
    at_limit = {"math": ["math", "algebra", "geometry", "calculus", "?"], "arts": targets["arts"][:5]}
    past = {"math": ["math", "algebra", "geometry", "?", "??"], "arts": targets["arts"][:5]}
    other = {"math": [word.upper() for word in targets["math"]], "arts": ["Poetry", "Árt", *targets["arts"][2:]]}
    rule = [{}, {"lowercase": True}, {"lowercase": True, "strip_accents": True}]
    twice = {"math": ["math", "Math", "algebra", "geometry", "calculus"], "arts": targets["arts"][:5]}
    return {
        "a fifth lost": {"targets": at_limit, **WEAT().run_query(query(at_limit, attributes), model)},
        "more lost": {"targets": past, **WEAT().run_query(query(past, attributes), model)},
        "more lost, threshold 0.5": WEAT().run_query(query(past, attributes), model, lost_vocabulary_threshold=0.5),
        "other forms": {
            "targets": other,
            **WEAT().run_query(query(other, attributes), model, preprocessors=rule),
        },
        "other forms, no preprocessors": WEAT().run_query(query(other, attributes), model),
        "a word in two forms": {
            "targets": twice,
            **WEAT().run_query(query(twice, attributes), model, preprocessors=rule),
        },
    }


def many(models: list[WordEmbeddingModel]) -> dict[str, Any]:
    """Return the frames of `run_queries` and `create_ranking`."""
    queries_of_ten = ten_queries(models[0])
    queries = [query(targets, attributes) for _, targets, attributes in queries_of_ten]
    results: dict[str, Any] = {
        "queries": [
            {"title": title, "targets": targets, "attributes": attributes}
            for title, targets, attributes in queries_of_ten
        ]
    }
    frames = []
    for metric in (WEAT, RND, ECT, MAC):
        # Of RND and ECT, which take one attribute list, every query is two.
        frame = run_queries(
            metric, queries, models, generate_subqueries=metric in (RND, ECT), aggregate_results=True,
            aggregation_function="abs_avg",
        )  # fmt: skip
        frames.append(frame[[frame.columns[-1]]])
        results[metric.metric_short_name] = {
            "columns": list(frame.columns),
            "values": {name: [float(value) for value in frame.loc[name]] for name in frame.index},
        }
    ranking = create_ranking(frames)
    results["ranking"] = {column: ranking[column].astype(float).to_dict() for column in ranking.columns}
    return results


def debiased(method: Any, sets: list[list[str]], equalize: list[list[str]], shown: list[str]) -> dict[str, Any]:
    """Return directions and cosines of words after debiasing, of vectors that hold some title-cased words too."""
    one, two = (keyed_vectors(name) for name in VECTORS[:2])
    capitals = [word for words in (*sets, *equalize) for word in words if word in one]
    capitals = [word for word in dict.fromkeys(capitals) if word.title() not in one]
    # The bundled vectors have lower-case words only: title-cased ones take their vectors from other bundled vectors.
    one.add_vectors([word.title() for word in capitals], np.stack([two[word] for word in capitals]))
    model = WordEmbeddingModel(one, "cased")
    with contextlib.redirect_stdout(io.StringIO()):
        if method is HardDebias:
            fitted = HardDebias().fit(model, definitional_pairs=sets, equalize_pairs=equalize)
            directions = fitted.bias_direction_[None]
        else:
            count = max(map(len, sets)) - 1
            fitted = method(pca_args={"n_components": count}).fit(model, definitional_sets=sets, equalize_sets=equalize)
            directions = fitted.bias_subspace_
        after = fitted.transform(model)
    vectors = np.stack([after[word] for word in shown])
    return {
        "sets": sets,
        "equalize": equalize,
        "title_cased": [word.title() for word in capitals],
        "words": shown,
        "on_directions": (vectors @ directions.T).tolist(),
        "cosines": (vectors @ vectors.T).tolist(),
        "explained": fitted.pca_.explained_variance_ratio_[: len(directions)].tolist(),
    }


def debiasing() -> dict[str, Any]:
    """Return what hard debiasing does to pairs and to sets of three."""
    pairs = [["woman", "man"], ["girl", "boy"], ["she", "he"], ["mother", "father"], ["daughter", "son"]]
    shown = ["math", "poetry", "nurse", "woman", "man", "Woman", "Man", "girl", "boy", "sister"]
    religion = study("religion")[0]
    sets = [list(words) for words in zip(*(words[:4] for words in religion.values()), strict=True)]
    words = ["math", "poetry", "jew", "christian", "muslim", "torah", "bible", "quran", "Torah", "rabbi"]
    with np.load(DATA / "vectors" / f"{VECTORS[0]}.npz") as file:
        has = set(file["words"].tolist())
    sets = [set_words for set_words in sets if has.issuperset(set_words)]
    return {
        "hard": debiased(HardDebias, pairs, pairs, [word for word in shown if word.lower() in has]),
        "multiclass": debiased(MulticlassHardDebias, sets, sets, [word for word in words if word.lower() in has]),
    }


def plain(value: Any) -> Any:
    """Return what JSON can hold: NumPy's numbers as Python's, and None for NaN."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return value


def eds(folder: Path) -> dict[str, Any]:
    """Return the lists of `fetch_eds`, read from a folder with the data of Garg et al. in place of the network."""
    from unittest import mock

    import pandas as pd
    from wefe.datasets import fetch_eds

    real = pd.read_csv
    with mock.patch("pandas.read_csv", lambda url, **options: real(folder / Path(url).name, **options)):
        return fetch_eds()


def opinions() -> dict[str, Any]:
    """Return how many words `load_bingliu` has, and their hash."""
    lists = load_bingliu()
    return {
        "words": {name: len(words) for name, words in lists.items()},
        "sha256": {name: hashlib.sha256("\n".join(words).encode()).hexdigest() for name, words in lists.items()},
    }


def main() -> None:
    """Write what WEFE gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eds", type=Path, help="the folder data/ of EmbeddingDynamicStereotypes (Garg et al.)")
    parser.add_argument("--output", type=Path, default=HERE / "wefe.json")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    models = [WordEmbeddingModel(keyed_vectors(name), name) for name in VECTORS]
    results: dict[str, Any] = {
        "command": "python validation/wefe/run_wefe.py" + (" --eds DATA" if given.eds else ""),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "vectors": {
            name: hashlib.sha256((DATA / "vectors" / f"{name}.npz").read_bytes()).hexdigest() for name in VECTORS
        },
        "measures": measures(models[0]),
        "ripa": ripa(models[0]),
        "look_up": look_up(models[0]),
        "run_queries": many(models),
        "debias": debiasing(),
        "load_bingliu": opinions(),
    }
    if given.eds:
        results["fetch_eds"] = eds(given.eds)
    given.output.write_text(json.dumps(plain(results), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    print(f"Written to {given.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
