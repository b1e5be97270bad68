"""Fits whose contrasts cannot be compared are refused."""

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import ReportError


def test_connections_and_groups_are_those_of_all(table: pd.DataFrame) -> None:
    other_side = {"associated": "different", "different": "associated"}
    swapped = table.assign(connection=table["connection"].astype(str).replace(other_side))
    fits = {seed: bb.fit(rows, random_seed=1, progress=False) for seed, rows in ((1, table), (2, swapped))}
    with pytest.raises(ReportError, match="1 and 2 differ in groups or connections"):
        bb.compare_trainings(fits, random_seed=1)
