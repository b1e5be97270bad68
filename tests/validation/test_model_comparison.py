"""What `validation/model_comparison` keeps: its script runs, and its text adds up."""

import json
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.models.scales import DISTANCE_ERROR
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "model_comparison"
COMPARISON = pd.read_csv(KEPT / "comparison.csv")
TABLES = COMPARISON[COMPARISON["table"] != "all"]
OTHERS = COMPARISON["model"].unique()[1:]


def cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_readme_shows_the_table() -> None:
    shown = load_script("model_comparison", "compare_models").markdown(COMPARISON)
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert shown in text
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    command = f"TABLES --models {' '.join(run['models'])} --draws {run['draws']} --output validation/model_comparison"
    assert f"python validation/model_comparison/compare_models.py {command}\n" in text


def test_the_kept_table_adds_up() -> None:
    totals = COMPARISON[COMPARISON["table"] == "all"].set_index("model")
    count = TABLES["table"].nunique()
    sums = TABLES.groupby("model")["difference"].sum()
    package = (VALIDATION.parent / "docs" / "guide" / "models.md").read_text(encoding="utf-8")
    assert f"[Over the {count} published tables]" in " ".join(package.split())
    for model, name in zip(OTHERS, ("crossed_per_list", "hierarchical (the paper's)"), strict=True):
        difference, error = totals.loc[model, ["difference", "se"]]
        assert difference == pytest.approx(sums[model], abs=1)
        ahead = int((TABLES.loc[TABLES["model"] == model, "difference"] > 0).sum())
        assert f"| {name} | {difference:,.0f} (se {error:,.0f}) | {ahead} of {count} |" in package


def test_the_text_says_the_numbers_of_the_table_and_no_others() -> None:
    behind = TABLES[TABLES["model"].isin(OTHERS)]
    debiased = behind[behind["table"].str.contains("debiased")]
    assert (behind["difference"] < 0).all()
    assert debiased["table"].nunique() == 3
    computed = [
        f"over the {TABLES['table'].nunique()} published tables",
        f"by {(-behind['difference'] / behind['se']).min():.0f} standard errors or more, and by "
        f"{-behind['difference'].max():.0f} at least",
        f"the error of a distance ({DISTANCE_ERROR})",
        f"({-debiased['difference'].max():,.0f} to {-debiased['difference'].min():,.0f})",
    ]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


@pytest.mark.slow
def test_the_script_prints_what_the_comparison_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "small.csv"
    table = bb.read_table(bb.bundled("data", "tables", "weat9_google_news.csv.gz"))
    bb.write_table(table[table["attribute_group"].isin(table["attribute_group"].unique()[:2])], path)
    options = ["--models", "crossed", "hierarchical", "--draws", "250", "--seed", "2"]
    monkeypatch.setattr("sys.argv", ["compare_models.py", str(path), *options, "--output", str(tmp_path)])
    script, kept = load_script("model_comparison", "compare_models"), []
    compare = script.compare_models
    monkeypatch.setattr(
        script, "compare_models", lambda *args, **options: kept.append(compare(*args, **options)) or kept[0]
    )
    script.main()
    printed = capsys.readouterr().out
    _, _, row, total = cells(printed)
    (found,) = kept
    elpd = found.models.set_index("model")["elpd_words"]
    assert row[0] == "small"
    assert float(row[3]) == pytest.approx(elpd["crossed"], abs=0.06)
    assert float(row[4].split()[0]) == pytest.approx(elpd["hierarchical"] - elpd["crossed"], abs=0.06)
    assert row[6] == found.models["model"].iloc[0]
    assert total[4] == row[4]
    made = pd.read_csv(tmp_path / "comparison.csv")
    assert made.columns.tolist() == COMPARISON.columns.tolist()
    assert script.markdown(made) == printed.strip()
