"""Messages on the command line name options that can be typed, and never arguments of Python."""

import pytest

from bayesbias.cli import base
from bayesbias.cli.messages import Spelling, spoken
from tests.cli.running import OF_PYTHON

SPELLING = Spelling(
    {
        "hdi_prob": "--hdi-prob",
        "random_seed": "--seed",
        "lists": "--lists",
        "overwrite": "--overwrite",
        "rule": "--rule",
    },
    elsewhere={"scope": "--scope contrast"},
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hdi_prob=89: give a probability.", "--hdi-prob 89: give a probability."),
        ("random_seed=-1: give one, or None to have one drawn.", "--seed -1: give one."),
        ("Use lists=('male', 'female').", "Use --lists male,female."),
        ("rope=(-0.1, 0.1), lists=['a b']", "rope=(-0.1, 0.1), --lists 'a b'"),
        ("allow it (overwrite=True).", "allow it (--overwrite)."),
        ("rules='rippa' (did you mean 'ripa'?)", "--rule rippa (did you mean 'ripa'?)"),
        ("scope='these_words'", "--scope these_words of `bayesbias contrast`"),
        ("hdi_prob=nan", "--hdi-prob nan"),
        ("more draws (lists=N) can", "more draws (--lists N) can"),
        ("more draws (--lists N, lists=N) can", "more draws (--lists N) can"),
        ("hdi_prob=None", "no --hdi-prob"),
        # What the user wrote is left as it is.
        ("There is no file runs/hdi_prob=0.9/a.csv or 'hdi_prob=0.9'.", None),
        ("There is no file hdi_prob=0.9.csv.", None),
    ],
)
def test_arguments_become_options(text: str, shown: str | None) -> None:
    assert spoken(text, SPELLING) == (shown or text)


def test_options_of_measures_are_written_as_they_are_typed() -> None:
    spelling = Spelling({}, others="--option")
    assert spoken("use estimator='grand_mean'", spelling) == "use --option estimator=grand_mean"
    assert spoken("targets=('a', 'b')", spelling) == "--option targets=a,b"


def test_each_option_is_known_by_its_name() -> None:
    elsewhere = base.RUNNING.elsewhere
    assert elsewhere["random_seed"].startswith("--seed ")
    assert elsewhere["rope_standardised"] == "--rope-standardised audit"
    assert not [option for option in elsewhere.values() if OF_PYTHON.search(option) or not option.startswith("--")]
