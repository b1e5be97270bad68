"""The demo."""

from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.workers.workers import this_process
from tests.cli.running import in_process


@pytest.mark.slow
def test_the_demo_says_what_is_settled_and_links_to_a_page_for_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a model that is quick to fit, and pages that are not made; `make demo` and the wheel run the whole of it."""
    monkeypatch.setattr("bayesbias.cells.audit.audit", partial(bb.audit, model="hierarchical", draws=250))
    monkeypatch.setattr("bayesbias.delivery.page.fit_page", lambda *_, **__: "a page")
    # Processes would not know what is set here.
    monkeypatch.setattr("bayesbias.workers.process_workers.process_workers", lambda _: this_process())
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
