"""SQLite files from unknown sources, which cannot make a query endless or run anything.

A file may hold views and triggers in place of tables, and pages that are used again and again. So its schema, which
SQLite parses before the first query, may have few and short statements, and is compared with the expected one before a
table is read. A query takes no more steps, and gives no more bytes, than a file of its size explains.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import Any

from bayesbias.base.files.inputs import open_input
from bayesbias.errors import InputFileError, name_some

# Steps of SQLite's machine: a row of an index takes about six, and three bytes of the file at least.
_FEWEST_STEPS, _STEPS_A_BYTE, _STEPS_AT_ONCE = 1_000_000, 5, 10_000
_LONGEST_STATEMENT, _MOST_SCHEMA_STEPS = 10_000, 2_000  # letters; ten steps a table, of which we have ten
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")  # at the end of the journal of a change of several files
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"


class Database(sqlite3.Connection):
    """A connection that stops a query after too many steps; `executemany`, which only writes, has no limit."""

    most_steps = _FEWEST_STEPS

    def execute(self, statement: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement; it, or reading its rows, raises `sqlite3.OperationalError` after too many steps."""
        # A handler without code of Python, which would swallow an interrupt.
        self.set_progress_handler(partial(next, repeat(0, self.most_steps // _STEPS_AT_ONCE), 1), _STEPS_AT_ONCE)
        return super().execute(statement, parameters)

    def executemany(self, statement: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Execute a statement for each row of parameters."""
        self.set_progress_handler(None, 0)
        return super().executemany(statement, parameters)


def open_database(path: Path, *, read_only: bool) -> Database:
    """Open a SQLite file, created if necessary to be written, without running a view, trigger or function in it.

    Raises `InputFileError` if a journal beside it names another file, or changes of another program lie beside it, and
    `sqlite3.Error` if its schema is a long one.
    """
    if not read_only:
        _check_journal(path.resolve())
    uri = f"{path.resolve().as_uri()}?{'mode=ro&immutable=1' if read_only else 'mode=rwc'}"
    base = sqlite3.connect(uri, uri=True, isolation_level=None, factory=Database)
    base.most_steps += _STEPS_A_BYTE * path.stat().st_size
    base.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    base.setconfig(sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA, False)
    base.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
    base.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
    try:
        _parse_schema(base)
        open_input(path).close()  # a journal may have made it long
    except BaseException:
        base.close()
        raise
    return base


def _parse_schema(base: Database) -> None:
    """Have SQLite parse the schema, which it keeps; raise `sqlite3.Error` at many or long statements."""
    base.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_STATEMENT)
    longest_value = base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_STATEMENT)
    base.set_progress_handler(lambda: 1, _MOST_SCHEMA_STEPS)
    super(Database, base).execute("SELECT 1 FROM sqlite_master LIMIT 1").close()
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest_value)


def _check_journal(path: Path) -> None:
    """Raise `InputFileError` if SQLite would carry out a journal that names another file, and remove that file.

    So it is at a log of changes in another mode, which this package does not use: SQLite writes to it, also if it is a
    hard link to another file.
    """
    for ending in ("-wal", "-shm"):
        if os.path.lexists(log := path.with_name(f"{path.name}{ending}")):
            raise InputFileError(f"{log} holds changes of another program. Remove it, or let that program end.")
    journal = path.with_name(f"{path.name}-journal")
    if os.path.lexists(journal):
        with open_input(journal) as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - len(_NAMES_ANOTHER)))
            if stream.read() == _NAMES_ANOTHER:
                raise InputFileError(f"{journal} names another file, which SQLite would remove. Remove {journal.name}.")


def schema_fault(base: sqlite3.Connection, statements: str) -> str:
    """Return how the schema of a file differs from the one that `statements` make, or an empty text.

    >>> with closing(sqlite3.connect(":memory:")) as base:
    ...     _ = base.execute("CREATE TABLE facts AS SELECT 1 AS name")
    ...     schema_fault(base, "CREATE TABLE facts (name TEXT)")
    "its schema is another one: 'facts'"
    """
    expected = _schema(statements)
    stored = base.execute(_SCHEMA).fetchmany(len(expected) + 1)
    names = sorted({repr(name)[:60] for _, name, *_ in expected ^ set(stored)})
    return f"its schema is another one: {name_some(names)}" if names else ""


@cache
def _schema(statements: str) -> frozenset[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(statements)
        return frozenset(base.execute(_SCHEMA))


def bounded_rows(
    base: Database, rows: Iterable[tuple[Any, Any]], kind: type[str] | type[bytes]
) -> Iterator[tuple[Any, Any]]:
    """Yield rows whose second value is of a kind, text or bytes; raise `sqlite3.DatabaseError` at others.

    The first value may be of any kind. Different rows lie in different places of a sound file, so that they are not
    longer than it: more is an error, too.
    """
    room = _room(base)
    for key, value in rows:
        if not isinstance(value, kind):
            raise sqlite3.DatabaseError("it holds a value of another type")
        room -= len(value) + (len(key) if isinstance(key, str | bytes) else 0)
        if room < 0:
            raise sqlite3.DatabaseError("it holds less than it says")
        yield key, value


def check_values(base: Database, table: str, column: str, longest: int) -> None:
    """Raise `sqlite3.DatabaseError` if values that an extension of SQLite reads are longer, or than the file together.

    Values may share pages, which are then read for each of them: a short file would take any time.
    """
    size, total = base.execute(f"SELECT max(length({column})), total(length({column})) FROM {table}").fetchone()
    if size is not None and (size > longest or total > _room(base)):
        raise sqlite3.DatabaseError("it holds less than it says")


def _room(base: Database) -> int:
    """Return the bytes of the pages of a file."""
    pages, page_size = (base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages * page_size)


def database_reason(error: sqlite3.Error) -> str:
    """Return why SQLite failed, as a part of a sentence."""
    too_long = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
    return "reading it takes too long" if too_long else str(error)
