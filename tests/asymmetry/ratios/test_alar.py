"""Means of relations: what pools them, what makes them wider, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import bayesbias as bb
from bayesbias.errors import ArgumentError, MeasureError
from tests.asymmetry.made import made_norms, made_relations


def ratios(values: dict[str, list[float]], *, sd: float = 0.0, shared: bool = False) -> pd.DataFrame:
    rows = [
        (f"{name}0" if shared else f"{name}{at}", f"{name}-{at}", name, value, sd, 0.9, "")
        for name, each in values.items()
        for at, value in enumerate(each)
    ]
    return pd.DataFrame(rows, columns=["a", "b", "relation", "lar", "sd", "probability_of_direction", "left_out"])


def test_one_relation_alone_is_its_plain_mean_with_an_interval_of_student() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.3, 1, 50)
    row = bb.asymmetry.alar(ratios({"IsA": values.tolist()}), draws=100_000, random_seed=1).loc[0]
    assert row["observed"] == pytest.approx(values.mean())
    # Of 50 pairs the four that are lent hardly matter: the interval is about Student's.
    half = student.ppf(0.945, 49) * values.std(ddof=1) / np.sqrt(50)
    assert row["hdi_high"] - row["hdi_low"] == pytest.approx(2 * half, rel=0.03)
    assert row["share_forward"] == pytest.approx(np.where(values > 0, 0.9, 0.1).mean())
    assert (row["pairs"], row["words"]) == (50, 100)


def test_small_relations_are_drawn_to_the_others_and_large_ones_are_not() -> None:
    rng = np.random.default_rng(2)
    values = {name: rng.normal(0, 1, 200).tolist() for name in "abcdef"} | {"small": [2.0, 2.5, 1.5]}
    frame = ratios(values)
    pooled, plain = (
        bb.asymmetry.alar(frame, pooled=pooled, random_seed=1).set_index("relation") for pooled in (True, False)
    )
    assert plain.loc["small", "mean"] == pytest.approx(2, abs=0.1)
    assert pooled.loc["small", "mean"] < 1.6
    assert pooled.loc["a", "mean"] == pytest.approx(plain.loc["a", "mean"], abs=0.06)


def test_shared_words_and_errors_make_intervals_wider() -> None:
    values = {"r": np.random.default_rng(3).normal(0, 1, 40).tolist()}
    values["r"] = [abs(value) for value in values["r"][:20]] + [-abs(value) for value in values["r"][20:]]
    frame = ratios(values)
    hubs = frame.assign(a=["up"] * 20 + ["down"] * 20)
    wide = [bb.asymmetry.alar(each, random_seed=1).loc[0, "sd"] for each in (frame, hubs, frame.assign(sd=1.0))]
    assert wide[1] > 2 * wide[0]
    assert wide[2] == pytest.approx(np.sqrt(wide[0] ** 2 + 1 / 40), rel=0.1)


def test_pairs_without_direction_or_number_do_not_enter() -> None:
    source = bb.asymmetry.evocation(made_norms())
    pairs = bb.asymmetry.with_relations(source.pairs(), made_relations())
    found = bb.asymmetry.lar(source, pairs)
    every = bb.asymmetry.alar(found, random_seed=1)
    assert every["relation"].tolist() == pairs["relation"].value_counts().index.tolist()
    half = found.assign(directed=found["relation"] == "IsA")
    assert bb.asymmetry.alar(half, random_seed=1)["relation"].tolist() == ["IsA"]
    lost = found.assign(left_out=np.where(found["relation"] == "IsA", "lost", ""))
    assert bb.asymmetry.alar(lost, random_seed=1)["relation"].tolist() == ["PartOf"]
    assert bb.asymmetry.alar(found, relations="IsA", random_seed=1)["relation"].tolist() == ["IsA"]
    with pytest.raises(MeasureError, match=r"Of .* pairs 0 have a direction"):
        bb.asymmetry.alar(found.assign(directed=False), random_seed=1)
    with pytest.raises(MeasureError, match=r"No pair of ratios has a number: lost \("):
        bb.asymmetry.alar(found.assign(left_out="lost"), random_seed=1)


def test_frames_that_are_none() -> None:
    frame = ratios({"r": [0.1, 0.2]})
    with pytest.raises(MeasureError, match="lacks the columns lar"):
        bb.asymmetry.alar(frame.drop(columns="lar"))
    with pytest.raises(MeasureError, match="not finite"):
        bb.asymmetry.alar(frame.assign(lar=[np.nan, 1]))
    with pytest.raises(MeasureError, match="no relation"):
        bb.asymmetry.alar(frame.drop(columns="relation"))
    with pytest.raises(ArgumentError, match=r"bb\.asymmetry\.lar"):
        bb.asymmetry.alar([1, 2])  # type: ignore[arg-type]


def test_ratios_that_are_all_the_same() -> None:
    found = bb.asymmetry.alar(ratios({"r": [0.5] * 5, "s": [0.5] * 5}), random_seed=1)
    assert found["mean"].round(6).tolist() == [0.5, 0.5]
