"""Commands on frozen plans."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.reports.fit_report import fitted_study
from tests.cli.running import in_process
from tests.delivery.page.pages import small_table


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "plan.toml"
    command = ("plan", "freeze", "weat7", "--output", path, "--rope", "0.02", "--level", "overall", "-q")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert in_process(*command, monkeypatch=monkeypatch) == 2, "it exists"
    return path


def test_a_changed_word_is_named_on_the_page(
    fitted: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = small_table()
    study = fitted_study(table, table.attrs["bayesbias"], "<s>weather</s>")
    name, words = next(iter(study.protected.items()))
    planned = replace(study, protected={**study.protected, name: (*words[1:], "breeze")})
    options: dict[str, Any] = {"model": "crossed", "rope": 0.02, "levels": ["overall"]}
    plan = bb.reports.write_plan(bb.audits.freeze_plan(planned, **options), tmp_path / "plan.toml")
    fit, page = bb.write_fit(fitted, tmp_path / "fit.nc"), tmp_path / "page.html"
    command = ("report", fit, "--quick", "--rope", "0.02", "--output", page)
    assert in_process(*command, "--frozen-plan", plan, monkeypatch=monkeypatch) == 0
    assert "'breeze' was removed from" in " ".join(capsys.readouterr().out.split())
    text = unescape(page.read_text(encoding="utf-8"))
    assert "Planned or exploratory" in text
    assert "'breeze' was removed from" in text
    assert {">changed since<", ">exploratory<"} <= set(re.findall(r">(?:changed since|exploratory)<", text))
    study_file = bb.bundled("data", "studies", "weat7.toml")
    assert in_process(*command, "--overwrite", "--frozen-plan", study_file, monkeypatch=monkeypatch) == 2
    assert "weat7.toml is no frozen plan" in capsys.readouterr().err


def test_power_comes_from_a_file_of_assumed_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assumed = tmp_path / "assumed.toml"
    assumed.write_text(
        "word_sd = 0.03\nsigma = 0.06\n[connection_mean]\nassociated = 0.9\ndifferent = 0.95\n", encoding="utf-8"
    )
    path = tmp_path / "plan.toml"
    options = ("--pilot", assumed, "--true-contrast", "-0.05", "--samples", "2", "--seed", "1", "-q")
    assert in_process("plan", "freeze", "weat7", "--output", path, *options, monkeypatch=monkeypatch) == 0
    power = bb.reports.read_plan(path).power
    assert (power["true_contrast"], power["simulated_studies"], power["random_seed"]) == (-0.05, 2, 1)


def test_the_template_is_that_of_the_plan(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process("plan", "template", plan, monkeypatch=monkeypatch) == 0
    expected = bb.reports.registration_text(bb.reports.read_plan(plan))
    assert capsys.readouterr().out.strip() == expected
    path = tmp_path / "registration.md"
    assert in_process("plan", "template", plan, "--output", path, monkeypatch=monkeypatch) == 0
    assert path.read_text(encoding="utf-8") == f"{expected}\n"
    assert in_process("plan", "template", plan, "--output", tmp_path / "x.docx", monkeypatch=monkeypatch) == 2


def test_an_audit_prints_what_was_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    audit, plan = tmp_path / "audit.toml", tmp_path / "plan.toml"
    text = 'studies = ["weat7"]\nmeasures = ["mac"]\nmodel = "none"\n[embeddings]\nWikipedia = "{}"\n'
    audit.write_text(text.format(vectors.as_posix()), encoding="utf-8")
    assert in_process("plan", "freeze", audit, "--output", plan, "-q", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert in_process("audit", audit, "--frozen-plan", plan, "--json", monkeypatch=monkeypatch) == 0
    planned = json.loads(capsys.readouterr().out)["planned"]
    assert {"planned", "no change", "plan"} <= {statement["kind"] for statement in planned}
