"""What `validation/model_comparison` keeps: its script runs, and its text adds up."""

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.models.multivariate.list_model import DISTANCE_ERROR
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

README = (VALIDATION / "model_comparison" / "README.md").read_text(encoding="utf-8")


def cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_the_kept_table_adds_up() -> None:
    *tables, total = cells(README)[2:]
    assert len(tables) == 15
    assert total[0] == "all"
    for column in (4, 5):
        sums = sum(float(row[column].split()[0]) for row in tables)
        assert float(total[column].split()[0]) == pytest.approx(sums, abs=1)
    package = (VALIDATION.parent / "docs" / "guide" / "models.md").read_text(encoding="utf-8")
    for column, name in ((4, "crossed_per_list"), (5, "hierarchical (the paper's)")):
        ahead = sum(float(row[column].split()[0]) > 0 for row in tables)
        difference, error = (float(number.strip("()")) for number in total[column].split())
        assert f"[Over the {len(tables)} published tables]" in " ".join(package.split())
        assert f"| {name} | {difference:,.0f} (se {error:,.0f}) | {ahead} of 15 |" in package


def test_the_text_says_the_numbers_of_the_table_and_no_others() -> None:
    """The table of README.md is the one that the script printed."""
    *tables, _ = cells(README)[2:]
    pairs = [[float(number.strip("()")) for number in row[column].split()] for row in tables for column in (4, 5)]
    debiased = [float(row[column].split()[0]) for row in tables if "debiased" in row[0] for column in (4, 5)]
    assert all(difference < 0 for difference, _ in pairs)
    assert sum("debiased" in row[0] for row in tables) == 3
    computed = [
        f"over the {len(tables)} published tables",
        f"by {min(-difference / error for difference, error in pairs):.0f} standard errors or more, and by "
        f"{min(-difference for difference, _ in pairs):.0f} at least",
        f"the error of a distance ({DISTANCE_ERROR})",
        f"({-max(debiased):,.0f} to {-min(debiased):,.0f})",
    ]
    assert unexplained(prose(VALIDATION / "model_comparison" / "README.md"), computed) == []


@pytest.mark.slow
def test_the_script_prints_what_the_comparison_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "small.csv"
    table = bb.read_table(bb.bundled("data", "tables", "weat9_google_news.csv.gz"))
    bb.write_table(table[table["attribute_group"].isin(table["attribute_group"].unique()[:2])], path)
    options = ["--models", "crossed", "hierarchical", "--draws", "250", "--seed", "2"]
    monkeypatch.setattr("sys.argv", ["compare_models.py", str(path), *options])
    script, kept = load_script("model_comparison", "compare_models"), []
    compare = script.compare_models
    monkeypatch.setattr(
        script, "compare_models", lambda *args, **options: kept.append(compare(*args, **options)) or kept[0]
    )
    script.main()
    _, _, row, total = cells(capsys.readouterr().out)
    (found,) = kept
    elpd = found.set_index("model")["elpd_words"]
    assert row[0] == "small"
    assert float(row[3]) == pytest.approx(elpd["crossed"], abs=0.06)
    assert float(row[4].split()[0]) == pytest.approx(elpd["hierarchical"] - elpd["crossed"], abs=0.06)
    assert row[6] == found["model"][0]
    assert total[4] == row[4]
