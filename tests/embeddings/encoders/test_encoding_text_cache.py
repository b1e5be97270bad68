"""The cache of an encoder's vectors: what it returns, and which files it refuses."""

import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.encoders.encoding import _key, text_cache
from bayesbias.errors import BayesBiasError, InputFileError, OutputError
from tests.base.files.hostile_databases import changed
from tests.base.files.users import hostile_journal


def test_vectors_come_back_as_they_were(tmp_path):
    vectors = np.array([[1.5, -2.0], [0.1, 3.0]], dtype=np.float32)
    with text_cache(tmp_path / "c.sqlite", "one") as cache:
        cache.write(["a", "ä"], vectors)
    with text_cache(tmp_path / "c.sqlite", "one") as cache:
        stored = cache.read(["ä", "b", "a"])
    assert set(stored) == {"a", "ä"}
    np.testing.assert_array_equal(np.stack([stored["a"], stored["ä"]]), vectors)


def test_thousands_of_texts_are_read_at_once(tmp_path):
    texts = [f"text {number}" for number in range(2_001)]
    with text_cache(tmp_path / "c.sqlite", "one") as cache:
        cache.write(texts, np.arange(4_002, dtype=np.float32).reshape(2_001, 2))
        assert cache.read(texts)["text 2000"].tolist() == [4_000, 4_001]


def test_a_cache_of_another_encoder_is_refused(tmp_path):
    with text_cache(tmp_path / "c.sqlite", "one"):
        pass
    with pytest.raises(InputFileError, match="'one', not of 'two'"), text_cache(tmp_path / "c.sqlite", "two"):
        pass


@pytest.mark.parametrize("content", [b"text", b"SQLite format 3\0" + b"\xff" * 200])
def test_files_of_others_are_refused(tmp_path, content):
    path = tmp_path / "c.sqlite"
    path.write_bytes(content)
    with pytest.raises(BayesBiasError, match=r"c\.sqlite"), text_cache(path, "one"):
        pass
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "c.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE mine (a TEXT)")
    before = path.read_bytes()
    with pytest.raises(InputFileError, match=r"c\.sqlite"), text_cache(path, "one"):
        pass
    assert path.read_bytes() == before


@pytest.mark.parametrize("damaged", [b"abc", b"", np.array([np.nan], dtype="<f4").tobytes()])
def test_a_damaged_vector_is_refused(tmp_path, damaged):
    path = tmp_path / "c.sqlite"
    with text_cache(path, "one") as cache:
        cache.write(["a"], np.ones((1, 2), dtype=np.float32))
        cache.base.execute("UPDATE vectors SET vector = ?", (damaged,))
        with pytest.raises(InputFileError, match="'a'"):
            cache.read(["a"])


def test_a_refused_cache_is_not_locked_while_its_error_is_kept(tmp_path):
    path = tmp_path / "c.sqlite"
    with text_cache(path, "one") as kept:
        kept.write(["a", "b", "c"], np.eye(3, dtype=np.float32))
    changed(path, "UPDATE vectors SET vector = x'00'")
    with pytest.raises(InputFileError) as caught, text_cache(path, "one") as kept:
        kept.read(["a", "b", "c"])
    with closing(sqlite3.connect(path, timeout=0)) as base:
        base.execute("BEGIN EXCLUSIVE")
    assert "cut short" in str(caught.value)


@pytest.mark.parametrize("mode", [0o777, 0o1777], ids=oct)
def test_a_cache_is_refused_where_another_user_can_put_a_journal_beside_it(tmp_path, mode):
    shared, profile = tmp_path / "shared", tmp_path / "profile"
    shared.mkdir()
    with text_cache(shared / "c.sqlite", "one"):
        pass
    profile.write_text("mine")
    journal = hostile_journal(shared / "c.sqlite", profile)
    shared.chmod(mode)
    (tmp_path / "link").symlink_to(shared / "c.sqlite")
    for path in (shared / "c.sqlite", tmp_path / "link"):
        with pytest.raises(OutputError, match=r"all may write to .*own"), text_cache(path, "one"):
            pass
    assert journal.exists()
    assert profile.read_text() == "mine"
    shared.chmod(0o755)
    with text_cache(shared / "c.sqlite", "one"):  # the journal is one that SQLite carries out
        pass
    assert not profile.exists()


# A program of SQLite; without a limit it would never end.
ROWS = "WITH RECURSIVE ones(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ones LIMIT 100000) SELECT"


@pytest.mark.parametrize(
    "statements",
    [
        f"DROP TABLE encoder; CREATE VIEW encoder AS {ROWS} 'one' AS name FROM ones",
        f"DROP TABLE vectors; CREATE VIEW vectors AS {ROWS} x'00' AS key, x'00000000' AS vector FROM ones",
        "CREATE TRIGGER more AFTER INSERT ON vectors BEGIN DELETE FROM encoder; END",
        "DROP TABLE vectors; CREATE TABLE vectors (key, vector)",
    ],
)
def test_programs_in_place_of_tables_are_not_run(tmp_path, statements):
    path = tmp_path / "c.sqlite"
    with text_cache(path, "one") as cache:
        cache.write(["a"], np.ones((1, 2), dtype=np.float32))
    with closing(sqlite3.connect(path)) as base:
        base.executescript(statements)
    before = path.read_bytes()
    with pytest.raises(InputFileError, match="schema is another one"):
        bb.encode(lambda texts: [[1.0, 2.0] for _ in texts], ["a"], name="one", cache=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("value", [5, 1.5, "text", np.ones(3, dtype="<f4").tobytes()])
def test_values_that_are_no_vectors_of_one_length_are_refused(tmp_path, value):
    with text_cache(tmp_path / "c.sqlite", "one") as cache:
        cache.write(["a", "b"], np.ones((2, 2), dtype=np.float32))
        cache.base.execute("UPDATE vectors SET vector = ? WHERE key = ?", (value, _key("b")))
    with pytest.raises(InputFileError, match=r"c\.sqlite"):
        bb.encode(lambda texts: [[1.0, 2.0] for _ in texts], ["a", "b"], name="one", cache=tmp_path / "c.sqlite")


def test_an_error_of_what_uses_a_cache_stays_as_it_is(tmp_path):
    for error in (TypeError("mine"), sqlite3.OperationalError("mine")):
        with pytest.raises(type(error), match="mine"), text_cache(tmp_path / "c.sqlite", "one"):
            raise error


def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputFileError, match="ordinary"), text_cache(tmp_path / "pipe", "one"):
        pass
