"""Phrases for attribute words: those of one group name its two lists."""

from bayesbias.models.data import model_data
from bayesbias.reports.posterior.attribute_phrases import attribute_phrases, named_phrases
from tests.reports.made import made_table


def test_the_two_lists_of_one_group_are_named() -> None:
    table = made_table(("he",))
    phrases = named_phrases(model_data(table))
    assert phrases["associated"] == "associated attribute words (associated)"
    assert phrases["different"] == "the other attribute words (different)"
    assert phrases["human"] == "human control words"


def test_lists_of_several_groups_are_not_named() -> None:
    assert named_phrases(model_data(made_table(("he", "she")))) == attribute_phrases(2).words
