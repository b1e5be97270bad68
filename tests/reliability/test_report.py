"""The report on reliability: numbers of the single functions, table 2 of a known truth, and what it leaves out."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, ReportError
from tests.reliability.made import PAIRS, made_seeds

WORDS = [f"w{number}" for number in range(60)]
QUERIES = {"first": WORDS[:4], "last": WORDS[-5:]}
OPTIONS = {"base_pairs": PAIRS, "queries": QUERIES, "random_seed": 1, "progress": False}


def made(noise: float, seeds: int = 3) -> dict:
    return made_seeds(seeds, noise=noise, words=WORDS)


def test_numbers_are_those_of_one_set_of_vectors_at_a_time() -> None:
    trainings = {"quiet": made(0.1), "loud": made(1.0)}
    lists = {"half": WORDS[:30], "all": WORDS}
    rules = ["db_wa", "ripa", "ripa_unit"]
    found = bb.reliability.reliability_report(trainings, lists, rules=rules, table_2=False, **OPTIONS)
    for name, seeds in trainings.items():
        scores = bb.reliability.score_array(seeds, WORDS, rules=rules, base_pairs=PAIRS, progress=False)
        means = scores.mean("seed")
        frame = found.words_over_rules.query("vectors == @name and list == 'half'").set_index("target_word")
        for word in ("w0", "w29"):
            covariance = np.cov(means.sel(target_word=word).values)  # of the rules, over base pairs
            expected = covariance[~np.eye(3, dtype=bool)].mean() / np.diag(covariance).mean()
            assert frame.loc[word, "observed"] == pytest.approx(expected, abs=1e-12)
        medians = (
            found.words_over_seeds.query("vectors == @name and list == 'all'").groupby("rule")["observed"].median()
        )
        stated = next(s for s in found.contents.answers if s.text.startswith(f"Over seeds, {name}: all"))
        assert stated.numbers["medians"] == pytest.approx(medians.to_dict())
        assert stated.numbers["rows"] == 180
    quiet, loud = (found.words_over_seeds.query("vectors == @name")["observed"].median() for name in trainings)
    assert quiet > loud
    assert found.facts["seeds"] == {"quiet": 3, "loud": 3}
    assert list(found.contents.figures) == [
        *("levels", "figure_2", "figure_3"),
        "figure_4_1",
        "figure_5_1",
        "figure_4_2",
        "figure_5_2",
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("default::bayesbias.errors.BayesBiasWarning")
def test_table_2_finds_what_was_made_unreliable(tmp_path: Path) -> None:
    """Words with more noise have less stable vectors and less reliable scores; senses and letters do nothing."""
    rng = np.random.default_rng(5)
    noise = np.exp(rng.normal(size=len(WORDS)))[:, None] * 0.5
    base = [word for pair in PAIRS for word in pair]
    truth = rng.normal(size=(len(base) + len(WORDS), 12))
    scale = np.concatenate([np.full((len(base), 1), 0.05), noise])
    every = (*base, *WORDS)
    trainings = {
        name: {
            seed: bb.Embedding(every, (truth + scale * rng.normal(size=truth.shape)).astype(np.float32))
            for seed in (1, 2, 3)
        }
        for name in ("one", "other")
    }
    properties = pd.DataFrame(
        {"word": WORDS, "senses": rng.integers(1, 20, len(WORDS)), "letter": ["a", "b", "c"] * 20}
    )
    properties.loc[0, "letter"] = np.nan
    properties["rare"] = np.where(np.arange(len(WORDS)) < 5, 1.0, np.nan)
    counts = {word: int(count) for word, count in zip(WORDS, rng.integers(5, 5000, len(WORDS)), strict=True)}
    few = {"draws": 300, "rules": ["db_wa", "ripa"], "counts": counts, "properties": properties}
    found = bb.reliability.reliability_report(trainings, {"all": WORDS}, **few, **OPTIONS)
    rows = found.drivers["over seeds"].coefficients.set_index("factor")
    assert rows.loc["stability", "hdi_low"] > 0
    drops = found.drivers["over seeds"].drops.set_index("factor")["mean"]
    assert drops["stability"] > 2 * drops[["log_senses", "letter", "frequency", "vectors"]].max()
    assert {"log_senses", "letter", "frequency", "vectors"} <= set(drops.index)
    assert found.drivers["over seeds"].facts["words"] == 59
    assert len(found.not_explained) == 2
    assert "rare" in found.not_explained[0]
    assert "1 word" in found.not_explained[1]
    folder = bb.write(found, tmp_path / "folder", progress=False)
    names = {path.name for path in folder.iterdir()}
    assert {
        "report.html",
        "levels.png",
        "figure_2.png",
        "figure_5_1.png",
        "over_seeds_drops.csv",
        "over_rules_r_squared.csv",
    } <= names


def test_what_is_left_out_is_stated() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        found = bb.reliability.reliability_report(
            {"made": made(0.3)}, {"few": WORDS[:6]}, rules=["db_wa"], properties=None, **OPTIONS
        )
    assert found.words_over_rules.empty
    assert not found.drivers
    assert "6 words" in found.not_explained[0]
    assert list(found.contents.figures) == ["levels", "figure_2", "figure_4"]
    for embeddings, words in (({}, {"few": WORDS}), ({"made": made(0.3)}, {}), ({1: "seed1.npz"}, {"few": WORDS})):
        with pytest.raises(ReportError):
            bb.reliability.reliability_report(embeddings, words, **OPTIONS)
