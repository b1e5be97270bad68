"""Words on axes: which pairs and words are used, what is refused, and what the result says."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsError, LostWordsWarning, MeasureError, ReportError

PAIRS = [(f"high{number}", f"low{number}") for number in range(6)]
WORDS = [f"word{number}" for number in range(12)]


def planted(seed: int = 1, dims: int = 25) -> bb.Embedding:
    """Pairs that differ along the first dimension, and words that lie along it from -1 to 1."""
    rng = np.random.default_rng(seed)
    vectors = {}
    for first, second in PAIRS:
        common = rng.normal(size=dims)
        for word, side in ((first, 1), (second, -1)):
            vectors[word] = common + 3 * side * np.eye(dims)[0] + 0.2 * rng.normal(size=dims)
    for word, place in zip(WORDS, np.linspace(-1, 1, len(WORDS)), strict=True):
        rest_of_word = rng.normal(size=dims - 1)
        vectors[word] = np.concatenate([[place], np.sqrt(1.2 - place**2) * rest_of_word / np.linalg.norm(rest_of_word)])
    return bb.Embedding(tuple(vectors), np.array(list(vectors.values())))


def test_words_lie_where_they_were_put() -> None:
    places = np.linspace(-1, 1, len(WORDS)) / np.sqrt(1.2)
    projection = bb.project(planted(), WORDS, PAIRS, random_seed=1)
    rows = projection.words
    assert rows["word"].tolist() == WORDS
    np.testing.assert_allclose(rows["cosine"], places, atol=0.1)
    assert (rows["hdi_low"] < rows["mean"]).all()
    assert projection.axes["pairs_agree"].tolist() == [True]
    assert projection.pairs["pair_share"].sum() == pytest.approx(1)


def test_several_axes_by_name_and_the_angle_between_them() -> None:
    projection = bb.project(planted(), WORDS, {"up": PAIRS, "down": [pair[::-1] for pair in PAIRS]}, random_seed=1)
    up, down = (projection.words.loc[projection.words["axis"] == name, "mean"].to_numpy() for name in ("up", "down"))
    np.testing.assert_allclose(up, -down)
    assert projection.angles[["first", "second"]].to_numpy().tolist() == [["up", "down"]]
    assert projection.angles["mean"].item() == -1
    assert set(projection.contents.tables) == {"axes", "words", "pairs", "angles"}
    assert "axes_map" in projection.contents.figures


def test_bundled_pairs_by_name_and_a_file(tmp_path) -> None:
    (tmp_path / "height.toml").write_text(f"pairs = {[list(pair) for pair in PAIRS]}", encoding="utf-8")
    projection = bb.project(planted(), WORDS, tmp_path / "height.toml")
    assert set(projection.scores) == {"height"}
    with pytest.raises(MeasureError, match=r"no base pairs 'affluense'.*affluence"):
        bb.project(planted(), WORDS, "affluense")
    with pytest.raises(ReportError, match="given twice"):
        bb.project(planted(), WORDS, ["gender", "gender"])


def test_lists_by_name_keep_their_names() -> None:
    projection = bb.project(planted(), {"a": WORDS[:4], "b": WORDS[4:]}, PAIRS)
    assert projection.words["list"].tolist() == ["a"] * 4 + ["b"] * 8


def test_ratings_of_the_words() -> None:
    places = dict(zip(WORDS, range(len(WORDS)), strict=True))
    row = bb.project(planted(), WORDS, PAIRS, ratings=places).ratings.iloc[0]
    assert row["words"] == len(WORDS)
    assert row["correlation_low"] > 0.9
    assert row["rank_correlation"] == pytest.approx(1, abs=0.02)
    frame = pd.DataFrame({"word": WORDS, "income": list(places.values()), "noise": np.cos(np.arange(12) * 2.0)})
    rows = bb.project(planted(), WORDS, PAIRS, ratings=frame).ratings
    assert rows["rating"].tolist() == ["income", "noise"]
    assert rows["correlation_low"].iloc[1] < 0 < rows["correlation_high"].iloc[1]


def test_draws_share_the_error_of_the_pairs() -> None:
    projection = bb.project(planted(), WORDS, PAIRS)
    draws = projection.draws("pairs", draws=4000, random_seed=1)
    assert draws.dims == ("chain", "draw", "word")
    np.testing.assert_array_equal(draws, projection.draws("pairs", draws=4000, random_seed=1))
    low, high = np.quantile(draws[0], [0.055, 0.945], axis=0)
    width = (projection.words["hdi_high"] - projection.words["hdi_low"]).to_numpy()
    np.testing.assert_allclose(high - low, width, rtol=0.1)
    np.testing.assert_allclose(draws.mean(("chain", "draw")), projection.words["mean"], atol=0.01)
    with pytest.raises(ArgumentError, match="axis='other'"):
        projection.draws("other")


def test_pairs_that_do_not_agree_have_no_cosines_and_a_warning() -> None:
    rng = np.random.default_rng(3)
    vectors = bb.Embedding((*WORDS, *(word for pair in PAIRS for word in pair)), rng.normal(size=(24, 30)))
    projection = bb.project(vectors, WORDS, PAIRS, random_seed=1)
    assert projection.words[["cosine", "cosine_low", "cosine_high"]].isna().all(axis=None)
    assert projection.contents.diagnostics[0].kind == "agreement"
    assert "none" not in projection.contents.diagnostics[0].text


def test_words_of_pairs_and_words_in_several_pairs_are_named() -> None:
    projection = bb.project(planted(), [*WORDS, "high1"], [*PAIRS, ("high0", "low3")])
    kinds = {statement.kind: statement.text for statement in projection.contents.diagnostics}
    assert kinds["words in pairs"].startswith("high1 is")
    assert kinds["shared words"].startswith("high0, low3 stand")


def test_lost_pairs_and_words() -> None:
    with pytest.warns(LostWordsWarning, match="left out 1 of the 7 base pairs"):
        projection = bb.project(planted(), WORDS, [*PAIRS, ("here", "there")])
    assert projection.lost_words == {"pairs of pairs": ("here ~ there",)}
    with pytest.raises(ReportError, match="at least 3"):
        bb.project(planted(), WORDS, PAIRS[:2])
    with pytest.raises(LostWordsError):
        bb.project(planted(), [*WORDS[:2], "x", "y"], PAIRS)
    with pytest.raises(MeasureError, match="same direction"):
        bb.project(planted(), WORDS, [*PAIRS, ("high1", "high1")])


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        (3, "a mapping of words"),
        (pd.DataFrame({"Word": ["a"], "x": [1.0]}), "no column word"),
        (pd.DataFrame({"word": ["a"], "x": ["b"]}), "no column of numbers"),
        (pd.DataFrame({"word": ["a", "a"], "x": [1.0, 2.0]}), "more than once"),
        ({"word1": 1.0, "word2": 2.0}, "2 of the 12"),
        (dict.fromkeys(WORDS, 1.0), "equal"),
    ],
)
def test_ratings_that_are_no_ratings(ratings, message) -> None:
    with pytest.raises(ReportError, match=message):
        bb.project(planted(), WORDS, PAIRS, ratings=ratings)
