"""WEAT against published effect sizes and against loops over the definitions."""

from itertools import combinations
from pathlib import Path
from statistics import mean, pstdev, stdev

import numpy as np
import pytest

import bayesbias as bb
import bayesbias.metrics.associations.weat as imported_first  # noqa: F401  the function must survive the import of its file
from bayesbias import metrics
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError
from bayesbias.metrics.associations.weat import WEAT, association, effect_size, p_value
from bayesbias.metrics.associations.weat import test_statistic as statistic_of
from tests.metrics.made import PETS, cosine, vectors

GOOGLE_NEWS = ("data", "embeddings", "googlenews_word2vec_300d_13784.npz")


def loop(given: dict[str, np.ndarray], words: tuple[str, ...]) -> list[float]:
    """Return s(w, quiet, loud) of each word by the definition."""
    quiet, loud = PETS.attributes["quiet"], PETS.attributes["loud"]
    return [
        mean(cosine(given[w], given[a]) for a in quiet) - mean(cosine(given[w], given[b]) for b in loud) for w in words
    ]


def test_numbers_are_those_of_the_definitions() -> None:
    given = vectors()
    x, y = loop(given, PETS.protected["cats"]), loop(given, PETS.protected["dogs"])
    result = metrics.weat(given, PETS)
    assert result.scores["word"].tolist() == list(PETS.protected_words)
    assert result.scores["group"].tolist() == ["cats"] * 3 + ["dogs"] * 3
    np.testing.assert_allclose(result.scores["score"], x + y, atol=1e-12)
    assert result.test_statistic == pytest.approx(sum(x) - sum(y))
    assert result.effect_size == result.value == pytest.approx((mean(x) - mean(y)) / stdev(x + y))
    assert metrics.weat(given, PETS, ddof=0).effect_size == pytest.approx((mean(x) - mean(y)) / pstdev(x + y))
    sums = [sum(chosen) for chosen in combinations(x + y, 3)]
    assert result.p_value == pytest.approx(mean(total >= sum(x) - 1e-12 for total in sums))
    assert result.partitions == 20
    assert result.p_value_mcse == 0


@pytest.mark.shared
def test_weat_7_in_google_news(shared: Path) -> None:
    embedding = bb.load_embedding(shared.joinpath(*GOOGLE_NEWS))
    result = metrics.weat(embedding, "weat7")
    assert result.effect_size == pytest.approx(0.9664, abs=5e-5)
    assert metrics.weat(embedding, "weat7", ddof=0).effect_size == pytest.approx(0.9981, abs=5e-5)
    assert result.p_value == pytest.approx(0.0227, abs=5e-5)
    assert result.partitions == 12_870


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "published"),
    [("weat1", 1.54), ("weat2", 1.63), ("weat6", 1.89), ("weat7", 0.97), ("weat8", 1.24), ("weat9", 1.30)],
)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
def test_effect_sizes_of_caliskan_et_al(shared: Path, name: str, published: float) -> None:
    # WEAT 2 lost a word: its groups differ in size.
    result = metrics.weat(shared.joinpath(*GOOGLE_NEWS), name, statistic="mean", samples=100, random_seed=1)
    assert result.effect_size == pytest.approx(published, abs=0.01)


def test_null_distribution_of_the_effect_size() -> None:
    rng = np.random.default_rng(0)
    similarity = rng.normal(0, 0.08, (10_000, 16, 16))
    s = association(similarity[..., :8], similarity[..., 8:])
    effect = effect_size(s[:, :8], s[:, 8:])
    assert np.mean(np.abs(effect) >= 1.2671948) == pytest.approx(0.006, abs=0.002)
    claimed = p_value(s[:2000, :8], s[:2000, 8:]).p_value < 0.05
    assert claimed.mean() == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(("n_x", "n_y"), [(8, 8), (3, 3), (2, 20), (5, 11)])
def test_the_range_is_the_largest_effect_size_that_any_words_can_have(n_x: int, n_y: int) -> None:
    """By Cauchy and Schwarz: all words of a group are alike. Beyond 2 for groups of different sizes."""
    n = n_x + n_y
    largest = float(effect_size(np.ones(n_x), np.zeros(n_y)))
    assert largest == pytest.approx(np.sqrt(n * (n - 1) / (n_x * n_y)))
    assert (largest > 2) == (n_x != n_y)
    drawn = np.random.default_rng(1).standard_normal((2000, n)) ** 3
    assert (abs(effect_size(drawn[:, :n_x], drawn[:, n_x:])) < largest).all()
    assert "sqrt(n (n - 1) / (n_X n_Y))" in WEAT.range


def test_the_sign_is_said_with_the_names_of_the_lists() -> None:
    bundled = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    assert "above 0: math leans more to male than arts does" in metrics.weat(bundled, "weat7").conventions


def test_kernels_keep_leading_axes() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 6, 4)), rng.normal(size=(2, 3, 6, 5))
    s = association(a, b)
    assert s.shape == (2, 3, 6)
    x, y = s[..., :3], s[..., 3:]
    assert statistic_of(x, y).shape == effect_size(x, y).shape == p_value(x, y).p_value.shape == (2, 3)
    assert statistic_of(x, y)[1, 2] == pytest.approx(sum(x[1, 2]) - sum(y[1, 2]))
    assert effect_size(x, y)[1, 2] == pytest.approx((mean(x[1, 2]) - mean(y[1, 2])) / stdev([*x[1, 2], *y[1, 2]]))


def test_exchanging_the_groups_turns_the_sign() -> None:
    given = vectors()
    one = metrics.weat(given, PETS)
    other = metrics.weat(given, PETS, targets=("dogs", "cats"), attributes=("quiet", "loud"))
    assert other.effect_size == pytest.approx(-one.effect_size)
    both = metrics.weat(given, PETS, targets=("dogs", "cats"))
    assert both.effect_size == pytest.approx(one.effect_size)


def test_four_lists_are_as_good_as_a_study() -> None:
    lists = {**PETS.protected, **PETS.attributes}
    by_lists, by_study = metrics.weat(vectors(), lists), metrics.weat(vectors(), PETS)
    assert by_lists.statistics == by_study.statistics
    with pytest.raises(MeasureError, match="1 protected group"):
        metrics.weat(vectors(), {name: lists[name] for name in list(lists)[:3]})


def test_numbers_of_numpy_are_numbers() -> None:
    given = {"ddof": np.int64(0), "samples": np.int32(10), "random_seed": np.uint8(3)}
    result = metrics.weat(vectors(), PETS, **given)  # type: ignore[arg-type]
    assert result.statistics == metrics.weat(vectors(), PETS, ddof=0).statistics


def test_three_groups_must_be_named() -> None:
    given = {
        word: np.random.default_rng(seed).normal(size=4) for seed, word in enumerate(bb.load_study("religion").words)
    }
    with pytest.raises(MeasureError, match="3 protected groups") as caught:
        metrics.weat(given, "religion")
    first, second = list(bb.load_study("religion").protected)[:2]
    assert f"(targets), such as {first} and {second}." in str(caught.value)
    result = metrics.weat(given, "religion", targets=(first, second))
    assert set(result.scores["group"]) == {first, second}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": ("cats", "dog")}, "no 'dog' .did you mean 'dogs'"),
        ({"targets": ("cats", "cats")}, "targets="),
        ({"targets": "cats"}, "targets='cats'"),
        ({"attributes": ("quiet", "lound")}, "did you mean 'loud'"),
        ({"targets": 3}, "targets=3"),
        ({"statistic": "means"}, "did you mean 'mean'"),
        ({"ddof": 2}, "ddof=2"),
        ({"ddof": "two"}, "ddof='two'"),
        ({"ddof": True}, "ddof=True"),
        ({"samples": 0}, "samples=0"),
        ({"random_seed": -1}, "random_seed=-1"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises((MeasureError, ArgumentError), match=message):
        metrics.weat(vectors(), PETS, **options)  # type: ignore[arg-type]


def test_a_group_with_several_associated_groups_needs_them_named() -> None:
    study = bb.Study(
        name="two",
        protected=PETS.protected,
        attributes=PETS.attributes,
        associated=[("cats", "quiet"), ("cats", "loud")],
        human="none",
        neutral="none",
    )
    with pytest.raises(MeasureError, match="associates 'cats' with 2 attribute groups"):
        metrics.weat(vectors(), study)
    assert metrics.weat(vectors(), study, attributes=("quiet", "loud")).effect_size == pytest.approx(
        metrics.weat(vectors(), PETS).effect_size
    )


def test_control_words_can_be_attributes() -> None:
    assert metrics.weat(vectors(), PETS, attributes=("quiet", "neutral")).partitions == 20


def test_lists_of_different_lengths_have_sums_and_means() -> None:
    given = vectors("tom", "growl")
    results = {}
    for statistic in ("sum", "mean"):
        with pytest.warns(LostWordsWarning, match=r"lacks 2 .*tom.*growl") as warned:
            results[statistic] = metrics.weat(given, PETS, statistic=statistic, max_lost=0.5)
        assert len(warned) == 1
    result = results["mean"]
    assert result.lost_words == {"cats": ("tom",), "loud": ("growl",)}
    x, y = (result.scores.loc[result.scores["group"] == group, "score"] for group in ("cats", "dogs"))
    assert result.test_statistic == pytest.approx(x.mean() - y.mean())
    assert results["sum"].test_statistic == pytest.approx(x.sum() - y.sum())
    assert "a difference of sums over 2 and 3 words" in results["sum"].conventions
    for name in ("effect_size", "p_value", "p_value_two_sided"):
        assert results["sum"].statistics[name] == results["mean"].statistics[name]
    assert result.partitions == 10


def test_two_sided_p_does_not_change_with_the_order_of_the_groups() -> None:
    one = metrics.weat(vectors(), PETS)
    other = metrics.weat(vectors(), PETS, targets=("dogs", "cats"), attributes=("quiet", "loud"))
    assert one.p_value_two_sided == other.p_value_two_sided
    assert one.p_value_two_sided <= 2 * min(one.p_value, other.p_value)
    assert one.p_value_two_sided >= min(one.p_value, other.p_value)
    assert one.p_value_two_sided_mcse == 0


def test_words_without_spread_have_no_effect_size() -> None:
    with pytest.raises(MeasureError, match="effect size"):
        effect_size([0.1, 0.1], [0.1, 0.1])


def test_sampled_p_value_names_its_seed_and_repeats() -> None:
    rng = np.random.default_rng(0)
    lists = {name: [f"{name}{number}" for number in range(15)] for name in "xyab"}
    given = {word: rng.normal(size=6) for words in lists.values() for word in words}
    first = metrics.weat(given, lists, samples=2000)
    assert first.p_value_mcse > 0
    seed = int(first.conventions.rsplit("seed ", 1)[1])
    assert metrics.weat(given, lists, samples=2000, random_seed=seed).statistics == first.statistics


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_associations_that_differ_by_rounding_have_no_effect_size(dtype: type) -> None:
    """After hard debiasing with the study's own pairs equalized, every association is 0 but for rounding."""
    embedding = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    precise = bb.Embedding(embedding.words, embedding.vectors.astype(dtype))
    study = bb.load_study("weat7")
    pairs = [list(pair) for pair in zip(study.attributes["male"], study.attributes["female"], strict=True)]
    debiased = bb.debias.HardDebias().fit(precise, pairs).transform(precise)
    with pytest.raises(MeasureError, match="effect size"):
        metrics.weat(debiased, study)
