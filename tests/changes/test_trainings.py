"""Effects of the seed of an embedding's training on a contrast, against integrals, known truths, and shifted fits."""

import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import FitError, ReportError
from bayesbias.models.fits import fit_attribute
from bayesbias.reports.posterior.contrasts import at_level


def shifted(fit: xr.DataTree, by: float) -> xr.DataTree:
    """Return a fit whose associated words are farther by so much, as another seed may have them."""
    other = fit.copy(deep=True)
    posterior = other["posterior"].to_dataset()
    for name in ("connection_mean", "word_mean"):
        associated = posterior[name].coords["connection"] == "associated"
        posterior[name] = posterior[name] + by * associated
    other["posterior"] = xr.DataTree(posterior)
    return other


class TestCompareSeeds:
    def test_shifted_seeds_disagree(self, fit: xr.DataTree) -> None:
        comparison = bb.compare_trainings({1: fit, 2: shifted(fit, 0.5), "third": shifted(fit, -0.5)}, random_seed=1)
        alone, row = bb.contrasts(fit).iloc[0], comparison.contrasts.iloc[0]
        assert (row["nearer"], row["farther"], row["not_settled"], row["agree"]) == (1, 1, 1, False)
        assert row["mean"] == pytest.approx(alone["mean"], abs=0.02)
        assert row["lists_sd"] == pytest.approx(alone["sd"], rel=1e-6)
        assert row["seed_sd_low"] > 0.05
        assert (
            row["next_high"] - row["next_low"] > row["hdi_high"] - row["hdi_low"] > alone["hdi_high"] - alone["hdi_low"]
        )
        assert (row["reading"], comparison.verdicts[0].kind) == ("seeds disagree", "seeds disagree")
        assert [statement.kind for statement in comparison.parts[1].statements] == ["seeds disagree"]
        assert "few seeds" in [statement.kind for statement in comparison.parts[-1].statements]
        assert list(comparison.by_seed["seed"].unique()) == [1, 2, "third"]
        assert repr(comparison) == "TrainingComparison(3 seeds, 3 contrasts)"
        embedding = fit_attribute(fit, "table")["embedding"]["name"]
        assert comparison.facts["embeddings"] == dict.fromkeys([1, 2, "third"], embedding)
        assert comparison.facts["pairs"] == 2832
        assert "The seeds disagree on these contrasts: associated - different" in comparison._repr_html_()
        (methods,) = next(part for part in comparison.contents.parts if part.title == "Methods").statements
        expected = "the contrasts of weat7 in 3 embeddings that differ in the seed of their training"
        assert expected in methods.text.replace("\n", " ")
        assert "The contrasts of a seed come from the model hierarchical, fitted to its table alone (" in methods.text

    def test_equal_fits_leave_the_word_lists(self, short_fit: xr.DataTree) -> None:
        row = bb.compare_trainings(dict.fromkeys(range(8), short_fit), random_seed=1).contrasts.iloc[0]
        alone = bb.contrasts(short_fit).iloc[0]
        assert row["agree"]
        assert row["reading"] == ("not settled" if row["not_settled"] else "stable")
        assert row["seed_share"] < 0.02
        assert row["hdi_low"] == pytest.approx(alone["hdi_low"], abs=0.1 * alone["sd"])
        assert row["hdi_high"] == pytest.approx(alone["hdi_high"], abs=0.1 * alone["sd"])

    def test_levels_and_repeats(self, short_fit: xr.DataTree) -> None:
        fits = {1: short_fit, 2: shifted(short_fit, 0.01)}
        first = bb.compare_trainings(fits, level="all", random_seed=3)
        assert list(first.contrasts["protected_word"]) == list(bb.contrasts(short_fit, level="all")["protected_word"])
        words = first.contrasts[first.contrasts["protected_word"] != ""]
        words = words[words["contrast"] == "associated - different"]
        settled = words[words["reading"] == "stable"]
        judged = [one for part in first.parts for one in part.statements if one.kind == "by chance"]
        assert [list(one.numbers["wrong"]) for one in judged] == [settled["protected_word"].tolist()] * bool(
            len(settled)
        )
        assert len(settled)
        assert words["probability_of_direction"].between(0.5, 1).all()
        again = bb.compare_trainings(fits, level="all", random_seed=3)
        assert first.contrasts.equals(again.contrasts)
        for level in ("overall", "protected_group"):
            alone = bb.compare_trainings(fits, level=level, random_seed=3).contrasts
            pd.testing.assert_frame_equal(alone, at_level(first.contrasts, level).reset_index(drop=True))

    def test_tables_may_list_words_in_any_order(self, short_table: pd.DataFrame) -> None:
        straight, turned = (
            bb.fit(rows, draws=500, random_seed=1, progress=False) for rows in (short_table, short_table[::-1])
        )
        first, second = bb.contrasts(straight, level="word"), bb.contrasts(turned, level="word")
        assert first["protected_word"].tolist() != second["protected_word"].tolist()
        keys = ["contrast", "protected_word"]
        means = pd.concat([first, second]).groupby(keys)["mean"].mean()
        for seeds in ({("sg", 1): straight, ("sg", 2): turned}, {("sg", 2): turned, ("sg", 1): straight}):
            compared = bb.compare_trainings(seeds, level="word", random_seed=1)
            drawn = compared.contrasts.set_index(keys)["mean"]
            assert (drawn - means[drawn.index]).abs().max() < 0.02
            assert list(dict.fromkeys(compared.by_seed["seed"])) == list(seeds)
            assert "level='word'" in compared.contents.code
        resampled = bb.compare_trainings(
            {1: straight, 2: straight}, resampled={1: turned, 2: turned}, level="word", random_seed=1
        )
        assert resampled.contrasts["document_sd"].max() < 0.03

    def test_what_is_no_comparison(self, fit: xr.DataTree, short_fit: xr.DataTree) -> None:
        with pytest.raises(ReportError, match=r"fits .* 1 fit"):
            bb.compare_trainings({1: fit})
        with pytest.raises(ReportError, match="list"):
            bb.compare_trainings([fit, fit])  # type: ignore[arg-type]
        with pytest.raises(ReportError, match=r"1 .* 2 .*attribute words .* pairs"):
            bb.compare_trainings({1: fit, 2: short_fit})
        with pytest.raises(FitError):
            bb.compare_trainings({1: fit, 2: xr.DataTree()})


def test_documents_are_a_third_source(short_fit: xr.DataTree) -> None:
    fits = {seed: shifted(short_fit, 0.001 * seed) for seed in range(4)}
    drawn = {seed: shifted(short_fit, 0.03 * (-1) ** seed) for seed in range(6)}
    alone = bb.compare_trainings(fits, random_seed=1)
    compared = bb.compare_trainings(fits, resampled=drawn, random_seed=1)
    row, before = compared.contrasts.iloc[0], alone.contrasts.iloc[0]
    assert "document_sd" not in alone.contrasts
    assert row["document_sd"] == pytest.approx(0.033, rel=0.4)
    assert row["document_share"] + row["seed_share"] < 1
    assert row["documents_high"] - row["documents_low"] > row["hdi_high"] - row["hdi_low"]
    assert row["mean"] == pytest.approx(before["mean"], abs=0.003)
    assert "sample of documents" in " ".join(str(compared).split())
    assert compared.facts["resamples"] == 6
    assert "6 trained on resampled documents" in compared.contents.about
    assert "resampled=resampled" in compared.contents.code
    assert "resampled" not in alone.contents.code
    with pytest.raises(ReportError, match="at least 2 fits"):
        bb.compare_trainings(fits, resampled={1: drawn[1]})


def test_connections_and_groups_are_those_of_all(table: pd.DataFrame) -> None:
    other_side = {"associated": "different", "different": "associated"}
    swapped = table.assign(connection=table["connection"].astype(str).replace(other_side))
    fits = {seed: bb.fit(rows, random_seed=1, progress=False) for seed, rows in ((1, table), (2, swapped))}
    with pytest.raises(ReportError, match="1 and 2 differ in groups or connections"):
        bb.compare_trainings(fits, random_seed=1)
