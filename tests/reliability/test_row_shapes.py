"""Whether the rows of many matrices are skewed or extreme: shares by hand, and scores whose rows were made so."""

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb
from bayesbias.reliability.row_shapes import far_share, is_doubted, shape_doubts


def frame_of(kurtoses: dict[str, list[float]], rows: int = 23) -> pd.DataFrame:
    parts = [pd.DataFrame({"rule": rule, "row_kurtosis": values, "rows": rows}) for rule, values in kurtoses.items()]
    return pd.concat(parts, ignore_index=True)


def test_only_rules_with_too_many_far_words_are_doubted() -> None:
    frame = frame_of({"ripa": [0.0] * 15 + [2.0] * 5, "nbm": [0.0] * 16 + [2.0] * 4, "few": [2.0] * 19})
    (doubt,) = shape_doubts(frame, ["rule"], "Over seeds")
    assert doubt.kind == "far rows"
    assert doubt.numbers["shares"] == {"ripa": 0.25}
    assert "ripa: 25" in doubt.text
    assert shape_doubts(frame.query("rule == 'nbm'"), ["rule"], "Over seeds") == []


def test_with_few_rows_fewer_far_words_are_enough() -> None:
    frame = frame_of({"nbm": [0.0] * 17 + [2.0] * 3}, rows=8)
    assert shape_doubts(frame, ["rule"], "Over seeds")[0].numbers["shares"] == {"nbm": 0.15}
    assert shape_doubts(frame.assign(rows=7), ["rule"], "Over seeds") == []  # too few to judge
    assert shape_doubts(frame.assign(rows=12), ["rule"], "Over seeds") == []
    assert shape_doubts(frame.iloc[:0], ["rule"], "Over seeds") == []


def test_rows_that_were_made_extreme_are_found_and_normal_ones_are_not() -> None:
    """Base pairs of their own for each word, of which one in 20 has 5 times the standard deviation."""
    rng = np.random.default_rng(1)
    normal = rng.standard_normal((200, 23, 1))
    extreme = normal * np.where(rng.random(normal.shape) < 0.05, 5, 1)
    for rows, doubted in ((normal, False), (extreme, True)):
        scores = xr.DataArray(
            (rows + rng.standard_normal((200, 23, 8)) / 3)[np.newaxis],
            dims=("rule", "target_word", "base_pair", "seed"),
            coords={
                "rule": ["ripa"],
                "target_word": [f"w{number}" for number in range(200)],
                "base_pair": [f"p{number}" for number in range(23)],
                "seed": range(8),
            },
        )
        frame = bb.reliability.test_retest(scores)
        assert is_doubted(far_share(frame["row_kurtosis"]), 23) is doubted
        assert bool(shape_doubts(frame, ["rule"], "Over seeds")) is doubted
