"""The kept outputs of the notebooks are clean, and they are what a fresh run gives.

A posterior is drawn with linear algebra, which rounds differently on another processor: the same seed then gives
other draws. So the fresh run draws posteriors with another seed than the kept one, and what depends on them is compared
within Monte Carlo error. All else, simulated data and random lists included, is the same on every machine.
"""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

import bayesbias as bb
from bayesbias import errors

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
LARGEST_FILE = 700_000
MODELS = "LANGUAGE_MODELS"
"""Variable of the environment with the folder that a notebook about language models reads."""
# Functions of bb that draw from a posterior.
POSTERIORS = {
    *("fit", "compare_embeddings", "check_posterior", "compare_models", "sensitivity", "false_positive_rates"),
    "trend",
}
# About twice the most by which any two of four seeds differ in a number of the notebooks.
ABSOLUTE, RELATIVE = 0.015, 0.08
NUMBER = re.compile(r"(?:above |below |over |under )?([-+]?\d+\.\d+)")
# What a few draws can turn over: which single words are settled, how a contrast near 0 is read; and the seed itself.
_READING = "smaller|larger|settled only|of opposite|changed, though|borderline|no settled change|not settled"
TURNS_OVER = re.compile(rf"(?<=\d words: ).*?\.(?=\s)|(?<=: )(?:{_READING})[^.]*\.(?=\s)|\bseed \d+")
MACHINE_PATH = re.compile(r"(?<![\w.])(?:/(?:work|root|home|tmp|Users|private|var)/|[A-Z]:\\)|ipykernel_\d")


def read(folder: Path, name: str) -> Any:
    return nbformat.read(folder / f"{name}.ipynb", as_version=4)


def texts(notebook: Any) -> list[tuple[int, str, str]]:
    """Cell number, kind and text of each output; an image is the text that stands for it."""
    found = []
    for number, cell in enumerate(notebook.cells, start=1):
        for output in cell.get("outputs", []):
            kind = output.get("name", output.output_type)
            found.append((number, kind, output.get("text") or output.get("data", {}).get("text/plain", "")))
    return found


def test_there_are_notebooks() -> None:
    assert {"quickstart", "reproducing_the_paper", "original_and_debiased", "null_simulations"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_was_executed_from_top_to_bottom_without_an_error(name: str) -> None:
    notebook = read(FOLDER, name)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all(cell.outputs for cell in code)
    assert all(output.output_type != "error" for cell in code for output in cell.outputs)
    assert 8 <= len(notebook.cells) <= 15


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_figures_and_is_small(name: str) -> None:
    images = [
        output.data["image/png"]
        for cell in read(FOLDER, name).cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert images
    assert (FOLDER / f"{name}.ipynb").stat().st_size < LARGEST_FILE


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_bears_no_trace_of_time_and_place(name: str) -> None:
    notebook = read(FOLDER, name)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.language_info == {"name": "python"}
    assert all(not cell.metadata for cell in notebook.cells)
    assert [cell.id for cell in notebook.cells] == [f"cell-{n:02}" for n in range(1, len(notebook.cells) + 1)]
    for cell in notebook.cells:
        shown = [cell.source, *(str(value) for output in cell.get("outputs", []) for value in shown_of(output))]
        for text in shown:
            assert not MACHINE_PATH.search(text), MACHINE_PATH.search(text)


def shown_of(output: Any) -> list[str]:
    return [output.get("text", ""), *(text for kind, text in output.get("data", {}).items() if "image" not in kind)]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_warns_only_of_what_its_text_explains(name: str) -> None:
    notebook = read(FOLDER, name)
    prose = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for _, kind, text in texts(notebook):
        for line in text.strip().splitlines() if kind == "stderr" else []:
            warning = re.match(r"(\w+Warning): ", line)
            assert warning, line
            assert issubclass(getattr(errors, warning[1], int), errors.BayesBiasWarning), line
            assert warning[1] in prose


@pytest.mark.parametrize("name", NAMES)
def test_a_number_that_the_prose_quotes_is_one_that_a_cell_shows(name: str) -> None:
    notebook = read(FOLDER, name)
    prose = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    code = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    shown = code + " ".join(text for _, _, text in texts(notebook))
    assert [number for number in re.findall(r"-?\b\d\.\d{3,}\b", prose) if number not in shown] == []


def test_every_notebook_is_on_the_site() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"notebooks/{name}\n" not in index] == []


def drawn(notebook: Any) -> set[int]:
    """Numbers of the cells that draw from a posterior, or use a name that such a cell gave."""
    cells, names = set(), set()
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        nodes = list(ast.walk(ast.parse(cell.source)))
        read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        called = {node.attr for node in attributes if ast.unparse(node.value) in ("bb", "bb.reports")}
        if called & POSTERIORS or read & names:
            cells.add(number)
            names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return cells


def differences(kept: str, fresh: str) -> list[str]:
    """Return where two texts differ by more than Monte Carlo error; words and whole numbers must be equal."""
    old, new = (TURNS_OVER.sub("", " ".join(text.split()) + " ") for text in (kept, fresh))
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return [f"kept: {old}", f"fresh: {new}"]
    pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    return [f"kept {a}, fresh {b}" for a, b in pairs if abs(float(a) - float(b)) > tolerance(a, b)]


def tolerance(kept: str, fresh: str) -> float:
    return ABSOLUTE + RELATIVE * max(abs(float(kept)), abs(float(fresh)))


def test_cells_that_draw_are_found() -> None:
    assert drawn(read(FOLDER, "quickstart")) == {8, 10, 12, 14}
    assert drawn(read(FOLDER, "original_and_debiased")) == {8, 10, 12, 14}
    assert drawn(read(FOLDER, "null_simulations")) == {10}
    assert drawn(read(FOLDER, "canonical_subspace")) == set()


@pytest.mark.parametrize(
    ("kept", "fresh", "same"),
    [
        ("difference -0.030, interval -0.073 to +0.016", "difference -0.031,  interval\n-0.079 to +0.010", True),
        ("difference -0.030", "difference -0.050", False),
        ("probability over 0.99 that", "probability 0.97 that", True),
        ("14 words: 2 nearer (he, she), 12 not settled. Next", "14 words: none settled. Next", True),
        ("14 words: none settled.", "13 words: none settled.", False),
        ("from a to b: smaller in b. The change", "from a to b: borderline change (another seed). The change", True),
        ("from a to b: smaller in b. The change is -0.014", "from a to b: smaller in b. The change is -0.053", False),
        ("3,710 pairs, seed 1.", "3,710 pairs, seed 2.", True),
        ("it is settled", "it is not settled", False),
    ],
)
def test_only_monte_carlo_error_is_forgiven(kept: str, fresh: str, *, same: bool) -> None:
    assert (differences(kept, fresh) == []) is same


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_names_functions_and_arguments_that_there_are(name: str) -> None:
    """What `bb` has, and takes, in every cell: `make validate` runs them."""
    calls = [
        node
        for cell in read(FOLDER, name).cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("bb.")
    ]
    assert calls
    for call in calls:
        function: Any = bb
        for part in ast.unparse(call.func).split(".")[1:]:
            if not part.isidentifier():
                break  # a method of what a call returned
            function = getattr(function, part)
        else:
            if not any(isinstance(given, ast.Starred) for given in call.args):
                named = {keyword.arg: None for keyword in call.keywords if keyword.arg is not None}
                inspect.signature(function).bind_partial(*call.args, **named)


@pytest.mark.slow
def test_a_run_leaves_no_trace_of_time_and_place() -> None:
    """The runner of the notebooks, with a short one."""
    spec = importlib.util.spec_from_file_location("run_notebooks", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    cells = [
        "import warnings, bayesbias as bb",
        "print('one')\nprint('two')\nwarnings.warn(bb.errors.LostWordsWarning('lost'), stacklevel=1)",
        "bb.fit(table, random_seed=3)  # not run",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    other = runner.with_other_draws(notebook)
    assert [cell.source for cell in other.cells[:2]] == cells[:2]
    assert other.cells[2].source == "bb.fit(table, random_seed=4)  # not run"
    notebook.cells.pop()
    fresh = runner.execute(notebook)
    assert texts(fresh) == [(2, "stdout", "one\ntwo\n"), (2, "stderr", "LostWordsWarning: lost\n")]
    assert [cell.id for cell in fresh.cells] == ["cell-01", "cell-02"]
    assert fresh.metadata.language_info == {"name": "python"}


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_fresh_run_prints_what_is_kept(name: str, tmp_path: Path) -> None:
    if MODELS in (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8") and MODELS not in os.environ:
        pytest.skip(f"{MODELS} names no folder with language models")
    command = [sys.executable, str(FOLDER / "run.py"), name, "--out", str(tmp_path), "--other-draws"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept, fresh = read(FOLDER, name), read(tmp_path, name)
    assert [row[:2] for row in texts(fresh)] == [row[:2] for row in texts(kept)]
    random = drawn(kept)
    for (number, _, old), (_, _, new) in zip(texts(kept), texts(fresh), strict=True):
        found = differences(old, new) if number in random else [] if old == new else [f"kept: {old}", f"fresh: {new}"]
        assert found == [], f"cell {number}: the kept outputs are stale: python notebooks/run.py {name}"
