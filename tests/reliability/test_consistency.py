import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsError, LostWordsWarning, MeasureError, QuestionWarning
from tests.reliability.made import PAIRS, WORDS, made_seeds
from tests.reliability.test_mean_squares import plain

LABELS = [f"{first} ~ {second}" for first, second in PAIRS]


@pytest.fixture(scope="module")
def scores():
    return bb.reliability.score_array(made_seeds(5), WORDS, base_pairs=PAIRS, k=5, progress=False)


def test_over_seeds_words_have_pairs_as_rows_and_pairs_have_words(scores):
    of_words, of_pairs = bb.reliability.test_retest(scores), bb.reliability.test_retest(scores, "base_pair")
    assert of_words[["rows", "columns"]].drop_duplicates().to_numpy().tolist() == [[4, 5]]
    assert of_pairs[["rows", "columns"]].drop_duplicates().to_numpy().tolist() == [[12, 5]]
    for frame, dim in ((of_words, "target_word"), (of_pairs, "base_pair")):
        assert len(frame) == 3 * scores.sizes[dim]
        for _, row in frame.iterrows():
            one = scores.sel({"rule": row["rule"], dim: row[dim]}).values
            assert row["observed"] == pytest.approx(plain(one)["icc_2_1"], abs=1e-12)
            assert row["hdi_low"] < row["mean"] < row["hdi_high"]


def test_over_rules_seeds_are_averaged(scores):
    for dim, count in (("target_word", 4), ("base_pair", 12)):
        frame = bb.reliability.inter_rater(scores, dim)
        assert frame[["rows", "columns"]].drop_duplicates().to_numpy().tolist() == [[count, 3]]
        for _, row in frame.iterrows():
            one = scores.sel({dim: row[dim]}).mean("seed").values.T
            assert row["observed"] == pytest.approx(plain(one)["icc_3_1"], abs=1e-12)


def test_within_queries_and_over_base_pairs(scores):
    queries = {"first": WORDS[:4], "last": WORDS[5:]}
    frame = bb.reliability.internal_consistency(scores, queries)
    assert frame["query"].tolist() == ["first"] * 3 + ["last"] * 3 + ["base pairs"] * 3
    means = scores.mean("seed")
    for _, row in frame.iterrows():
        one = means.sel(rule=row["rule"]).values
        one = one.T if row["query"] == "base pairs" else one[:, [WORDS.index(word) for word in queries[row["query"]]]]
        assert (row["rows"], row["columns"]) == one.shape
        assert row["observed"] == pytest.approx(plain(one)["cronbach_alpha"], abs=1e-12)


def test_rules_of_unequal_scale_have_a_narrow_posterior():
    """Against the spread of the coefficient over samples of 76 words of a population whose ICC(3,1) is known."""
    import xarray as xr

    rng, scales = np.random.default_rng(8), np.array([1.0, 3.6, 8.0])
    words = rng.normal(size=(400, 76, 1)) + 0.5 * rng.normal(size=(400, 76, 3))
    array = xr.DataArray(
        (words * scales)[None].transpose(0, 1, 2, 3),
        dims=("seed", "base_pair", "target_word", "rule"),
        coords={"seed": [1], "base_pair": range(400), "target_word": range(76), "rule": ["a", "b", "c"]},
    )
    frame = bb.reliability.inter_rater(array, "base_pair")
    truth = (3.6 + 8 + 3.6 * 8) / 1.25 / (1 + 3.6**2 + 64)
    assert np.mean((frame["hdi_low"] <= truth) & (truth <= frame["hdi_high"])) == pytest.approx(0.89, abs=0.05)
    assert frame["sd"].mean() == pytest.approx(frame["observed"].std(), rel=0.15)
    assert frame["spread_ratio"].mean() < 0.6


def test_more_noise_of_seeds_is_less_reliable():
    means = [
        bb.reliability.test_retest(
            bb.reliability.score_array(
                made_seeds(6, noise=noise), WORDS, base_pairs=PAIRS, rules=["db_wa"], progress=False
            )
        )["mean"].mean()
        for noise in (0.05, 0.5, 2.0)
    ]
    assert means == sorted(means, reverse=True)


def test_constant_scores_are_named_and_left_out(scores):
    constant = scores.copy()
    constant.loc[{"rule": "nbm", "target_word": "w3"}] = 0.2
    with pytest.warns(QuestionWarning, match=r" nbm w3: .*constant"):
        frame = bb.reliability.test_retest(constant)
    assert len(frame) == 35
    assert not ((frame["rule"] == "nbm") & (frame["target_word"] == "w3")).any()
    assert np.isfinite(frame.select_dtypes("number")).all(axis=None)
    for report in (bb.reliability.test_retest, bb.reliability.inter_rater):
        with pytest.raises(MeasureError, match="constant"):
            report(constant * 0)
    with pytest.warns(QuestionWarning), pytest.raises(MeasureError, match="constant"):
        bb.reliability.internal_consistency(constant * 0, {"first": WORDS[:4]})


def test_a_query_may_have_lost_words(scores):
    queries = {"first": [*WORDS[:9], "gone"]}
    with pytest.warns(LostWordsWarning, match="gone"):
        frame = bb.reliability.internal_consistency(scores, queries)
    assert frame["columns"].iloc[0] == 9
    with pytest.raises(LostWordsError, match="1 of the 3"):
        bb.reliability.internal_consistency(scores, {"some": ["w1", "w2", "gone"]})
    for limit in (0.2, 1):  # a larger limit is not advised: it would not help
        with pytest.raises(MeasureError, match="words"):
            bb.reliability.internal_consistency(scores, {"few": ["w1", "gone"]}, max_lost=limit)


def test_bad_input(scores):
    one_seed, one_pair, one_rule, one_word = (
        scores.isel({dim: [0]}) for dim in ("seed", "base_pair", "rule", "target_word")
    )
    with pytest.raises(MeasureError, match="1 seed"):
        bb.reliability.test_retest(one_seed)
    with pytest.raises(MeasureError, match="1 base pair"):
        bb.reliability.test_retest(one_pair)
    with pytest.raises(MeasureError, match="1 target word"):
        bb.reliability.test_retest(one_word, "base_pair")
    assert len(bb.reliability.test_retest(one_pair, "base_pair")) == 3
    assert len(bb.reliability.inter_rater(one_seed)) == 12
    with pytest.raises(MeasureError, match="1 rule"):
        bb.reliability.inter_rater(one_rule)
    for part in (one_pair, one_word):
        with pytest.raises(MeasureError, match=r"base pair|target word"):
            bb.reliability.internal_consistency(part, {"first": WORDS[:4]})
    with pytest.raises(ArgumentError, match="'base_pair'"):
        bb.reliability.test_retest(scores, "base_pairs")
    with pytest.raises(ArgumentError, match="hdi_prob"):
        bb.reliability.inter_rater(scores, hdi_prob=2)
    with pytest.raises(MeasureError, match="dims"):
        bb.reliability.test_retest(scores.mean("seed"))
    with pytest.raises(ArgumentError, match="scores="):
        bb.reliability.test_retest(scores.values)
    with pytest.raises(MeasureError, match="'base pairs'"):
        bb.reliability.internal_consistency(scores, {"base pairs": WORDS[:4]})
    with pytest.raises(MeasureError, match="queries="):
        bb.reliability.internal_consistency(scores, [WORDS])


@pytest.mark.parametrize("function", ["test_retest", "inter_rater", "internal_consistency"])
def test_scores_that_are_no_numbers_or_stand_twice_are_refused(scores, function):
    """A mean over seeds passes over NaN: the coefficients were those of other scores."""
    queries = ({"all": WORDS[:9]},) if function == "internal_consistency" else ()
    ask = getattr(bb.reliability, function)
    assert not ask(scores, *queries).empty
    first = scores["seed"][0]
    for wrong, message in (
        (scores.where(scores["seed"] != first), "NaN"),
        (scores.where(scores["seed"] != first, np.inf), "infinity"),
        (scores.astype(complex), "complex128"),
        (scores > 0, "bool"),
        (scores.isel(seed=[0, 0, 1]), "seed"),
        (scores.isel(target_word=[*range(9), 0]), "target word"),
    ):
        with pytest.raises(MeasureError, match=message):
            ask(wrong, *queries)
