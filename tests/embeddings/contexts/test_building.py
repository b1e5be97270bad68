"""An index is whole or absent, and a build that was stopped goes on."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.embeddings.contexts import building
from bayesbias.errors import OutputError
from tests.base.files.users import hostile_journal
from tests.cli.running import in_process

TEXTS = [f"The cat number {number} saw a dog." for number in range(400)]
_SLOW = """
import sys, time
import bayesbias as bb
from bayesbias.embeddings.contexts import building
building._BLOCK = 200
store = building._store
def slowly(*given):
    time.sleep(0.02)
    return store(*given)
building._store = slowly
bb.embeddings.index_contexts(sys.argv[1], sys.argv[2])
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "pets.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    return path


def test_a_build_that_was_stopped_goes_on_and_is_the_same(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bb.embeddings.index_contexts(corpus, tmp_path / "whole.contexts")
    target = tmp_path / "stopped.contexts"
    monkeypatch.setattr(building, "_BLOCK", 300)
    stored: list[int] = []
    store = building._store

    def stopped(base: sqlite3.Connection, contexts: list[str], facts: dict[str, object]) -> dict[str, object]:
        if len(stored) == 5:
            raise KeyboardInterrupt
        stored.append(len(contexts))
        return store(base, contexts, facts)

    monkeypatch.setattr(building, "_store", stopped)
    with pytest.raises(KeyboardInterrupt):
        bb.embeddings.index_contexts(corpus, target)
    assert not target.exists()
    assert target.with_name("stopped.contexts.part").exists()
    remaining: list[int] = []

    def counted(base: sqlite3.Connection, contexts: list[str], facts: dict[str, object]) -> dict[str, object]:
        remaining.append(len(contexts))
        return store(base, contexts, facts)

    monkeypatch.setattr(building, "_store", counted)
    index = bb.embeddings.index_contexts(corpus, target)
    assert sum(stored) + sum(remaining) == len(TEXTS)
    assert not target.with_name("stopped.contexts.part").exists()
    assert (index.sha256, index.contexts, index.words) == (whole.sha256, whole.contexts, whole.words)
    assert index.texts(range(400)) == TEXTS
    assert index.pairs([("cat", "dog"), ("17", "dog")]).equals(whole.pairs([("cat", "dog"), ("17", "dog")]))


def test_what_was_begun_of_another_corpus_does_not_count(corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "pets.contexts"
    building._fill(tmp_path / "pets.contexts.part", ["one", "two", "three"], 1_000, progress=False)
    assert bb.embeddings.index_contexts(corpus, target).texts(range(400)) == TEXTS
    building._fill(tmp_path / "cut.contexts.part", corpus, 20, progress=False)
    assert bb.embeddings.index_contexts(corpus, tmp_path / "cut.contexts").contexts == 400


def test_a_file_of_a_stranger_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    part = tmp_path / "pets.contexts.part"
    part.write_bytes(b"a text of mine" * 100)
    with pytest.raises(OutputError, match="remove"):
        bb.embeddings.index_contexts(corpus, tmp_path / "pets.contexts")
    part.unlink()
    with sqlite3.connect(part) as base:
        base.execute("CREATE TABLE mine (x)")
    base.close()
    before = part.read_bytes()
    with pytest.raises(OutputError, match="program"):
        bb.embeddings.index_contexts(corpus, tmp_path / "pets.contexts")
    assert part.read_bytes() == before


@pytest.mark.parametrize(
    "statements",
    [
        "ALTER TABLE facts RENAME TO f; CREATE VIEW facts AS SELECT * FROM f;",
        "CREATE TRIGGER more AFTER INSERT ON contexts BEGIN DELETE FROM facts; END;",
    ],
)
def test_programs_in_what_was_begun_are_not_run(
    corpus: Path,
    tmp_path: Path,
    statements: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target, part = tmp_path / "pets.contexts", tmp_path / "pets.contexts.part"
    building._fill(part, corpus, 1_000, progress=False)
    with closing(sqlite3.connect(part)) as base:
        base.executescript(statements)
    before = part.read_bytes()
    with pytest.raises(OutputError, match=r"pets\.contexts\.part: its schema .* remove it"):
        bb.embeddings.index_contexts(corpus, target)
    assert in_process("contexts", corpus, "-o", target, monkeypatch=monkeypatch) == 2
    assert "its schema is another one" in capsys.readouterr().err
    assert part.read_bytes() == before


@pytest.mark.parametrize("name", ["read", "contexts", "words", "longest", "prefix", "sha256"])
@pytest.mark.parametrize("value", ["-1", "1e400", str(10**30), '"a"', "no JSON", "[" * 5_000])
def test_what_was_begun_and_says_nonsense_does_not_count(tmp_path: Path, name: str, value: str) -> None:
    target, part = tmp_path / "pets.contexts", tmp_path / "pets.contexts.part"
    building._fill(part, TEXTS[:5], 1_000, progress=False)
    with closing(sqlite3.connect(part)) as base, base:
        base.execute("UPDATE facts SET value = ? WHERE name = ?", (value, name))
    index = bb.embeddings.index_contexts(TEXTS[:20], target)
    assert index.texts(range(20)) == TEXTS[:20]


@pytest.mark.slow
def test_a_build_that_was_killed_goes_on(corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "killed.contexts"
    part = target.with_name("killed.contexts.part")
    run = subprocess.Popen([sys.executable, "-c", _SLOW, str(corpus), str(target)], env=os.environ.copy())
    limit = time.monotonic() + 30
    while time.monotonic() < limit and not (part.exists() and part.stat().st_size > 50_000):
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    assert not target.exists()
    assert part.exists()
    assert bb.embeddings.index_contexts(corpus, target).texts(range(400)) == TEXTS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.contexts", "pets.txt"]


@pytest.mark.parametrize("mode", [0o777, 0o1777], ids=oct)
def test_an_index_is_not_built_where_another_user_can_put_a_journal_beside_it(
    corpus: Path, tmp_path: Path, mode: int
) -> None:
    shared, profile = tmp_path / "shared", tmp_path / "profile"
    shared.mkdir()
    shared.chmod(mode)
    profile.write_text("mine")
    part = shared / "pets.contexts.part"
    building._fill(part, TEXTS[:3], 1_000, progress=False)
    journal = hostile_journal(part, profile)
    with pytest.raises(OutputError, match=r"all may write to .*own"):
        bb.embeddings.index_contexts(corpus, shared / "pets.contexts")
    assert journal.exists()
    assert profile.read_text() == "mine"


def test_an_index_is_built_through_a_link_on_request_alone_and_beside_the_file(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "index")
    filled: list[Path] = []
    fill = building._fill

    def noted(part: Path, *arguments: object, **settings: object) -> None:
        filled.append(part)
        fill(part, *arguments, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(building, "_fill", noted)
    with pytest.raises(OutputError, match="exists"):
        bb.embeddings.index_contexts(corpus, tmp_path / "link")
    assert filled == []
    assert bb.embeddings.index_contexts(corpus, tmp_path / "link", overwrite=True).contexts == 400
    assert (tmp_path / "link").is_symlink()
    assert [path.parent for path in filled] == [tmp_path / "there"]
