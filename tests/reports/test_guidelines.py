"""Reporting guidelines, answered by a fit: its numbers, and what is left to the author."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.base.number_text import interval_text, signed_text
from bayesbias.reports.guidelines import BARG, OPEN, RESPONSIBLE_NLP, ReportingItem, guideline_tables, reporting_items
from tests.reports.made import made_fit

# Items of table 1 of Kruschke (2021), by step: the preamble has two, the first step five, and so on.
ITEMS_OF_STEPS = {"Preamble": 2, "1": 5, "2": 4, "3": 3, "4": 5, "5": 5, "6": 6}


def answers(fit: xr.DataTree, **options: object) -> dict[str, str]:
    return {item.item: item.text for item in reporting_items(fit, **options)}  # type: ignore[arg-type]


def test_every_item_is_answered_or_open(short_fit: xr.DataTree) -> None:
    items = reporting_items(short_fit)
    steps = [item.item.replace(" ", ".").split(".")[0] for item in items if item.guideline == BARG]
    assert {step: steps.count(step) for step in steps} == ITEMS_OF_STEPS
    assert [item.item for item in items if item.guideline == RESPONSIBLE_NLP] == ["B6", "C1", "C2", "C3", "C4"]
    assert all(item.text for item in items)


def test_the_numbers_are_those_of_the_fit(short_fit: xr.DataTree) -> None:
    texts = answers(short_fit, rope=0.03, hdi_prob=0.5)
    row = bb.contrasts(short_fit, hdi_prob=0.5).iloc[0]
    estimate = f"{row['contrast']} {signed_text(row['mean'])} ({interval_text(row['hdi_low'], row['hdi_high'])})"
    assert estimate in texts["3.B"]
    assert estimate in texts["C3"]
    assert "50% HPDI" in texts["3.B"]
    assert texts["4.C"].startswith("-0.030 to +0.030. Author:")
    assert f"seed {bb.models.fit_attribute(short_fit, 'random_seed')} gives" in texts["6.F"]
    assert f"{len(bb.models.fitted_table(short_fit)):,} pairs" in texts["B6"]


def test_chains_and_independent_draws_answer_other_items(short_fit: xr.DataTree) -> None:
    fit = made_fit(draws=200)
    fit["sample_stats"] = xr.DataTree(xr.Dataset({"diverging": (("chain", "draw"), np.eye(4, 200, dtype=bool))}))
    frame, chains = bb.summary(fit), answers(fit)
    assert "divergent transitions: 4" in chains["2.B"]
    assert f"{frame['ess_bulk'].min():,.0f} in the bulk" in chains["2.C"]
    assert answers(short_fit)["2.C"] == "There are no Markov chains: see 2.D."


def test_the_predictive_check_is_that_which_was_given(short_fit: xr.DataTree) -> None:
    check = bb.check_posterior(short_fit, random_seed=1, progress=False)
    assert "replicated tables: all were replicated." in answers(short_fit, check=replace(check, problems=()))["3.A"]
    assert answers(short_fit)["3.A"] == "None was made."


def test_nothing_to_compare_is_said() -> None:
    assert "nothing was compared" in answers(made_fit(connections=("associated",), draws=50))["3.B"]


def test_the_methods_end_with_both_tables(short_fit: xr.DataTree) -> None:
    text = bb.methods(short_fit)
    assert text.index(BARG) < text.index(RESPONSIBLE_NLP)
    assert text.splitlines()[-1].startswith("| C4 |")
    assert "@article{kruschke2021," in text


@pytest.mark.parametrize("word", ["a|b", "*cats*", "<b>"])
def test_no_word_is_markup(word: str) -> None:
    text = guideline_tables([ReportingItem("Guideline", "1", "Data", word, "why.")])
    assert word not in text
    assert f"{OPEN} why." in text
