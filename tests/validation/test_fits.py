"""Fits of real tables: the kept tables say what their text says, and the script runs."""

from collections.abc import Iterator
from inspect import signature

import pandas as pd
import pytest

import bayesbias as bb
from tests.models.tables import small
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "fits"


def numbers_of_fits() -> Iterator[str]:
    fits = pd.read_csv(KEPT / "fits.csv").set_index("table")
    yield f"R-hat is {fits['r_hat'].max():.3f} at most in all {len(fits)} tables"
    assert fits["problems"].eq(0).all()
    bundled = fits.index.str.endswith("bundled vectors")
    many = fits["protected_words"] > 30
    few, (first, second) = fits[bundled & ~many], fits[many].to_dict("records")
    published, small = (part["seconds"].agg(["min", "max"]) for part in (fits[~bundled], few))
    words = few["protected_words"].agg(["min", "max"])
    yield f"the {(~bundled).sum()} that Dobrzeniecka"
    yield (
        f"{published['min']:.1f} to {published['max']:.1f} s for the published tables, {small['min']:.1f} to "
        f"{small['max']:.1f} s for the bundled studies of {words['min']} to {words['max']} protected words, "
        f"{first['seconds']:.0f} and {second['seconds']:.0f} s for weat1 and weat2, which have "
        f"{first['protected_words']} and {second['protected_words']}"
    )


def numbers_of_verdicts() -> Iterator[str]:
    verdicts = pd.read_csv(KEPT / "verdicts.csv")
    flips = verdicts["settled"].between(0, 1, inclusive="neither")
    assert int(flips.sum()) == 1
    seeds, unsaid = verdicts["seeds"].iloc[0], int(verdicts["unsaid"].sum())
    assert verdicts.loc[~flips, "unsaid"].eq(0).all()
    assert unsaid / seeds <= 0.1
    yield f"It is called borderline under {seeds - unsaid} of them: in {unsaid}, its interval's end was more than three"
    yield "errors from 0."
    yield f"One of the demo's {len(verdicts)} contrasts flips between {verdicts.loc[0, 'seeds']} seeds"


def test_the_text_says_how_many_draws_and_seeds() -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    defaults = signature(bb.fit).parameters
    assert f"({defaults['chains'].default} chains of {defaults['draws'].default:,} kept draws)" in text
    (seeds,) = set(pd.read_csv(KEPT / "verdicts.csv")["seeds"])
    assert f"the share of {seeds} seeds in which" in text


def test_the_text_says_the_numbers_of_the_tables_and_no_others() -> None:
    assert unexplained(prose(KEPT / "README.md"), [*numbers_of_fits(), *numbers_of_verdicts()]) == []


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.ConvergenceWarning")
def test_the_script_in_short() -> None:
    script, table = load_script("fits", "fit_tables"), small(6, 6)
    row = script.fitted(table, seed=1)
    assert row["protected_words"] == table["protected_word"].nunique()
    assert row["contrast_ess"] > 400
    found = script.verdicts(table, 2)
    assert found["settled"].isin([0, 0.5, 1]).all()
    assert found["seeds"].eq(2).all()
