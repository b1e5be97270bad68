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
        for name in ("group_mean", "word_mean"):
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
    assert "no association that follows the stereotype is shown" in text


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
