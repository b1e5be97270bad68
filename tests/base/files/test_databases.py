"""Databases that are hostile: no query of them is endless, and nothing in their schema is run."""

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.files.databases import bounded_rows, database_reason, open_database, schema_fault
from bayesbias.base.files.inputs import SEAL_SIZE, sealed
from bayesbias.errors import InputFileError
from tests.base.files.hostile_databases import ENDLESS, changed, with_a_chain_used_again, with_pages_used_again
from tests.base.files.users import hostile_journal

SCHEMA = "CREATE TABLE notes (name TEXT, note TEXT);"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.db"
    with closing(open_database(path, read_only=False)) as base:
        base.executescript(SCHEMA)
        base.executemany("INSERT INTO notes VALUES (?, ?)", [("a", "one"), ("b", "two")])
    return path


def test_a_schema_that_is_expected_has_no_fault(notes: Path) -> None:
    with closing(open_database(notes, read_only=True)) as base:
        assert schema_fault(base, SCHEMA) == ""
        assert list(bounded_rows(base, base.execute("SELECT * FROM notes"), str)) == [("a", "one"), ("b", "two")]


@pytest.mark.parametrize(
    "statements",
    [
        f"DROP TABLE notes; CREATE VIEW notes AS {ENDLESS};",
        "CREATE VIEW more AS SELECT 1;",
        "CREATE TRIGGER more AFTER INSERT ON notes BEGIN DELETE FROM notes; END;",
        "CREATE INDEX more ON notes (name);",
        "CREATE TABLE more (name TEXT);",
        "ANALYZE;",
        "ALTER TABLE notes ADD COLUMN more TEXT;",
        "DROP TABLE notes;",
    ],
)
def test_any_other_schema_is_a_fault(notes: Path, statements: str) -> None:
    with closing(open_database(changed(notes, statements), read_only=True)) as base:
        assert "schema" in schema_fault(base, SCHEMA)


@pytest.mark.parametrize(
    "statements",
    [
        "".join(f"CREATE TABLE t{number} (name);" for number in range(400)),
        f"CREATE TABLE more ({', '.join(f'column_{number}' for number in range(1000))});",
    ],
    ids=["many", "long"],
)
def test_a_long_schema_is_not_parsed(notes: Path, statements: str) -> None:
    # Statements that go on in the same pages may take any time and memory: 1.5 MB took 60 s and 3 GB.
    with pytest.raises(sqlite3.Error, match=r"interrupted|too big"):
        open_database(changed(notes, statements), read_only=True)


def test_names_count_as_well_as_values(notes: Path) -> None:
    with closing(open_database(notes, read_only=True)) as base:
        rows = base.execute("SELECT hex(zeroblob(1000)) || name, note FROM notes")
        assert len(list(bounded_rows(base, rows, str))) == 2
        rows = base.execute("SELECT hex(zeroblob(3000)) || name, note FROM notes")
        with pytest.raises(sqlite3.DatabaseError, match="less than it says"):
            list(bounded_rows(base, rows, str))


def test_a_journal_that_names_another_file_is_not_carried_out(notes: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    journal = hostile_journal(notes, victim)
    with pytest.raises(InputFileError, match="names another file"):
        open_database(notes, read_only=False)
    assert victim.read_text() == "mine"
    journal.write_bytes(b"")  # SQLite leaves one like this after some changes
    with closing(open_database(notes, read_only=False)) as base:
        assert len(base.execute("SELECT * FROM notes").fetchall()) == 2


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_nothing_is_written_to_logs_that_may_be_other_files(notes: Path, tmp_path: Path, ending: str) -> None:
    """SQLite follows no link there, but a hard link is a file like others."""
    with closing(sqlite3.connect(notes)) as base:
        base.execute("PRAGMA journal_mode = WAL")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    os.link(victim, f"{notes}{ending}")
    with pytest.raises(InputFileError, match=f"notes.db{ending} holds changes of another program"):
        open_database(notes, read_only=False)
    assert victim.read_text() == "mine"


def test_a_journal_cannot_make_a_file_endless(notes: Path) -> None:
    """The size of a file is the measure of what reading it may take."""
    page, size = notes.read_bytes()[:4096], 4096
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 1, 0, 2**28, 512, size)
    check = sum(page[place] for place in range(size - 200, 0, -200))
    record = struct.pack(">I", 1) + page + struct.pack(">I", check)
    notes.with_name("notes.db-journal").write_bytes(head.ljust(512, b"\0") + record)
    with pytest.raises(InputFileError, match="mostly of holes"):
        open_database(notes, read_only=False)


@pytest.mark.parametrize("kind", ["cache", "part"])
def test_caches_and_unfinished_indices_of_others_remove_no_file(tmp_path: Path, kind: str) -> None:
    victim, cache, index = tmp_path / "victim", tmp_path / "c.sqlite", tmp_path / "i.contexts"

    def use() -> None:
        if kind == "cache":
            bb.encode(lambda texts: [[1.0, 2.0]] * len(texts), ["a"], name="one", cache=cache, progress=False)
        else:
            bb.embeddings.index_contexts(["a cat"], index, progress=False)

    use()
    place = cache
    if kind == "part":
        place = index.rename(tmp_path / "i.contexts.part")
    victim.write_text("mine")
    hostile_journal(place, victim)
    with pytest.raises(InputFileError, match="names another file"):
        use()
    assert victim.read_text() == "mine"


def test_views_and_triggers_are_not_run(notes: Path) -> None:
    changed(notes, "CREATE VIEW seen AS SELECT 1;")
    changed(notes, "CREATE TRIGGER more AFTER INSERT ON notes BEGIN DELETE FROM notes; END;")
    with closing(open_database(notes, read_only=False)) as base:
        with pytest.raises(sqlite3.OperationalError, match="view"):
            base.execute("SELECT * FROM seen")
        base.execute("INSERT INTO notes VALUES ('c', 'three')")
        assert len(base.execute("SELECT * FROM notes").fetchall()) == 3


def test_a_file_that_is_read_is_not_changed(notes: Path) -> None:
    before = notes.read_bytes()
    with closing(open_database(notes, read_only=True)) as base, pytest.raises(sqlite3.OperationalError):
        base.execute("DELETE FROM notes")
    assert notes.read_bytes() == before
    with pytest.raises(sqlite3.OperationalError):
        open_database(notes.with_name("none.db"), read_only=True)


def test_an_endless_query_is_stopped_and_long_writing_is_not(notes: Path) -> None:
    with closing(open_database(notes, read_only=False)) as base:
        with pytest.raises(sqlite3.OperationalError) as stopped:
            base.execute(ENDLESS).fetchall()
        assert database_reason(stopped.value) == "reading it takes too long"
        base.execute("BEGIN")
        base.executemany("INSERT INTO notes VALUES (?, '')", ((str(number),) for number in range(300_000)))
        assert base.most_steps < 300_000 * 6, "the test is long enough"


def test_pages_that_are_used_again_and_again_are_an_error(notes: Path) -> None:
    with closing(open_database(with_pages_used_again(notes), read_only=True)) as base:
        assert schema_fault(base, SCHEMA) == ""
        with pytest.raises(sqlite3.DatabaseError, match="less than it says"):
            list(bounded_rows(base, base.execute("SELECT * FROM notes"), str))
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            for _ in base.execute("SELECT 1 FROM notes"):
                pass


def test_values_that_share_their_pages_are_an_error(tmp_path: Path) -> None:
    # FTS5 reads its values past the counted rows: values of a 1 MB file could be 4 GB.
    path = bb.embeddings.index_contexts(["a cat", "a dog"], tmp_path / "i.contexts", progress=False).path
    content = path.read_bytes()[:-SEAL_SIZE]
    add = "INSERT INTO words_data VALUES (1152921504606846976, zeroblob(%s))"
    attacks = lambda: changed(path, add % 100_000), lambda: with_a_chain_used_again(path, "words_data")
    for attack in (lambda: changed(path, add % 1), *attacks):
        path.write_bytes(content)
        path.write_bytes(sealed(attack().read_bytes()))
        if attack in attacks:
            with pytest.raises(InputFileError, match="less than it says"):
                bb.embeddings.read_contexts(path)
        else:
            assert bb.embeddings.read_contexts(path).contexts == 2


@pytest.mark.parametrize("value", ["x'00'", "NULL", "5.5"])
def test_values_of_another_kind_are_an_error(notes: Path, value: str) -> None:
    changed(notes, f"DROP TABLE notes; CREATE TABLE notes (name, note); INSERT INTO notes VALUES ('a', {value})")
    with closing(open_database(notes, read_only=True)) as base, pytest.raises(sqlite3.DatabaseError, match="type"):
        list(bounded_rows(base, base.execute("SELECT * FROM notes"), str))
