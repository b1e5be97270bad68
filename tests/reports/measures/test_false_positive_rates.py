"""Rates of false claims: against SciPy, theory, and the models fitted the long way."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError
from bayesbias.models import quick
from bayesbias.models.numerics.diagnostics import SamplerFailedError
from bayesbias.models.samplers import exact
from bayesbias.models.spec import DEFAULT_MODEL
from bayesbias.reports.measures import false_positive_rates as module
from bayesbias.reports.measures.false_positive_rates import METHODS, false_positive_rates
from bayesbias.reports.measures.null_simulation import draw_noise

TESTS = ("weat", "t_test_preaveraged", "t_test_raw")
MODELS = ("hierarchical", "crossed", "crossed_per_list")
EFFECTS = {"attribute_sd": 0.078, "word_sd": 0.05}


def rates_of(**arguments: Any) -> pd.DataFrame:
    return false_positive_rates(**arguments).rates


def test_tests_keep_their_promise_where_pairs_are_independent() -> None:
    claims = rates_of(samples=2000, random_seed=1, methods=TESTS)
    assert len(claims) == 5
    assert (claims["nominal"] == 0.05).all()
    assert ((claims["rate"] - 0.05).abs() < 3 * claims["mc_se"]).all()
    assert (claims["not_fitted"] == 0).all()
    assert (claims["data_sets"] == 2000).all()


def test_t_tests_against_scipy() -> None:
    """The same data, drawn and tested by loops, for lists of unequal length."""
    claims = rates_of(
        protected=(3, 3), attributes=(2, 4), neutral=5, samples=60, random_seed=7, methods=TESTS[1:], **EFFECTS
    )
    spread = {"sd": 0.08, **EFFECTS}
    drawn = 1 + draw_noise(60, 6, [2, 4, 5], spread, np.random.default_rng(7))
    lists = {"A": range(2), "B": range(2, 6), "neutral": range(6, 11)}
    counts = dict.fromkeys([(method, other) for method in TESTS[1:] for other in ("different", "neutral")], 0)
    for table in drawn:
        pairs: dict[str, list[list[float]]] = {"associated": [], "different": [], "neutral": []}
        for word, row in enumerate(table):
            near, far = ("A", "B") if word < 3 else ("B", "A")
            for name, kind in (("associated", near), ("different", far), ("neutral", "neutral")):
                pairs[name].append([row[column] for column in lists[kind]])
        for other in ("different", "neutral"):
            raw = [np.concatenate([np.array(word) for word in pairs[name]]) for name in ("associated", other)]
            means = [[np.mean(word) for word in pairs[name]] for name in ("associated", other)]
            counts["t_test_raw", other] += stats.ttest_ind(*raw, equal_var=False).pvalue < 0.05
            counts["t_test_preaveraged", other] += stats.ttest_ind(*means, equal_var=False).pvalue < 0.05
    assert max(counts.values()) > 3
    for row in claims.to_dict("records"):
        assert row["rate"] == pytest.approx(counts[row["method"], row["contrast"].split(" - ")[1]] / 60)


def test_weat_claims_in_one_direction_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def near(count: int, words: int, lists: list[int], spread: Any, rng: np.random.Generator) -> np.ndarray:
        distance = draw_noise(count, words, lists, spread, rng)
        distance[:, : words // 2, : lists[0]] += shift
        return distance

    monkeypatch.setattr(module, "draw_noise", near)
    shift = -0.5  # X much nearer to A
    assert rates_of(samples=20, random_seed=1, methods=["weat"])["rate"].tolist() == [1.0]
    shift = 0.5
    assert rates_of(samples=20, random_seed=1, methods=["weat"])["rate"].tolist() == [0.0]


@pytest.mark.slow
@pytest.mark.parametrize("samples", [5, pytest.param(30, marks=pytest.mark.truth)])
def test_models_against_the_long_way(samples: int) -> None:
    """`bb.fit` and `bb.contrasts` claim in the same data sets, but for those whose interval ends next to 0."""
    claims = rates_of(samples=samples, random_seed=3, methods=MODELS, **EFFECTS)
    drawn = 1 + draw_noise(samples, 16, [8, 8, 30], {"sd": 0.08, **EFFECTS}, np.random.default_rng(3))
    rows = [
        (f"p{w}", "X" if w < 8 else "Y", f"a{a}", "A" if a < 8 else "B" if a < 16 else "neutral")
        for w in range(16)
        for a in range(46)
    ]
    table = pd.DataFrame(rows, columns=["protected_word", "protected_group", "attribute_word", "attribute_group"])
    is_associated = (table["protected_group"] == "X") == (table["attribute_group"] == "A")
    table["connection"] = np.where(is_associated, "associated", "different")
    table.loc[table["attribute_group"] == "neutral", "connection"] = "neutral"
    for model in MODELS:
        counts = {"associated - different": 0, "associated - neutral": 0}
        for values in drawn:
            full = table.assign(cosine_distance=values.ravel(), cosine_similarity=1 - values.ravel())
            fitted = bb.fit(full, model, draws=4000, chains=1, random_seed=1, progress=False)
            contrasts = bb.contrasts(fitted, hdi_prob=0.89)
            for row in contrasts.to_dict("records"):
                counts[row["contrast"]] += row["hdi_low"] > 0 or row["hdi_high"] < 0
        part = claims[(claims["method"] == model) & (claims["rule"] == "0 outside the 89% HPDI")]
        for row in part.to_dict("records"):
            assert abs(row["rate"] * samples - counts[row["contrast"]]) <= max(1, samples // 10), (model, row)


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "fits"), [(150, 10), pytest.param(500, 300, marks=pytest.mark.truth)])
def test_only_crossed_models_keep_their_promise_with_attribute_effects(samples: int, fits: int) -> None:
    """With control words, attribute effects do not cancel: all but the crossed models claim far too often.

    Too often is more than a method that keeps its promise would in all but 1 of 1,000 runs (binomial).
    """
    wrong, right = ("t_test_preaveraged", "t_test_raw", "hierarchical"), ("crossed", DEFAULT_MODEL)
    for methods, count in ((("weat", *wrong), samples), (right, fits)):
        claims = rates_of(samples=count, random_seed=2, attribute_sd=0.078, methods=methods)
        most = stats.binom(claims["data_sets"], claims["nominal"]).ppf(0.999)
        too_many = claims["rate"] * claims["data_sets"] > most
        exceeding = set(claims.loc[too_many & (claims["contrast"] == "associated - neutral"), "method"])
        assert exceeding == (set(wrong) if "weat" in methods else set())
        assert not too_many[claims["method"] == "weat"].any()
        if "weat" in methods:
            neutral = claims["contrast"] == "associated - neutral"
            assert too_many[neutral & (claims["method"] != "weat")].all()


@pytest.mark.slow
def test_seed_repeats_and_methods_share_their_data() -> None:
    whole = rates_of(samples=2, random_seed=5, **EFFECTS)
    pd.testing.assert_frame_equal(whole, rates_of(samples=2, random_seed=5, **EFFECTS))
    assert list(dict.fromkeys(whole["method"])) == list(METHODS[:-1])
    for method in METHODS:
        alone = rates_of(samples=2, random_seed=5, methods=[method], **EFFECTS)
        beside = (
            rates_of(samples=2, random_seed=5, methods=["weat", method], **EFFECTS) if method == METHODS[-1] else whole
        )
        pd.testing.assert_frame_equal(alone, beside[beside["method"] == method].reset_index(drop=True))
    result = false_positive_rates(samples=2, random_seed=5, methods=["weat"], **EFFECTS)
    assert (result.random_seed, result.attribute_sd, result.protected) == (5, 0.078, (8, 8))
    assert result.parts[1].statements[0].numbers["rate"] == result.rates["rate"][0]


def test_without_neutral_words() -> None:
    claims = rates_of(neutral=0, samples=3, random_seed=1)
    assert set(claims["contrast"]) == {"associated - different"}
    assert len(claims) == 9


def test_the_default_model_is_among_the_methods() -> None:
    assert DEFAULT_MODEL in METHODS


def test_per_list_gives_stereotypes_and_neutral_words_an_sd_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each model's collapsed density has as many attribute_sd as it should, and without neutral words both are one."""
    seen: dict[tuple[str, int], int] = {}
    right = quick.collapse

    def watched(data: Any, spec: Any) -> Any:
        claims = right(data, spec)
        seen[spec.name, len(data.attribute_words)] = claims.lists
        return claims

    monkeypatch.setattr(quick, "collapse", watched)
    both = ("crossed", "crossed_per_list")
    rates_of(samples=2, random_seed=1, methods=both)
    alone = rates_of(samples=20, neutral=0, random_seed=1, methods=both, **EFFECTS)
    assert seen == {("crossed", 46): 1, ("crossed_per_list", 46): 2, ("crossed", 16): 1, ("crossed_per_list", 16): 1}
    rates = [alone.loc[alone["method"] == model, "rate"].to_list() for model in both]
    assert rates[0] == rates[1]


@pytest.mark.parametrize("model", MODELS[1:])
def test_data_sets_that_cannot_be_fitted_are_counted(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(100))
    right = quick.connection_mean_posterior

    def sometimes(*args: Any, **options: Any) -> Any:
        if next(calls) % 3 == 0:
            raise SamplerFailedError("no")
        return right(*args, **options)

    monkeypatch.setattr(quick, "connection_mean_posterior", sometimes)
    claims = rates_of(samples=9, random_seed=1, methods=[model])
    assert set(claims["not_fitted"]) == {3}
    assert set(claims["data_sets"]) == {6}


def test_grids_that_do_not_cover_the_posterior_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    covers = exact.GridDraws.good
    calls = iter(range(100))

    def sometimes(drawn: Any) -> bool:
        return next(calls) >= 3 and covers.fget(drawn)

    monkeypatch.setattr(exact.GridDraws, "good", property(sometimes))
    claims = rates_of(samples=5, random_seed=1, methods=["hierarchical"])
    assert set(claims["not_fitted"]) <= {1, 2, 3}
    assert set(claims["not_fitted"] + claims["data_sets"]) == {5}
    monkeypatch.setattr(exact.GridDraws, "good", property(lambda _: False))
    with pytest.raises(ReportError, match=r"5 .* 'hierarchical'"):
        rates_of(samples=5, random_seed=1, methods=["hierarchical"])


@pytest.mark.parametrize("model", MODELS[1:])
def test_poor_weights_are_drawn_with_more_care(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = rates_of(samples=4, random_seed=1, methods=[model])
    monkeypatch.setattr(quick, "KHAT_MAX", -np.inf)
    careful = rates_of(samples=4, random_seed=1, methods=[model])
    assert set(careful["not_fitted"]) == {0}
    assert (careful["rate"] - usual["rate"]).abs().max() <= 0.25


@pytest.mark.parametrize("model", MODELS[1:])
def test_no_fit_at_all_is_an_error(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **options: Any) -> Any:
        raise SamplerFailedError("no")

    monkeypatch.setattr(quick, "connection_mean_posterior", never)
    with pytest.raises(ReportError, match=f"3 .* '{model}'"):
        rates_of(samples=3, random_seed=1, methods=[model])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"protected": (8, 6)}, "protected="),
        ({"protected": (1, 1)}, "=.*2 words"),
        ({"attributes": (1, 8)}, "=.*2 words"),
        ({"neutral": 1}, "neutral=1"),
        ({"neutral": -1}, "neutral=-1"),
        ({"sd": 0}, "sd=0"),
        ({"attribute_sd": -1}, "attribute_sd=-1"),
        ({"samples": 1}, "samples=1"),
        ({"samples": 10**8}, "^100,000,000 "),
        ({"methods": []}, "methods="),
        ({"methods": "weat"}, "methods="),
        ({"methods": ["weet"]}, "did you mean 'weat'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((ReportError, ArgumentError), match=words):
        rates_of(**arguments)


def test_bad_seed() -> None:
    with pytest.raises(ArgumentError, match="random_seed"):
        rates_of(samples=2, random_seed=2**32)


@pytest.mark.parametrize("arguments", [{"samples": 10**9}, {"neutral": 10**12}])
def test_more_than_fits_is_refused_before_it_is_made(arguments: dict[str, int]) -> None:
    with pytest.raises(ReportError, match=" 50,000,000 pairs"):
        rates_of(**arguments)
