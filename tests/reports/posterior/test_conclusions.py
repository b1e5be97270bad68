"""Conclusions agree with their numbers."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.reports.posterior.conclusions import (
    _contrast_statement,
    _verdict,
    chance_statement,
    nothing_to_compare,
    observed_counts,
    words_statement,
)
from bayesbias.reports.posterior.contrasts import reason_pulled
from bayesbias.reports.posterior.questions import attribute_phrases
from tests.reports.made import CONNECTIONS, made_fit


def shifted(fit: xr.DataTree, **shifts: float) -> xr.DataTree:
    """Return the fit with the means of some connections moved."""
    fit = fit.copy(deep=True)
    posterior = fit["posterior"].to_dataset()
    for connection, shift in shifts.items():
        moved = posterior["connection"] == connection
        for name in ("connection_mean", "word_mean"):
            posterior[name] = xr.where(moved, posterior[name] + shift, posterior[name]).transpose(*posterior[name].dims)
    fit["posterior"] = xr.DataTree(posterior)
    return fit


def shown(report: bb.results.Conclusions, kind: str) -> list[bb.results.Statement]:
    return [statement for statement in report.shown if statement.kind == kind]


def limits(report: bb.results.Conclusions) -> list[str]:
    return [limit.kind for limit in report.limits]


@pytest.fixture(scope="module")
def normal_fit() -> xr.DataTree:
    return made_fit(draws=1000)


@pytest.fixture(scope="module")
def report(normal_fit: xr.DataTree) -> bb.results.Conclusions:
    return bb.conclusions(normal_fit)


@pytest.mark.parametrize(
    ("shifts", "rope", "verdict", "words"),
    [
        (
            {},
            None,
            "association",
            "nearer to the former than to human and neutral words. That is an association in these vectors.",
        ),
        (
            {"neutral": -0.2},
            None,
            "association",
            "to the words associated with the other group; they are also nearer to the former than to human words.",
        ),
        ({"associated": 0.05, "neutral": 0.2}, None, "same kind", "not detectably nearer"),
        ({"associated": 0.3}, None, "reverse", "the reverse of the stereotype"),
        ({"associated": 0.05, "human": -0.2, "neutral": -0.2}, None, "nothing", "No association"),
        ({}, 0.5, "too small", "with probability over 0.99"),
    ],
)
def test_the_verdict_reads_the_contrasts_together(
    normal_fit: xr.DataTree, shifts: dict[str, float], rope: float | None, verdict: str, words: str
) -> None:
    verdict_statement = bb.conclusions(shifted(normal_fit, **shifts), rope=rope).verdict
    assert verdict_statement.kind == verdict
    assert words in verdict_statement.text


def test_without_other_groups() -> None:
    report = bb.conclusions(made_fit(connections=("associated", "human"), draws=2000))
    assert report.verdict.kind == "no other groups"
    assert "Without attribute words of another group" in report.verdict.text


def test_what_can_be_compared() -> None:
    assert nothing_to_compare(CONNECTIONS) == ""
    for names in ([], ["associated"], ["human", "neutral"]):
        assert nothing_to_compare(names)


def test_the_interval_asked_for_decides(normal_fit: xr.DataTree, report: bb.results.Conclusions) -> None:
    """associated - different is Normal(-0.05, 0.0224): P(direction) = 0.987, settled at 89 % and not at 99.9 %."""

    def first(conclusions: bb.results.Conclusions) -> bb.results.Statement:
        return shown(conclusions, "contrast")[0]

    assert first(report).numbers["settled"]
    assert first(report).text.startswith(
        "Associated attribute words are nearer than attribute words associated with the other group. The difference is "
        "-0.050"
    )
    wide = bb.conclusions(normal_fit, hdi_prob=0.999)
    assert not first(wide).numbers["settled"]
    assert first(wide).text.startswith("It is not settled whether associated attribute words are nearer than")
    assert " The difference is -0.050" in first(wide).text
    assert "99.9% HPDI" in wide.heading
    words = shown(wide, "words")[0]
    assert words.numbers["not_settled"] == ["he", "she"]
    assert "2 words: none settled." in words.text
    # Shifted to -0.02: probability of direction 0.81, an interval that holds 0.
    assert not first(bb.conclusions(shifted(normal_fit, associated=0.03))).numbers["settled"]


def test_every_number_is_one_of_the_contrasts(normal_fit: xr.DataTree) -> None:
    report = bb.conclusions(normal_fit, rope=0.02)
    rows = bb.contrasts(normal_fit, rope=0.02).to_dict("records")
    for statement, row in zip(shown(report, "contrast"), rows, strict=True):
        names = set(statement.numbers) - {"settled"}
        assert {"contrast", "mean", "hdi_low", "hdi_high", "direction", "probability_of_direction"} < names
        np.testing.assert_equal({name: statement.numbers[name] for name in names}, {name: row[name] for name in names})
        for text in (f"{row['mean']:+.3f}", f"{row['hdi_low']:+.3f} to {row['hdi_high']:+.3f}"):
            assert text in statement.text
        assert "that the difference is too small to matter (inside the rope)" in statement.text
    assert "probability that they are nearer is over 0.99" in " ".join(str(report).split())
    assert "1.00" not in str(report)


def test_words_are_listed_by_what_their_interval_says(normal_fit: xr.DataTree, report: bb.results.Conclusions) -> None:
    contrasts = bb.contrasts(normal_fit, level="word")
    for statement in shown(report, "words"):
        rows = contrasts[contrasts["contrast"] == statement.numbers["contrast"]].set_index("protected_word")
        clear = ~rows["borderline"]
        nearer, farther = clear & (rows["hdi_high"] < 0), clear & (rows["hdi_low"] > 0)
        assert statement.numbers["nearer"] == rows.index[nearer & (rows["observed"] < 0)].tolist()
        assert statement.numbers["farther"] == rows.index[farther & (rows["observed"] > 0)].tolist()
        contradicted = (nearer & (rows["observed"] > 0)) | (farther & (rows["observed"] < 0))
        assert statement.numbers["contradicted"] == rows.index[contradicted].tolist()
        assert statement.numbers["unmeasured"] == []
        assert statement.numbers["by_chance"] == pytest.approx(0.11 * len(rows))
        if names := statement.numbers["nearer"]:
            (by_chance,) = shown(report, "by chance")
            assert "0.2 of 2 words have a settled difference on average" in by_chance.text
            assert f"{len(names)} nearer ({', '.join(names)})" in statement.text


def test_words_whose_own_averages_point_the_other_way_are_not_named(
    normal_fit: xr.DataTree, report: bb.results.Conclusions
) -> None:
    rows = bb.contrasts(normal_fit, level="word")
    settled = ~rows["borderline"] & ((rows["hdi_low"] > 0) | (rows["hdi_high"] < 0))
    against = set(rows.loc[settled & (rows["mean"] * rows["observed"] < 0), "protected_word"])
    word_statements = shown(report, "words")
    assert {word for statement in word_statements for word in statement.numbers["contradicted"]} == against != set()
    for statement in word_statements:
        assert all(word in statement.text for word in statement.numbers["contradicted"])


def test_words_that_the_model_pulled_are_named(normal_fit: xr.DataTree, report: bb.results.Conclusions) -> None:
    """The averages of `made_table` are those of uniform numbers, far from the draws: no interval holds them."""
    pulled, contrasts = {}, bb.contrasts(normal_fit, level="word")
    for statement in shown(report, "words"):
        rows = contrasts[contrasts["contrast"] == statement.numbers["contrast"]]
        rows = rows.set_index("protected_word")
        apart = (rows["mean"] - rows["observed"]).abs() > rows["sd"]
        assert statement.numbers["pulled"] == rows.loc[apart, "observed"].to_dict()
        assert ("more than one posterior sd from the observed difference" in statement.text) == bool(
            statement.numbers["pulled"]
        )
        pulled |= dict.fromkeys(statement.numbers["contradicted"], 1) | statement.numbers["pulled"]
    assert pulled


def test_a_plain_difference_that_is_apart_is_explained(normal_fit: xr.DataTree) -> None:
    """All pairs are moved until the observed difference is the estimate, and then more than one sd beside it."""
    row = bb.contrasts(normal_fit).set_index("contrast").loc["associated - human"]
    for apart, plain in ((True, row["mean"] + 1.1 * row["sd"]), (False, row["mean"] + 0.9 * row["sd"])):
        fit = normal_fit.copy(deep=True)
        associated = fit["constant_data"]["connection_index"].to_numpy() == CONNECTIONS.index("associated")
        fit["observed_data"]["cosine_distance"][associated] += plain - row["observed"]
        (statement,) = [
            candidate
            for candidate in shown(bb.conclusions(fit), "contrast")
            if candidate.numbers["contrast"] == row.name
        ]
        assert statement.numbers["observed"] == pytest.approx(plain)
        assert f"(observed {plain:+.3f})" in statement.text
        assert ("more than one posterior sd apart" in statement.text) == apart


def test_words_that_were_not_measured_are_not_judged(normal_fit: xr.DataTree) -> None:
    fit = normal_fit.copy(deep=True)
    fit["constant_data"]["pair_count"].loc[{"protected_word": "she", "connection": "associated"}] = 0
    words = bb.contrasts(fit, level="word").set_index(["contrast", "protected_word"])
    assert words.loc[("associated - human", "she"), "baseline_pairs"] == 0
    for statement in shown(bb.conclusions(fit), "words"):
        assert statement.numbers["unmeasured"] == ["she"]
        assert (
            "she" not in statement.numbers["nearer"] + statement.numbers["farther"] + statement.numbers["not_settled"]
        )
        assert ", 1 word:" in statement.text
        assert "1 more" in statement.text


def test_words_that_go_the_other_way_are_said(normal_fit: xr.DataTree) -> None:
    fit = normal_fit.copy(deep=True)
    posterior = fit["posterior"].to_dataset()
    posterior["word_mean"].loc[{"protected_word": "he", "connection": "associated"}] += 0.2
    fit["posterior"] = xr.DataTree(posterior)
    # A word is named only if its own averages say the same.
    codes = fit["constant_data"].to_dataset()
    here = (codes["protected_index"] == 0) & (codes["connection_index"] == 0)
    fit["observed_data"]["cosine_distance"][here.to_numpy()] = 2.0
    verdict = bb.conclusions(fit).verdict
    assert verdict.numbers["words_farther"] == ["he"]
    # Both words have uniform distances, in which associated words are the farther ones.
    assert "2 of the 2 words have an observed difference above 0 (1 settled, see below)" in verdict.text


def test_what_the_data_are(normal_fit: xr.DataTree) -> None:
    fit = normal_fit.copy(deep=True)
    about = bb.conclusions(fit).about
    assert about.numbers["lost_words"] is None
    assert about.text.endswith("does not say whether words were lost.")
    assert (about.numbers["protected_words"], about.numbers["attribute_words"], about.numbers["pairs"]) == (2, 12, 24)
    fit.attrs["table"] = (
        '{"study": "pets", "lost_words": [{"word": "cat", "role": "protected", "list": "pets"}], '
        '"left_out_controls": ["dinner"]}'
    )
    about = bb.conclusions(fit).about
    assert about.numbers["study"] == "pets"
    assert about.numbers["lost_words"] == ["cat"]
    assert about.numbers["left_out_controls"] == ["dinner"]
    assert "Lost words: 1 of the 1 of 'pets' (cat)." in about.text
    assert about.text.endswith("dinner.")


def test_limits_and_cautions_are_always_said(normal_fit: xr.DataTree, report: bb.results.Conclusions) -> None:
    assert limits(report) == ["model", "relevance", "many words", "bias", "generality", "absence", "unknown dependence"]
    assert "treats attribute words as independent" in report.limits[0].text
    assert "2 words are judged at once" in report.limits[2].text
    assert "relevance" not in limits(bb.conclusions(normal_fit, rope=0.02))
    assert limits(bb.conclusions(made_fit(("he",), draws=20)))[1] == "one group"


def test_text_html_and_json_are_made_of_the_same_fields(fit: xr.DataTree, table: pd.DataFrame) -> None:
    report = bb.conclusions(fit)
    lines = str(report).splitlines()
    assert max(map(len, lines)) <= 100
    text, html = " ".join(" ".join(lines).split()), report._repr_html_()
    decoded = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert list(decoded) == ["about", "verdict", "doubts", "shown", "limits"]
    for statement in (report.about, report.verdict, *report.doubts, *report.shown, *report.limits):
        assert statement.text in text
        assert statement.text.replace("'", "&#x27;") in html
    assert [one["numbers"]["contrast"] for one in decoded["shown"]] == [one.numbers["contrast"] for one in report.shown]
    assert decoded["about"]["numbers"]["pairs"] == len(table)


def study_fit(associated: list[tuple[str, str]], lists: str = "AB", far: str = "") -> xr.DataTree:
    """A fit of vectors in which the groups do not differ; some lists are farther from all words than others."""
    rng = np.random.default_rng(5)
    named = {name: [f"{name}{letter}" for letter in "abcdefgh"] for name in ("X", "Y", *lists, "h", "n")}
    study = bb.Study(
        name="made",
        protected={name: named[name] for name in "XY"},
        attributes={name: named[name] for name in lists},
        associated=associated,
        human=named["h"],
        neutral=named["n"],
    )
    common = rng.standard_normal(40)
    vectors = {word: rng.standard_normal(40) + common * (0.2 if word[0] in far else 1) for word in study.words}
    return bb.fit(bb.distance_table(vectors, study), draws=250, random_seed=1, progress=False)


def test_a_list_that_is_far_from_every_group_is_no_association() -> None:
    report = bb.conclusions(study_fit([("X", "A"), ("Y", "B")], "ABC", far="C"))
    assert report.verdict.kind == "list nearness"
    numbers = shown(report, "contrast")[0].numbers
    assert numbers["settled"]
    assert numbers["list_nearness"] < -0.1
    assert numbers["net_low"] < 0 < numbers["net_high"]
    assert "-0.1" in shown(report, "contrast")[0].text
    groups = shown(report, "group")
    assert groups[0].numbers["net_mean"] != pytest.approx(groups[1].numbers["net_mean"], abs=1e-4)
    assert not any("of both groups" in statement.text for statement in groups)


def test_a_group_without_associated_words_is_in_no_contrast_and_is_named() -> None:
    fit = study_fit([("X", "A")], far="B")
    groups = bb.contrasts(fit, level="protected_group")
    assert groups["protected_group"].eq("X").all()
    assert set(bb.contrasts(fit, level="word")["protected_word"]) == {f"X{letter}" for letter in "abcdefgh"}
    # One group is left, so that nothing tells the nearness of its lists to every group.
    assert "list_nearness" not in groups
    report = bb.conclusions(fit)
    (left_out,) = (statement for statement in report.shown if statement.kind == "group without contrast")
    assert left_out.numbers == {"protected_group": "Y", "lacking": "no associated list"}
    assert left_out.text.startswith("'Y': no associated list, so it is in no contrast.")
    assert any(statement.kind == "one group" for statement in report.limits)
    assert "nan" not in str(report)


def test_nearness_of_lists_that_hides_an_association_is_said() -> None:
    row = {
        "mean": -0.004, "observed": -0.004, "hdi_low": -0.02, "hdi_high": 0.012, "borderline": False, "settled": False,
        "contrast": "associated - different", "list_nearness": 0.109, "nearness_low": 0.099, "nearness_high": 0.119,
        "net_mean": -0.114, "net_low": -0.129,
        "net_high": -0.097, "direction": "nearer", "sd": 0.01, "probability_of_direction": 0.68,
    }  # fmt: skip
    verdict = _verdict([row], [], 0.89, group_sizes=(3, 3))
    assert verdict.kind == "list nearness"
    assert "associated words are nearer" in verdict.text
    assert "-0.114" in _contrast_statement(row, "", attribute_phrases(2).words).text
    without = row | {
        "list_nearness": 0.0,
        "nearness_low": -0.010,
        "nearness_high": 0.010,
        "net_mean": -0.004,
        "net_low": -0.02,
        "net_high": 0.012,
    }
    assert _verdict([without], [], 0.89, group_sizes=(3, 3)).kind == "nothing"


def test_groups_of_which_none_has_both_kinds_of_words_show_no_association() -> None:
    report = bb.conclusions(study_fit([("X", "A")], "A"))
    assert report.verdict.kind == "no other groups"
    assert "No protected word has both" in shown(report, "contrast")[0].text


@pytest.mark.parametrize(
    ("shifts", "verdict"),
    [
        ({}, "nearer to the associated attribute words than to the other attribute words"),
        ({"associated": 0.3}, "FARTHER from the associated attribute words than from the other attribute words"),
        ({"associated": 0.05}, "not shown to be nearer to one list than to the other"),
    ],
)
def test_one_group_is_not_compared_with_others(shifts: dict[str, float], verdict: str) -> None:
    report = bb.conclusions(shifted(made_fit(("he",), ("associated", "different"), draws=2000), **shifts))
    assert verdict in report.verdict.text
    (contrast,) = shown(report, "contrast")
    assert "ssociated attribute words (associated) " in contrast.text
    assert " than the other attribute words (different)" in contrast.text
    for text in (report.verdict.text, contrast.text):
        assert "other groups" not in text
        assert "stereotype" not in text


@pytest.mark.parametrize(
    ("model", "pull"),
    [
        ("no_pooling", "The prior of the means"),
        ("crossed", "toward the mean of all words"),
        ("hierarchical", "toward the mean of all words"),
        ("multivariate", "toward the others of its group"),
    ],
)
def test_what_moves_single_words_is_said_of_the_model_that_was_fitted(model: str, pull: str) -> None:
    assert pull in reason_pulled(bb.load_model(model))


def test_too_small_needs_the_probability_of_the_usual_interval(fit: xr.DataTree) -> None:
    """A narrow interval is no reason to call a difference small."""
    row = bb.contrasts(fit).iloc[0]
    rope = abs(row["mean"]) + 0.3 * row["sd"]
    inside = bb.contrasts(fit, rope=rope).iloc[0]["probability_in_rope"]
    assert 0.3 < inside < 0.89
    assert bb.conclusions(fit, rope=rope, hdi_prob=0.3).verdict.kind != "too small"


def word_row(word: str, plain: float, *, settled: bool = False) -> dict[Any, Any]:
    return {
        "contrast": "associated - different", "protected_word": word, "baseline_pairs": 8, "other_pairs": 8,
        "observed": plain, "mean": plain, "sd": 0.02, "settled": settled, "borderline": False,
        "direction": "nearer" if plain < 0 else "farther", "hdi_low": plain - 0.03, "hdi_high": plain + 0.03,
        "probability_of_direction": 0.999 if settled else 0.7,
    }  # fmt: skip


OVERALL = {
    "contrast": "associated - different", "mean": -0.1, "observed": -0.1, "hdi_low": -0.15, "hdi_high": -0.05,
    "borderline": False, "settled": True, "direction": "nearer", "sd": 0.02,
    "list_nearness": 0.0, "nearness_low": -0.01, "nearness_high": 0.01,
    "net_mean": -0.1,
    "net_low": -0.15, "net_high": -0.05,
}  # fmt: skip


def test_a_verdict_that_a_small_group_decides_has_the_plain_count() -> None:
    """3 words against 40: 40 of 43 observed differences are positive, and the verdict says nearer."""
    words = [word_row(f"few{place}", -0.3) for place in range(3)]
    words += [word_row(f"many{place}", 0.02, settled=place < 4) for place in range(40)]
    verdict = _verdict([OVERALL], words, 0.89, group_sizes=(3, 40))
    assert verdict.kind == "association"
    assert verdict.text.endswith(
        "But 40 of the 43 words have an observed difference above 0 (4 settled, see below): each group has the same "
        "weight, whatever its size."
    )
    assert (verdict.numbers["observed_nearer"], verdict.numbers["observed_farther"]) == (3, 40)
    reverse = OVERALL | {"direction": "farther", "mean": 0.1, "hdi_low": 0.05, "hdi_high": 0.15, "net_mean": 0.1}
    turned = [row | {"observed": -row["observed"]} for row in words]
    text = _verdict([reverse], turned, 0.89, group_sizes=(3, 40)).text
    assert text.endswith(
        "40 of the 43 words have an observed difference below 0: each group has the same weight, whatever its size."
    )


def test_a_verdict_that_most_words_share_has_no_count() -> None:
    words = [word_row(f"w{place}", -0.1 if place < 22 else 0.1, settled=place == 30) for place in range(43)]
    text = _verdict([OVERALL], words, 0.89, group_sizes=(3, 40)).text
    assert text.endswith("But 1 of the words goes the other way: see below.")
    equal = [word_row(f"w{place}", -0.3 if place < 3 else 0.02) for place in range(10)]
    text = _verdict([OVERALL], equal, 0.89, group_sizes=(5, 5)).text
    assert text.endswith("But 7 of the 10 words have an observed difference above 0.")
    assert observed_counts([word_row("one", -0.1) | {"baseline_pairs": 0, "observed": np.nan}]) == (0, 0)


@pytest.mark.parametrize(
    ("model", "prob", "by_chance", "text"),
    [
        ("multivariate", 0.89, 1.12, "7% of words (1.1 of 16) had a settled difference"),
        ("multivariate", 0.5, 8.0, "8.0 of 16 words have a settled difference on average"),
        ("hierarchical", 0.89, 1.76, "1.8 of 16 words have a settled difference on average"),
    ],
)
def test_what_chance_names_is_what_trials_measured(model: str, prob: float, by_chance: float, text: str) -> None:
    rows = [word_row(f"w{place}", -0.1, settled=place < 3) for place in range(16)]
    statement = words_statement(rows, prob, bb.load_model(model))
    assert statement.numbers["by_chance"] == pytest.approx(by_chance)
    statement = chance_statement(rows, prob, bb.load_model(model))
    assert (statement.numbers["by_chance"], statement.numbers["settled"]) == (pytest.approx(by_chance), 3)
    assert statement.numbers["expected_wrong"] == pytest.approx(sum(statement.numbers["wrong"].values()))
    assert list(statement.numbers["wrong"]) == ["w0", "w1", "w2"]
    expected = f"Of the 3 settled words, {statement.numbers['expected_wrong']:.1f} (50% interval" if prob == 0.5 else ""
    assert statement.text.startswith(expected or "Of the 3 settled words, ")
    alone = chance_statement(rows[:1], prob, bb.load_model(model)).text
    assert alone.startswith("Often several are wrong at once"), "one word does not show how common effects are"
    assert text in statement.text
    assert "synonyms" in statement.text
    if by_chance < 1.5:
        assert "1% to 13% (0.2 to 2.1) if the lists held synonyms or forms of a word" in statement.text


def test_another_answer_for_exactly_these_words_is_said() -> None:
    """Words whose contrasts differ much: many attribute words settle their mean, and few protected words do not."""
    rng = np.random.default_rng(3)
    contrasts = {"x": [-0.3, -0.2, 0.05, 0.1], "y": [-0.25, -0.15, 0.0, 0.1]}
    rows = [
        (f"{group}{place}", group, f"{name}{number}", name, "associated" if name == group else "different",
         0.8 + (contrast if name == group else 0) + 0.05 * rng.standard_normal())
        for group, of_group in contrasts.items() for place, contrast in enumerate(of_group)
        for name in contrasts for number in range(15)
    ]  # fmt: skip
    names = ("protected_word", "protected_group", "attribute_word", "attribute_group", "connection", "cosine_distance")
    fit = bb.fit(pd.DataFrame(rows, columns=list(names)), random_seed=1, progress=False)
    report = bb.conclusions(fit)
    (statement,) = shown(report, "these words")
    population, these = (bb.contrasts(fit, scope=scope).iloc[0] for scope in ("population", "these_words"))
    assert population["hdi_high"] > 0 > these["hdi_high"]
    assert (
        f"{these['mean']:+.3f}, interval {these['hdi_low']:+.3f} to {these['hdi_high']:+.3f}: nearer" in statement.text
    )
    assert shown(bb.conclusions(made_fit(draws=400)), "these words") == []
