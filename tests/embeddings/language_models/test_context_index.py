"""The index of a corpus against a plain search of its texts; files that are no index."""

import itertools
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.files.databases import Database
from bayesbias.base.files.inputs import SEAL_SIZE, sealed
from bayesbias.embeddings.language_models import context_index as building
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, OutputError
from tests.base.files.users import hostile_journal
from tests.cli.running import in_process

WORDS = ("cat", "dog", "ice cream", "bird", "Ice")


def made_texts(seed: int = 1, count: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        " ".join(rng.choice(["Cat", "dog", "ice cream", "bird", "the", "ran,", "x"], size=12)) for _ in range(count)
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> bb.embeddings.ContextIndex:
    return bb.embeddings.index_contexts(made_texts(), tmp_path_factory.mktemp("index") / "pets.contexts")


def plain_search(texts: list[str], cue: str, response: str) -> tuple[int, int, int, float]:
    """Return contexts, counts and mean distance as nested loops over the texts find them."""
    starts = [
        [[match.start() for match in re.finditer(rf"\b{word.lower()}\b", text.lower())] for word in (cue, response)]
        for text in texts
    ]
    nearest = [min(abs(a - b) for a, b in itertools.product(*positions)) for positions in starts if all(positions)]
    counts = [sum(len(positions[side]) for positions in starts) for side in (0, 1)]
    return len(nearest), *counts, float(np.mean(nearest))


def test_pairs_are_those_of_a_plain_search(index: bb.embeddings.ContextIndex) -> None:
    pairs = [pair for pair in itertools.permutations(WORDS, 2) if set(pair) != {"ice cream", "Ice"}]
    pair_table = index.pairs(pairs)
    expected = [plain_search(made_texts(), *pair) for pair in pairs]
    assert pair_table[["cue", "response"]].to_numpy().tolist() == [list(pair) for pair in pairs]
    columns = ["contexts", "cue_count", "response_count", "distance"]
    # The nearest by words is nearly always the nearest by letters.
    assert pair_table[columns[:3]].to_numpy().tolist() == [list(row[:3]) for row in expected]
    np.testing.assert_allclose(pair_table["distance"].astype(float), [row[3] for row in expected], rtol=0.1)
    assert (pair_table["left_out"] == "").all()


def test_pairs_without_contexts_say_why(index: bb.embeddings.ContextIndex) -> None:
    pair_table = index.pairs(
        [("cat", "cat"), ("ice", "ice cream"), ("cat", "zebra"), ("!", "cat"), ("cat", "cat cat cat")]
    )
    assert pair_table["contexts"].eq(0).all()
    assert pair_table["distance"].isna().all()
    assert pair_table["left_out"].tolist() == [
        "cue and response are one word",
        "one word is a part of the other",
        "'zebra' not in paragraphs",
        "'!' has no letter",
        "one word is a part of the other",
    ]
    apart = bb.embeddings.index_contexts(["a cat", "a dog"], index.path.with_name("apart.contexts"))
    assert apart.pairs([("cat", "dog")])["left_out"].tolist() == ["no context of paragraphs holds both words"]


def test_long_paragraphs_are_cut_and_texts_are_given_back(tmp_path: Path) -> None:
    text = "The cat sat. The dog ran! " * 20
    index = bb.embeddings.index_contexts([text], tmp_path / "long.contexts", longest=60)
    assert (index.contexts, index.words) == (20 * 26 // 52, 20 * 6)
    assert set(index.texts(range(index.contexts))) == {"The cat sat. The dog ran! The cat sat. The dog ran!"}
    with pytest.raises(ArgumentError, match=str(index.contexts)):
        index.texts([index.contexts])


def test_an_index_of_another_corpus_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pets.contexts"
    index = bb.embeddings.index_contexts(["a cat", "a dog"], path)
    assert bb.embeddings.index_contexts(["a cat", "a dog"], path) == index
    assert bb.embeddings.read_contexts(path, corpus=["a cat", "a dog"]) == index
    with pytest.raises(EmbeddingError, match="corpus"):
        bb.embeddings.read_contexts(path, corpus=["a cat", "a dog."])
    with pytest.raises(EmbeddingError, match="corpus"):
        bb.embeddings.index_contexts(["a bird"], path)
    with pytest.raises(EmbeddingError, match=r"1,000 characters, .* 500"):
        bb.embeddings.index_contexts(["a cat", "a dog"], path, longest=500)
    assert bb.embeddings.index_contexts(["a bird"], path, overwrite=True).texts([0]) == ["a bird"]
    with pytest.raises(EmbeddingError, match="no word"):
        bb.embeddings.index_contexts(["...", "!"], tmp_path / "empty.contexts")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pets.contexts"]


def test_files_that_are_no_index_are_errors(tmp_path: Path, index: bb.embeddings.ContextIndex) -> None:
    content = index.path.read_bytes()
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE facts (name, value)")
    base.close()
    damaged = tmp_path / "damaged.contexts"
    for wrong in (b"", b"text", content[:50], content[: len(content) // 2], content[:-1]):
        damaged.write_bytes(wrong)
        with pytest.raises(InputFileError, match=r"contexts|damaged"):
            bb.embeddings.read_contexts(damaged)
    with pytest.raises(InputFileError, match="contexts"):
        bb.embeddings.read_contexts(other)
    with pytest.raises(InputFileError, match="contexts"):
        bb.embeddings.index_contexts(["a cat"], other)


def test_any_bit_that_is_flipped_is_found(tmp_path: Path, index: bb.embeddings.ContextIndex) -> None:
    content = bytearray(index.path.read_bytes())
    damaged = tmp_path / "flipped.contexts"
    for place in np.random.default_rng(2).integers(0, 8 * len(content), size=100):
        content[place // 8] ^= 1 << int(place % 8)
        damaged.write_bytes(content)
        with pytest.raises(InputFileError):
            bb.embeddings.read_contexts(damaged)
        content[place // 8] ^= 1 << int(place % 8)


# Programs of SQLite in place of tables, and beside them. Without a limit they would never end.
ROWS = "WITH RECURSIVE ones(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ones LIMIT 100000) SELECT"
PROGRAMS = {
    "facts": f"ALTER TABLE facts RENAME TO f; CREATE VIEW facts AS {ROWS} f.name, f.value FROM f, ones;",
    "contexts": f"DROP TABLE contexts; CREATE VIEW contexts AS {ROWS} 0 AS id, 'a cat' AS text FROM ones;",
    "counts": f"DROP TABLE counts; CREATE VIEW counts AS {ROWS} 'cat' AS term, 1 AS cnt FROM ones;",
    "places": f"DROP TABLE places; CREATE VIEW places AS {ROWS} 'cat' AS term, 1 AS doc, 0 AS offset FROM ones;",
    "more": "CREATE TRIGGER more AFTER INSERT ON contexts BEGIN DELETE FROM facts; END;",
    "words": "DROP TABLE words; CREATE TABLE words (text TEXT);",
}


def changed(index: bb.embeddings.ContextIndex, path: Path, statements: str) -> Path:
    """Write a copy of an index that was changed, with a sound checksum."""
    path.write_bytes(index.path.read_bytes()[:-SEAL_SIZE])
    with closing(sqlite3.connect(path)) as base:
        base.executescript(statements)
    path.write_bytes(sealed(path.read_bytes()))
    return path


@pytest.mark.parametrize("table", PROGRAMS)
def test_programs_in_place_of_tables_are_not_run(
    index: bb.embeddings.ContextIndex,
    tmp_path: Path,
    table: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = changed(index, tmp_path / "pets.contexts", PROGRAMS[table])
    with pytest.raises(InputFileError, match=f"schema is another one: .*'{table}'"):
        bb.embeddings.read_contexts(path)
    # An index that was read may be replaced before it is asked.
    with pytest.raises(InputFileError, match="schema"):
        replace(index, path=path).pairs([("cat", "dog")])
    with pytest.raises(InputFileError, match="schema"):
        replace(index, path=path).texts([0])
    corpus = tmp_path / "pets.txt"
    corpus.write_text("\n".join(made_texts()), encoding="utf-8")
    assert in_process("index-contexts", corpus, "-o", path, monkeypatch=monkeypatch) == 2
    assert "pets.contexts is damaged, or no index of contexts" in capsys.readouterr().err


@pytest.mark.parametrize(
    "statements",
    [
        "UPDATE facts SET value = 61 WHERE name = 'contexts'",
        f"UPDATE facts SET value = {10**30} WHERE name = 'words'",
        "UPDATE facts SET value = '-1' WHERE name = 'longest'",
        "UPDATE facts SET value = NULL WHERE name = 'sha256'",
        "UPDATE facts SET value = '5' WHERE name = 'name'",
        "DELETE FROM facts WHERE name = 'prefix'",
        "DELETE FROM facts",
        "DELETE FROM contexts",
        "INSERT INTO contexts VALUES (-9223372036854775808, 'x'), (9223372036854775807, 'x')",
    ],
)
def test_facts_that_are_not_those_of_the_contexts_are_errors(
    index: bb.embeddings.ContextIndex, tmp_path: Path, statements: str
) -> None:
    with pytest.raises(InputFileError, match="damaged"):
        bb.embeddings.read_contexts(changed(index, tmp_path / "pets.contexts", statements))


@pytest.mark.parametrize(
    "statements",
    [
        "UPDATE contexts SET text = x'00'",
        "UPDATE contexts SET text = 'a' || char(10)",
        "DELETE FROM contexts WHERE id = 3",
    ],
)
def test_texts_that_are_none_are_errors(index: bb.embeddings.ContextIndex, tmp_path: Path, statements: str) -> None:
    read = bb.embeddings.read_contexts(changed(index, tmp_path / "pets.contexts", statements))
    with pytest.raises(InputFileError, match="damaged"):
        read.texts([3, 5, 3])


def test_texts_come_in_the_order_of_their_numbers_which_may_repeat(index: bb.embeddings.ContextIndex) -> None:
    texts = made_texts()
    assert index.texts([5, 3, 5] * 50) == [texts[5], texts[3], texts[5]] * 50


@pytest.mark.parametrize("change", ["1 +", "-1 +"])
def test_places_are_as_many_as_they_are_counted(
    index: bb.embeddings.ContextIndex, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def lying(base: Database, statement: str, parameters: tuple[object, ...] = ()) -> sqlite3.Cursor:
        return sqlite3.Connection.execute(base, statement.replace("SELECT cnt", f"SELECT {change} cnt"), parameters)

    monkeypatch.setattr(Database, "execute", lying)
    with pytest.raises(InputFileError, match="places of 'cat'"):
        index.pairs([("cat", "dog")])


@pytest.mark.parametrize("wrong", ["cat", [("cat",)], [("cat", 5)], [5], 7, ["ab"]])
def test_what_is_no_pair_of_words_is_an_error(index: bb.embeddings.ContextIndex, wrong: object) -> None:
    with pytest.raises(ArgumentError, match="pairs"):
        index.pairs(wrong)  # type: ignore[arg-type]


@pytest.mark.truth
@pytest.mark.slow
@pytest.mark.shared
def test_the_pairs_of_the_norms_are_found_in_a_corpus_of_nine_million_words(shared: Path, tmp_path: Path) -> None:
    corpus = shared / "data" / "corpus" / "enwiki2018_33k_articles.txt.gz"
    norms = pd.read_csv(shared / "data" / "evocation" / "usf_free_association.csv.gz", keep_default_na=False)
    given = set(zip(norms["cue"], norms["target"], strict=True))
    pairs = sorted(pair for pair in given if pair < pair[::-1] and pair[::-1] in given)
    assert len(pairs) == 8_383
    index = bb.embeddings.index_contexts(corpus, tmp_path / "wikipedia.contexts")
    pair_table = index.pairs(pairs)
    assert (pair_table["contexts"] > 0).equals(pair_table["left_out"] == "")
    texts = [text.lower() for text in index.texts(range(index.contexts))]
    for row in pair_table[pair_table["contexts"].between(1, 400)].sample(2, random_state=1).itertuples():
        one, other = (re.compile(rf"\b{re.escape(word)}\b") for word in (row.cue, row.response))
        assert row.contexts == sum(bool(one.search(text) and other.search(text)) for text in texts)


TEXTS = [f"The cat number {number} saw a dog." for number in range(400)]
_SLOW = """
import sys, time
import bayesbias as bb
from bayesbias.embeddings.language_models import context_index as building
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
    assert in_process("index-contexts", corpus, "-o", target, monkeypatch=monkeypatch) == 2
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
