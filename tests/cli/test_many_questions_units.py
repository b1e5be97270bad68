"""Audits and gates of plans with sections that name language models and scores."""

import json
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from tests.cli.running import in_process

SETTINGS = 'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nrandom_seed = 1\ndraws = 100\n'
SCORES = 'people = {scores = "times.csv", value = "time", unit = "ms", lower = "nearer"}\n'


@pytest.fixture
def scored(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workplace with reaction times of its study, which are 50 ms shorter for associated pairs."""
    monkeypatch.chdir(workplace)
    study = bb.load_study(workplace / "pets.toml")
    rows = ["protected_word,attribute_word,time"]
    for group, words in study.protected.items():
        for name, attributes in study.attributes.items():
            near = study.connection(group, name) == "associated"
            rows += [
                f"{a},{b},{650 - 50 * near + (7 * i + 3 * j) % 5}"
                for i, a in enumerate(words)
                for j, b in enumerate(attributes)
            ]
    (workplace / "times.csv").write_text("\n".join(rows) + "\n")
    return workplace


def test_a_plan_asks_vectors_and_scores_side_by_side(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (scored / "audit.toml").write_text(f'{SETTINGS}[embeddings]\nmine = "vectors.txt"\n{SCORES}')
    assert in_process("audit", "audit.toml", "-o", "audit", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "1 embedding and 1 table" in shown
    assert "each in its unit" in shown
    frame = pd.read_csv(scored / "audit" / "audit.csv", keep_default_na=False)
    assert dict(zip(frame["embedding"], frame["contrast_unit"], strict=True)).keys() == {"mine", "people"}
    overall = frame[(frame["embedding"] == "people") & (frame["protected_group"] == "")]
    assert overall["contrast_unit"].tolist() == ["ms"]
    assert float(overall["observed"].item()) == pytest.approx(-50, abs=3)
    page = (scored / "audit" / "report.html").read_text(encoding="utf-8")
    assert "standardised" in page


def test_a_gate_of_scores_has_a_region_in_their_unit(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = scored / "gate.toml"
    plan.write_text(f"{SETTINGS}rope = {{ms = 5}}\n[embeddings]\n{SCORES}")
    assert in_process("gate", "gate.toml", "-o", "gate", monkeypatch=monkeypatch) == 3
    assert "FAIL people, pets: -" in (shown := capsys.readouterr().out)
    assert " ms (89% interval" in shown
    content = json.loads((scored / "gate" / "gate.json").read_text())
    assert (content["unit"], content["questions"][0]["contrast_unit"]) == ("ms", "ms")
    baseline = ("--baseline", "gate/gate.json")
    assert in_process("gate", "gate.toml", *baseline, monkeypatch=monkeypatch) == 0
    assert "not shown to be worse" in capsys.readouterr().out
    plan.write_text(f"{SETTINGS}rope = {{s = 0.005}}\n[embeddings]\n{SCORES.replace('ms', 's')}")
    assert in_process("gate", "gate.toml", *baseline, monkeypatch=monkeypatch) in (3, 7)
    assert "its contrasts are in s, those of the baseline in ms" in capsys.readouterr().out


def test_a_region_of_another_unit_is_a_mistake(
    scored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (scored / "gate.toml").write_text(f"{SETTINGS}rope = 0.02\n[embeddings]\n{SCORES}")
    assert in_process("gate", "gate.toml", monkeypatch=monkeypatch) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "no region for people, whose contrasts are in ms" in shown
    assert "rope = {'ms' = 0.1}" in shown
    assert "--rope-standardised 0.3" in shown


@pytest.mark.extras
@pytest.mark.shared
def test_a_plan_asks_two_language_models(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    models = shared / "data" / "language_models"
    (tmp_path / "work.toml").write_text(
        'name = "work"\nassociated = [["men", "male"], ["women", "female"]]\n'
        '[protected]\nmen = ["engineer", "carpenter", "pilot"]\nwomen = ["nurse", "librarian", "dancer"]\n'
        '[attributes]\nmale = ["he", "him"]\nfemale = ["she", "her"]\n[controls]\nhuman = "none"\nneutral = "none"\n'
    )
    templates = ["The PROTECTED said that ATTRIBUTE was tired.", "As a PROTECTED, ATTRIBUTE worked in the city."]
    (tmp_path / "mine.txt").write_text("\n".join(templates) + "\n")
    named = "".join(
        f'{kind} = {{surprisal = "{models / kind}", templates = "mine.txt"}}\n' for kind in ("masked", "causal")
    )
    (tmp_path / "audit.toml").write_text(
        f'studies = ["work.toml"]\nmeasures = ["contrast"]\nrandom_seed = 1\ndraws = 25\n[embeddings]\n{named}'
    )
    assert in_process("audit", "audit.toml", "-o", "audit", "--quiet", monkeypatch=monkeypatch) == 0
    frame = pd.read_csv("audit/audit.csv", keep_default_na=False)
    overall = frame[frame["protected_group"] == ""].set_index("embedding")
    assert overall["contrast_unit"].to_dict() == {"masked": "nats", "causal": "nats"}
    for kind in ("masked", "causal"):
        table = bb.surprisal_table(models / kind, "work.toml", templates, progress=False)
        lists = table.groupby(["protected_group", "connection"], observed=True)["surprisal"].mean().unstack()
        assert overall.loc[kind, "observed"] == pytest.approx(float((lists["associated"] - lists["different"]).mean()))
