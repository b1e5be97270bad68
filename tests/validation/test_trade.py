"""The table of all debiasing methods (`validation/trade`): the text says its numbers, and the script runs in short."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.validation.numbers import unexplained
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "trade"
README = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
TABLE = pd.read_csv(FOLDER / "trade.csv", keep_default_na=False, na_values=[""])
PAPER = pd.read_csv(FOLDER / "paper.csv").set_index(["embedding", "method"])
BOTH = ("Google News", "GloVe")
STORED = ("-0.134", "-0.020")  # MIDB of GloVe as stored and scaled, which the test below computes anew
SIZES = {"Google News": (13_784, 300, 29, 66), "GloVe": (10_382, 50, 51, 96)}  # words, dimensions, names


def row(embedding: str, method: str, measure: str) -> pd.Series:
    rows = TABLE[(TABLE["embedding"] == embedding) & (TABLE["method"] == method) & (TABLE["measure"] == measure)]
    (only,) = (line for _, line in rows.iterrows())
    return only


def value(embedding: str, method: str, measure: str, digits: int = 3) -> str:
    line = row(embedding, method, measure)
    return f"{line['value']:.{digits}f} ({line['value_low']:.{digits}f} to {line['value_high']:.{digits}f})"


def change(embedding: str, method: str, measure: str, digits: int = 3) -> str:
    line = row(embedding, method, measure)
    return f"{line['change']:.{digits}f} ({line['change_low']:.{digits}f} to {line['change_high']:.{digits}f})"


def test_the_text_says_the_numbers_of_the_table_and_no_others() -> None:
    facts = json.loads((FOLDER / "run.json").read_text())
    verdicts = pd.read_csv(FOLDER / "directions.csv")["verdict"].value_counts()
    correlations = pd.read_csv(FOLDER / "correlations.csv").set_index(["first", "second"])
    pair = correlations.loc[("gender", "clustering")]
    tuples = {name: 440 - int(TABLE.loc[TABLE["measure"].eq("sembias (SemBias)"), "lost"].max()) for name in BOTH[:1]}
    misp = TABLE[(TABLE["method"] == "misp") & TABLE["measure"].str.startswith("word_similarity")]
    intervals = [
        value("Google News", "original", "gender"),
        *(f"{row('Google News', name, 'recoverability')['value']:.3f}" for name in ("original", "hard", "inlp")),
        *(
            f"{change(name, 'inlp', 'analogies (questions-words)')} of "
            f"{row(name, 'original', 'analogies (questions-words)')['value']:.3f}"
            for name in BOTH
        ),
        f"{100 * misp['change'].abs().max():.1f} points",
        *(value(name, "original", "midb") for name in BOTH),
        change("GloVe", "soft", "midb", 6),
        f"from {STORED[0]} to {STORED[1]}",
        *(
            f"{PAPER.loc[(name, 'hard'), 'clustering']:.3f} there and "
            f"{row(name, 'hard', 'clustering')['value']:.3f} here"
            for name in BOTH
        ),
        *(
            f"from {row(name, 'original', 'clustering')['value']:.3f} to "
            f"{row(name, 'misp', 'clustering')['value']:.3f} in {name}, by {change(name, 'misp', 'clustering')}"
            for name in BOTH
        ),
        f"{pair['correlation']:.3f} ({pair['hdi_low']:.3f} to {pair['hdi_high']:.3f})",
        f"{pair['rank_correlation']:.3f} ({pair['rank_correlation_low']:.3f} to {pair['rank_correlation_high']:.3f})",
        f"bias after hard debiasing is {PAPER.loc[('GloVe', 'hard'), 'vocabulary_direct_bias']:.0f} as by",
    ]
    counts = [
        f"{facts['seconds']:,} s",
        f"{TABLE.groupby(['embedding', 'method']).ngroups} cells",
        f"{TABLE.groupby(['embedding', 'method']).ngroups} embeddings",
        f"Of {verdicts[['agrees', 'cannot tell', 'disagrees']].sum()} changes",
        f"{verdicts['agrees']} agree in direction with an interval that leaves out 0",
        f"{verdicts['cannot tell']} are not settled and {verdicts['disagrees']} disagree",
        f"words of {tuples['Google News']} and of 1 of its 440 tuples",  # of GloVe no row: report.txt
        *(f"{words:,} words of {dimensions}" for words, dimensions, _, _ in SIZES.values()),
        f"{SIZES['GloVe'][1]} dimensions have",
        "29 and 66 of the 100 female and 100 male names",
        "51 and 96 in GloVe",
    ]
    given = ["Dawkins (2021)", "89 % interval", "table 6", "less than 0.0005", "46,960 words", "300 dimensions)"]
    given += ["GN-GloVe, 0.497 before and 0.498 after"]  # Dawkins (2021), section 5
    given += ["at length 1", "to length 1", "of length 1", "near 0"]
    assert unexplained(README, [*intervals, *counts, *given]) == []
    assert facts["missing"] == 26
    assert "has the words of 1 of the 440 tuples" in " ".join((FOLDER / "report.txt").read_text().split())


def test_no_value_lies_outside_its_interval_and_length_alone_changes_nothing() -> None:
    scores = TABLE[TABLE["measure"] == "midb"]
    assert len(scores) == 26
    for name in ("value", "change"):
        given = scores.dropna(subset=[name])
        assert given[name].between(given[f"{name}_low"], given[f"{name}_high"]).all()
    for name in BOTH:
        soft, half = (row(name, method, "midb") for method in ("soft", "half_sibling"))
        assert abs(soft["change"]) < 1e-4 * 5
        assert half["value_low"] <= half["value"] <= half["value_high"]


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_length_alone_moves_midb_as_stored(shared: Path) -> None:
    """The vectors of GloVe as they are and divided by their lengths; nothing else is done to them."""
    names = bb.debias.load_debias_words("gender_bolukbasi").names
    for name, file in (("GloVe", "glove_6b_50d_10382.txt"), ("Google News", "googlenews_word2vec_300d_13784.npz")):
        stored = bb.load_embedding(shared / "data" / "embeddings" / file, case=("exact", "lower"))
        lookups = bb.embeddings.names_in(stored, names)
        counts = [len(set(lookup.matches.values())) for lookup in lookups]
        assert (len(stored), stored.dimensions, *counts) == SIZES[name]
        if name == "GloVe":
            lengths = np.linalg.norm(stored.vectors, axis=1, keepdims=True)
            scaled = bb.Embedding(stored.words, stored.vectors / lengths, case=("exact", "lower"))
            for embedding, text in zip((stored, scaled), STORED, strict=True):
                score = bb.metrics.midb(embedding, (names[0], names[1]), random_seed=1)
                assert f"{score.estimates['observed'].item():.3f}" == text


def test_what_is_said_of_methods_is_in_the_table() -> None:
    gender = TABLE[(TABLE["measure"] == "gender") & (TABLE["embedding"] == "Google News")].set_index("method")
    gone = ["linear", "hard", "double_hard", "inlp"]
    assert gender.index[gender["reading"] == "smaller, no longer settled"].tolist() == gone
    smaller = {"ran", "half_sibling", "misp", "mhd", "bam", "gender_preserving", "soft"}
    assert set(gender.index[gender["reading"] == "smaller"]) == smaller
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
    assert counts[["agrees", "cannot tell", "disagrees"]].tolist() == [33, 4, 3]
    assert "Of 40 changes of table 6" in README
    kept = pd.read_csv(FOLDER / "directions.csv")
    pd.testing.assert_frame_equal(kept, script.directions(TABLE))
    wrong = kept[kept["verdict"] == "disagrees"]
    assert wrong[["embedding", "measure", "method"]].to_numpy().tolist() == [
        ["Google News", "midb", "hard"],
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
@pytest.mark.usefixtures("few_draws")
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_the_script_runs_in_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the bundled vectors, with one study, one method and a benchmark of six pairs."""
    script = load_script("trade", "make_trade")
    for name in ("googlenews", "glove"):
        source = bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{1 + (name == 'glove')}.npz")
        (tmp_path / f"{name}.npz").write_bytes(source.read_bytes())
    pairs = tmp_path / "short.txt"
    pairs.write_text("man woman 8\ndoctor nurse 7\npoetry art 6\nman poetry 1\nnurse art 2\nwoman art 3\n")
    (tmp_path / "paper.csv").write_text((FOLDER / "paper.csv").read_text())
    monkeypatch.setattr(script, "HERE", tmp_path)
    monkeypatch.setattr(script, "STUDIES", ["weat7"])
    monkeypatch.setattr(script, "METHODS", ["hard"])
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
    assert made["method"].unique().tolist() == ["original", "hard"]
    assert set(made["measure"]) == {"weat7", "vocabulary_direct_bias", "word_similarity (short)"}
    assert (tmp_path / "trade.png").stat().st_size > 10_000
