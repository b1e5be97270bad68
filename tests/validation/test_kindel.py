"""What `validation/kindel` keeps: its tables are what the vectors give, and its text says what the tables hold."""

import re
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.metrics.subspaces.consistency import index_of_inconsistency
from bayesbias.metrics.subspaces.kindel_comparison import kindel_comparison
from bayesbias.metrics.subspaces.randomisation_nulls import study_nulls
from tests.metrics.subspaces.test_kindel_comparison import TABLE_1
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "kindel"
LISTS = load_script("kindel", "make_kindel").LISTS


def _rows(heading: str) -> dict[str, list[str]]:
    """Return the rows of the table in a section of README.md, by their first cell."""
    section = (FOLDER / "README.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in cells[2:]}


def test_the_paper_s_table_is_the_one_that_the_tests_check() -> None:
    paper = pd.read_csv(FOLDER / "table1_paper.csv").set_index("study")
    assert list(paper.index) == list(TABLE_1)
    for name, (mcs, cca, rho, ratio, by_cosine, by_subspace) in TABLE_1.items():
        assert paper.loc[name].tolist()[1:] == [mcs, cca, rho, ratio, *by_cosine, *by_subspace]


def test_readme_shows_the_tables() -> None:
    ours, paper = (pd.read_csv(FOLDER / name).set_index("study") for name in ("table1.csv", "table1_paper.csv"))
    shown = _rows("Table 1")
    assert list(shown) == list(paper.index)
    columns = ["n", "weat_mcs", "weat_cca", "rho", "ratio"]
    for name, cells in shown.items():
        if name in ours.index:
            assert [float(cell) for cell in cells[:6]] == pytest.approx(
                ours.loc[name, [*columns, "lost_words"]].astype(float).tolist(), abs=0.0006
            )
        assert [float(cell) for cell in cells[6:]] == pytest.approx(paper.loc[name, columns].tolist(), abs=0.0006)
    index = pd.read_csv(FOLDER / "figure1.csv")
    for name, cells in _rows("Figure 1").items():
        rows = index[(index["list"] == name) & (index["metric"] == "mean_cosine")].sort_values("q")
        assert [float(cell) for cell in cells[:7]] == pytest.approx(rows["index"].tolist(), abs=0.006)
    assert (index.loc[index["metric"] == "canonical_subspace", "index"] == 1).all()


def test_readme_shows_the_positions() -> None:
    frame = pd.read_csv(FOLDER / "figure3.csv", keep_default_na=False)
    rows = frame[frame["match"] == "none"].set_index(["first", "second", "drawn", "statistic"])["position"]
    for name, cells in _rows("Figure 3").items():
        pair = tuple(name.split(" with "))
        for statistic, (both, one) in (("scaled", cells[:2]), ("mean_cosine", cells[2:])):
            expected = [rows[(*pair, drawn, statistic)] for drawn in ("both", "first", "second")]
            assert [both, *re.split("; ", one)] == expected


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_the_tables_are_what_the_vectors_give(shared: Path) -> None:
    embedding = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    kept = pd.read_csv(FOLDER / "table1.csv")
    pd.testing.assert_frame_equal(kindel_comparison(embedding, max_lost=1), kept, rtol=1e-4, check_dtype=False)
    index = pd.read_csv(FOLDER / "figure1.csv")
    for (name, metric), rows in index.groupby(["list", "metric"]):
        fresh = index_of_inconsistency(embedding, LISTS[str(name)], str(metric))
        assert fresh["index"].tolist() == pytest.approx(rows["index"].tolist(), abs=1e-4)
    # Another seed and fewer draws than the kept ones: the ends agree within their Monte Carlo errors.
    figure = pd.read_csv(FOLDER / "figure3.csv", keep_default_na=False)
    figure = figure[figure["match"] == "none"].set_index(["first", "second", "drawn", "statistic"])
    for null in study_nulls(embedding, LISTS, samples=1000, random_seed=1).values():
        for row in null.frame().to_dict("records"):
            kept_row = figure.loc[(*null.lists, row["drawn"], row["statistic"])]
            assert row["observed"] == pytest.approx(kept_row["observed"], rel=1e-4)
            for end in ("low", "high"):
                error = row[f"{end}_mcse"] + kept_row[f"{end}_mcse"]
                assert abs(row[end] - kept_row[end]) < 5 * error
