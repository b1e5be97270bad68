"""Statements on groups: whether the nearness of lists decides a contrast."""

from typing import Any

import pytest

from bayesbias.models.data import model_data
from bayesbias.reports.posterior.group_statements import group_statements
from tests.reports.made import made_table

SETTLED = {"mean": -0.05, "hdi_low": -0.08, "hdi_high": -0.02}
OPEN = {"mean": -0.01, "hdi_low": -0.04, "hdi_high": 0.02}


def row(numbers: dict[str, float], *, borderline: bool = False, **net: float) -> dict[Any, Any]:
    return {
        "contrast": "associated - different",
        "protected_group": "group 0",
        "protected_word": "",
        "observed": -0.04,
        "borderline": borderline,
        **numbers,
        **net,
    }


@pytest.mark.parametrize(
    ("numbers", "net", "decides"),
    [
        (SETTLED, (-0.04, -0.07, -0.01), False),
        (SETTLED, (-0.01, -0.04, 0.02), True),
        (SETTLED, (0.01, -0.02, 0.04), True),
        (OPEN, (-0.01, -0.04, 0.02), False),
        (OPEN, (0.05, 0.02, 0.08), True),
    ],
)
def test_nearness_decides_if_the_contrast_turns_or_is_no_longer_settled(
    numbers: dict[str, float], net: tuple[float, float, float], decides: bool
) -> None:
    mean, low, high = net
    contrast_row = row(
        numbers,
        net_mean=mean,
        net_low=low,
        net_high=high,
        list_nearness=-0.043,
        nearness_low=-0.06,
        nearness_high=-0.02,
    )
    (statement,) = group_statements([contrast_row], model_data(made_table(("he", "she"))))
    assert statement.kind == "group"
    assert statement.numbers["decides"] is decides
    assert ("0.043" in statement.text) == decides
    assert statement.text.startswith(
        f"'group 0': 'associated' minus 'different' is {numbers['mean']:+.3f} (observed -0.040)"
    )
    assert (statement.numbers["associated"], statement.numbers["different"]) == (["associated"], ["different"])
    assert "protected_word" not in statement.numbers


def test_a_borderline_contrast_is_not_settled() -> None:
    data = model_data(made_table(("he", "she")))
    settled, borderline = group_statements([row(SETTLED), row(SETTLED, borderline=True)], data)
    assert "not settled" not in settled.text
    assert "borderline" in borderline.text
    assert "borderline" not in settled.text
    assert not settled.numbers["decides"]


def test_a_net_of_the_other_sign_is_shown_whether_it_is_settled_or_not() -> None:
    """A borderline contrast of -.043 whose net is +.009 was shown without a word."""
    data = model_data(made_table(("he", "she")))
    net = {
        "net_mean": 0.009,
        "net_low": -0.02,
        "net_high": 0.04,
        "list_nearness": -0.052,
        "nearness_low": -0.062,
        "nearness_high": -0.042,
    }
    numbers = {"mean": -0.043, "hdi_low": -0.086, "hdi_high": -0.0004}
    (borderline,) = group_statements([row(numbers, borderline=True, **net)], data)
    assert borderline.numbers["decides"]
    (unsettled,) = group_statements([row(OPEN, **net)], data)
    assert not unsettled.numbers["decides"]
    for statement in (borderline, unsettled):
        assert (
            "Without that, the difference for exactly these words is +0.009, interval -0.020 to +0.040."
            in statement.text
        )
    (same_sign,) = group_statements([row(OPEN, **net | {"net_mean": -0.009})], data)
    assert "Without that" not in same_sign.text


def test_what_two_groups_with_the_same_lists_share_is_said_once() -> None:
    """It was said of both, with the same net difference twice."""
    net = {
        "net_mean": -0.003,
        "net_low": -0.029,
        "net_high": 0.022,
        "nearness_low": -0.06,
        "nearness_high": -0.02,
    }
    numbers = {"mean": 0.007, "hdi_low": -0.05, "hdi_high": 0.07}
    rows = [row(numbers, **net, list_nearness=0.01, protected_group="group 1"), row(OPEN, **net, list_nearness=-0.052)]
    first, second, shared = group_statements(rows, model_data(made_table(("he", "she"))))
    assert "average" not in first.text + second.text
    assert shared.text == (
        "On average over both groups, 'associated' is nearer to the words than 'different', by 0.052 (+0.020 to "
        "+0.060). That lowers the difference of 'group 0' and raises that of 'group 1'. Without it, the "
        "difference of each group is -0.003, interval -0.029 to +0.022."
    )


@pytest.mark.parametrize(
    ("net_mean", "part"),
    [
        (-0.018, "Part of this estimate reflects the lists alone"),
        (0.018, "The sign of this estimate reflects the lists"),
        (-0.0004, "The sign of this estimate reflects the lists"),
    ],
)
def test_a_contrast_with_a_net_part_comes_only_in_part_from_the_lists(net_mean: float, part: str) -> None:
    net = {
        "net_mean": net_mean,
        "net_low": -0.043,
        "net_high": 0.02,
        "list_nearness": -0.052,
        "nearness_low": -0.062,
        "nearness_high": -0.042,
    }
    (statement,) = group_statements([row(SETTLED, **net)], model_data(made_table(("he", "she"))))
    assert f". {part}: on average over groups" in statement.text
