"""The index of a corpus: the contexts of words and of pairs of words; building it is resumable and atomic."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_count, check_flag, check_items, is_count, is_text
from bayesbias.base.files.databases import (
    Database,
    bounded_rows,
    check_values,
    database_reason,
    open_database,
    schema_fault,
)
from bayesbias.base.files.inputs import SEAL, check_sealed_file, file_size, input_file, open_input, parse_json
from bayesbias.base.files.outputs import atomic_path, check_output, check_unshared, claimed, followed
from bayesbias.base.machine import check_memory
from bayesbias.base.progress import progress_bar, with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.language_models.texts import (
    BYTES_A_WORD,
    Occurrences,
    Shared,
    TextsLike,
    corpus_hash,
    corpus_name,
    corpus_size,
    cut,
    decoded,
    paragraphs,
    read_texts,
    shared_contexts,
    spans,
    word_texts,
    words_of,
)
from bayesbias.errors import ArgumentError, BayesBiasError, EmbeddingError, InputFileError, OutputError, setting

if TYPE_CHECKING:
    import pandas as pd


APPLICATION, VERSION = 0x62624358, 1  # fields of SQLite's header: "bbCX"
SCHEMA = f"""
BEGIN;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE contexts (id INTEGER PRIMARY KEY, text TEXT);
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='ascii');
CREATE VIRTUAL TABLE places USING fts5vocab(words, instance);
CREATE VIRTUAL TABLE counts USING fts5vocab(words, row);
COMMIT;
"""
_SQLITE = b"SQLite format 3\0"
_SEALED = 1 << 31  # the checksum of larger files is not verified
_LONGEST_BLOCK = 1 << 16  # bytes of FTS5's pages and of their directory
_ROWS, _TEXTS = 1 << 16, 1 << 13  # read at once
_BYTES_AN_OCCURRENCE = 40
_MOST = 1 << 63  # numbers in SQLite are lower
_BLOCK = 1 << 22  # characters in memory
_CACHE = -100_000  # kB


@dataclass(frozen=True, repr=False)
class ContextIndex(Described):
    """The contexts of a corpus and an index of their words, from `index_contexts` or `read_contexts`.

    Parameters
    ----------
    path
        File of the index.
    name, sha256
        Name of the corpus, and hash of its paragraphs.
    contexts, words
        Numbers of contexts and of words.
    longest
        Longest context, in characters.
    """

    path: Path
    name: str
    sha256: str
    contexts: int
    words: int
    longest: int

    @property
    def _facts(self) -> Facts:
        return {"corpus": self.name, "contexts": self.contexts, "words": self.words, "path": str(self.path)}

    def pairs(self, pairs: Iterable[tuple[str, str]], *, progress: bool = True) -> "pd.DataFrame":
        """Return the number of contexts that hold both words of each pair, and the distance of the words.

        Parameters
        ----------
        pairs
            Cues with their responses, in any case. A phrase such as "ice cream" is looked up as successive words.
        progress
            Whether to show a bar.

        Returns
        -------
        pandas.DataFrame
            One row per pair: `cue`, `response`; `contexts`, the number of contexts with both; `cue_count` and
            `response_count`, their numbers of occurrences; `distance`, the mean over contexts of the characters between
            the starts of the two where they are nearest (missing without contexts); `left_out`, the reason if there are
            no contexts.

        Raises
        ------
        ArgumentError
            If a pair is not two texts.
        NotEnoughMemoryError
            If the occurrences do not fit into memory.
        """
        import pandas as pd

        looked_up = find_pairs(self, pairs, progress=progress)
        return pd.DataFrame(
            {
                "cue": [cue for cue, _ in looked_up.pairs],
                "response": [response for _, response in looked_up.pairs],
                "contexts": [len(shared.contexts) for shared in looked_up.shared],
                "cue_count": [len(looked_up.occurrences[cue]) for cue, _ in looked_up.pairs],
                "response_count": [len(looked_up.occurrences[response]) for _, response in looked_up.pairs],
                "distance": pd.array(_mean_distances(self, looked_up), dtype="Float64"),
                "left_out": looked_up.left_out,
            }
        )

    def texts(self, contexts: Iterable[int]) -> list[str]:
        """Return the texts of contexts, given their numbers (from 0).

        Raises
        ------
        ArgumentError
            If a number is none of a context.
        """
        wanted = list(contexts)
        if wrong := [number for number in wanted if not is_count(number) or number >= self.contexts]:
            raise ArgumentError(
                f"contexts: {wrong[0]!r} is no number of a context. Give numbers from 0 to {self.contexts - 1}."
            )
        query = "SELECT id, text FROM contexts WHERE id = ?"
        with _opened(self.path) as base:
            rows = (row for number in dict.fromkeys(wanted) for row in base.execute(query, (int(number),)))
            texts = {number: text for number, text in bounded_rows(base, rows, str) if "\n" not in text}
        if not set(wanted) <= set(texts):
            raise _damaged(self.path, "contexts are missing")
        return [texts[number] for number in wanted]


def read_contexts(path: str | os.PathLike[str], *, corpus: TextsLike | None = None) -> ContextIndex:
    """Return the index of a corpus that `index_contexts` built.

    Parameters
    ----------
    path
        File of the index.
    corpus
        The corpus that must have been indexed, if any: its paragraphs are hashed and compared.

    Returns
    -------
    ContextIndex
        The index; texts are read from the file when needed.

    Raises
    ------
    InputFileError
        If the file is no index, or damaged.
    EmbeddingError
        If the file is the index of another corpus.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = bb.embeddings.index_contexts(["A cat.", "A dog."], f"{folder}/pets.contexts")
    ...     bb.embeddings.read_contexts(f"{folder}/pets.contexts").texts([1])
    ['A dog.']
    """
    source = input_file(path)
    with open_input(source) as stream:
        header = stream.read(100)
    if not header.startswith(_SQLITE) or int.from_bytes(header[68:72]) != APPLICATION:
        raise InputFileError(
            f"{source} is no index of contexts. Build one with index_contexts, or bayesbias index-contexts."
        )
    if file_size(source) < _SEALED and not check_sealed_file(source):
        raise _damaged(source, "it is cut short")
    if int.from_bytes(header[60:64]) != VERSION:
        raise InputFileError(f"{source} was written by another version of this package. Build it again.")
    with _opened(source) as base:
        facts = stored_facts(base)
    if facts is None or not facts["sha256"]:
        raise _damaged(source, "its description is incomplete")
    if corpus is not None and corpus_hash(read_texts(corpus)) != facts["sha256"]:
        raise EmbeddingError(
            f"{source} is the index of another corpus ({facts['name']}), or of an earlier version of "
            f"{corpus_name(corpus)}. Build another index, or allow overwriting ({setting('overwrite', True)})."
        )
    return ContextIndex(source, *(facts[name] for name in ("name", "sha256", "contexts", "words", "longest")))


def stored_facts(base: Database) -> dict[str, Any] | None:
    """Return what an index, or an interrupted build of one, says about itself; None if that is incomplete or wrong."""
    try:
        rows = bounded_rows(base, base.execute("SELECT name, value FROM facts"), str)
        facts = {name: parse_json(value) for name, value in rows}
    except ValueError:
        return None
    texts = (facts.get(name) for name in ("name", "sha256", "prefix"))
    counts = (facts.get(name, -1) for name in ("contexts", "words", "longest", "read"))
    if not (all(map(is_text, texts)) and all(is_count(count) and count < _MOST for count in counts)):
        return None
    check_values(base, "words_data", "block", _LONGEST_BLOCK)
    last = base.execute("SELECT max(id) FROM contexts").fetchone()[0]
    return facts if facts["contexts"] == (0 if last is None else last + 1) else None


@dataclass(frozen=True)
class FoundPairs:
    """Pairs of words in an index: occurrences of each word, and the contexts that hold both."""

    pairs: list[tuple[str, str]]
    occurrences: dict[str, Occurrences]
    shared: list[Shared]
    left_out: list[str] = field(default_factory=list)


def find_pairs(index: ContextIndex, pairs: Iterable[tuple[str, str]], *, progress: bool) -> FoundPairs:
    """Return the occurrences of the words of pairs, their shared contexts, and reasons if there are none."""
    checked = check_pairs(pairs)
    occurrences = find_words(index, [word for pair in checked for word in pair], progress=progress)
    shared, reasons = [], []
    for cue, response in with_progress(checked, "contexts of pairs", progress=progress):
        reason = _overlap(cue, response) or _absent(index, {word: occurrences[word] for word in (cue, response)})
        shared.append(Shared.none() if reason else shared_contexts(occurrences[cue], occurrences[response]))
        reasons.append(reason or ("" if len(shared[-1].contexts) else f"no context of {index.name} holds both words"))
    return FoundPairs(checked, occurrences, shared, reasons)


def check_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs of texts; raise `ArgumentError` if they are anything else."""
    checked = []
    for pair in check_items("pairs", pairs, "pairs of words"):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2 or not all(map(is_text, pair)):
            raise ArgumentError(f"pairs: {pair!r:.60} is no pair of words, such as ('guitar', 'music').")
        checked.append((str(pair[0]), str(pair[1])))
    return checked


def find_words(index: ContextIndex, words: Iterable[str], *, progress: bool) -> dict[str, Occurrences]:
    """Return the occurrences of each word or phrase."""
    parts = {word: words_of(word) for word in words}
    single = list(dict.fromkeys(part for word_parts in parts.values() for part in word_parts))
    occurrences: dict[str, Occurrences] = {}
    with _opened(index.path) as base:
        query = "SELECT cnt FROM counts WHERE term = ?"
        counts = {part: (base.execute(query, (part,)).fetchone() or (0,))[0] for part in single}
        needed = sum(counts.values())
        what = f"{needed:,} places of {len(single):,} words"
        check_memory(needed * _BYTES_AN_OCCURRENCE, what, "Take fewer words at a time.")
        for part in with_progress(single, "places of words", progress=progress):
            cursor = base.execute("SELECT doc, offset FROM places WHERE term = ?", (part,))
            blocks, missing = [np.empty((0, 2), dtype=np.int64)], counts[part]
            while missing >= 0 and (rows := cursor.fetchmany(_ROWS)):
                blocks.append(np.array(rows, dtype=np.int64))
                missing -= len(rows)
            if missing:
                raise _damaged(index.path, f"places of {part!r} are missing, or too many")
            places = np.concatenate(blocks)
            if len(places) and not 0 <= places[:, 0].min() <= places[:, 0].max() < index.contexts:
                raise _damaged(index.path, f"contexts of {part!r} are missing")
            occurrences[part] = Occurrences(places[:, 0].copy(), places[:, 1].copy(), 1)
    return {
        word: Occurrences.following([occurrences[part] for part in word_parts]) for word, word_parts in parts.items()
    }


def text_blocks(index: ContextIndex, contexts: NDArray[np.int64]) -> Iterator[tuple[slice, list[str]]]:
    """Yield the texts of contexts in blocks, each with its slice of `contexts`, whose numbers ascend."""
    for start in range(0, len(contexts), _TEXTS):
        block = slice(start, min(start + _TEXTS, len(contexts)))
        yield block, index.texts(contexts[block].tolist())


def character_spans(
    index: ContextIndex, contexts: NDArray[np.int64], words: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where words start and end (exclusive) in their contexts: an array of shape (words, 2)."""
    distinct, rows = np.unique(contexts, return_inverse=True)
    order = np.argsort(rows, kind="stable")
    character_ranges = np.empty((len(contexts), 2), dtype=np.int64)
    for block, texts in text_blocks(index, distinct):
        low, high = np.searchsorted(rows[order], [block.start, block.stop])
        chosen = order[low:high]
        try:
            character_ranges[chosen] = spans(texts, rows[chosen] - block.start, words[chosen], lengths[chosen])
        except IndexError as error:
            raise _damaged(index.path, str(error)) from error
    return character_ranges


def _mean_distances(index: ContextIndex, looked_up: FoundPairs) -> list[float | None]:
    """Return the mean distance of the words of each pair in characters, or None without contexts."""
    sizes = [len(shared.contexts) for shared in looked_up.shared]
    if not sum(sizes):
        return [None] * len(sizes)
    contexts = np.concatenate([shared.contexts for shared in looked_up.shared])
    starts = []
    for side, name in enumerate(("cue_words", "response_words")):
        words = np.concatenate([getattr(shared, name) for shared in looked_up.shared])
        lengths = np.repeat([looked_up.occurrences[pair[side]].length for pair in looked_up.pairs], sizes)
        starts.append(character_spans(index, contexts, words, lengths)[:, 0])
    sums = np.bincount(np.repeat(np.arange(len(sizes)), sizes), abs(starts[0] - starts[1]), minlength=len(sizes))
    return [float(total / size) if size else None for total, size in zip(sums, sizes, strict=True)]


def _overlap(cue: str, response: str) -> str:
    """Return why two words have no distance in any text, or an empty string."""
    cue_words, response_words = words_of(cue), words_of(response)
    if not cue_words or not response_words:
        return f"{(response if cue_words else cue)!r} has no letter"
    if cue_words == response_words:
        return "cue and response are one word"
    short, long = sorted((cue_words, response_words), key=len)
    if any(long[start : start + len(short)] == short for start in range(len(long))):
        return "one word is a part of the other"
    return ""


def _absent(index: ContextIndex, words: dict[str, Occurrences]) -> str:
    absent = [word for word, places in words.items() if not len(places)]
    return f"{' and '.join(map(repr, absent))} not in {index.name}" if absent else ""


@contextmanager
def _opened(path: Path) -> Iterator[Database]:
    """Open an index for reading, check its schema, and convert its errors into `InputFileError`."""
    try:
        with closing(open_database(path, read_only=True)) as base:
            if fault := schema_fault(base, SCHEMA):
                raise _damaged(path, fault)
            yield base
    except BayesBiasError:
        raise
    except sqlite3.Error as error:
        raise _damaged(path, database_reason(error)) from error
    except (OverflowError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> InputFileError:
    return InputFileError(f"{path} is damaged, or no index of contexts ({why}). Build it again with index_contexts.")


def index_contexts(
    corpus: TextsLike,
    path: str | os.PathLike[str],
    *,
    longest: int = 1_000,
    overwrite: bool = False,
    progress: bool = True,
) -> ContextIndex:
    """Return an index of the words of a corpus, which finds the contexts of a word or of two words.

    The index is one SQLite file with the texts and a full-text index (FTS5) of their words. An existing index of the
    same corpus is returned as it is. The same call continues an interrupted build, whose file beside `path` has the
    ending ``.part``.

    Parameters
    ----------
    corpus
        A UTF-8 text file with one paragraph a line, gzipped or not, or a folder of such files (``.txt``,
        ``.txt.gz``) without links out of it; or a list of paragraphs.
    path
        File of the index.
    longest
        Longest context in characters: longer paragraphs are cut at ends of sentences into several contexts. Models read
        a few hundred words at a time.
    overwrite
        Whether an index of another corpus, or of another `longest`, may be replaced.
    progress
        Whether to show a bar.

    Returns
    -------
    ContextIndex
        The index, which `read_contexts` can read again from its file.

    Raises
    ------
    InputFileError
        If the corpus cannot be read, or the file at `path` is no index.
    EmbeddingError
        If the corpus has no word, or `path` holds an index of another corpus.
    OutputError
        If the index cannot be written, or all may write to its folder.

    Examples
    --------
    >>> import tempfile
    >>> texts = ["The cat sat on the mat.", "A dog and a cat. The dog barked."]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = bb.embeddings.index_contexts(texts, f"{folder}/pets.contexts")
    ...     index.pairs([("dog", "cat")])[["cue", "response", "contexts", "cue_count", "distance"]]
       cue response  contexts  cue_count  distance
    0  dog      cat         1          2       9.0
    """
    longest = check_count("longest", longest, least=20)
    overwrite = check_flag("overwrite", overwrite)
    # Store paragraphs of an iterator, because a build may iterate over them twice.
    texts = corpus if isinstance(corpus, str | os.PathLike) else list(paragraphs(corpus))
    target = check_output(path, overwrite=True)
    if target.exists() and not overwrite:
        index = read_contexts(target, corpus=texts)
        if index.longest != longest:
            raise EmbeddingError(
                f"{target} is an index of contexts of at most {index.longest:,} characters, not {longest:,}. Give "
                f"another name, or allow overwriting ({setting('overwrite', True)})."
            )
        return index
    check_output(path, overwrite=overwrite)
    check_unshared(target)
    with claimed(target):
        part = followed(target).with_name(f"{target.name}.part")
        try:
            _fill(part, texts, longest, progress=progress)
        except sqlite3.DatabaseError as error:
            raise OutputError(
                f"Cannot write {part}: {database_reason(error)}. If it is damaged, remove it and begin again."
            ) from error
        _seal(part)
        with atomic_path(target, overwrite=overwrite) as made:
            part.replace(made)
    return read_contexts(target)


def _fill(part: Path, corpus: TextsLike, longest: int, *, progress: bool) -> None:
    """Index a corpus in a file, or continue an interrupted run; each block is one transaction."""
    facts = _stored_facts(part, corpus, longest) if os.path.lexists(part) else None
    with closing(open_database(part, read_only=False)) as base:
        base.execute(f"PRAGMA cache_size = {_CACHE}")
        base.execute("PRAGMA synchronous = NORMAL")
        if facts is None:
            base.executescript(SCHEMA)
            facts = {"longest": longest, "read": 0, "prefix": "", "contexts": 0, "words": 0, "sha256": ""}
        facts = {**facts, "name": corpus_name(corpus)}
        done, content, read = facts["read"], sha256(), 0
        waiting: list[str] = []
        characters = 0
        what = f"indexing {corpus_name(corpus)}"
        with progress_bar(corpus_size(corpus), what, progress=progress, unit="words") as bar:
            for text in read_texts(corpus):
                content.update(text + b"\n")
                read += 1
                bar.advance(len(text) / BYTES_A_WORD)
                if read <= done:
                    continue
                waiting += cut(decoded(text, read, corpus), longest)
                characters += len(text)
                if characters > _BLOCK:
                    facts = _store(base, waiting, {**facts, "read": read, "prefix": content.hexdigest()})
                    waiting, characters = [], 0
        digest = content.hexdigest()
        facts = _store(base, waiting, {**facts, "read": read, "prefix": digest, "sha256": digest})
    if not facts["words"]:
        part.unlink()
        raise EmbeddingError(f"The corpus {corpus_name(corpus)} has no words. Give another one.")


def _stored_facts(part: Path, corpus: TextsLike, longest: int) -> dict[str, Any] | None:
    """Return the facts of an interrupted build of the same corpus; remove one of another, and return None."""
    input_file(part)
    with closing(open_database(part, read_only=False)) as base:
        if base.execute("SELECT name FROM sqlite_master").fetchone() is not None:
            if base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise OutputError("The file with the ending .part is of another program. Give the index another name.")
            if fault := schema_fault(base, SCHEMA):
                raise sqlite3.DatabaseError(fault)
            facts = stored_facts(base)
            if facts is not None and facts["longest"] == longest:
                first = islice(read_texts(corpus), facts["read"])
                if corpus_hash(first) == facts["prefix"]:
                    return facts
    part.unlink()
    return None


def _store(base: Database, contexts: list[str], facts: dict[str, Any]) -> dict[str, Any]:
    """Add contexts and updated facts in one transaction; return the facts."""
    ids = range(facts["contexts"], facts["contexts"] + len(contexts))
    texts = word_texts(contexts) if contexts else []
    facts = {**facts, "contexts": ids.stop, "words": facts["words"] + sum(len(text.split()) for text in texts)}
    base.execute("BEGIN")
    base.executemany("INSERT INTO contexts VALUES (?, ?)", zip(ids, contexts, strict=True))
    base.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", zip(ids, texts, strict=True))
    rows = [(name, json.dumps(value)) for name, value in facts.items()]
    base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)
    base.execute("COMMIT")
    return facts


def _seal(part: Path) -> None:
    """Append a checksum after the last page of a file, which SQLite ignores."""
    digest = sha256()
    with part.open("rb+") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
        stream.write(SEAL + digest.hexdigest().encode())
        stream.flush()
        os.fsync(stream.fileno())
