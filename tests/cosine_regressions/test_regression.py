"""The report of a cosine regression: its tables hang together, and say of real lists what plain arithmetic says."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.statements import Statement
from bayesbias.cosine_regressions.designs import centroid_weights
from bayesbias.cosine_regressions.linear_model import LinearPrior
from bayesbias.cosine_regressions.regression import (
    DESIGNS,
    CosineRegression,
    ListVectors,
    cosine_regression,
    dependence,
    restrictions,
    weak_data,
)
from bayesbias.errors import ArgumentError, MeasureError

WORDS = {name: [f"{name}{number}" for number in range(12)] for name in "XYAB"}


def vectors(seed: int = 0, dimensions: int = 6) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    words = [word for words in WORDS.values() for word in words]
    return {word: rng.normal(0.2, 1, dimensions) * rng.lognormal(0, 0.3) for word in words}


def mean_cosine(space: dict[str, np.ndarray], one: str, other: str) -> float:
    pairs = [(space[w], space[v]) for w in WORDS[one] for v in WORDS[other]]
    return float(np.mean([w @ v / np.sqrt((w @ w) * (v @ v)) for w, v in pairs]))


@pytest.fixture(scope="module")
def overlapping() -> CosineRegression:
    return cosine_regression(vectors(), WORDS, draws=300, random_seed=1)


@pytest.mark.parametrize("name", list(DESIGNS))
def test_every_design_adds_up(name: str) -> None:
    result = cosine_regression(vectors(), WORDS, name, draws=100, word_effects=False, random_seed=1)
    rows = result.decomposition.set_index("part")["mean"]
    assert rows["comparison"] + rows[["omitted"]].sum() == pytest.approx(rows["sum"])
    assert rows["sum"] - rows["comparison"] == pytest.approx(rows["distortion"])
    assert rows["absolute distortion"] >= abs(rows["distortion"])
    shown = result.coefficients.groupby("model")["symbol"].count()
    assert shown["inner_product"] == shown["corrected_ratio"] == len(rows[["omitted"]]) + 2
    assert shown["constrained"] == 2
    assert result.coefficients.notna().all(axis=None)
    slope = result.coefficients[result.coefficients["model"] == "constrained"].iloc[1]
    notes_by_kind = {note.kind: note for note in result.notes}
    restrictions = notes_by_kind["restrictions"].numbers
    assert (restrictions["mean"], restrictions["hdi_low"]) == (slope["mean"], slope["hdi_low"])
    assert restrictions["comparison"] == pytest.approx(rows["comparison"])
    assert restrictions["omitted"] == len(rows[["omitted"]])
    assert notes_by_kind["model"].numbers["rows"] == len(result.pairs)
    assert notes_by_kind["model"].numbers["draws"] == 400
    assert f"{slope['symbol']} = {slope['mean']:+.3f} (89% HPDI" in notes_by_kind["restrictions"].text
    assert all(note.text.split()[0] in text for note in result.notes for text in (str(result), result._repr_html_()))


@pytest.mark.parametrize("name", list(DESIGNS))
def test_rows_are_the_pairs_that_their_words_name(name: str) -> None:
    space = vectors()
    ends = space | {f"centroid of {one}": np.mean([space[word] for word in WORDS[one]], axis=0) for one in "AB"}
    result = cosine_regression(space, WORDS, name, draws=20, word_effects=False, random_seed=1)
    for row in result.pairs.itertuples():
        w, v = ends[row.first_word], ends[row.second_word]
        assert row.cosine == pytest.approx(w @ v / np.sqrt((w @ w) * (v @ v)))
        if result.similarity is not None:
            assert f"{row.first_word[0]} with {row.second_word.removeprefix('centroid of ')[0]}" in row.side


def test_flat_slopes_are_the_differences_of_mean_cosines() -> None:
    space = vectors()
    means = {pair: mean_cosine(space, *pair) for pair in ("XA", "XB", "YA", "YB")}
    expected = {
        "binary": means["XA"] - means["YB"],
        "overlapping": (means["XA"] + means["YB"] - means["XB"] - means["YA"]) / 2,
    }
    for name, slope in expected.items():
        result = cosine_regression(space, WORDS, name, prior="flat", word_effects=False, random_seed=1)
        constrained = result.coefficients[result.coefficients["model"] == "constrained"].iloc[1]
        assert constrained["mean"] == pytest.approx(slope, abs=4 * constrained["sd"] / np.sqrt(4000))
        total = result.decomposition[result.decomposition["part"] == "sum"].iloc[0]
        assert total["mean"] == pytest.approx(slope, abs=4 * total["sd"] / np.sqrt(4000))


def test_overlapping_slope_is_half_of_weats_difference(overlapping: CosineRegression) -> None:
    from bayesbias.metrics.associations.weat import weat

    difference = weat(vectors(), WORDS, statistic="mean", random_seed=1).statistics["test_statistic"]
    slope = overlapping.coefficients[overlapping.coefficients["model"] == "constrained"]["mean"].iloc[1]
    # Balanced lists: word effects do not move the estimate, the weak prior hardly.
    assert slope == pytest.approx(difference / 2, abs=0.003)


def test_similarity_and_discrepancy_add_up_to_the_mean_cosine(overlapping: CosineRegression) -> None:
    assert overlapping.similarity is not None
    for (_, cosine), rows in overlapping.similarity.groupby(["side", "mean_cosine"]):
        assert rows["mean"].sum() == pytest.approx(cosine)
    by_pair = overlapping.pairs.groupby("side")["local_similarity"].mean()
    by_side = overlapping.similarity.query("kind == 'local similarity'").set_index("side")["mean"]
    pd.testing.assert_series_equal(by_pair.sort_index(), by_side.sort_index(), check_names=False)


def test_seed_repeats_the_result(overlapping: CosineRegression) -> None:
    again = cosine_regression(vectors(), WORDS, draws=300, random_seed=1)
    pd.testing.assert_frame_equal(again.coefficients, overlapping.coefficients)
    xr.testing.assert_identical(again.draws, overlapping.draws)
    assert again.notes == overlapping.notes


def test_result_does_not_depend_on_the_units_of_the_embedding(overlapping: CosineRegression) -> None:
    larger = {word: 16 * vector for word, vector in vectors().items()}
    again = cosine_regression(larger, WORDS, draws=300, random_seed=1)
    # Ranks, and with them effective sample sizes, may change with the last digit.
    columns = ["part", "symbol", "slope", "mean", "sd", "hdi_low", "hdi_high"]
    pd.testing.assert_frame_equal(
        again.decomposition[columns], overlapping.decomposition[columns], atol=1e-6, rtol=1e-6
    )  # fmt: skip


def test_notes_say_what_the_intervals_assume() -> None:
    def statement_of(kind: str, *arguments: str, **settings: object) -> Statement:
        result = cosine_regression(vectors(), WORDS, *arguments, random_seed=1, **settings)
        return next(note for note in result.notes if note.kind == kind)

    assert "count as independent" in statement_of("dependence", "binary", draws=50, word_effects=False).text
    assert "word effects (target_word, attribute_word)" in statement_of("dependence", "binary", draws=50).text
    weights = statement_of("centroid weights", "centroid", draws=50).numbers
    assert weights == {
        name: pytest.approx(centroid_weights([vectors()[word] for word in WORDS[name]]).mean()) for name in "AB"
    }
    narrow = LinearPrior(coefficient_sd=1.0, sigma=0.05, rows=1.0)
    assert all(share > 0.5 for share in statement_of("prior", "bivariate_centroid", prior=narrow).numbers.values())


def test_normalised_vectors_are_refused() -> None:
    unit = {word: (vector / np.linalg.norm(vector)).astype(np.float32) for word, vector in vectors().items()}
    with pytest.raises(MeasureError, match="LNW"):
        cosine_regression(unit, WORDS, "binary")


def test_bad_requests() -> None:
    few = {name: words[:2] for name, words in WORDS.items()}
    with pytest.raises(MeasureError, match=r"4 rows .* 4 "):
        cosine_regression(vectors(), few, "centroid")
    with pytest.raises(MeasureError, match=r"'X' .*12 .*'Y' .*11"):
        cosine_regression(vectors(), WORDS | {"Y": WORDS["Y"][1:]}, "bivariate")
    with pytest.raises(MeasureError, match="1 protected group"):
        cosine_regression(vectors(), {name: WORDS[name] for name in "XYA"})
    with pytest.raises(ArgumentError, match="'centroid'"):
        cosine_regression(vectors(), WORDS, "centroids")
    for name, value in {"hdi_prob": 89, "draws": 0, "chains": 1.5, "random_seed": True, "prior": "weka"}.items():
        with pytest.raises(ArgumentError, match=name):
            cosine_regression(vectors(), WORDS, **{name: value})


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("study", ["weat1", "weat7"])
def test_google_news(shared: Path, study: str) -> None:
    """The slope is half of WEAT's difference of means, which `weat` computes from the same lists on its own."""
    from bayesbias.metrics.associations.weat import weat

    embedding = bb.load_embedding(shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz")
    result = cosine_regression(embedding, study, word_effects=False, random_seed=1)
    slope = result.coefficients[result.coefficients["model"] == "constrained"].iloc[1]
    half = weat(embedding, study, statistic="mean", random_seed=1).statistics["test_statistic"] / 2
    assert slope["mean"] == pytest.approx(half, abs=4 * slope["sd"] / np.sqrt(4000))


def coefficients() -> pd.DataFrame:
    """Return the coefficients of a model with two terms, and of the one that has two more."""
    rows = [
        ("constrained", "b0", "intercept", 0.1, 0.0, 0.2, 0.1),
        ("constrained", "b3", "side", 0.3, 0.2, 0.4, 0.1),
        ("corrected_ratio", "b0", "intercept", 0.1, 0.05, 0.2, 0.1),
        ("corrected_ratio", "b3", "side", 0.5, 0.2, 0.8, 0.6),
        ("corrected_ratio", "b1", "LNW", -0.4, -0.7, -0.1, 0.2),
        ("corrected_ratio", "b2", "product", 0.1, -0.2, 0.4, 0.9),
    ]
    columns = ["model", "symbol", "term", "mean", "hdi_low", "hdi_high", "prior_share"]
    return pd.DataFrame(rows, columns=columns)


def test_restrictions_count_the_omitted_terms_whose_interval_excludes_0() -> None:
    parts = xr.Dataset({
        "comparison": ("draw", [0.5, 0.1, -0.2, 0.4]),
        "distortion": ("draw", [-0.2, -0.3, 0.1, 0.0]),
        "absolute distortion": ("draw", [0.2, 0.3, 0.1, 0.0]),
        "sum": ("draw", [0.3, -0.2, -0.1, 0.4]),
    })  # fmt: skip
    design: Any = SimpleNamespace(constrained=("b0", "b3"))
    statement = restrictions(parts, coefficients(), design, 0.89)
    assert statement.numbers == {
        "mean": 0.3,
        "hdi_low": 0.2,
        "hdi_high": 0.4,
        "comparison": pytest.approx(0.2),
        "distortion": pytest.approx(-0.1),
        "absolute distortion": pytest.approx(0.15),
        "opposite_signs": 0.25,
        "omitted": 2,
        "omitted_away_from_0": ["b1"],
    }
    assert "b1 (LNW)" in statement.text
    assert "89%" in statement.text


def test_weak_data_names_the_terms_that_are_mostly_prior() -> None:
    (statement,) = weak_data(coefficients())
    assert statement.numbers == {"b3": 0.6, "b2": 0.9}
    assert weak_data(coefficients().assign(prior_share=0.5)) == ()


def test_dependence_names_the_word_effects() -> None:
    built: Any = SimpleNamespace(effects=("target_word", "attribute_word"))
    assert "(target_word, attribute_word)" in dependence(built, True).text
    assert "word_effects=True" in dependence(built, False).text
    centroids: Any = SimpleNamespace(effects=())
    assert "word_effects" not in dependence(centroids, True).text


def lists(*sizes: int) -> ListVectors:
    rng = np.random.default_rng(1)
    words = tuple(tuple(f"{name}{number}" for number in range(size)) for name, size in zip("XYAB", sizes, strict=True))
    vectors = tuple(rng.normal(0.3, 1, (size, 5)) * rng.lognormal(0, 0.3, (size, 1)) for size in sizes)
    return ListVectors(tuple("XYAB"), words, vectors)


def test_binary_rows_have_each_pair_of_a_side_once() -> None:
    rows = DESIGNS["binary"](lists(3, 4, 5, 6))
    assert len(rows.first) == len(set(zip(rows.first, rows.second, strict=True))) == 3 * 5 + 4 * 6
    assert rows.design.side is not None
    triples = zip(rows.first, rows.second, rows.design.side.tolist(), strict=True)
    assert {(a[0], b[0], side) for a, b, side in triples} == {("X", "A", 1), ("Y", "B", 0)}
    assert rows.sides == ("Y with B", "X with A")
    assert list(rows.effects["target_word"].words) == rows.first


def test_overlapping_rows_have_each_word_on_both_sides() -> None:
    rows = DESIGNS["overlapping"](lists(3, 4, 5, 6))
    assert rows.design.side is not None
    assert len(rows.first) == (3 + 4) * (5 + 6)
    for words in (rows.first, rows.second):
        assert len(set(zip(words, rows.design.side.tolist(), strict=True))) == 2 * len(set(words))
    assert set(rows.effects) == {"target_word", "attribute_word", "target_word_by_side", "attribute_word_by_side"}
    np.testing.assert_array_equal(rows.effects["target_word_by_side"].by, rows.design.side - 0.5)


def test_centroid_rows_are_the_target_words() -> None:
    made = lists(8, 7, 5, 6)
    rows = DESIGNS["centroid"](made)
    assert rows.first == [*made.words[1], *made.words[0]]
    omega = [made.vectors[which].sum(axis=0) for which in (3, 2)]
    for row, word in enumerate(rows.first):
        vector = made.vectors["XY".index(word[0])][int(word[1:])]
        centre = omega[word[0] == "X"]
        cosine = vector @ centre / np.sqrt((vector @ vector) * (centre @ centre))
        assert rows.design.pairs.cosine[row] == pytest.approx(cosine)


@pytest.mark.parametrize("name", ["bivariate", "bivariate_centroid"])
def test_lists_that_are_matched_by_position_have_one_length(name: str) -> None:
    assert any(note.kind == "matching" for note in DESIGNS[name](lists(12, 12, 5, 5)).notes)
    with pytest.raises(MeasureError, match=r"'X' .*12 .*'Y' .*11"):
        DESIGNS[name](lists(12, 11, 5, 5))
