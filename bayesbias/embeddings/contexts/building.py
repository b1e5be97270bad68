"""Building the index of a corpus: resumable and atomic, with a hash of the corpus."""

import json
import os
import sqlite3
from contextlib import closing
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from bayesbias.base.checks import check_count, check_flag
from bayesbias.base.files.databases import Database, database_reason, open_database, schema_fault
from bayesbias.base.files.folders import check_unshared, followed
from bayesbias.base.files.inputs import SEAL, input_file
from bayesbias.base.files.outputs import atomic_path, check_output, claimed
from bayesbias.base.progress import progress_bar
from bayesbias.embeddings.contexts.index import APPLICATION, SCHEMA, ContextIndex, read_contexts, stored_facts
from bayesbias.embeddings.contexts.texts import (
    BYTES_A_WORD,
    TextsLike,
    corpus_hash,
    corpus_name,
    corpus_size,
    cut,
    decoded,
    paragraphs,
    read_texts,
    word_texts,
)
from bayesbias.errors import EmbeddingError, OutputError

_BLOCK = 1 << 22  # characters in memory
_CACHE = -100_000  # kB


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
                "another name, or allow overwriting (overwrite=True, or --overwrite)."
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
