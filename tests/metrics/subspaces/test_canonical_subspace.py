"""The canonical subspace measure against projectors made with pseudo-inverses."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.associations.mean_vectors import rank_correlation
from bayesbias.metrics.subspaces.canonical_subspace import (
    canonical_subspace,
    congruences,
    kindel_comparison,
    subspace_similarity,
    word_similarities,
)
from bayesbias.metrics.subspaces.mean_cosine import COMPONENTS, score_of_components, weat_score
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
    for word, value in scores.items():
        quiet, loud = (by_hand((str(word),), words) for words in PETS.attributes.values())  # type: ignore[arg-type]
        assert value == pytest.approx(quiet - loud, abs=1e-6)
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


GOOGLE_NEWS = ("data", "embeddings", "googlenews_word2vec_300d_13784.npz")

# Kindel (2023), Table 1, in vectors that we do not have: score by each metric, rho, ratio, then the components
# A:C, A:D, B:D, B:C by mean cosine similarity and by the canonical metric.
TABLE_1 = {
    "weat1": (0.041, 0.002, 0.4, 18.854, (0.040, 0.014, 0.034, 0.020), (0.131, 0.121, 0.118, 0.126)),
    "weat2": (0.070, 0.005, 0.4, 14.160, (0.041, -0.003, 0.066, 0.040), (0.111, 0.115, 0.132, 0.123)),
    "weat3": (0.023, 0.003, -0.4, 6.966, (0.085, 0.071, -0.023, -0.032), (0.184, 0.165, 0.173, 0.188)),
    "weat4": (0.013, 0.009, 0.0, 1.368, (0.072, 0.065, -0.012, -0.018), (0.108, 0.102, 0.110, 0.107)),
    "weat5": (0.051, 0.041, 0.2, 1.246, (0.132, 0.059, -0.020, 0.002), (0.097, 0.063, 0.087, 0.080)),
    "weat6": (0.138, 0.022, 0.2, 6.265, (0.210, 0.208, 0.236, 0.100), (0.065, 0.069, 0.059, 0.033)),
    "weat7": (0.022, 0.005, 0.8, 4.334, (0.099, 0.078, 0.243, 0.243), (0.072, 0.074, 0.090, 0.083)),
    "weat8": (0.011, -0.014, 0.8, -0.818, (0.139, 0.104, 0.209, 0.233), (0.045, 0.053, 0.079, 0.085)),
    "weat9": (0.128, 0.065, 0.4, 1.963, (0.124, 0.124, 0.216, 0.087), (0.073, 0.056, 0.116, 0.067)),
    "weat10": (0.053, 0.013, 1.0, 4.095, (0.131, 0.035, 0.028, 0.072), (0.072, 0.037, 0.032, 0.053)),
}
# Where two components are equal as printed, their order is not known.
TIED = ("weat7", "weat9")


@pytest.mark.parametrize("name", TABLE_1)
def test_scores_and_rank_correlations_of_the_published_table(name: str) -> None:
    by_cosine, by_subspace, rho, _, mcs, cca = TABLE_1[name]
    # Four rounded numbers may be off by 0.0005 each, and the score itself is rounded.
    assert score_of_components(mcs) == pytest.approx(by_cosine, abs=0.0025)
    # WEAT 3 as printed: (0.184 + 0.173) - (0.188 + 0.165) = 0.004.
    assert score_of_components(cca) == pytest.approx(by_subspace, abs=0.0025)
    if name not in TIED:
        assert rank_correlation(mcs, cca) == pytest.approx(rho, abs=1e-9)


def test_columns_are_the_two_measures() -> None:
    frame = kindel_comparison(GIVEN, PETS).studies
    assert frame[["study", "A", "B", "C", "D", "n", "lost_words"]].to_numpy().tolist() == [
        ["pets", "cats", "dogs", "quiet", "loud", 2, 0]
    ]
    row = frame.iloc[0]
    by_cosine, by_subspace = weat_score(GIVEN, PETS), canonical_subspace(GIVEN, PETS)
    assert row["weat_mcs"] == pytest.approx(by_cosine.score)
    assert row["weat_cca"] == pytest.approx(by_subspace.score)
    assert row["ratio"] == pytest.approx(by_cosine.score / by_subspace.score)
    for component in COMPONENTS:
        assert row[f"mcs_{component}"] == pytest.approx(by_cosine.statistics[component])
        assert row[f"cca_{component}"] == pytest.approx(by_subspace.statistics[component])


def test_rho_is_spearmans() -> None:
    row = kindel_comparison(GIVEN, PETS).studies.iloc[0]
    ranks = [np.argsort(np.argsort([row[f"{by}_{component}"] for component in COMPONENTS])) for by in ("mcs", "cca")]
    assert row["rho"] == pytest.approx(1 - 6 * np.square(ranks[0] - ranks[1]).sum() / (4 * 15))
    with pytest.raises(MeasureError, match="rank correlation"):
        rank_correlation([0.1, 0.1, 0.1, 0.1], [1, 2, 3, 4])


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_all_ten_tests_in_google_news(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    # These vectors hold none of the African American names of WEAT 3 and one of those of WEAT 4 and 5.
    comparison = kindel_comparison(embedding, max_lost=1)
    frame = comparison.studies.set_index("study")
    assert frame.index.tolist() == [name for name in TABLE_1 if name != "weat3"]
    assert comparison.left_out == {"weat3": ("african_american_names",)}
    assert comparison.lost_words["weat2"] == {"weapons": ("axe",)}
    # Loops and pseudo-inverses instead of the package's ways.
    lists = [embedding.matrix(words).astype(float) for words in (
        *bb.load_study("weat7").protected.values(), *bb.load_study("weat7").attributes.values())]  # fmt: skip
    a, b, c, d = lists
    for component, (x, y) in zip(COMPONENTS, ((a, c), (a, d), (b, d), (b, c)), strict=True):
        mean = np.mean([cosine(one, other) for one in x for other in y])
        trace = np.trace(np.linalg.pinv(x) @ x @ np.linalg.pinv(y) @ y) / 8
        assert frame.loc["weat7", f"mcs_{component}"] == pytest.approx(mean, abs=1e-9)
        assert frame.loc["weat7", f"cca_{component}"] == pytest.approx(trace, abs=1e-9)
    # What the paper finds in other vectors holds in these: both scores of the tests with all their words are
    # positive, but for WEAT 10, and the mean cosine's is the larger.
    agree = frame.loc[["weat1", "weat2", "weat6", "weat7", "weat9"]]
    assert (agree[["weat_mcs", "weat_cca"]] > 0).all(axis=None)
    assert (agree["ratio"] > 1).all()


def test_studies_without_words_are_left_out_and_named() -> None:
    with pytest.warns(LostWordsWarning, match=r"1 .* 2 studies.*weat7 \(math, arts, male, female\)"):
        comparison = kindel_comparison(GIVEN, [PETS, "weat7"])
    assert comparison.studies["study"].tolist() == ["pets"]
    assert comparison.left_out == {"weat7": ("math", "arts", "male", "female")}
    assert "weat7 is left out" in str(comparison)
    with pytest.raises(MeasureError, match=r"max_lost=0.2"):
        kindel_comparison(bb.Embedding(tuple(GIVEN), np.array(list(GIVEN.values()))), ["weat7", "weat8"])
    with pytest.raises(MeasureError, match="max_lost="):
        kindel_comparison(bb.Embedding(tuple(GIVEN), np.array(list(GIVEN.values()))), [])


def test_a_study_that_lost_words() -> None:
    given = {word: vector for word, vector in GIVEN.items() if word != "tom"}
    with pytest.warns(LostWordsWarning, match="tom"):
        comparison = kindel_comparison(given, {**PETS.protected, **PETS.attributes}, max_lost=0.5)
    assert comparison.studies[["study", "lost_words"]].to_numpy().tolist() == [["four lists", 1]]
    assert comparison.lost_words == {"four lists": {"cats": ("tom",)}}
    assert "four lists: the embedding lacks tom." in str(comparison)


def test_a_ratio_that_is_not_defined() -> None:
    axes = np.eye(6)
    lists = {"a": ["a1"], "b": ["b1"], "c": ["c1"], "d": ["d1"]}
    given = dict(zip(("a1", "b1", "c1", "d1"), axes, strict=False))
    with pytest.raises(MeasureError, match="weat_cca of 'four lists' is 0"):
        kindel_comparison(given, lists)
