"""The table of `validation/README.md`: its times are those that the runs recorded."""

import json
import re
from typing import Any

import pandas as pd
import pytest

from tests.validation.scripts import VALIDATION, load_script

TIMES = dict(
    re.findall(
        r"^\| \[`(\w+)/`\].*\| ([^|]*) \|$", (VALIDATION / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
)


def stored(path: str) -> Any:
    return json.loads((VALIDATION / path).read_text(encoding="utf-8"))


def calibration_seconds() -> float:
    script, runs = load_script("calibration", "calibrate"), stored("calibration/run.json")
    return sum(runs[name]["seconds"] for name in [*(ranked.name for ranked in script.RANKED), *script.COVERAGE])


def processor_seconds(*tables: str) -> float:
    return sum(float(pd.read_csv(VALIDATION / table)["cpu_seconds"].sum()) for table in tables)


def comparison_seconds() -> float:
    comparison = pd.read_csv(VALIDATION / "model_comparison" / "comparison.csv")
    return float(comparison.groupby("table")["seconds"].first().sum())


SECONDS = {
    **{
        name: stored(f"{name}/run.json")["seconds"]
        for name in (
            "axes",
            "changes",
            "changes_over_seeds",
            "factors",
            "gate",
            "groups",
            "kindel",
            "reliability",
            "required_words",
            "templates",
            "trade",
        )
    },
    "real_contrasts": stored("real_contrasts/cells.json")["seconds"],
    "language_models": sum(stored(f"language_models/{name}.json")["seconds"] for name in ("planted", "shared")),
    "periods": sum(stored(f"periods/{name}.json")["seconds"] for name in ("cells", "trends")),
    **{name: sum(stored(f"{name}/run.json")["seconds"].values()) for name in ("nulls", "asymmetry")},
    "study_over_seeds": stored("study_over_seeds/run.json")["seconds"],
    "downstream": stored("downstream/run.json")["processor_seconds"],
    "calibration": calibration_seconds(),
    "nli_training": processor_seconds("nli_training/accuracy.csv", "nli_training/limits.csv"),
    "training": processor_seconds("training/training.csv"),
    "model_comparison": comparison_seconds(),
}


@pytest.mark.parametrize("folder", sorted(TIMES))
def test_a_time_is_the_one_that_the_run_recorded(folder: str) -> None:
    """A folder whose run recorded no time has none in the table."""
    if folder not in SECONDS:
        assert not re.search(r"\d", TIMES[folder])
    else:
        minutes = round(SECONDS[folder] / 60)
        time = f"{minutes} minute{'s' * (minutes != 1)}" if minutes else f"{SECONDS[folder]} seconds"
        assert TIMES[folder].startswith(time)


def test_a_command_names_as_many_samples_as_the_run_had() -> None:
    text = (VALIDATION / "README.md").read_text(encoding="utf-8")
    samples = dict(re.findall(r"validation/(\w+)/\w+\.py[^`|]*--samples (\d+)", text))
    assert samples == {
        name: str(stored(f"{name}/run.json")["samples"])
        for name in ("axes", "changes", "changes_over_seeds", "gate", "groups", "templates")
    }


def test_every_folder_has_a_row() -> None:
    folders = {path.name for path in VALIDATION.iterdir() if (path / "README.md").exists()}
    assert set(TIMES) == folders


@pytest.mark.parametrize("folder", sorted(TIMES))
def test_the_numbers_of_a_result_are_those_of_its_folder(folder: str) -> None:
    """The README of the folder has them, and its own test computes them from the tables."""
    text = (VALIDATION / "README.md").read_text(encoding="utf-8")
    (result,) = re.findall(rf"^\| \[`{folder}/`\]\([^)]*\) \| [^|]* \| ([^|]*) \|", text, re.MULTILINE)
    numbers = re.compile(r"\d[\d.]*\d|\d")
    assert result.strip()
    assert set(numbers.findall(result)) <= set(numbers.findall((VALIDATION / folder / "README.md").read_text("utf-8")))
