"""The comparison of the two metrics against the arithmetic of the published table, and in Google News."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError
from bayesbias.metrics.associations.mean_vectors import rank_correlation
from bayesbias.metrics.subspaces.canonical_subspace import canonical_subspace
from bayesbias.metrics.subspaces.component_scores import COMPONENTS, score
from bayesbias.metrics.subspaces.kindel_comparison import kindel_comparison
from bayesbias.metrics.subspaces.mean_cosine import weat_score
from tests.metrics.made import PETS, cosine

GOOGLE_NEWS = ("data", "embeddings", "googlenews_word2vec_300d_13784.npz")
GIVEN = {word: np.random.default_rng(seed).normal(size=12) for seed, word in enumerate(PETS.words)}

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
    assert score(mcs) == pytest.approx(by_cosine, abs=0.0025)
    # WEAT 3 as printed: (0.184 + 0.173) - (0.188 + 0.165) = 0.004.
    assert score(cca) == pytest.approx(by_subspace, abs=0.0025)
    if name not in TIED:
        assert rank_correlation(mcs, cca) == pytest.approx(rho, abs=1e-9)


def test_columns_are_the_two_measures() -> None:
    frame = kindel_comparison(GIVEN, PETS)
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
    row = kindel_comparison(GIVEN, PETS).iloc[0]
    ranks = [np.argsort(np.argsort([row[f"{by}_{component}"] for component in COMPONENTS])) for by in ("mcs", "cca")]
    assert row["rho"] == pytest.approx(1 - 6 * np.square(ranks[0] - ranks[1]).sum() / (4 * 15))
    with pytest.raises(MeasureError, match="rank correlation"):
        rank_correlation([0.1, 0.1, 0.1, 0.1], [1, 2, 3, 4])


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_all_ten_tests_in_google_news(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    # These vectors hold none of the African American names of WEAT 3 and one of those of WEAT 4 and 5.
    frame = kindel_comparison(embedding, max_lost=1).set_index("study")
    assert frame.index.tolist() == [name for name in TABLE_1 if name != "weat3"]
    assert frame.attrs["left_out"] == {"weat3": ("african_american_names",)}
    assert frame.attrs["lost_words"]["weat2"] == {"weapons": ("axe",)}
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
        frame = kindel_comparison(GIVEN, [PETS, "weat7"])
    assert frame["study"].tolist() == ["pets"]
    assert frame.attrs["left_out"] == {"weat7": ("math", "arts", "male", "female")}
    with pytest.raises(MeasureError, match=r"max_lost=0.2"):
        kindel_comparison(bb.Embedding(tuple(GIVEN), np.array(list(GIVEN.values()))), ["weat7", "weat8"])
    with pytest.raises(MeasureError, match="max_lost="):
        kindel_comparison(bb.Embedding(tuple(GIVEN), np.array(list(GIVEN.values()))), [])


def test_a_study_that_lost_words() -> None:
    given = {word: vector for word, vector in GIVEN.items() if word != "tom"}
    with pytest.warns(LostWordsWarning, match="tom"):
        frame = kindel_comparison(given, {**PETS.protected, **PETS.attributes}, max_lost=0.5)
    assert frame[["study", "lost_words"]].to_numpy().tolist() == [["four lists", 1]]
    assert frame.attrs["lost_words"] == {"four lists": {"cats": ("tom",)}}


def test_a_ratio_that_is_not_defined() -> None:
    axes = np.eye(6)
    lists = {"a": ["a1"], "b": ["b1"], "c": ["c1"], "d": ["d1"]}
    given = dict(zip(("a1", "b1", "c1", "d1"), axes, strict=False))
    with pytest.raises(MeasureError, match="weat_cca of 'four lists' is 0"):
        kindel_comparison(given, lists)
