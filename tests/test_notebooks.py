"""The kept outputs of the notebooks are clean, and they are what a fresh run gives."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from bayesbias import errors

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
LARGEST_FILE = 700_000
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


def test_every_notebook_is_on_the_readme_s_list() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if "notebooks/" not in readme:
        pytest.skip("the README does not speak of notebooks yet")
    assert [name for name in NAMES if f"{name}.ipynb" not in readme] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_fresh_run_prints_what_is_kept(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "run.py"), name, "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    advice = "the kept outputs are stale: python notebooks/run.py"
    assert texts(read(tmp_path, name)) == texts(read(FOLDER, name)), advice
