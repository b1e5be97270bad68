"""Shares of similarities inside the band, against plain pandas and loops."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ArgumentError, ReportError, TableError
from bayesbias.reports.measures.mac_shares import mac_shares, mean_average_distance
from tests.models.tables import small


def mac_by_loops(table: pd.DataFrame) -> float:
    distances: dict[tuple[str, str], list[float]] = {}
    for row in table.itertuples():
        if row.connection in ("associated", "different"):
            distances.setdefault((row.protected_word, row.attribute_group), []).append(row.cosine_distance)
    means = [sum(values) / len(values) for values in distances.values()]
    return sum(means) / len(means)


def test_mac_is_a_mean_of_means(table: pd.DataFrame) -> None:
    for one in (table, small(5, 4, missing=0.4)):
        assert mean_average_distance(one) == pytest.approx(mac_by_loops(one))
    shares = mac_shares(table)
    assert shares.mac == pytest.approx(mac_by_loops(table))
    assert shares.band == pytest.approx(1 - shares.mac)


def test_statements_say_whose_mac_it_is_and_hold_the_shares(table: pd.DataFrame) -> None:
    shares = mac_shares(table)
    (answer, band), rows = (part.statements for part in shares.parts)
    assert f"is {shares.mac:.3f} here." in answer.text
    assert f"{shares.shares['above'].iloc[0]:.1%} of associated pairs" in answer.text
    assert f"-{shares.band:.3f} to +{shares.band:.3f}" in band.text
    assert "MAC is 0.900. " in str(mac_shares(table, mac=0.9).parts[0].statements[0])
    assert [row.numbers["inside"] for row in rows] == shares.shares["inside"].tolist()
    assert len(mac_shares(table, level="word").parts) == 1


@pytest.mark.parametrize("mac", [None, 0.859, 1.05])
def test_shares_are_counted(table: pd.DataFrame, mac: float | None) -> None:
    shares = mac_shares(table, mac=mac).shares
    assert shares["connection"].tolist() == ["associated", "different", "human", "neutral"]
    band = abs(1 - (mac_by_loops(table) if mac is None else mac))
    for row in shares.to_dict("records"):
        similarity = 1 - table.loc[table["connection"] == row["connection"], "cosine_distance"]
        assert row["pairs"] == len(similarity)
        assert row["inside"] == pytest.approx(((similarity >= -band) & (similarity <= band)).mean())
        assert row["above"] == pytest.approx((similarity > band).mean())
        assert row["inside"] + row["above"] + row["below"] == pytest.approx(1)
        quantiles = np.quantile(similarity, [0.055, 0.25, 0.5, 0.75, 0.945])
        assert [row[name] for name in ("low_89", "low_50", "median", "high_50", "high_89")] == pytest.approx(quantiles)
        assert [row["mean"], row["sd"]] == pytest.approx([similarity.mean(), similarity.std()])


def test_words_in_the_order_of_the_table() -> None:
    table = small(5, 3)
    table = table[~((table["protected_word"] == "p2") & (table["connection"] == "human"))]
    shares = mac_shares(table.sample(frac=1, random_state=1), level="word", mac=0.9).shares
    shuffled = table.sample(frac=1, random_state=1)
    assert len(shares) == 5 * 4 - 1
    assert shares.query("protected_word == 'p2'")["connection"].tolist() == ["associated", "different", "neutral"]
    groups = list(dict.fromkeys(shuffled["protected_group"]))
    assert list(dict.fromkeys(shares["protected_group"])) == groups
    row = shares.query("protected_word == 'p3' and connection == 'neutral'").iloc[0]
    here = table.query("protected_word == 'p3' and connection == 'neutral'")
    assert row["above"] == pytest.approx((1 - here["cosine_distance"] > 0.1).mean())


def test_the_ends_belong_to_the_band() -> None:
    table = pd.DataFrame(
        {
            "protected_word": "he",
            "attribute_word": list("abcde"),
            "connection": "associated",
            "cosine_distance": [0.9, 1.1, 0.89, 1.11, 1.0],
        }
    )
    row = mac_shares(table, mac=0.9).shares.iloc[0]
    assert [row["inside"], row["above"], row["below"]] == pytest.approx([0.6, 0.2, 0.2])


def test_tables_are_compared_in_the_band_of_the_first(table: pd.DataFrame) -> None:
    farther = table.assign(cosine_distance=1 - (1 - table["cosine_distance"]) / 2).drop(columns="cosine_similarity")
    compared = mac_shares({"before": table, "after": farther})
    assert compared.mac == pytest.approx(mac_by_loops(table))
    assert compared.shares["table"].tolist() == ["before"] * 4 + ["after"] * 4
    for name, one in (("before", table), ("after", farther)):
        rows = compared.shares[compared.shares["table"] == name].drop(columns="table").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, mac_shares(one, mac=compared.mac).shares)
    (answer, _), rows = (part.statements for part in compared.parts)
    assert f"is {compared.mac:.3f} in 'before'." in answer.text
    assert rows[4].text.startswith("'after', associated: ")
    words = mac_shares({"before": table, "after": farther}, level="word", mac=0.9).shares
    assert words.groupby("table").size().tolist() == [len(mac_shares(table, level="word").shares)] * 2
    with pytest.raises(ReportError, match="no tables"):
        mac_shares({})
    with pytest.raises(ArgumentError, match="table=5"):
        mac_shares({"before": table, "after": 5})  # type: ignore[dict-item]


def test_errors(table: pd.DataFrame) -> None:
    controls = table[table["connection"].isin(["human", "neutral"])]
    with pytest.raises(ReportError, match=r"mac=0\.859"):
        mac_shares(controls)
    assert mac_shares(controls, mac=0.859).shares["connection"].tolist() == ["human", "neutral"]
    for bad in (-0.1, 2.5, float("nan"), "0.8", True):
        with pytest.raises(ArgumentError, match="mac="):
            mac_shares(table, mac=bad)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"'words'.*'word'"):
        mac_shares(table, level="words")
    with pytest.raises(TableError):
        mac_shares(table.drop(columns=["cosine_distance", "cosine_similarity"]))


@pytest.mark.shared
def test_control_words_are_often_as_near_as_mac_takes_for_bias(shared: Path) -> None:
    """What the paper's figure shows for religion, counted with pandas in the raw file."""
    path = shared / "data/published/tables/religion_google.csv.gz"
    raw = pd.read_csv(path).query("connection == 'none' and cosine_similarity > -2")
    shares = mac_shares(bb.read_table(path), mac=0.859).shares.set_index("connection")
    assert shares.loc["neutral", "above"] == pytest.approx((raw["cosine_similarity"] > 0.141).mean(), abs=1e-9)
    assert shares.loc["neutral", "above"] > 0.15


def test_similarities_that_are_all_mac_lie_inside_in_float32_too() -> None:
    table = small(5, 4)
    noise = np.random.default_rng(1).uniform(-3e-8, 3e-8, len(table))
    equal = table.assign(cosine_distance=0.7 + noise).drop(columns="cosine_similarity", errors="ignore")
    assert (mac_shares(equal).shares["inside"] == 1).all()


@pytest.mark.shared
def test_a_common_band_shows_what_debiasing_did_and_a_band_of_each_table_hides_it(shared: Path) -> None:
    """The paper's section on debiasing, for religion in Reddit: shares of associated pairs inside the band."""
    tables = {
        name: bb.read_table(shared / f"data/published/tables/religion_reddit_{name}_pair.csv.gz")
        for name in ("original", "debiased")
    }
    one_band = mac_shares(tables).shares.query("connection == 'associated'").set_index("table")["inside"]
    own = {
        name: mac_shares(table).shares.set_index("connection").loc["associated", "inside"]
        for name, table in tables.items()
    }
    assert own == pytest.approx({"original": 0.364, "debiased": 0.345}, abs=0.0006)
    assert one_band.to_dict() == pytest.approx({"original": 0.364, "debiased": 0.673}, abs=0.0006)
