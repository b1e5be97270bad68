"""What `validation/study_over_seeds` keeps: the script in short, and the tables that its text shows."""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from tests.validation.numbers import template_prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "study_over_seeds"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("study_over_seeds", "study_over_seeds")


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    return load_script("study_over_seeds", "claims")


def corpus(path: Path) -> Path:
    """Write made-up documents: the words of the base pairs, lists and queries in random order."""
    rng = np.random.default_rng(1)
    words = sorted(
        {word for pair in bb.metrics.load_base_pairs("gender") for word in pair}
        | {word for name in ("occ16", "occ18", "adj") for word in bb.reliability.load_target_words(name)[:40]}
        | {word for words in bb.reliability.load_queries().values() for word in words}
    )
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.write("\n".join(" ".join(rng.permutation(words)[:-60]) for _ in range(16)))
    return path


@pytest.mark.slow
def test_the_script_in_short(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seeds of vectors of 8 dimensions: the tables have the shape of those kept, and so few draws are doubted."""
    given = ["study", corpus(tmp_path / "corpus.txt.gz"), tmp_path / "vectors", "--out", tmp_path / "out"]
    short = ["--dimensions", "8", "--seeds", "2", "--sampled", "60", "--draws", "200"]
    monkeypatch.setattr(sys, "argv", [*map(str, given), *short])
    (tmp_path / "vectors").mkdir()
    script.main()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        path.name for path in KEPT.iterdir() if path.suffix in (".csv", ".gz", ".npz", ".json")
    }
    for path in (tmp_path / "out").glob("*.csv*"):
        made, kept = (pd.read_csv(each / path.name, keep_default_na=False) for each in (tmp_path / "out", KEPT))
        assert list(made.columns) == list(kept.columns), path.name
    made, kept = (pd.read_csv(each / "claims.csv")[["where", "measured"]] for each in (tmp_path / "out", KEPT))
    assert made.equals(kept)


def test_kept_scores_are_those_of_all_seeds(claims: ModuleType) -> None:
    scores = claims.read_scores(KEPT / "scores.npz")
    assert list(scores) == ["skipgram", "glove"]
    for array in scores.values():
        assert (array.sizes["rule"], array.sizes["base_pair"], array.sizes["seed"]) == (4, 23, 8)
        assert np.isfinite(array.values).all()
    assert (KEPT / "scores.npz").stat().st_size < 3_000_000


def test_verdicts_follow_from_the_intervals(claims: ModuleType) -> None:
    assert claims.settled(0.7, 0.6, 0.8, 0.5, above=True) == "agrees"
    assert claims.settled(0.3, 0.2, 0.4, 0.5, above=True) == "disagrees"
    assert claims.settled(0.3, 0.2, 0.4, 0.5, above=False) == "agrees"
    assert claims.settled(0.5, 0.4, 0.6, 0.5, above=True) == "cannot tell"
    kept = pd.read_csv(KEPT / "claims.csv")
    assert (kept["low"] <= kept["ours"]).all()
    assert (kept["ours"] <= kept["high"]).all()
    made = claims.claims(KEPT)
    assert made["verdict"].tolist() == kept["verdict"].tolist()
    np.testing.assert_allclose(made[["ours", "low", "high"]], kept[["ours", "low", "high"]], atol=0.002)


def test_the_interval_of_a_correlation_is_that_of_scipy(claims: ModuleType) -> None:
    from scipy.stats import pearsonr

    rng = np.random.default_rng(3)
    one = rng.normal(size=23)
    other = one + rng.normal(size=23)
    expected = pearsonr(one, other)
    interval = expected.confidence_interval(0.89)
    assert claims.of_correlation(one, other) == pytest.approx((expected.statistic, interval.low, interval.high))


def test_numbers_of_the_readme_are_in_the_table() -> None:
    """Each row of its tables names a claim's `measured` and algorithm, and shows its numbers with three decimals."""
    table = pd.read_csv(KEPT / "claims.csv").set_index(["measured", "algorithm", "where"])
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| .+? \| (.+?) \| (-?\d\.\d+) \((-?\d\.\d+) to (-?\d\.\d+)\) \| (.+?) \|$",
        (KEPT / "README.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert len(rows) > 20
    for where, measured, algorithm, *numbers, verdict in rows:
        kept = table.loc[(measured, algorithm, where)]
        assert np.allclose([float(each) for each in numbers], kept[["ours", "low", "high"]].astype(float), atol=0.00051)
        assert verdict == kept["verdict"]


def test_the_run_says_what_it_was_made_from() -> None:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    for algorithm, facts in run["provenance"].items():
        assert facts["algorithm"] == algorithm
        assert facts["settings"]["dimensions"] == 100
        assert facts["repeats"]
    lists = json.loads((KEPT / "lists.json").read_text(encoding="utf-8"))
    assert {name: len(words) for name, words in lists.items()} == run["words"]


def test_readme_is_its_template_with_the_numbers_of_the_tables() -> None:
    readme = load_script("study_over_seeds", "study_text")
    assert readme.filled_readme(KEPT) == (KEPT / "README.md").read_text(encoding="utf-8")


def test_words_below_one_half_are_counted_over_rules() -> None:
    """By hand: gzip and a count of words, not of rows."""
    with gzip.open(KEPT / "words.csv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split(",") for line in lines][1:]
    low = {
        (row[0], row[3]) for row in rows if row[1] == "test_retest" and row[2] != "ripa_unit" and float(row[8]) < 0.5
    }
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert [sum(algorithm == name for algorithm, _ in low) for name in ("skipgram", "glove")] == [3, 2]
    assert "where 3 of\n2,955 words" in text
    assert "GloVe, where 2 are" in text


def test_shares_of_table_2_are_those_of_a_population(claims: ModuleType) -> None:
    """As lmer's variance components in the paper, whose shares of the algorithm are inside."""
    made = claims.claims(KEPT).set_index("measured")
    shares = pd.read_csv(KEPT / "drivers_r_squared.csv").set_index(["ripa", "scope", "kind", "part"])
    for kind, paper in (("test_retest", 0.180), ("inter_rater", 0.431)):
        row = made.loc[f"R2 of algorithm, {kind}, RIPA of the equation"]
        assert row["ours"] == shares.loc[("equation", "population", kind, "algorithm"), "mean"]
        assert row["low"] < paper < row["high"]


def test_frequency_is_lost_with_its_square() -> None:
    drops = pd.read_csv(KEPT / "drivers_drops.csv").set_index(["ripa", "kind", "factor"])["mean"].sort_index()
    for ripa in ("equation", "code"):
        for kind in ("test_retest", "inter_rater"):
            alone = drops[ripa, kind][["log_frequency", "log_frequency_squared"]]
            assert drops[ripa, kind, "frequency"] >= alone.max()


def test_senses_and_parts_of_speech_explain_little() -> None:
    """As table 3 of the paper; the number of words is counted again, with pandas alone."""
    senses = pd.read_csv(KEPT / "senses.csv")
    lost = senses[senses["quantity"] == "R2 lost"]
    assert set(lost["kind"]) == {"test_retest", "inter_rater"}
    assert (lost["hdi_high"] < 0.01).all()
    sampled = pd.read_csv(KEPT / "features.csv.gz", keep_default_na=False)["word"]
    properties = bb.reliability.load_word_properties().dropna()
    assert senses["words"].unique().tolist() == [sampled[sampled.isin(properties["word"])].nunique()]


def numbers_of_the_design(script: ModuleType, claims: ModuleType) -> Iterator[str]:
    run = json.loads((KEPT / "run.json").read_text(encoding="utf-8"))
    (articles,) = {facts["corpus"]["documents"] for facts in run["provenance"].values()}
    (dimensions,) = {facts["settings"]["dimensions"] for facts in run["provenance"].values()}
    words = pd.read_csv(VALIDATION / "training" / "training.csv")["words"].unique().item()
    with np.load(KEPT / "scores.npz") as arrays:
        seeds, base_pairs = (len(arrays[name]) for name in ("seed", "base_pair"))
    # What the paper has is after "in place of".
    yield f"{articles:,} Wikipedia articles of 2018"
    yield f"of which {words:,} get vectors) in place of 137 to 527 million words"
    yield f"; {dimensions} dimensions in place of 300, {seeds} seeds in place of 32"
    yield f"a random {run['words']['frequent']:,} of the 10,000 most frequent words"
    yield f"a random {run['words']['vocabulary']:,} of all words"
    queries, rules, algorithms = (
        len(names) for names in (bb.reliability.load_queries(), script.RULES, script.ALGORITHMS)
    )
    yield f"({queries} queries and the base pairs, by {rules} rules, in {algorithms} algorithms)"
    yield f"with {base_pairs} base pairs, a few"
    yield f"with {len(claims.PLURALS)} pairs it could not"
    papers = pd.read_csv(KEPT / "claims.csv", dtype=str).drop_duplicates("measured").set_index("measured")["paper"]
    for part, kind, title in (
        ("algorithm", "test_retest", "differences over seeds (paper: "),
        ("algorithm", "inter_rater", "algorithm explains ... (paper: "),
        ("fixed", "inter_rater", "features ... (paper: "),
    ):
        yield f"{title}{papers[f'R2 of {part}, {kind}, RIPA of the equation']})"


def test_the_template_says_the_numbers_of_the_design_and_no_others(script: ModuleType, claims: ModuleType) -> None:
    # Du, Fang and Nguyen (2021), table 3.
    table_3 = ["(paper: 0.0093)", "(paper: 0.0022)", "(paper: 0.0002)", "(paper: 0)", "(paper: -0.0012 and -0.0007)"]
    lines = [*table_3, "(0.5 of the words, alpha of 0.7,", "a correlation of 0)", "are above 0.6", "settled above 0.7"]
    lines += ["are below 0.5", "are above 0.5", "scales it to length 1"]
    computed = [*numbers_of_the_design(script, claims), *lines]
    assert unexplained(template_prose(KEPT / "README.template.md"), computed) == []
