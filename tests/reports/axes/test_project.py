"""Words on axes: which pairs and words are used, what is refused, and what the result says."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsError, LostWordsWarning, MeasureError, ReportError
from tests.models.dependent_words import SAMPLE

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


def test_an_axis_of_very_many_pairs_is_refused() -> None:
    """Each pair is compared with each other one: 10,000 took a minute and 3 GB."""
    rng = np.random.default_rng(1)
    vectors = {f"{side}{number}": rng.normal(size=4) for number in range(1001) for side in "ab"} | {"word": np.ones(4)}
    pairs = [(f"a{number}", f"b{number}") for number in range(1001)]
    with pytest.raises(ReportError, match=r"1,001 pairs, at most 1,000 .* random sample"):
        bb.project(vectors, ["word"], pairs, random_seed=1)
    assert len(bb.project(vectors, ["word"], pairs[1:], random_seed=1).pairs) == 1000


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


def test_near_copies_are_named_and_the_pairs_count_as_what_they_are_worth() -> None:
    """Real vectors, with forms of a pair that are near-copies of it."""
    rng = np.random.default_rng(1)
    heads = SAMPLE[:12].reshape(2, 6, -1)
    vectors = np.repeat(heads, 2, axis=1) + 0.02 * rng.normal(size=(2, 12, SAMPLE.shape[1]))
    names = [f"{'xyzuvw'[place // 2]}{'ab'[place % 2]}" for place in range(12)]
    words = [*(f"first{name}" for name in names), *(f"second{name}" for name in names)]
    every = np.concatenate([vectors.reshape(24, -1), SAMPLE[12:20]])
    targets = [f"target{letter}" for letter in "abcdefgh"]
    pairs = [(f"first{name}", f"second{name}") for name in names]
    settings = {"words": (*words, *targets), "vectors": every}
    made, bare = (
        bb.project(bb.Embedding(**settings, vocabulary_sample=sample), targets, pairs, random_seed=1)
        for sample in (SAMPLE, None)
    )
    worth = made.axes["worth"].item()
    assert worth < 9
    assert bare.axes["worth"].item() == 12
    assert not bare.near_copies
    np.testing.assert_allclose(made.words["mean"], bare.words["mean"])
    effect = 12 / worth
    np.testing.assert_allclose(made.words["pair_se"], bare.words["pair_se"] * np.sqrt(effect * 11 / (12 - effect)))
    (text,) = [str(part) for part in made._copies()]
    assert "firstxa ~ secondxa with firstxb ~ secondxb" in text
    assert "The intervals count the 12 pairs as 7.32 independent ones." in " ".join(text.split())
    draws = made.draws("pairs", draws=20_000, random_seed=1).to_numpy()[0]
    low, high = np.quantile(draws, [0.055, 0.945], axis=0)
    np.testing.assert_allclose(high - low, made.words["hdi_high"] - made.words["hdi_low"], rtol=0.05)
