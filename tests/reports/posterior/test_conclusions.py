"""Conclusions say what the numbers say."""

import numpy as np
import pytest
import xarray as xr

import bayesbias as bb
from tests.reports.made import made_fit


def shifted(fit: xr.DataTree, **shifts: float) -> xr.DataTree:
    """Return the fit with the means of some connections moved."""
    fit = fit.copy(deep=True)
    posterior = fit["posterior"].to_dataset()
    for connection, shift in shifts.items():
        at = posterior["connection"] == connection
        for name in ("connection_mean", "word_mean"):
            posterior[name] = xr.where(at, posterior[name] + shift, posterior[name]).transpose(*posterior[name].dims)
    fit["posterior"] = xr.DataTree(posterior)
    return fit


@pytest.fixture(scope="module")
def known() -> xr.DataTree:
    return made_fit()


def test_an_association_is_called_one(known: xr.DataTree) -> None:
    text = bb.conclusions(known)
    assert "Associated attribute words are nearer than attribute words associated with other groups" in text
    assert "That is an association in these vectors." in text.replace("\n", " ")
    assert "is not settled" in bb.conclusions(shifted(known, associated=0.05))


def test_near_to_the_kind_is_not_called_a_stereotype(known: xr.DataTree) -> None:
    text = bb.conclusions(shifted(known, associated=0.05, neutral=0.2)).replace("\n", " ")
    assert "the nearness follows the stereotype is not shown" in text
    assert "That is an association" not in text


def test_nothing_shown(known: xr.DataTree) -> None:
    text = bb.conclusions(shifted(known, associated=0.3)).replace("\n", " ")
    assert "farther than attribute words associated with other groups" in text
    assert "the reverse of the stereotype" in text
    open_text = bb.conclusions(shifted(known, associated=0.05, human=-0.2, neutral=-0.2)).replace("\n", " ")
    assert "no association that follows the stereotype is shown" in open_text


def test_a_rope_that_holds_everything_is_heeded(known: xr.DataTree) -> None:
    text = bb.conclusions(known, rope=0.5).replace("\n", " ")
    assert "too small to matter by the rope" in text
    assert "That is an association" not in text


def test_the_interval_asked_for_decides(known: xr.DataTree) -> None:
    """associated - different is Normal(-0.05, 0.0224): P(direction) = 0.987, settled at 89 % and not at 99.9 %."""
    settled = "- Associated attribute words are nearer than attribute words associated with other groups"
    assert settled in bb.conclusions(known).replace("\n  ", " ")
    wide = bb.conclusions(known, hdi_prob=0.999).replace("\n  ", " ")
    assert settled not in wide
    assert "99.9% HPDI" in wide
    assert "not settled for any" in wide
    # Shifted to -0.02: probability of direction 0.81, an interval that holds 0.
    assert settled not in bb.conclusions(shifted(known, associated=0.03)).replace("\n  ", " ")


def test_words_that_were_not_measured_are_not_judged(known: xr.DataTree) -> None:
    fit = known.copy(deep=True)
    counts = fit["constant_data"]["pair_count"]
    counts.loc[{"protected_word": "she", "connection": "associated"}] = 0
    words = bb.contrasts(fit, level="word").set_index(["contrast", "protected_word"])
    assert words.loc[("associated - human", "she"), "baseline_pairs"] == 0
    text = bb.conclusions(fit).replace("\n  ", " ")
    assert "associated minus human, 1 words" in text
    assert "1 more have no rows for one of the two" in text
    assert "she" not in text.split("Word by word")[1]


def test_words_that_go_the_other_way_are_said(known: xr.DataTree) -> None:
    fit = known.copy(deep=True)
    posterior = fit["posterior"].to_dataset()
    posterior["word_mean"].loc[{"protected_word": "he", "connection": "associated"}] += 0.2
    fit["posterior"] = xr.DataTree(posterior)
    assert "But 1 of the words go the other way" in bb.conclusions(fit).replace("\n", " ")


def test_doubts_about_the_data_are_said(known: xr.DataTree) -> None:
    fit = known.copy(deep=True)
    text = bb.conclusions(fit)
    assert "does not say whether words were lost" in text
    assert "Beware" not in text
    fit["constant_data"]["attribute_index"][1] = fit["constant_data"]["attribute_index"][0]
    assert "1 rows repeat a pair" in bb.conclusions(fit)
    facts = '{"edited": true, "lost_words": [], "left_out_controls": ["dinner"], "duplicates": {"same_vectors": 3}}'
    fit.attrs["table"] = facts
    text = bb.conclusions(fit).replace("\n  ", " ").replace("\n", " ")
    assert "was changed after it was built" in text
    assert "3 rows compare words that match the same vectors" in text
    assert "No word was lost." in text
    assert "no controls here: dinner" in text


def test_without_other_groups(known: xr.DataTree) -> None:
    text = bb.conclusions(made_fit(connections=("associated", "human"), draws=2000)).replace("\n", " ")
    assert "without attribute words of another group" in text


def test_every_number_is_one_of_the_contrasts(known: xr.DataTree) -> None:
    text = bb.conclusions(known, rope=0.02)
    for row in bb.contrasts(known, rope=0.02).to_dict("records"):
        assert f"{row['mean']:+.3f}" in text
        assert f"{row['hdi_low']:+.3f}" in text
        assert f"{row['hdi_high']:+.3f}" in text


def test_limits_and_cautions_are_always_said(known: xr.DataTree) -> None:
    text = bb.conclusions(known).replace("\n  ", " ").replace("\n", " ")
    assert "treats attribute words as independent" in text
    assert "absence of evidence is not evidence of absence" in text
    assert "Whether a difference matters" in text
    assert "Whether a difference matters" not in bb.conclusions(known, rope=0.02)
    assert "probability above 0.99" in text
    assert "1.00" not in text


def test_words_are_counted(known: xr.DataTree) -> None:
    words = bb.contrasts(known, level="word").query("contrast == 'associated - human'")
    nearer = [row.protected_word for row in words.itertuples() if row.hdi_high < 0]
    assert f"nearer for {len(nearer)} ({', '.join(nearer)})" in bb.conclusions(known).replace("\n  ", " ")
    assert np.isfinite(words["mean"]).all()
