"""Figures of reliability: what a row is, when boxes stand for intervals, and frames that are none."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ReportError


def frame(rows: int, *, rules: tuple[str, ...] = ("db_wa", "ripa"), column: str = "base_pair") -> pd.DataFrame:
    rng = np.random.default_rng(rows)
    frame = pd.DataFrame(
        {"rule": np.repeat(rules, rows), column: [f"w{number}" for number in range(rows)] * len(rules)}
    )
    frame["mean"] = rng.uniform(0.3, 0.95, len(frame))
    return frame.assign(hdi_low=frame["mean"] - 0.1, hdi_high=frame["mean"] + 0.04)


def test_few_are_intervals_and_many_a_box() -> None:
    few, many = (bb.reliability.plot_reliability({"list": frame(rows)}).axes[0] for rows in (5, 40))
    (low, _), *_ = few.collections[0].get_segments()
    assert low[0] == pytest.approx(frame(5)["hdi_low"][0])
    assert len(few.collections) == 2  # intervals of each rule
    assert len(many.collections) == 4  # whisker and box of each rule
    of_pairs = frame(40).query("rule == 'ripa'")["mean"]
    assert many.lines[-2].get_xdata()[0] == pytest.approx(of_pairs.median())


def test_rows_by_label_and_levels_by_column() -> None:
    by_query = bb.reliability.plot_reliability({"": frame(3, column="query")}, label="query").axes[0]
    assert [text.get_text() for text in by_query.get_yticklabels()] == ["w0", "w1", "w2"]
    corpora = pd.concat([frame(20, rules=("db_wa",)).assign(corpus=name) for name in ("news", "wiki")])
    assert len(bb.reliability.plot_reliability({"list": corpora}, split="corpus").legends) == 1


def test_base_pairs_are_in_the_order_of_their_reliability_over_seeds() -> None:
    seeds, rules = frame(6), frame(6, rules=("all",)).drop(columns="rule")
    axes = bb.reliability.plot_base_pairs(seeds, rules).axes
    means = seeds.groupby("base_pair")["mean"].mean().sort_values(ascending=False)
    assert [text.get_text() for text in axes[0].get_yticklabels()] == list(means.index)


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ReportError, match=r"bb.reliability"):
        bb.reliability.plot_reliability({})
    with pytest.raises(ReportError, match=r"'corpora'.*corpus"):
        bb.reliability.plot_reliability({"list": frame(3).assign(corpus="a")}, split="corpora")
    with pytest.raises(ReportError, match="7 levels"):
        bb.reliability.plot_reliability({"list": frame(2, rules=tuple("abcdefg"))})
    with pytest.raises(ReportError, match="base pairs"):
        bb.reliability.plot_base_pairs(frame(3), frame(4))
