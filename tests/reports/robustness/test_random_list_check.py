"""Claims for random attribute lists, against WEAT and t-tests run one by one, and against vectors without structure."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError, ReportError
from bayesbias.models.data import model_data
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.reports.robustness import random_list_check as module
from bayesbias.reports.robustness.random_list_check import RandomListCheck, check_random_lists
from bayesbias.reports.robustness.random_lists import random_lists

VECTORS = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")


def noise(words: int = 300, dimensions: int = 30) -> bb.Embedding:
    """Vectors in random directions, so that distances are as good as independent."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [letters[at // 676] + letters[at // 26 % 26] + letters[at % 26] for at in range(words)]
    vectors = np.random.default_rng(5).standard_normal((words, dimensions))
    return bb.Embedding(words=tuple(names), vectors=vectors, name="noise")


def study(embedding: bb.Embedding, *, groups: int = 2, controls: int = 12, each: int = 6) -> bb.Study:
    words = iter(embedding.words)
    return bb.Study(
        name="letters",
        protected={f"x{group}": [next(words) for _ in range(each)] for group in range(groups)},
        attributes={f"a{group}": [next(words) for _ in range(each)] for group in range(max(groups, 2))},
        associated=[(f"x{group}", f"a{group}") for group in range(groups)],
        human=[next(words) for _ in range(controls)] if controls else "none",
        neutral="none",
    )


@pytest.fixture(scope="module")
def checked() -> RandomListCheck:
    embedding = noise()
    return check_random_lists(
        embedding, study(embedding), model="hierarchical", samples=40, match=None, random_seed=1, progress=False
    )


def row(check: RandomListCheck, method: str) -> pd.Series:
    return check.methods.set_index("method").loc[method]


def test_each_method_has_a_row_and_each_sample_one_for_each(checked: RandomListCheck) -> None:
    assert checked.methods["method"].tolist() == [
        "hierarchical", "weat", "t_test_preaveraged", "t_test_raw", "mac_t_test"
    ]  # fmt: skip
    assert checked.methods["nominal"].tolist() == [0.11, 0.05, 0.05, 0.05, 0.05]
    assert (checked.gaps.groupby("method")["sample"].apply(list).map(len) == 40).all()
    assert checked.drawn == {"words": 12, "vocabulary": 300 - 36, "match": None, "window": 300 - 36}
    assert (checked.not_fitted, checked.samples, checked.seed) == (0, 40, 1)


def test_shares_and_spread_are_those_of_the_samples(checked: RandomListCheck) -> None:
    for method, rows in checked.gaps.groupby("method"):
        found = row(checked, str(method))
        assert found["claims"] == pytest.approx(rows["claims"].mean())
        likely = (rows["claims"].sum() + 1) / 42
        assert found["claims_se"] == pytest.approx(np.sqrt(likely * (1 - likely) / 40))
        assert found["sd"] == pytest.approx(rows["value"].std())
        assert found["low"] == pytest.approx(rows["value"].quantile(0.055))
        assert found["beyond"] == pytest.approx((rows["value"].abs() >= abs(found["own"])).mean())
        if method == "hierarchical":
            outside = (rows["hdi_low"] > 0) | (rows["hdi_high"] < 0)
            assert found["posterior_sd"] == pytest.approx(np.sqrt((rows["sd"] ** 2).mean()))
            assert found["error"] == pytest.approx(np.sqrt((rows["value"] ** 2).mean()))
        else:
            outside = rows["p_value"] < 0.05
        assert (outside == rows["claims"]).all()


def test_the_studys_own_numbers_are_those_of_the_single_measures(checked: RandomListCheck) -> None:
    embedding = noise()
    own, table = study(embedding), bb.distance_table(embedding, study(embedding))
    weat = bb.metrics.weat(embedding, own)
    assert row(checked, "weat")["own"] == pytest.approx(weat.effect_size)
    assert row(checked, "weat")["own_claims"] == (weat.p_value < 0.05)
    mac = bb.metrics.mac_t_tests(table).set_index("values")
    assert row(checked, "mac_t_test")["own"] == pytest.approx(mac.loc["preaveraged", "difference"])
    near, far = (
        table.loc[table["connection"] == name].set_index("protected_word")["cosine_distance"]
        for name in ("associated", "different")
    )
    assert row(checked, "t_test_raw")["own"] == pytest.approx(near.mean() - far.mean())
    assert row(checked, "t_test_raw")["own_claims"] == (stats.ttest_ind(near, far, equal_var=False).pvalue < 0.05)
    averages = [values.groupby(level=0).mean() for values in (near, far)]
    claimed = stats.ttest_ind(*averages, equal_var=False).pvalue < 0.05
    assert row(checked, "t_test_preaveraged")["own_claims"] == claimed


def test_random_tables_are_distance_tables_of_studies_with_other_words() -> None:
    embedding = noise()
    own = study(embedding)
    data = model_data(bb.distance_table(embedding, own))
    lists = random_lists(embedding, own, data, vocabulary=None, match="rank", window=40)
    (drawn, distances), _ = lists.tables(2, np.random.default_rng(1))
    of_controls = np.setdiff1d(np.arange(len(data.attribute_words)), lists.drawn)
    np.testing.assert_array_equal(distances[:, of_controls], lists.distances[:, of_controls])
    # Each drawn column is that of a word of the vocabulary, all different, and none of the study.
    units = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    every = 1 - lists.protected @ units.T
    match = [int(np.argmin(np.abs(every - column[:, None]).sum(axis=0))) for column in distances[:, lists.drawn].T]
    np.testing.assert_allclose(every[:, match], distances[:, lists.drawn], atol=1e-12)
    assert len(set(match)) == 12
    assert not {embedding.words[at] for at in match} & set(own.words)
    # Nearest in rank to the study's first words, which stand at the top of the embedding.
    assert max(match) < 36 + 40
    np.testing.assert_array_equal(drawn.distance, distances[data.protected, data.attribute])
    np.testing.assert_array_equal(drawn.connection, data.connection)


def test_words_that_are_no_letters_or_the_studys_in_another_case_are_not_drawn() -> None:
    embedding = noise()
    extra = ("AAA", "1999", "new_york")
    more = replace(embedding, words=(*embedding.words, *extra), vectors=np.vstack([embedding.vectors, np.eye(3, 30)]))
    own = study(embedding)
    check = check_random_lists(more, own, model="hierarchical", samples=10, random_seed=1, progress=False)
    assert check.drawn["vocabulary"] == 300 - 36
    few = check_random_lists(
        more, own, model="hierarchical", samples=10, vocabulary=more.words[100:150], random_seed=1, progress=False
    )
    assert (few.drawn["vocabulary"], few.drawn["window"]) == (50, 50)


@pytest.mark.parametrize("groups", [1, 3])
def test_studies_without_two_groups_have_no_weat(groups: int) -> None:
    embedding = noise()
    check = check_random_lists(
        embedding, study(embedding, groups=groups), model="hierarchical", samples=10, random_seed=1, progress=False
    )
    assert "weat" not in check.methods["method"].tolist()
    assert len(check.methods) == 4


def test_independent_distances_are_claimed_no_more_often_than_promised() -> None:
    embedding = noise(600, 100)
    check = check_random_lists(
        embedding, study(embedding), model="hierarchical", samples=100, match=None, random_seed=3, progress=False
    )
    for method in ("hierarchical", "weat"):
        found = row(check, method)
        assert found["claims"] < found["nominal"] + 4 * found["claims_se"]
    assert not check.problems


def test_a_sampler_that_fails_is_counted_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding, quick, calls = noise(), module.quick_contrasts, iter(range(100))

    def failing(*args: object, **options: object) -> object:
        if (at := next(calls)) and at % 2:
            raise SamplerFailedError("as asked")
        return quick(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "quick_contrasts", failing)
    check = check_random_lists(
        embedding, study(embedding), model="hierarchical", samples=10, random_seed=1, progress=False
    )
    assert check.not_fitted == 5
    assert row(check, "hierarchical")["samples"] == 5
    assert row(check, "weat")["samples"] == 10
    (problem,) = (said for said in check.problems if said.kind == "not fitted")
    assert problem.numbers == {"not_fitted": 5, "samples": 10}


def test_the_same_seed_gives_the_same_check_and_it_is_json(checked: RandomListCheck) -> None:
    embedding = noise()
    again = check_random_lists(
        embedding, study(embedding), model="hierarchical", samples=40, match=None, random_seed=1, progress=False
    )
    pd.testing.assert_frame_equal(again.gaps, checked.gaps)
    found = json.loads(json.dumps(checked.to_dict()))
    assert len(found["methods"]) == 5
    assert found["drawn"]["words"] == 12
    kinds = [said.kind for said in checked.summary]
    assert kinds == ["about", "claims", "test", "test", "test", "test", "gaps", "own gap"]
    assert "dealt to the lists at random" in " ".join(str(checked).split())


def test_what_cannot_be_checked_is_said() -> None:
    embedding = noise()
    own = study(embedding)
    with pytest.raises(ReportError, match="NUTS"):
        check_random_lists(embedding, own, model="robust")
    one = bb.Study(
        name="one", protected={"x": ["aaa"]}, attributes={"a": ["aab", "aac"]}, associated=[("x", "a")],
        human=["aad", "aae"], neutral="none",
    )  # fmt: skip
    with pytest.raises(ReportError, match="'different'"):
        check_random_lists(embedding, one)
    only = bb.Embedding(words=embedding.words[:40], vectors=embedding.vectors[:40])
    with pytest.raises(ReportError, match="Give the whole embedding"):
        check_random_lists(only, own, model="hierarchical")
    with pytest.raises(MeasureError, match="match="):
        check_random_lists(embedding, own, model="hierarchical", match="frequency")
    with pytest.raises(MeasureError, match="window="):
        check_random_lists(embedding, own, model="hierarchical", window=3)
    with pytest.raises(ArgumentError, match="samples=5"):
        check_random_lists(embedding, own, samples=5)
    with pytest.raises(ArgumentError, match="hdi_prob"):
        check_random_lists(embedding, own, hdi_prob=2)


@pytest.mark.truth
@pytest.mark.slow
def test_in_real_vectors_the_multivariate_model_keeps_what_the_papers_does_not() -> None:
    """As in validation/random_lists: the paper's model and WEAT claim more than they promise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostWordsWarning)
        checks = {
            model: check_random_lists(VECTORS, "weat7", model=model, samples=samples, random_seed=1, progress=False)
            for model, samples in (("multivariate", 60), ("hierarchical", 60))
        }
    multivariate, paper = (row(check, model) for model, check in checks.items())
    assert multivariate["claims"] < multivariate["nominal"] + 3 * multivariate["claims_se"]
    assert paper["claims"] > paper["nominal"]
    assert row(checks["hierarchical"], "weat")["claims"] > 0.05
    assert multivariate["posterior_sd"] > 0.8 * multivariate["error"]
