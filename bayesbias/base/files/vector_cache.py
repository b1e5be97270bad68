"""A cache of vectors: one SQLite file, whose keys are hashes of all that enters a vector.

So a file serves any number of encoders and language models, and two runs may use it at once.
"""

import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import batched
from math import isfinite
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_path
from bayesbias.base.files.databases import Database, bounded_rows, database_reason, open_database, schema_fault
from bayesbias.base.files.inputs import input_file
from bayesbias.base.files.outputs import check_unshared
from bayesbias.errors import InputFileError, OutputError

_APPLICATION = 0x62625643  # field of SQLite's header: "bbVC"
_CHECK_SIZE = 4  # bytes of a checksum
_AT_ONCE = 500  # keys in a query
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class VectorCache:
    """An open cache."""

    path: Path
    base: Database

    def read(self, keys: Mapping[str, bytes]) -> dict[str, NDArray[np.float32]]:
        """Return the stored vectors of some texts or words, of which `keys` has the keys.

        Raises
        ------
        InputFileError
            If a stored vector is damaged, or vectors have different lengths.
        """
        names = {key: name for name, key in keys.items()}
        vectors: dict[str, NDArray[np.float32]] = {}
        with _reported(self.path), closing(self._stored("key, vector", names)) as rows:
            for key, content in bounded_rows(self.base, rows, bytes):
                body = content[:-_CHECK_SIZE]
                vector = np.frombuffer(body if content == _checked(key, body) else b"", dtype="<f4")
                # A sum is finite only if all numbers are, and is much faster than a check of each.
                if not vector.size or not isfinite(vector.sum(dtype=np.float64)):
                    raise self.damaged(f"the vector of {names[key]!r:.60} is cut short or not finite")
                vectors[names[key]] = vector.astype(np.float32)
        if len(sizes := {vector.size for vector in vectors.values()}) > 1:
            raise self.damaged(f"vectors of {min(sizes):,} and {max(sizes):,} numbers")
        return vectors

    def count(self, keys: Iterable[bytes]) -> int:
        """Return how many keys have a stored vector, none of which is read."""
        with _reported(self.path), closing(self._stored("COUNT(*)", keys)) as rows:
            return sum(count for (count,) in rows)

    def _stored(self, columns: str, every: Iterable[bytes]) -> Generator[tuple[Any, ...]]:
        """Yield columns of stored keys; a query that is not finished would keep the file locked after an error."""
        for keys in batched(every, _AT_ONCE):
            places = ", ".join("?" * len(keys))
            with closing(self.base.execute(f"SELECT {columns} FROM vectors WHERE key IN ({places})", keys)) as rows:
                yield from rows

    def write(self, keys: Iterable[bytes], vectors: Iterable[NDArray[np.float32]]) -> None:
        """Store vectors under their keys, all or none of them."""
        rows = [(key, _checked(key, vector.astype("<f4").tobytes())) for key, vector in zip(keys, vectors, strict=True)]
        with _reported(self.path):
            self.base.execute("BEGIN IMMEDIATE")
            self.base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            self.base.execute("COMMIT")

    def damaged(self, why: str) -> InputFileError:
        """Return the error of a file that is no sound cache."""
        return _damaged(self.path, why)


def vector_key(*parts: object) -> bytes:
    """Return the key of a vector that depends on some texts, numbers and tuples of these."""
    content = sha256()
    for part in parts:
        text = repr(part).encode()
        content.update(f"{len(text)} ".encode() + text)
    return content.digest()


@contextmanager
def vector_cache(path: str | os.PathLike[str] | None) -> Iterator[VectorCache | None]:
    """Yield an open cache, created if necessary; None without a path.

    Raises
    ------
    InputFileError
        If the file is damaged or is not a cache.
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
            _claim(base, file)
        yield VectorCache(file, base)


def _checked(key: bytes, vector: bytes) -> bytes:
    """Return whole float32 numbers with a checksum, which finds what SQLite does not: bits and pages that changed."""
    return vector[: len(vector) // 4 * 4] + crc32(vector, crc32(key)).to_bytes(_CHECK_SIZE, "little")


@contextmanager
def _reported(file: Path) -> Iterator[None]:
    """Convert SQLite's errors into those of this package."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OutputError(f"Cannot use the cache {file}: {database_reason(error)}. Choose another file.") from error
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise _damaged(file, str(error)) from error


def _claim(base: Database, file: Path) -> None:
    """Make a new file a cache, or check that an existing one is a cache."""
    base.execute("PRAGMA synchronous = NORMAL")
    base.execute("BEGIN IMMEDIATE")  # of two runs that start together, one makes the tables
    if base.execute("SELECT name FROM sqlite_master").fetchone() is None:
        for statement in _SCHEMA.split(";"):
            base.execute(statement)
    if base.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise _damaged(file, "another program wrote it")
    if fault := schema_fault(base, _SCHEMA):
        raise _damaged(file, fault)
    base.execute("COMMIT")


def _damaged(file: Path, why: str) -> InputFileError:
    return InputFileError(f"{file} is not a usable cache of vectors ({why}). Remove it, or give another file.")
