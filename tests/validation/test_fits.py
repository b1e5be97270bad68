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
    yield f"{(~bundled).sum()} of those that Dobrzeniecka"
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


def numbers_of_published() -> Iterator[str]:
    rows = pd.read_csv(KEPT / "published.csv").set_index("table")
    script = load_script("fits", "published_posteriors")
    assert list(rows.index) == list(script.PUBLISHED)
    difference, low, high = rows["difference"].max(), rows["ratio_low"].min(), rows["ratio_high"].max()
    yield f"All {len(rows)} are reproduced, {rows['parameters'].sum():,} parameters in all"
    yield f"at most {difference:.3f} of their posterior sd, and our sd are {low:.3f} to {high:.3f} times theirs"
    few = rows.loc[rows["difference"] > 0.05, "n_eff"]
    yield "Differences above 0.05 occur only where their chains have few effective draws for some parameter"
    yield f"{few.min()} to {few.max():,}"
    assert few.max() < rows["n_eff"].median()
    beyond = rows["beyond"].sum() / rows["parameters"].sum()
    yield f"Of all means, {100 * beyond:.1f} % differ by more than 1.96 Monte Carlo"
    worst = rows["errors"].idxmax()
    assert worst == rows["difference"].idxmax()
    yield f"somewhat more than 5 %; the largest difference is {rows.loc[worst, 'errors']:.1f} errors, in {worst}"
    yield f"40,000 draws by NUTS give means within {rows.loc[worst, 'nuts_difference']:.3f} sd of ours"


def numbers_of_debiased() -> Iterator[str]:
    rows = pd.read_csv(KEPT / "debiased.csv").set_index(["question", "connection"])
    moves = [
        f"{row['mean_before']:.3f} to {row['mean_after']:.3f} ({question})"
        for (question, connection), row in rows.iterrows()
        if connection == "associated"
    ]
    yield "from a mean distance of {}, {} and {}".format(*moves)
    after = rows["mean_after"].unstack()
    yield f"they end within {(after['associated'] - after['different']).abs().max():.3f} of words"
    # The numbers of the paper, section "Rethinking debiasing".
    yield "35 % of the associated, 43 % of the different, 55 % of the human and 56 % of the neutral pairs inside before"
    yield "the paper reports 63, 63, 59 and 59 %"
    inside = (100 * rows[["inside_before", "inside_after"]]).round().astype(int)
    for when in ("before", "after"):
        yield "the table has {}, {}, {} and {} %".format(*inside.loc["religion", f"inside_{when}"])
    yield "rises from {} to {} %".format(*inside.loc[("gender", "associated")])


def test_the_text_says_how_many_draws_and_seeds() -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    defaults = signature(bb.fit).parameters
    assert f"({defaults['chains'].default} chains of {defaults['draws'].default:,} kept draws)" in text
    (seeds,) = set(pd.read_csv(KEPT / "verdicts.csv")["seeds"])
    assert f"the share of {seeds} seeds in which" in text


def test_the_text_says_the_numbers_of_the_tables_and_no_others() -> None:
    computed = [*numbers_of_fits(), *numbers_of_verdicts(), *numbers_of_published(), *numbers_of_debiased()]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


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
