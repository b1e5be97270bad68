"""Audits, studies on workers, and the demo."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from tests.cli.running import in_process

_WRITTEN = {"audit.csv", "report.html", "conclusions.json", "conclusions.txt"}


def test_an_audit_from_a_plan(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    (workplace / "audit.toml").write_text(
        'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodel = "hierarchical"\nrandom_seed = 1\n'
        '[embeddings]\nmine = "vectors.txt"\n'
    )
    assert in_process("audit", "audit.toml", "-o", "audit", monkeypatch=monkeypatch) == 0
    assert "associated - different" in capsys.readouterr().out
    made = {path.name for path in (workplace / "audit").iterdir()}
    assert made == {*_WRITTEN, "audit.png", "contrasts.csv", "measures.csv"}
    assert in_process("audit", "audit.toml", "--json", monkeypatch=monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["audit"]
    assert [row["measure"] for row in rows] == ["contrast", "contrast", "contrast", "weat"]


def test_a_study_on_workers_goes_on(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    plan = 'studies = ["pets.toml"]\nmeasures = ["contrast", "weat"]\nmodels = ["hierarchical", "no_pooling"]\n'
    plan += 'random_seed = 1\ndraws = 25\n{}[embeddings]\nmine = "vectors.txt"\n'
    (workplace / "study.toml").write_text(plan.format("workers = 1\n"))
    assert in_process("audit", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 0
    assert "no_pooling" in capsys.readouterr().out
    made = {path.name for path in (workplace / "study").iterdir()}
    numbered = {f"{name}{suffix}" for name in ("contrasts", "measures") for suffix in (".csv", "_2.csv")}
    assert made == {*_WRITTEN, *numbered, "audit.png", "audit_2.png", "cells"}
    table = (workplace / "study" / "audit.csv").read_bytes()
    assert in_process("audit", "study.toml", "-o", "study", monkeypatch=monkeypatch) == 2
    assert "study" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(
            "bayesbias.cells.audit_cell.AuditCell.answer", lambda *_: pytest.fail("a cell was computed again")
        )
        for file in (workplace / "study").glob("*.*"):  # a run that was killed leaves its cells only
            file.unlink()
        assert in_process("audit", "study.toml", "-o", "study", "--json", monkeypatch=monkeypatch) == 0
        rows = json.loads(capsys.readouterr().out)["audit"]
        assert {row["model"] for row in rows} == {"hierarchical", "no_pooling"}
        assert (workplace / "study" / "audit.csv").read_bytes() == table
    # Without workers nothing is kept, and the numbers are the same; an option stands for the plan's workers.
    (workplace / "alone.toml").write_text(plan.format(""))
    for folder, option in (("alone", ()), ("again", ("--workers", "1"))):
        assert in_process("audit", "alone.toml", "-o", folder, *option, monkeypatch=monkeypatch) == 0
        assert (workplace / folder / "cells").exists() == bool(option)
        assert (workplace / folder / "audit.csv").read_bytes() == table
    capsys.readouterr()
    assert in_process("audit", "study.toml", "-o", "pages", "--pages", monkeypatch=monkeypatch) == 2
    assert "--pages" in capsys.readouterr().err
    assert not (workplace / "pages").exists()


@pytest.mark.slow
def test_the_demo_says_what_is_settled_and_links_to_a_page_for_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a model that is quick to fit, and pages that are not made; `make demo` and the wheel run the whole of it."""
    monkeypatch.setattr("bayesbias.cells.audit.audit", partial(bb.audit, model="hierarchical"))
    monkeypatch.setattr("bayesbias.delivery.page.fit_page", lambda *_, **__: "a page")
    monkeypatch.chdir(tmp_path)
    assert in_process("demo", "-o", "shown", monkeypatch=monkeypatch) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.index("Asking 4 questions") < shown.index("Writing the figure") < shown.index("shown/report.html")
    every = pd.read_csv("shown/audit.csv", keep_default_na=False)
    contrasts = every[(every["measure"] == "contrast") & (every["protected_group"] == "")]
    assert contrasts["study"].tolist() == ["weat1", "weat7", "gender", "religion"]
    assert shown.count("Settled,") == contrasts["conclusion"].isin(["nearer", "farther"]).sum()
    assert shown.count("Not settled:") == (contrasts["conclusion"] == "not settled").sum()
    for row in contrasts.to_dict("records"):
        assert f"{bb.load_study(row['study']).description} " in shown
        assert f"{float(row['estimate']):+.3f} (plain {float(row['observed']):+.3f}), 89% interval" in shown
    page = Path("shown/report.html").read_text(encoding="utf-8")
    for number in range(1, 5):
        assert f'href="question_{number}.html"' in page
        assert Path(f"shown/question_{number}.html").is_file()
    assert in_process("demo", "-o", "shown", "--quiet", "--overwrite", "--seed", "2", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr() == ("", "")
