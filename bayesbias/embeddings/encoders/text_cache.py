"""A cache of the vectors of texts: one SQLite file for one encoder, to which each batch is added when it is done."""

import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import batched
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_path
from bayesbias.base.files.databases import Database, bounded_rows, database_reason, open_database, schema_fault
from bayesbias.base.files.folders import check_unshared
from bayesbias.base.files.inputs import input_file
from bayesbias.errors import InputFileError, OutputError

_APPLICATION = 0x62624543  # field of SQLite's header: "bbEC"
_AT_ONCE = 500  # keys in a query
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
CREATE TABLE encoder (name TEXT NOT NULL);
CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class TextCache:
    """An open cache."""

    path: Path
    base: Database

    def read(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the stored vectors of some texts.

        Raises
        ------
        InputFileError
            If a stored vector is damaged, or vectors have different lengths.
        """
        texts_by_key = {_key(text): text for text in texts}
        vectors: dict[str, NDArray[np.float32]] = {}
        with _reported(self.path), closing(self._stored(texts_by_key)) as rows:
            for key, content in bounded_rows(self.base, rows, bytes):
                vector = np.frombuffer(content, dtype="<f4") if len(content) % 4 == 0 else np.empty(0, dtype="<f4")
                # A sum is finite only if all numbers are, and is much faster than a check of each.
                if not vector.size or not isfinite(vector.sum(dtype=np.float64)):
                    raise _damaged(self.path, f"the vector of {texts_by_key[key]!r:.60} is cut short or not finite")
                vectors[texts_by_key[key]] = vector.astype(np.float32)
        if len(sizes := {vector.size for vector in vectors.values()}) > 1:
            raise _damaged(self.path, f"vectors of {min(sizes):,} and {max(sizes):,} numbers")
        return vectors

    def _stored(self, every: Iterable[bytes]) -> Generator[tuple[bytes, bytes]]:
        """Yield stored keys and vectors; a query that is not finished would keep the file locked after an error."""
        for keys in batched(every, _AT_ONCE):
            places = ", ".join("?" * len(keys))
            with closing(self.base.execute(f"SELECT key, vector FROM vectors WHERE key IN ({places})", keys)) as rows:
                yield from rows

    def write(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store the vectors of a batch, all or none of them."""
        rows = [(_key(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with _reported(self.path):
            self.base.execute("BEGIN")
            self.base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            self.base.execute("COMMIT")


@contextmanager
def text_cache(path: str | os.PathLike[str] | None, encoder: str) -> Iterator[TextCache | None]:
    """Yield the open cache of an encoder, created if necessary; None without a path.

    Raises
    ------
    InputFileError
        If the file is damaged, is not a cache, or belongs to an encoder of another name.
    OutputError
        If it cannot be written, or all may write to its folder.
    """
    if path is None:
        yield None
        return
    file = check_path(path, "cache")
    check_unshared(file)
    if os.path.lexists(file):
        input_file(file)  # opening a pipe or a device could block
    with _reported(file):
        base = open_database(file, read_only=False)
    with closing(base):
        with _reported(file):
            _claim(base, file, encoder)
        yield TextCache(file, base)


@contextmanager
def _reported(file: Path) -> Iterator[None]:
    """Convert SQLite's errors into those of this package."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OutputError(f"Cannot use the cache {file}: {database_reason(error)}. Choose another file.") from error
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise _damaged(file, str(error)) from error


def _claim(base: Database, file: Path, encoder: str) -> None:
    """Record the encoder in a new cache, or check that an existing one is of this encoder."""
    base.execute("PRAGMA synchronous = NORMAL")
    if base.execute("SELECT name FROM sqlite_master").fetchone() is None:
        base.execute("BEGIN")  # whole or not at all
        for statement in _SCHEMA.split(";"):
            base.execute(statement)
        base.execute("INSERT INTO encoder VALUES (?)", (encoder,))
        base.execute("COMMIT")
        return
    if base.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise _damaged(file, "another program wrote it")
    if fault := schema_fault(base, _SCHEMA):
        raise _damaged(file, fault)
    stored = base.execute("SELECT name FROM encoder").fetchone()
    if stored is None or stored[0] != encoder:
        raise InputFileError(
            f"{file} holds the vectors of the encoder {stored and stored[0]!r:.60}, not of {encoder!r}. Give each "
            "encoder a cache of its own."
        )


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _damaged(file: Path, why: str) -> InputFileError:
    return InputFileError(f"{file} is not a usable cache of an encoder ({why}). Remove it, or give another file.")
