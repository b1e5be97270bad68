"""Verdict words on changes: when each reading holds, and how sentences say it."""

import itertools

import pytest

from bayesbias.changes.readings import READINGS, claims_sentence, claims_text, reading_of, reading_text


def test_a_reading_is_the_one_whose_meaning_holds() -> None:
    """Of every combination of signs and settled intervals."""

    def row(mean: float, *, settled: bool) -> dict[str, object]:
        reach = 0.01 if settled else 1
        return {
            "mean": mean, "hdi_low": mean - reach, "hdi_high": mean + reach, "borderline": False, "direction": "nearer"
        }  # fmt: skip

    signs = itertools.product((-0.4, -0.2, 0.2, 0.4), (-0.3, -0.1, 0.1, 0.3), (-0.1, 0.1))
    for (first, second, change), settled in itertools.product(signs, itertools.product((True, False), repeat=3)):
        away = first * change > 0
        holds = {
            "not settled": not settled[2],
            "changed": settled == (False, False, True),
            "now settled": settled == (False, True, True),
            "opposite sign": settled == (True, True, True) and first * second < 0,
            "smaller": settled == (True, True, True) and first * second > 0 and not away,
            "smaller, no longer settled": settled == (True, False, True) and not away,
            "larger": settled[0] and settled[2] and away and not (settled[1] and first * second < 0),
        }
        rows = (row(mean, settled=sure) for mean, sure in zip((first, second, change), settled, strict=True))
        of_first, of_second, of_change = rows
        assert [name for name, held in holds.items() if held] == [reading_of(of_change, of_first, of_second)]
        assert reading_of(of_change | {"borderline": True}, of_first, of_second) == "borderline"
        assert reading_of(of_change | {"direction": "equal"}, of_first, of_second) == "no change"
        open_contrast = of_first | {"borderline": True}
        assert reading_of(of_change, open_contrast, of_second) == reading_of(of_change, None, of_second)


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_is_said_of_a_contrast_and_of_a_slope(reading: str) -> None:
    contrast = claims_text({"hard": reading}, 1, "after")
    slope = claims_text({"1990": reading}, 1, what="slope")
    assert "{" not in reading_text(reading, "1990") + contrast + slope
    assert "after hard" in contrast
    assert "in 1990" in slope
    assert "contrast" not in slope


def test_verdict_words_are_those_of_size_and_not_of_intervals() -> None:
    assert reading_text("now settled", "1990") == "settled only in 1990"
    readings = {"hard": "smaller, no longer settled", "soft": "larger"}
    assert claims_sentence("The contrast a - b", readings) == (
        "The contrast a - b is smaller and no longer settled in hard, and is larger in soft."
    )
    assert not any(word in reading for reading in READINGS for word in ("narrow", "wide", "weak", "strong"))
