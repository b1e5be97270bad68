"""The canonical subspace measure against projectors made with pseudo-inverses."""

import numpy as np
import pytest

from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.subspaces.canonical_subspace import (
    canonical_subspace,
    congruences,
    subspace_similarity,
    word_similarities,
)
from tests.metrics.made import PETS, cosine, vectors

# More dimensions than the vectors of `made` have: there, two lists of three words fill the space.
GIVEN = {word: np.random.default_rng(seed).normal(size=12) for seed, word in enumerate(PETS.words)}


def projector(words: tuple[str, ...]) -> np.ndarray:
    rows = np.array([GIVEN[word] for word in words])
    return np.linalg.pinv(rows) @ rows


def by_hand(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    return float(np.trace(projector(first) @ projector(second)))


def test_score_and_components() -> None:
    cats, dogs = PETS.protected["cats"], PETS.protected["dogs"]
    quiet, loud = PETS.attributes["quiet"], PETS.attributes["loud"]
    expected = {
        "a_c": by_hand(cats, quiet), "a_d": by_hand(cats, loud),
        "b_d": by_hand(dogs, loud), "b_c": by_hand(dogs, quiet),
    }  # fmt: skip
    plain = canonical_subspace(GIVEN, PETS, scaled=False)
    assert {name: plain.statistics[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert plain.score == pytest.approx(expected["a_c"] + expected["b_d"] - expected["b_c"] - expected["a_d"], abs=1e-6)
    scaled = canonical_subspace(GIVEN, PETS)
    assert scaled.a_c == pytest.approx(expected["a_c"] / np.sqrt(3 * 2), abs=1e-6)
    assert scaled.b_d == pytest.approx(expected["b_d"] / 3, abs=1e-6)
    assert "not scaled" in plain.conventions
    assert "geometric mean of the ranks" in scaled.conventions


def test_values_of_single_words() -> None:
    scores = canonical_subspace(GIVEN, PETS).scores.set_index("word")["score"]
    assert scores.index.tolist() == [*PETS.protected["cats"], *PETS.protected["dogs"]]
    for word, score in scores.items():
        quiet, loud = (by_hand((str(word),), words) for words in PETS.attributes.values())  # type: ignore[arg-type]
        assert score == pytest.approx(quiet - loud, abs=1e-6)
    assert word_similarities([GIVEN["cat"]], [GIVEN["nap"]])[0] == pytest.approx(
        cosine(GIVEN["cat"], GIVEN["nap"]) ** 2
    )


def test_lists_of_one_word() -> None:
    lists = {"a": ["cat"], "b": ["dog"], "c": ["purr"], "d": ["bark"]}
    result = canonical_subspace(vectors(), lists)
    assert result.a_c == pytest.approx(cosine(vectors()["cat"], vectors()["purr"]) ** 2, abs=1e-6)


def test_congruences_of_the_four_comparisons() -> None:
    frame = congruences(GIVEN, PETS)
    assert frame.groupby("component", sort=False).size().to_dict() == {"a_c": 2, "a_d": 3, "b_d": 3, "b_c": 2}
    assert frame.iloc[2].tolist()[:4] == ["a_d", "cats", "loud", 1]
    squares = frame["congruence"].pow(2).groupby(frame["component"]).sum()
    plain = canonical_subspace(GIVEN, PETS, scaled=False)
    assert squares.to_dict() == pytest.approx({name: plain.statistics[name] for name in squares.index})


def test_two_lists() -> None:
    lists = {"cats": PETS.protected["cats"], "quiet": PETS.attributes["quiet"]}
    result = subspace_similarity(GIVEN, lists)
    assert result.similarity == result.value == pytest.approx(by_hand(*lists.values()), abs=1e-6)  # type: ignore[arg-type]
    assert result.scaled == pytest.approx(result.similarity / np.sqrt(6))
    assert (result.rank_a, result.rank_b) == (3, 2)
    assert result.congruence_1**2 + result.congruence_2**2 == pytest.approx(result.similarity)
    assert "congruence_3" not in result.statistics
    assert result.scores["group"].tolist() == ["cats"] * 3 + ["quiet"] * 2
    with pytest.raises(MeasureError, match="1 word list"):
        subspace_similarity(GIVEN, {"cats": ["cat"]})


def test_dependent_vectors_count_once() -> None:
    given = GIVEN | {"tom": GIVEN["cat"] - 3 * GIVEN["kitten"]}
    lists = {"cats": PETS.protected["cats"], "quiet": PETS.attributes["quiet"]}
    result = subspace_similarity(given, lists)
    assert result.rank_a == 2
    assert result.similarity == pytest.approx(by_hand(("cat", "kitten"), PETS.attributes["quiet"]), abs=1e-6)
    assert result.scaled == pytest.approx(result.similarity / 2)


def test_lost_words_are_kept() -> None:
    given = {word: vector for word, vector in GIVEN.items() if word != "tom"}
    with pytest.warns(LostWordsWarning, match="tom"):
        result = canonical_subspace(given, PETS, scaled=False, max_lost=0.5)
    assert result.lost_words == {"cats": ("tom",)}
    assert result.a_c == pytest.approx(by_hand(("cat", "kitten"), PETS.attributes["quiet"]), abs=1e-6)
