"""Run the published code of INLP, OSCaR and BAM on the bundled vectors, and keep what it gives: `authors.json`.

It needs clones of the three repositories, and NumPy, SciPy and scikit-learn: see README.md.
"""

import argparse
import ast
import contextlib
import hashlib
import importlib.util
import io
import json
import platform
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
VECTORS = "wikipedia2018_skipgram_seed1"
SHOWN = ["math", "poetry", "nurse", "engineer", "science", "art", "lawyer", "janitor"]


def module(path: Path, name: str) -> ModuleType:
    """Return a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"There is no {path}.")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def functions(path: Path) -> dict[str, Any]:
    """Return the functions of a script that reads files as soon as it runs, without running the rest of it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    space: dict[str, Any] = {"np": np}
    exec(compile(tree, str(path), "exec"), space)  # the authors' own functions
    return space


def unit(rows: Any) -> Any:
    """Return rows of length 1."""
    rows = np.asarray(rows, dtype=np.float64)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def main() -> None:
    """Write what the authors' code gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inlp", type=Path, required=True, help="a clone of shauli-ravfogel/nullspace_projection")
    parser.add_argument("--oscar", type=Path, required=True, help="a clone of sunipa/OSCaR-...")
    parser.add_argument("--bam", type=Path, required=True, help="a clone of anlausch/DEBIE")
    given = parser.parse_args()
    with np.load(DATA / "vectors" / f"{VECTORS}.npz") as file:
        words, matrix = file["words"].tolist(), file["vectors"].astype(np.float64)
    place = {word: row for row, word in enumerate(words)}
    lists = tomllib.loads((DATA / "debias" / "gender_bolukbasi.toml").read_text(encoding="utf-8"))
    pairs = [pair for pair in lists["definitional"] if all(word in place for word in pair)]
    units = unit(matrix)
    first, second = (units[[place[pair[side]] for pair in pairs]] for side in (0, 1))
    gender = np.linalg.svd(first - second)[2][0]
    gender *= np.sign((first - second).sum(axis=0) @ gender)

    # INLP: the first classifier of the words that our first one learns from.
    all_words = {*(word for pair in pairs for word in pair), *lists["specific"]}
    rows = np.array([row for row, word in enumerate(words) if word not in all_words])
    bias, count = units[rows] @ gender, len(rows) // 3
    order = rows[np.argsort(bias, kind="stable")]
    left = np.array([row for row in rows if row not in {*order[:count], *order[-count:]}])
    neither = left[np.argsort(np.abs(units[left] @ gender), kind="stable")][:count]
    classes = [order[::-1][:count], order[:count], neither]
    learnt = np.isin(np.arange(count) % 10, (0, 3, 5, 8))
    X = np.concatenate([units[words_of_class[learnt]] for words_of_class in classes])
    Y = np.repeat([0, 1, 2], learnt.sum())
    sys.path.insert(0, str(given.inlp))
    from sklearn.svm import LinearSVC

    inlp = module(given.inlp / "src" / "debias.py", "inlp_debias")
    settings = {"fit_intercept": False, "class_weight": None, "dual": False, "random_state": 0}
    with contextlib.redirect_stderr(io.StringIO()):
        projection, _, _ = inlp.get_debiasing_projection(LinearSVC, settings, 1, X.shape[1], True, 0, X, Y, X, Y)
    results: dict[str, Any] = {"pairs": pairs, "shown": SHOWN, "inlp": {"learnt": len(X)}, "oscar": {}}
    results["inlp"]["vectors"] = (matrix[[place[word] for word in SHOWN]] @ projection).tolist()

    # OSCaR: the directions are ours, what is done with them is theirs.
    concept = units[[place[word] for word in lists["concept"] if word in place]]
    occupation = np.linalg.svd(concept - concept.mean(axis=0))[2][0]
    occupation *= np.sign(occupation @ gender)
    oscar = functions(given.oscar / "oscar.py")
    across = oscar["basis"](np.vstack((gender, occupation)))
    plane = np.stack([gender, across])
    try:
        oscar["correction"](
            oscar["gsConstrained"](np.identity(len(gender)), gender, across), gender, occupation, matrix[0]
        )
    except ValueError as error:
        results["oscar"] = {"error": str(error)}
    # Its rotation takes the two coordinates in the plane, which `correction` does not give it.
    rotated = [oscar["rotation"](gender, occupation, plane @ matrix[place[word]]) for word in SHOWN]
    moved = oscar["rotation"](gender, occupation, plane @ occupation)
    results["oscar"] |= {
        "coordinates": np.array(rotated).tolist(),
        "degrees_before": float(np.degrees(np.arccos(gender @ occupation))),
        "degrees_after": float(np.degrees(np.arccos(moved[0] / np.linalg.norm(moved)))),
    }

    # BAM: how near the rotated first words come to the second ones.
    with contextlib.redirect_stdout(io.StringIO()):
        _, rotation = module(given.bam / "bam.py", "bam").debias_proc(pairs, units, place)
    results["bam"] = {"distance_before": float(np.linalg.norm(first - second))}
    results["bam"]["distance_after"] = float(np.linalg.norm(first @ rotation - second))
    results |= {
        "command": "python validation/debiasing/run_authors.py --inlp INLP --oscar OSCAR --bam BAM",
        "commits": {"inlp": "e1edcc1", "oscar": "5ee0897", "bam": "85c3986"},
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "scikit-learn", "scipy")},
        "sha256": hashlib.sha256((DATA / "vectors" / f"{VECTORS}.npz").read_bytes()).hexdigest(),
    }
    (HERE / "authors.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"Written to {HERE / 'authors.json'}", file=sys.stderr)


if __name__ == "__main__":
    main()
