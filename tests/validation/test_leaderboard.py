"""What `validation/leaderboard` keeps: the text shows the tables, planted changes show, and the scripts run."""

import json
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "leaderboard"
EMBEDDINGS = VALIDATION.parents[1] / "shared" / "data" / "embeddings"


@pytest.fixture(scope="module")
def paired() -> ModuleType:
    return load_script("leaderboard", "paired")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("leaderboard", "leaderboard")


@pytest.fixture(scope="module")
def kept() -> dict[str, pd.DataFrame]:
    names = ("pairs", "sets", "ranks", "differences", "contrasts")
    return {name: pd.read_csv(KEPT / f"{name}.csv", keep_default_na=False, na_values=[]) for name in names}


def test_readme_shows_the_tables(paired: ModuleType, script: ModuleType, kept: dict[str, pd.DataFrame]) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    assert paired.markdown(kept["pairs"], kept["sets"]) in text
    assert script.board(kept["ranks"]) in text
    assert script.planted_table(kept["differences"]) in text


def test_a_copy_ties_and_a_planted_change_shows(script: ModuleType, paired: ModuleType) -> None:
    study = bb.load_study("weat6").without_controls()
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    sources = [bb.load_embedding(vectors, case=script.CASE), *dict(script.planted()).values()]
    values, parts = zip(*(paired.answer(source, study) for source in sources), strict=True)
    pairs = paired.differences(np.array(values), list(parts), "paired", 1).set_index(["first", "second"])
    assert pairs.loc[(0, 1), "order"] == "equal"
    assert pairs.loc[[(0, 2), (1, 2)], "order"].tolist() == ["stronger", "stronger"]
    apart = paired.differences(np.array(values), list(parts), "independent", 1).set_index(["first", "second"])
    assert apart.loc[(0, 2), "hdi_low"] < pairs.loc[(0, 2), "hdi_low"]


def test_what_is_not_to_be_had_is_named(script: ModuleType, tmp_path: Path) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed2.npz")
    missing: list[str] = []
    given = Namespace(
        data=tmp_path / "absent", added=[script.named(f"mine = {vectors}")], model=[script.named(f"BERT={tmp_path}")]
    )
    found = script.sources(given, tmp_path, missing)
    assert list(found)[:7] == [*(f"seed {seed}" for seed in script.SEEDS), script.AGAIN, script.DEBIASED]
    assert found["mine"] == Path(vectors).resolve()
    with pytest.raises(ArgumentTypeError, match="no_path"):
        script.named("no_path")
    lacking = {text.partition(":")[0] for text in missing}
    assert lacking >= set(script.VECTORS)
    assert ("BERT" in lacking) != ("BERT" in found)


@pytest.mark.slow
def test_the_leaderboard_in_short(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ["--cells", str(tmp_path / "cells"), "--output", str(tmp_path / "board"), "--data", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["leaderboard.py", *folders, "--studies", "weat6", "--draws", "50"])
    script.main()
    said = " ".join(capsys.readouterr().out.split())
    assert "Equal in every word, and so tied: seed 1 and seed 1, entered twice." in said
    answers = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cells" / "answers").glob("*.npz")}
    ranks = pd.read_csv(tmp_path / "board" / "ranks.csv", keep_default_na=False)
    script.main()  # the answers are kept
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cells" / "answers").glob("*.npz")} == answers
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "board" / "ranks.csv", keep_default_na=False), ranks)
    assert "Which embedding has the strongest association?" in (tmp_path / "board" / "leaderboard.html").read_text()


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDINGS.exists(), reason="the reference data are absent")
def test_the_trial_in_short(paired: ModuleType) -> None:
    """Unlike independent ones, paired differences show the planted change; intervals hold the truth in most samples."""
    pairs, _ = paired.run_cell(paired.Cell("gender", 20), EMBEDDINGS, 5)
    debiased = pairs[pairs["pair"] == "google - debiased"].groupby("method")[["right", "covered"]].mean()
    assert debiased.loc["paired", "right"] > debiased.loc["independent", "right"]
    every = paired.without_copy(pairs).groupby("method")["covered"].mean()
    assert every["paired"] > HDI_PROB - 0.15
    assert pairs.loc[pairs["pair"] == "google - copy", "width"].max() > 0  # of the independent ones
    assert pairs.loc[(pairs["pair"] == "google - copy") & (pairs["method"] == "paired"), "width"].max() == 0


def numbers_of_trial(script: ModuleType, paired: ModuleType, kept: dict[str, pd.DataFrame]) -> Iterator[str]:
    samples = json.loads((KEPT / "paired.json").read_text(encoding="utf-8"))["samples"]
    pairs, sets = paired.without_copy(kept["pairs"]), kept["sets"]
    sizes = " or ".join(str(words) for words in sorted(set(pairs["words"])))
    yield f"two groups and two lists of {sizes} words, {samples} samples a cell"
    yield from ("leave out 0", "leaves out 0", "cannot be below 0", "differences are 0 in", "is above 0")
    leaning = pairs[pairs["axis"] != "none"]
    by_method = leaning.groupby("method")[["covered", "right", "wrong", "width"]].mean()
    mean, twice, apart = (by_method.loc[method] for method in ("paired", "noise twice", "independent"))
    lowest = leaning[leaning["method"] == "paired"]["covered"].min()
    yield f"in {mean['covered']:.2f} of the paired intervals (nominal {HDI_PROB:g})"
    yield f"in {lowest:.2f} for the lowest pair of a cell"
    yield f"an error of {binomial_error(HDI_PROB, samples):.2f}"
    yield f"in {twice['covered']:.2f} if noise counts twice, and in {apart['covered']:.2f} of the independent ones"
    yield f"in {mean['right']:.2f} of the cases on the right side, and in {mean['wrong']:.3f} on the wrong one"
    yield f"independent ones in {apart['right']:.2f}"
    yield f"{mean['width']:.2f} and {apart['width']:.2f} wide"
    planted = leaning[leaning["pair"] == "google - debiased"].set_index("method")["right"]
    for method in ("paired", "independent"):
        yield f"{planted[method].min():.2f} to {planted[method].max():.2f} of the samples"
    of_paired = sets[sets["method"] == "paired"]
    yield f"in at least {of_paired['bands'].min():.2f} of the samples of a cell"
    yield f"ranges of ranks in at least {of_paired['ranks'].min():.2f}"
    strict = pairs[(pairs["axis"] == "none") & (pairs["method"] == "paired")]["covered"]
    yield f"in {strict.mean():.2f} of the intervals"


def numbers_of_board(script: ModuleType, kept: dict[str, pd.DataFrame]) -> Iterator[str]:
    ranks, differences = kept["ranks"], kept["differences"]
    yield f"the {len(set(ranks['study']) - {''})} questions that all ranked entries answer"
    overall = ranks[ranks["study"] == ""]
    yield f"holds with probability {overall['order_probability'].iloc[0]:.3f}"
    pairs = differences[differences["study"] == ""]
    yield f"Of {len(pairs)} pairs, {pairs['order'].isin(['stronger', 'weaker']).sum()} are settled"
    row = pairs[(pairs["first"] == "seed 1") & (pairs["second"] == script.DEBIASED)].iloc[0]
    yield f"{row['difference']:+.3f} ({row['hdi_low']:+.3f} to {row['hdi_high']:+.3f})"
    yield f"less than {100 * script.LEAST:.0f} % of the questions"
    yield from ("seed 1", "Seed 1")


def test_every_sentence_with_a_number_is_computed(
    script: ModuleType, paired: ModuleType, kept: dict[str, pd.DataFrame]
) -> None:
    computed = [*numbers_of_board(script, kept), *numbers_of_trial(script, paired, kept)]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


def test_what_is_said_of_the_leaderboard(script: ModuleType, kept: dict[str, pd.DataFrame]) -> None:
    ranks, pairs = kept["ranks"], kept["differences"]
    seeds = [f"seed {seed}" for seed in script.SEEDS]
    of_seeds = pairs[pairs["first"].isin(seeds) & pairs["second"].isin(seeds)]
    assert (of_seeds["order"] == "tied").all()
    copies = pairs[(pairs["first"] == "seed 1") & (pairs["second"] == script.AGAIN)]
    assert (copies["order"] == "equal").all()
    assert set(copies["study"]) == set(ranks["study"])
    planted = pairs[(pairs["first"] == "seed 1") & (pairs["second"] == script.DEBIASED)].set_index("study")
    gender = planted.loc[["gender", "weat6", "weat7", "weat8"]]
    assert (gender["difference"] > 0.1).all()
    assert (planted.drop(index=["", *gender.index])["difference"].abs() < 0.02).all()
    assert gender.loc["weat6", "order"] == "stronger"
