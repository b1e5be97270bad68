"""Tables of other libraries give the same numbers."""

from collections.abc import Callable
from typing import Any

import narwhals
import pandas as pd
import polars
import pyarrow
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import BayesBiasError, TableError

OTHERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": polars.from_pandas,
    "pyarrow": lambda table: pyarrow.Table.from_pandas(table, preserve_index=False),
    "narwhals": lambda table: narwhals.from_native(polars.from_pandas(table)),
}


@pytest.mark.parametrize("library", OTHERS)
def test_a_fit_is_the_same(library: str, short_table: pd.DataFrame) -> None:
    other = OTHERS[library](short_table)
    fits = [bb.fit(frame, "hierarchical", draws=50, random_seed=1, progress=False) for frame in (short_table, other)]
    xr.testing.assert_identical(*(fitted["posterior"].to_dataset() for fitted in fits))
    assert bb.models.fit_attribute(fits[0], "table_hash") == bb.models.fit_attribute(fits[1], "table_hash")


@pytest.mark.parametrize("library", OTHERS)
def test_other_functions_take_it_too(library: str, short_table: pd.DataFrame, tmp_path: Any) -> None:
    other = OTHERS[library](short_table)
    pd.testing.assert_frame_equal(bb.reports.mac_shares(other).shares, bb.reports.mac_shares(short_table).shares)
    assert len(bb.plots.plot_distances(table=other).axes) == 4
    written = bb.write_table(other, tmp_path / "table.csv")
    assert bb.read_table(written)["cosine_distance"].equals(short_table["cosine_distance"])
    pd.testing.assert_frame_equal(bb.metrics.t_tests(other), bb.metrics.t_tests(short_table))


def test_what_is_no_table(short_table: pd.DataFrame) -> None:
    with pytest.raises(TableError, match=r"LazyFrame, .*collect\(\)"):
        bb.fit(polars.from_pandas(short_table).lazy())
    for value in (5, None, {"protected_word": ["he"]}):
        with pytest.raises(BayesBiasError, match="table"):
            bb.fit(value)


def test_words_of_any_index() -> None:
    study = bb.Study(
        name="pets",
        protected={"cats": pd.Series(["cat", "tom"], index=[7, 3]), "dogs": pd.Index(["dog"])},  # type: ignore[dict-item]
        attributes={"quiet": pd.Series(["purr"]).to_numpy()},  # type: ignore[dict-item]
        associated=[("cats", "quiet")],
        human=pd.Series(["door"], index=["x"]),  # type: ignore[arg-type]
        neutral="none",
    )
    assert study.protected == {"cats": ("cat", "tom"), "dogs": ("dog",)}
    assert (study.attributes, study.human) == ({"quiet": ("purr",)}, ("door",))
