"""Numbers as readers see them."""

from collections.abc import Callable

import pytest

from bayesbias.base.number_text import count_text, distance_text, probability_text, share_text, signed_text


@pytest.mark.parametrize("write", [distance_text, signed_text, share_text, count_text])
def test_what_is_no_number_is_said(write: Callable[[float], str]) -> None:
    assert write(float("nan")) == "undefined"


def test_a_probability_is_never_certain() -> None:
    assert [probability_text(value) for value in (1.0, 0.0, 0.5)] == ["above 0.99", "below 0.01", "0.50"]
