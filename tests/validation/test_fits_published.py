"""The script that compares published posteriors with ours, on a made-up copy of the authors' repository."""

import gzip
import shutil
import struct
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import bayesbias as bb
from tests.models.tables import small
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "fits"
COLUMNS = {"attribute_word": "word_to_compare", "attribute_group": "word_class"}
LETTERS = {"different": "d", "associated": "a", "human": "h", "neutral": "n"}
script = load_script("fits", "published_posteriors")

pytestmark = pytest.mark.filterwarnings(
    "ignore::bayesbias.errors.DuplicatesWarning", "ignore::bayesbias.errors.LostWordsWarning"
)


def integers(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)


def texts(*values: str, flags: int = 16) -> bytes:
    return integers(flags, len(values)) + b"".join(integers(0x40009, len(text)) + text.encode() for text in values)


def rds(frame: pd.DataFrame) -> bytes:
    """Return a frame of numbers as R's saveRDS writes a summary by rethinking, a class with an attribute included."""

    def attribute(name: str) -> bytes:
        return integers(0x402, 1) + texts(name)[8:]

    repeated = integers(0x402, 255 + (1 << 8)) + texts("rethinking") + integers(254)  # the first name once more
    parts = [
        b"X\n" + integers(3, 0x40102, 0x30500, 5) + b"UTF-8",
        integers(0x313, len(frame.columns)),
        *(integers(14, len(frame)) + frame[name].to_numpy(">f8").tobytes() for name in frame),
        attribute("names") + texts(*frame.columns),
        attribute("row.names") + texts(*frame.index),
        attribute("class") + texts("precis", flags=0x210) + repeated,
        integers(254),
    ]
    return gzip.compress(b"".join(parts))


def write_table(table: pd.DataFrame, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = table.assign(cosine_similarity=1 - table["cosine_distance"]).rename(columns=COLUMNS)
    columns = ["protected_word", *COLUMNS.values(), "cosine_distance", "cosine_similarity", "connection"]
    table.replace({"connection": {"neutral": "none"}})[columns].to_csv(path)


def write_summary(rows: pd.DataFrame, path: Path) -> None:
    """Write rows of `parameter`, `connection` and `protected_word` under the names that the authors' program gives."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words, names = sorted(set(rows["protected_word"])), []  # the first is "", of no word
    for parameter, connection, word in rows[script.KEY].itertuples(index=False):
        letter, place = LETTERS[connection], sorted(LETTERS).index(connection) + 1
        form = {"word_mean": "{letter}[{word}]", "connection_mean": "{letter}bar", "word_sd": "{letter}sigmabar"}
        names.append(form.get(parameter, "s[{place}]").format(letter=letter, place=place, word=words.index(word)))
    path.write_bytes(rds(rows[["mean", "sd", "n_eff"]].set_axis(names, axis=0)))


def test_a_summary_is_read_as_it_was_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"mean": [0.25, -1e300], "5.5%": [np.inf, 0.1]}, index=["d[1]", "dbar"])
    (tmp_path / "DF.rds").write_bytes(rds(frame))
    pd.testing.assert_frame_equal(script.read_rds(tmp_path / "DF.rds"), frame)
    (tmp_path / "other.rds").write_bytes(gzip.compress(b"A\n" + bytes(20)))
    with pytest.raises(ValueError, match="no binary data of R"):
        script.read_rds(tmp_path / "other.rds")


def test_posteriors_are_compared_and_absent_files_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table_file, summary_file = script.PUBLISHED["weat7_glove"]
    write_table(pd.concat([small(), small().iloc[:1]]), tmp_path / table_file)  # with a repeated pair
    _, ours = script.fitted(bb.read_table(tmp_path / table_file, duplicates="keep"))
    theirs = ours.assign(n_eff=1000.0).reset_index(drop=True)
    theirs.loc[0, "mean"] += 0.25 * theirs.loc[0, "sd"]
    theirs.loc[9, "sd"] *= 2
    write_summary(theirs, tmp_path / summary_file)
    shown = []
    (row,) = script.published(tmp_path, lambda *given: shown.append(given)).to_dict("records")
    assert (row["table"], row["protected_words"], row["pairs"]) == ("weat7_glove", 5, len(small()) + 1)
    assert row["parameters"] == len(theirs) == 3 * 4 + 5 * 4
    assert row["difference"] == pytest.approx(0.25)
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx((0.5, 1))
    assert (row["n_eff"], row["beyond"]) == (1000, 1)
    assert row["errors"] == pytest.approx(0.25 / (1 / 1000 + 1 / ours["draws"].iloc[0]) ** 0.5)
    ((name, table, fit, mac),) = shown
    assert (name, len(table), mac) == ("weat7_glove", row["pairs"], None)
    assert fit["posterior"].sizes["protected_word"] == 5
    assert capsys.readouterr().out.count("left out") == 2 * 14
    write_summary(theirs[theirs["protected_word"] != "p1"], tmp_path / summary_file)
    with pytest.raises(ValueError, match="not of the words"):
        script.published(tmp_path)


def test_the_notebook_draws_the_figures_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, notebook = VALIDATION.parent / "notebooks", "reproducing_the_paper.ipynb"
    table_file, summary_file = script.PUBLISHED["weat7_glove"]
    for file in (table_file, *script.DEBIASED["gender"]):
        write_table(small(), tmp_path / file)
    _, ours = script.fitted(bb.read_table(tmp_path / table_file))
    write_summary(ours.assign(n_eff=1000.0), tmp_path / summary_file)
    monkeypatch.setenv("PAPER_FOLDER", str(tmp_path))
    monkeypatch.chdir(folder)
    sources = [cell.source for cell in nbformat.read(folder / notebook, as_version=4).cells if cell.cell_type == "code"]
    (source,) = [text for text in sources if "PAPER_FOLDER" in text]
    shown: list = []
    exec(source, {"bb": bb, "pd": pd, "display": lambda *given: shown.extend(given)})
    *figures, published = shown
    assert len(figures) == 3 * 3
    assert all(isinstance(figure, Figure) for figure in figures)
    assert list(published["table"]) == ["weat7_glove"]
    assert published["difference"].max() == pytest.approx(0)


def test_means_before_and_after_are_those_of_the_two_tables(tmp_path: Path) -> None:
    before_file, after_file = script.DEBIASED["gender"]
    before = small(seed=2)
    after = before.assign(cosine_distance=before["cosine_distance"] + 0.05)
    write_table(before, tmp_path / before_file)
    write_table(after, tmp_path / after_file)
    shown = []
    rows = script.debiased(tmp_path, lambda *given: shown.append(given)).set_index("connection")
    assert rows["question"].eq("gender").all()
    np.testing.assert_allclose(rows["mean_after"] - rows["mean_before"], 0.05, atol=0.01)
    assert (rows["hdi_low_before"] < rows["mean_before"]).all()
    assert (rows["mean_after"] < rows["hdi_high_after"]).all()
    for when, table in {"before": before, "after": after}.items():
        inside = (1 - table["cosine_distance"]).abs() <= 1 - shown[0][3]
        shares = inside.groupby(table["connection"]).mean()
        assert rows[f"inside_{when}"].to_dict() == pytest.approx(shares.to_dict())
    assert [name for name, *_ in shown] == ["gender_before", "gender_after"]
    assert shown[0][3] == shown[1][3] == bb.reports.mac_shares(before).mac


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    for compare in (script.published, script.debiased):
        with pytest.raises(FileNotFoundError, match="no copy of the authors' repository"):
            compare(tmp_path)


@pytest.mark.shared
@pytest.mark.slow
def test_the_kept_rows_are_those_of_the_published_tables(shared: Path, tmp_path: Path) -> None:
    """Three of the published posteriors, and all tables before and after debiasing, in the layout of the repository."""
    published = shared / "data" / "published"
    names = sorted(path.stem for path in (published / "posteriors").iterdir())
    stored = {name: script.PUBLISHED[name][0] for name in names}
    for question, files in script.DEBIASED.items():
        stored |= {
            f"{question}_reddit_{kind}_pair": file for kind, file in zip(("original", "debiased"), files, strict=True)
        }
    for name, file in stored.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(published / "tables" / f"{name}.csv.gz") as source, (tmp_path / file).open("wb") as target:
            shutil.copyfileobj(source, target)
    for name in names:
        rows = pd.read_csv(published / "posteriors" / f"{name}.csv", keep_default_na=False).rename(
            columns={"ess": "n_eff"}
        )
        rows = rows.replace({"connection": {"none": "neutral"}, "parameter": {"group_mean": "connection_mean"}})
        write_summary(rows, tmp_path / script.PUBLISHED[name][1])
    fresh, kept = script.published(tmp_path).set_index("table"), pd.read_csv(KEPT / "published.csv", index_col="table")
    assert set(fresh.index) == set(names)
    kept = kept.loc[fresh.index, fresh.columns]
    # Our own Monte Carlo error: another processor gives other draws.
    pd.testing.assert_frame_equal(
        fresh.drop(columns=["errors", "beyond"]), kept.drop(columns=["errors", "beyond"]), atol=0.01, check_dtype=False
    )
    assert (fresh["errors"] - kept["errors"]).abs().max() < 1
    pd.testing.assert_frame_equal(script.debiased(tmp_path), pd.read_csv(KEPT / "debiased.csv"), atol=0.004)
