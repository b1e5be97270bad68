"""Claims for random attribute lists, against single WEAT and t-tests, and against vectors without structure."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, LostWordsWarning, MeasureError, ReportError
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.reports.robustness import random_list_check as module
from bayesbias.reports.robustness.random_list_check import (
    RandomListCheck,
    check_random_lists,
    claim_problems,
    claims_text,
    method_row,
    share_with_error,
)
from tests.reports.random_letters import noise, study
from tests.reports.robustness.test_random_lists import real_words, topical

VECTORS = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")


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
    assert (checked.contrasts.groupby("method")["sample"].apply(list).map(len) == 40).all()
    assert checked.drawn == {"words": 12, "vocabulary": 300 - 36, "match": None, "window": 300 - 36}
    assert (checked.not_fitted, checked.samples, checked.random_seed) == (0, 40, 1)
    settings = checked.contents.settings
    assert (settings["Drawn: vocabulary"], settings["Not fitted"], settings["Samples"]) == ("264", "0", "40")
    assert "Drawn: match" not in settings


def test_shares_and_spread_are_those_of_the_samples(checked: RandomListCheck) -> None:
    for method, rows in checked.contrasts.groupby("method"):
        method_row = row(checked, str(method))
        assert method_row["claims"] == pytest.approx(rows["claims"].mean())
        likely = (rows["claims"].sum() + 1) / 42
        assert method_row["claims_se"] == pytest.approx(np.sqrt(likely * (1 - likely) / 40))
        assert method_row["sd"] == pytest.approx(rows["value"].std())
        assert method_row["low"] == pytest.approx(rows["value"].quantile(0.055))
        assert method_row["share_as_extreme"] == pytest.approx(
            (rows["value"].abs() >= abs(method_row["study_value"])).mean()
        )
        if method == "hierarchical":
            outside = (rows["hdi_low"] > 0) | (rows["hdi_high"] < 0)
            assert method_row["posterior_sd"] == pytest.approx(np.sqrt((rows["sd"] ** 2).mean()))
            assert method_row["error"] == pytest.approx(np.sqrt((rows["value"] ** 2).mean()))
        else:
            outside = rows["p_value"] < 0.05
        assert (outside == rows["claims"]).all()


def test_the_studys_own_numbers_are_those_of_the_single_measures(checked: RandomListCheck) -> None:
    embedding = noise()
    letters, table = study(embedding), bb.distance_table(embedding, study(embedding))
    weat = bb.metrics.weat(embedding, letters)
    assert row(checked, "weat")["study_value"] == pytest.approx(weat.effect_size)
    assert row(checked, "weat")["study_claims"] == (weat.p_value < 0.05)
    mac = bb.metrics.mac_t_tests(table).set_index("values")
    assert row(checked, "mac_t_test")["study_value"] == pytest.approx(mac.loc["preaveraged", "difference"])
    near, far = (
        table.loc[table["connection"] == name].set_index("protected_word")["cosine_distance"]
        for name in ("associated", "different")
    )
    assert row(checked, "t_test_raw")["study_value"] == pytest.approx(near.mean() - far.mean())
    assert row(checked, "t_test_raw")["study_claims"] == (stats.ttest_ind(near, far, equal_var=False).pvalue < 0.05)
    averages = [values.groupby(level=0).mean() for values in (near, far)]
    claimed = stats.ttest_ind(*averages, equal_var=False).pvalue < 0.05
    assert row(checked, "t_test_preaveraged")["study_claims"] == claimed


def test_words_that_are_no_letters_or_the_studys_in_another_case_are_not_drawn() -> None:
    embedding = noise()
    extra = ("AAA", "1999", "new_york")
    more = replace(embedding, words=(*embedding.words, *extra), vectors=np.vstack([embedding.vectors, np.eye(3, 30)]))
    letters = study(embedding)
    check = check_random_lists(more, letters, model="hierarchical", samples=10, random_seed=1, progress=False)
    assert check.drawn["vocabulary"] == 300 - 36
    few = check_random_lists(
        more, letters, model="hierarchical", samples=10, vocabulary=more.words[100:150], random_seed=1, progress=False
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
        method_row = row(check, method)
        assert method_row["claims"] < method_row["nominal"] + 4 * method_row["claims_se"]
    assert not check.problems


def test_a_sampler_that_fails_is_counted_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding, quick, calls = noise(), module.quick_contrasts, iter(range(100))

    def failing(*args: object, **options: object) -> object:
        if (number := next(calls)) and number % 2:
            raise SamplerFailedError("as asked")
        return quick(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "quick_contrasts", failing)
    check = check_random_lists(
        embedding, study(embedding), model="hierarchical", samples=10, random_seed=1, progress=False
    )
    assert check.not_fitted == 5
    assert row(check, "hierarchical")["samples"] == 5
    assert row(check, "weat")["samples"] == 10
    (problem,) = (statement for statement in check.problems if statement.kind == "not fitted")
    assert problem.numbers == {"not_fitted": 5, "samples": 10}


def test_a_sampler_that_fails_for_the_study_itself_names_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*args: object, **options: object) -> object:
        raise SamplerFailedError("a Pareto k-hat of 0.93")

    monkeypatch.setattr(module, "quick_contrasts", failing)
    embedding = noise()
    letters = study(embedding)
    match = f"'hierarchical'.*'{letters.name}'.*'{embedding.name}'.*0.93.*bb.fit"
    with pytest.raises(ReportError, match=match):
        check_random_lists(embedding, letters, model="hierarchical", samples=10, random_seed=1, progress=False)


def test_the_same_seed_gives_the_same_check_and_it_is_json(checked: RandomListCheck) -> None:
    embedding = noise()
    again = check_random_lists(
        embedding, study(embedding), model="hierarchical", samples=40, match=None, random_seed=1, progress=False
    )
    pd.testing.assert_frame_equal(again.contrasts, checked.contrasts)
    decoded = json.loads(json.dumps(checked.to_dict()))
    assert len(decoded["tables"]["methods"]) == 5
    assert checked.drawn["words"] == 12
    kinds = [statement.kind for statement in checked.summary]
    assert kinds == ["about", "claims", "test", "test", "test", "test", "contrasts", "study contrast"]
    for statement in checked.summary:
        assert statement.text in " ".join(str(checked).split())


def test_what_cannot_be_checked_is_said() -> None:
    embedding = noise()
    letters = study(embedding)
    by_nuts = bb.load_model("hierarchical", priors={"connection_mean": "StudentT(4, 1, 0.3)"})
    with pytest.raises(ReportError, match="NUTS"):
        check_random_lists(embedding, letters, model=by_nuts)
    single_list = bb.Study(
        name="one", protected={"x": ["aaa"]}, attributes={"a": ["aab", "aac"]}, associated=[("x", "a")],
        human=["aad", "aae"], neutral="none",
    )  # fmt: skip
    with pytest.raises(ReportError, match="'different'"):
        check_random_lists(embedding, single_list)
    few_words = bb.Embedding(words=embedding.words[:40], vectors=embedding.vectors[:40])
    with pytest.raises(ReportError, match=r"12 attribute .* 4 .* 24 "):
        check_random_lists(few_words, letters, model="hierarchical")
    with pytest.raises(MeasureError, match="match="):
        check_random_lists(embedding, letters, model="hierarchical", match="frequency")
    with pytest.raises(MeasureError, match="window="):
        check_random_lists(embedding, letters, model="hierarchical", window=3)
    with pytest.raises(ArgumentError, match="samples=5"):
        check_random_lists(embedding, letters, samples=5)
    with pytest.raises(ArgumentError, match="hdi_prob"):
        check_random_lists(embedding, letters, hdi_prob=2)


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


def test_topics_of_real_words_have_larger_contrasts_and_the_model_claims_about_as_many_as_it_promises() -> None:
    """Lists as coherent as the study's own: what is rare among random words is common among topics."""
    embedding = real_words()
    settings = {"samples": 100, "window": 900, "random_seed": 1, "progress": False}
    topics, words = (
        check_random_lists(embedding, topical(embedding), match=match, **settings) for match in ("coherence", "rank")
    )
    assert row(topics, "multivariate")["sd"] > 1.3 * row(words, "multivariate")["sd"]
    assert row(topics, "multivariate")["claims"] < 0.25
    assert "about random topics of real" in str(topics.summary[0])
    assert "nothing is associated by construction" in str(words.summary[0])


VALUES = [0.5, -0.1, 0.2, -0.6, 0.3]
CLAIMS = [True, False, False, True, False]


def rows(**more: object) -> pd.DataFrame:
    return pd.DataFrame({"method": "weat", "quantity": "effect_size", "value": VALUES, "claims": CLAIMS} | more)


def test_a_row_counts_all_samples_but_the_study() -> None:
    row = method_row(rows(), "p < 0.05", 0.05)
    assert (row["samples"], row["claims"], row["share_as_extreme"]) == (4, 0.25, 0.25)
    assert (row["study_value"], row["study_claims"]) == (0.5, True)
    assert row["sd"] == pytest.approx(np.std(VALUES[1:], ddof=1))
    # By hand: quantiles of -0.6, -0.1, 0.2, 0.3 at 0.055 * 3 and 0.945 * 3 steps.
    assert (row["low"], row["high"]) == (pytest.approx(-0.6 + 0.165 * 0.5), pytest.approx(0.2 + 0.835 * 0.1))
    assert "error" not in row


def test_of_a_model_the_error_is_a_root_mean_square() -> None:
    row = method_row(rows(sd=[9.0, 0.1, 0.3, 0.1, 0.3]), "89% HPDI", 0.11)
    squares = np.square(VALUES[1:])  # 0.01, 0.04, 0.36, 0.09
    assert row["posterior_sd"] == pytest.approx(np.sqrt(0.05))
    assert row["error"] == pytest.approx(np.sqrt(0.125))
    # The delta method: sd(root of a mean) = sd(mean) / (2 root).
    assert row["error_se"] == pytest.approx(np.std(squares, ddof=1) / 2 / (2 * np.sqrt(0.125)))


@pytest.mark.parametrize(("claims", "kinds"), [(0.30, ["claims"]), (0.13, []), (0.02, [])])
def test_only_clear_excess_is_a_problem(claims: float, kinds: list[str]) -> None:
    row = {"claims": claims, "claims_se": 0.02, "nominal": 0.11, "samples": 200}
    spec = bb.load_model("hierarchical")
    assert [problem.kind for problem in claim_problems(row, spec, 100, 0)] == kinds
    *_, failures = claim_problems(row, spec, 100, 7)
    assert failures.numbers == {"not_fitted": 7, "samples": 100}


@pytest.mark.parametrize(
    ("claims", "words"), [(0.30, "more often"), (0.02, "less often"), (0.12, "cannot distinguish")]
)
def test_a_share_is_compared_with_what_the_rule_promises(claims: float, words: str) -> None:
    row = {"method": "weat", "rule": "p < 0.05", "nominal": 0.11, "study_claims": False, "samples": 200}
    text = claims_text(row | {"claims": claims, "claims_se": 0.02})
    assert [one for one in ("more often", "less often", "cannot distinguish") if one in text] == [words]
    assert share_with_error(claims, 0.02) in text
    assert share_with_error(0.126, 0.02) == "13% ± 2%"


@pytest.mark.parametrize(
    ("count", "nominal", "words"),
    [
        (0, 0.11, "cannot distinguish"),
        (4, 0.05, "more often"),
        (6, 0.11, "more often"),
        (5, 0.11, "cannot distinguish"),
    ],
)
def test_few_samples_are_judged_by_the_binomial_distribution(count: int, nominal: float, words: str) -> None:
    """Of 20: none has a probability of 0.10 at 0.11; 4 or more one of 0.016 at 0.05; 6 or more one of 0.02 at 0.11."""
    row = {"method": "weat", "rule": "rule", "nominal": nominal, "study_claims": False, "samples": 20}
    assert words in claims_text(row | {"claims": count / 20, "claims_se": 0.08})
