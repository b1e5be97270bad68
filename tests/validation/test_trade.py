"""The table of all debiasing methods (`validation/trade`): the text says its numbers, and the script runs in short."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "trade"
README = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
TABLE = pd.read_csv(FOLDER / "trade.csv", keep_default_na=False, na_values=[""])


def row(embedding: str, method: str, measure: str) -> pd.Series:
    rows = TABLE[(TABLE["embedding"] == embedding) & (TABLE["method"] == method) & (TABLE["measure"] == measure)]
    (found,) = (each for _, each in rows.iterrows())
    return found


def test_the_text_says_the_numbers_of_the_table() -> None:
    before = row("Google News", "original", "gender")
    said = [f"{before['value']:.3f} ({before['value_low']:.3f} to {before['value_high']:.3f})"]
    said += [f"{row('Google News', name, 'recoverability')['value']:.3f}" for name in ("original", "hard", "inlp")]
    for embedding in ("Google News", "GloVe"):
        inlp, original = (row(embedding, name, "analogies (questions-words)") for name in ("inlp", "original"))
        said.append(
            f"{inlp['change']:.3f} ({inlp['change_low']:.3f} to {inlp['change_high']:.3f}) of {original['value']:.3f}"
        )
    said.append(f"and {row('Google News', 'hard', 'clustering')['value']:.3f} here")
    midb = row("Google News", "original", "midb")
    said.append(f"{midb['value']:.3f} ({midb['value_low']:.3f} to {midb['value_high']:.3f})")
    assert [text for text in said if text not in README] == []


def test_what_is_said_of_methods_is_in_the_table() -> None:
    gender = TABLE[(TABLE["measure"] == "gender") & (TABLE["embedding"] == "Google News")].set_index("method")
    gone = ["linear", "hard", "double_hard", "inlp"]
    assert gender.index[gender["reading"] == "baseline only"].tolist() == gone
    smaller = {"ran", "half_sibling", "misp", "mhd", "bam", "gender_preserving", "soft"}
    assert set(gender.index[gender["reading"] == "narrower"]) == smaller
    assert gender.loc[["oscar", "soft"], "change"].abs().max() < 0.0005
    lost = TABLE[TABLE["method"].isin(gone) & TABLE["measure"].str.startswith("analogies (questions")]
    assert set(lost.loc[lost["change_high"] < 0, "method"]) == {"inlp"}
    misp = TABLE[(TABLE["method"] == "misp") & TABLE["measure"].str.startswith("word_similarity")]
    assert misp["change"].abs().max() == pytest.approx(0.003, abs=0.0005)


def test_every_score_says_which_values_are_better() -> None:
    better = TABLE.fillna({"better": ""}).groupby(["kind", "better"])["measure"].unique().map(sorted)
    assert {key: len(names) for key, names in better.items()} == {
        ("association", ""): 2,
        ("bias", "higher"): 1,
        ("bias", "lower"): 4,
        ("bias", "nearer to 0"): 1,
        ("quality", "higher"): 7,
    }
    assert better["bias", "lower"] == ["clustering", "gipe", "recoverability", "vocabulary_direct_bias"]
    assert better["bias", "higher"] == ["sembias (SemBias)"]


def test_directions_are_counted_as_said() -> None:
    script = load_script("trade", "make_trade")
    counts = script.directions(TABLE)["verdict"].value_counts()
    assert counts[["agrees", "cannot tell", "disagrees"]].tolist() == [33, 5, 2]
    assert "Of 40 changes of table 6" in README
    kept = pd.read_csv(FOLDER / "directions.csv")
    pd.testing.assert_frame_equal(kept, script.directions(TABLE))
    wrong = kept[kept["verdict"] == "disagrees"]
    assert wrong[["embedding", "measure", "method"]].to_numpy().tolist() == [
        ["GloVe", "gipe", "bam"],
        ["GloVe", "gipe", "inlp"],
    ]


def test_correlations_are_those_of_the_table() -> None:
    kept = pd.read_csv(FOLDER / "correlations.csv").set_index(["first", "second"])
    values = TABLE.pivot(index=["embedding", "method"], columns="measure", values="value")
    both = values[["clustering", "recoverability"]].dropna()
    found = kept.loc[("clustering", "recoverability")]
    r = np.corrcoef(both.to_numpy(), rowvar=False)[0, 1]
    assert (found["embeddings"], found["correlation"]) == (26, pytest.approx(r, abs=1e-4))
    interval = bb.estimates.correlation_interval(r, 26)
    assert found[["hdi_low", "hdi_high"]].tolist() == pytest.approx(list(interval[:2]), abs=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_the_script_runs_in_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the bundled vectors, with two methods and a benchmark of six pairs."""
    script = load_script("trade", "make_trade")
    for name in ("googlenews", "glove"):
        source = bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{1 + (name == 'glove')}.npz")
        (tmp_path / f"{name}.npz").write_bytes(source.read_bytes())
    pairs = tmp_path / "short.txt"
    pairs.write_text("man woman 8\ndoctor nurse 7\npoetry art 6\nman poetry 1\nnurse art 2\nwoman art 3\n")
    (tmp_path / "paper.csv").write_text((FOLDER / "paper.csv").read_text())
    monkeypatch.setattr(script, "HERE", tmp_path)
    monkeypatch.setattr(script, "METHODS", ["hard", "oscar"])
    monkeypatch.setattr(script, "MODEL", "no_pooling")
    monkeypatch.setattr(
        script,
        "measures",
        lambda benchmarks, _: ["vocabulary_direct_bias", ("word_similarity", benchmarks / "short.txt")],
    )
    monkeypatch.setattr(
        script, "directions", lambda table: table.loc[table["method"] == "hard", ["method", "measure", "change"]]
    )
    monkeypatch.setattr("sys.argv", ["make_trade.py", str(tmp_path), str(tmp_path), str(pairs)])
    script.main()
    made = pd.read_csv(tmp_path / "trade.csv")
    assert made["method"].unique().tolist() == ["original", "hard", "oscar"]
    assert made["measure"].nunique() == 4
    assert (tmp_path / "trade.png").stat().st_size > 10_000
