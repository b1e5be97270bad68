"""The cache of vectors: what it returns, and which files it refuses."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base.files.vector_cache import _checked, vector_cache, vector_key
from bayesbias.errors import BayesBiasError, InputFileError, OutputError
from tests.base.files.hostile_databases import changed
from tests.base.files.users import hostile_journal

KEY = vector_key("one", "a")


def keys_of(*texts):
    return {text: vector_key("one", text) for text in texts}


def test_vectors_come_back_as_they_were(tmp_path):
    vectors = np.array([[1.5, -2.0], [0.1, 3.0]], dtype=np.float32)
    with vector_cache(tmp_path / "c.sqlite") as cache:
        cache.write(keys_of("a", "ä").values(), vectors)
    with vector_cache(tmp_path / "c.sqlite") as cache:
        stored = cache.read(keys_of("ä", "b", "a"))
    assert set(stored) == {"a", "ä"}
    np.testing.assert_array_equal(np.stack([stored["a"], stored["ä"]]), vectors)


def test_thousands_of_texts_are_read_at_once(tmp_path):
    texts = [f"text {number}" for number in range(2_001)]
    with vector_cache(tmp_path / "c.sqlite") as cache:
        cache.write(keys_of(*texts).values(), np.arange(4_002, dtype=np.float32).reshape(2_001, 2))
        assert cache.read(keys_of(*texts))["text 2000"].tolist() == [4_000, 4_001]
        assert cache.count([*keys_of(*texts).values(), KEY]) == 2_001


def test_another_encoder_gets_none_of_the_vectors_in_the_same_file(tmp_path):
    path = tmp_path / "c.sqlite"
    for name, size in (("one", 2), ("two", 3)) * 2:  # the second time both come from the cache
        vectors = bb.encode(lambda texts, size=size: np.full((len(texts), size), size), ["a"], name=name, cache=path)
        assert vectors.vectors.tolist() == [[2.0] * 2 if name == "one" else [3.0] * 3]


def test_keys_differ_where_parts_differ():
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", ""), ("ab", b"c"), (1, "1"), ("1", 1), (11,), (1, 1)]
    assert len({vector_key(*part) for part in parts}) == len(parts)
    assert vector_key("ab", "c") == vector_key("ab", "c")


def test_without_a_path_there_is_no_cache():
    with vector_cache(None) as cache:
        assert cache is None


STARTED = """
import sys, time
import numpy as np
from bayesbias.base.files.vector_cache import vector_cache, vector_key
first, path, start = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
time.sleep(max(0, start - time.time()))
with vector_cache(path) as cache:
    for number in range(first, first + 50):
        cache.write([vector_key(number)], [np.full(2, number, dtype=np.float32)])
"""


def test_two_runs_that_start_together_keep_the_vectors_of_both(tmp_path):
    path, start = tmp_path / "c.sqlite", time.time() + 3
    runs = [
        subprocess.Popen([sys.executable, "-c", STARTED, str(first), str(path), str(start)]) for first in (0, 25, 50)
    ]
    assert [run.wait(timeout=120) for run in runs] == [0, 0, 0]
    with vector_cache(path) as cache:
        stored = cache.read({str(number): vector_key(number) for number in range(101)})
    assert {name: vector.tolist() for name, vector in stored.items()} == {str(n): [n, n] for n in range(100)}


@pytest.mark.parametrize("content", [b"text", b"SQLite format 3\0" + b"\xff" * 200])
def test_files_of_others_are_refused(tmp_path, content):
    path = tmp_path / "c.sqlite"
    path.write_bytes(content)
    with pytest.raises(BayesBiasError, match=r"c\.sqlite"), vector_cache(path):
        pass
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "c.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE mine (a TEXT)")
    before = path.read_bytes()
    with pytest.raises(InputFileError, match=r"c\.sqlite"), vector_cache(path):
        pass
    assert path.read_bytes() == before


NAN = np.array([np.nan], dtype="<f4").tobytes()


@pytest.mark.parametrize("damaged", [b"abc", b"", b"abcd", NAN, *(_checked(KEY, body) for body in (b"", b"abc", NAN))])
def test_a_damaged_vector_is_refused(tmp_path, damaged):
    path = tmp_path / "c.sqlite"
    with vector_cache(path) as cache:
        cache.write(keys_of("a").values(), np.ones((1, 2), dtype=np.float32))
        cache.base.execute("UPDATE vectors SET vector = ?", (damaged,))
        with pytest.raises(InputFileError, match="'a'"):
            cache.read(keys_of("a"))


def test_a_refused_cache_is_not_locked_while_its_error_is_kept(tmp_path):
    path = tmp_path / "c.sqlite"
    with vector_cache(path) as kept:
        kept.write(keys_of("a", "b", "c").values(), np.eye(3, dtype=np.float32))
    changed(path, "UPDATE vectors SET vector = x'00'")
    with pytest.raises(InputFileError) as caught, vector_cache(path) as kept:
        kept.read(keys_of("a", "b", "c"))
    with closing(sqlite3.connect(path, timeout=0)) as base:
        base.execute("BEGIN EXCLUSIVE")
    assert "cut short" in str(caught.value)


@pytest.mark.parametrize("mode", [0o777, 0o1777], ids=oct)
def test_a_cache_is_refused_where_another_user_can_put_a_journal_beside_it(tmp_path, mode):
    shared, profile = tmp_path / "shared", tmp_path / "profile"
    shared.mkdir()
    with vector_cache(shared / "c.sqlite"):
        pass
    profile.write_text("mine")
    journal = hostile_journal(shared / "c.sqlite", profile)
    shared.chmod(mode)
    (tmp_path / "link").symlink_to(shared / "c.sqlite")
    for path in (shared / "c.sqlite", tmp_path / "link"):
        with pytest.raises(OutputError, match=r"all may write to .*own"), vector_cache(path):
            pass
    assert journal.exists()
    assert profile.read_text() == "mine"
    shared.chmod(0o755)
    with pytest.raises(InputFileError, match="names another file"), vector_cache(shared / "c.sqlite"):
        pass
    assert profile.read_text() == "mine"
    with closing(sqlite3.connect(shared / "c.sqlite")) as base:  # the journal is one that SQLite carries out
        base.execute("SELECT * FROM vectors").fetchall()
    assert not profile.exists()


# A program of SQLite; without a limit it would never end.
ROWS = "WITH RECURSIVE ones(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ones LIMIT 100000) SELECT"


@pytest.mark.parametrize(
    "statements",
    [
        f"DROP TABLE vectors; CREATE VIEW vectors AS {ROWS} x'00' AS key, x'00000000' AS vector FROM ones",
        "CREATE TRIGGER more AFTER INSERT ON vectors BEGIN DELETE FROM vectors; END",
        "DROP TABLE vectors; CREATE TABLE vectors (key, vector)",
    ],
)
def test_programs_in_place_of_tables_are_not_run(tmp_path, statements):
    path = tmp_path / "c.sqlite"
    with vector_cache(path) as cache:
        cache.write(keys_of("a").values(), np.ones((1, 2), dtype=np.float32))
    with closing(sqlite3.connect(path)) as base:
        base.executescript(statements)
    before = path.read_bytes()
    with pytest.raises(InputFileError, match="schema is another one"):
        bb.encode(lambda texts: [[1.0, 2.0] for _ in texts], ["a"], name="one", cache=path)
    assert path.read_bytes() == before


OF_THREE = _checked(vector_key("one", "b"), np.ones(3, dtype="<f4").tobytes())


@pytest.mark.parametrize("value", [5, 1.5, "text", OF_THREE])
def test_values_that_are_no_vectors_of_one_length_are_refused(tmp_path, value):
    with vector_cache(tmp_path / "c.sqlite") as cache:
        cache.write(keys_of("a", "b").values(), np.ones((2, 2), dtype=np.float32))
        cache.base.execute("UPDATE vectors SET vector = ? WHERE key = ?", (value, vector_key("one", "b")))
    with pytest.raises(InputFileError, match=r"c\.sqlite"):
        bb.encode(lambda texts: [[1.0, 2.0] for _ in texts], ["a", "b"], name="one", cache=tmp_path / "c.sqlite")


def test_an_error_of_what_uses_a_cache_stays_as_it_is(tmp_path):
    for error in (TypeError("mine"), sqlite3.OperationalError("mine")):
        with pytest.raises(type(error), match="mine"), vector_cache(tmp_path / "c.sqlite"):
            raise error


def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputFileError, match="ordinary"), vector_cache(tmp_path / "pipe"):
        pass


def test_folders_are_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for path, fact in ((tmp_path / "folder", "is a folder"), (tmp_path / "file" / "c.sqlite", "Not a directory")):
        with pytest.raises(BayesBiasError, match=fact), vector_cache(path):
            pass


def test_every_truncation_and_every_changed_byte_is_an_error_or_changes_no_vector(tmp_path):
    path, vectors = tmp_path / "c.sqlite", np.ones((2, 900), dtype=np.float32)
    with vector_cache(path) as cache:
        cache.write(keys_of("a", "b").values(), vectors)
    content = path.read_bytes()
    cut = (content[:end] for end in range(100, len(content), 97))
    flipped = (content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :] for at in range(0, len(content), 31))
    refused = 0
    for damaged in (*cut, *flipped):
        path.write_bytes(damaged)
        try:
            with vector_cache(path) as cache:
                stored = cache.read(keys_of("a", "b"))
        except BayesBiasError as error:
            assert "c.sqlite" in str(error)  # noqa: PT017 - most damage, not all, is an error
            refused += 1
        else:
            assert all((vector == 1).all() and vector.size == 900 for vector in stored.values())
    assert refused > 300


def test_a_vector_under_the_key_of_another_is_refused(tmp_path):
    with vector_cache(tmp_path / "c.sqlite") as cache:
        cache.write([KEY], np.ones((1, 2), dtype=np.float32))
        cache.base.execute("UPDATE vectors SET key = ?", (vector_key("one", "b"),))
        with pytest.raises(InputFileError, match="'b'"):
            cache.read(keys_of("b"))


def test_a_cache_is_not_made_through_a_link_that_others_may_have_put_there(tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "link").symlink_to("private")
    tmp_path.chmod(0o1777)
    with pytest.raises(OutputError, match="is a link"), vector_cache(tmp_path / "link" / "c.sqlite"):
        pass
    assert list((tmp_path / "private").iterdir()) == []
