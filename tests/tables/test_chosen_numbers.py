"""Numbers of strangers that have one hash in pandas, which then searches all of them for each: they cost no time."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from bayesbias.base.files.spreadsheets import read_csv
from bayesbias.errors import TableError
from bayesbias.tables.codes import code_words
from bayesbias.tables.table_files import read_table

COUNT, MOST_SECONDS = 100_000, 8  # each search by pandas takes much longer
_FACTOR, _START = 0x5BD1E995, 0xC70F6907 ^ 4  # of MurmurHash2, as pandas has it


def whole_numbers() -> NDArray[np.int64]:
    """Return whole numbers below 2**53 with one hash, ``n >> 33 ^ n ^ n << 11``."""
    high = np.arange(COUNT, dtype=np.uint64)
    rest = high ^ np.uint64(0x12345678)
    low = (rest ^ rest << np.uint64(11) ^ rest << np.uint64(22)) & np.uint64(2**32 - 1)
    return (high << np.uint64(33) | low).astype(np.int64)


def real_numbers() -> NDArray[np.float64]:
    """Return numbers from 0.5 to 1 with one hash: their lower halves are solved for."""
    factor, inverse = np.uint32(_FACTOR), np.uint32(pow(_FACTOR, -1, 2**32))
    high = np.uint32(0x3FE00000) + np.arange(COUNT, dtype=np.uint32)
    mixed = high * factor
    mixed = (mixed ^ mixed >> np.uint32(24)) * factor
    low = ((np.uint32(7) ^ mixed) * inverse ^ np.uint32(_START * _FACTOR % 2**32)) * inverse
    low = (low ^ low >> np.uint32(24)) * inverse
    return (high.astype(np.uint64) << np.uint64(32) | low).view(np.float64)


def table(**changes: object) -> pd.DataFrame:
    sides = ["associated", "different"] * (COUNT // 2)
    columns = {"protected_word": "nurse", "attribute_word": sides, "connection": sides, "cosine_distance": 0.5}
    return pd.DataFrame({**columns, **changes})


@pytest.mark.parametrize("form", ["numbers", "codes"])
def test_whole_numbers_in_place_of_words_take_no_time(tmp_path: Path, form: str) -> None:
    words = pd.Series(whole_numbers())
    table(protected_word=words).to_parquet(path := tmp_path / "table.parquet", index=False)
    if form == "codes":
        from pyarrow import parquet

        stored = parquet.read_table(path)
        coded = stored.column("protected_word").dictionary_encode()
        parquet.write_table(stored.set_column(0, "protected_word", coded), path)
    start = time.process_time()
    assert read_table(path)["protected_word"].tolist() == words.map(str).tolist()
    assert time.process_time() - start < MOST_SECONDS


def test_real_numbers_of_repeated_pairs_take_no_time(tmp_path: Path) -> None:
    table(cosine_distance=real_numbers()).to_parquet(path := tmp_path / "table.parquet", index=False)
    start = time.process_time()
    with pytest.raises(TableError, match="99,998 pairs are listed again with another number"):
        read_table(path)
    assert time.process_time() - start < MOST_SECONDS


def test_row_numbers_take_no_time(tmp_path: Path) -> None:
    lines = [f"{number},w{place},{place}" for place, number in enumerate(whole_numbers().tolist())]
    (path := tmp_path / "shares.csv").write_text("\n".join([",word,share", *lines]))
    start = time.process_time()
    assert read_csv(path, "", keys=("word",)).columns.tolist() == ["word", "share"]
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_texts_are_read_with_hashes_that_nobody_can_choose(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of Arrow can be, and its search then takes quadratic time. Those of Python are random."""
    path = tmp_path / f"table.{suffix}"
    words = [f"w{place}" for place in range(6)]
    table().head(6).assign(protected_word=words).to_csv(path, index=False) if suffix == "csv" else (
        table().head(6).assign(protected_word=words).to_parquet(path, index=False)
    )
    monkeypatch.setattr("pandas.core.arrays.arrow.ArrowExtensionArray.factorize", None)
    read = read_table(path)["protected_word"]
    assert read.tolist() == words
    assert code_words(read).words.tolist() == words


@pytest.mark.parametrize(
    ("dtype", "words"), [("string[pyarrow]", ["a", "b"]), ("large_string[pyarrow]", ["a", "b"]), ("int64", ["1", "2"])]
)
def test_words_of_a_frame_are_counted_with_hashes_that_nobody_can_choose(
    dtype: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 40,000 texts of Arrow with one hash, a fit took five seconds before it refused them."""
    column, factorize = pd.Series(words).astype(dtype), pd.factorize  # type: ignore[call-overload]

    def by_hashes_of_python(values: pd.Series) -> Any:
        assert values.dtype == object
        assert all(isinstance(value, str) for value in values)
        return factorize(values)

    monkeypatch.setattr(pd, "factorize", by_hashes_of_python)
    assert code_words(column).words.tolist() == words
