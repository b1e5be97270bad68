"""The index of a corpus: which contexts hold a word, or both words of a pair, and how far apart they are there."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.checks import check_items, is_count, is_text, with_progress
from bayesbias.base.files import check_sealed_file, input_file
from bayesbias.base.memory import check_memory
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.contexts.occurrences import Occurrences, Shared, shared_contexts
from bayesbias.embeddings.contexts.texts import TextsLike, corpus_hash, corpus_name, read_texts, spans, words_of
from bayesbias.errors import ArgumentError, BayesBiasError, EmbeddingError, InputFileError

if TYPE_CHECKING:
    import pandas as pd

APPLICATION, VERSION = 0x62624358, 1  # of SQLite's header: "bbCX"
_SQLITE = b"SQLite format 3\0"
_SEALED = 1 << 31  # larger files are not read whole to see whether a byte was changed
_ROWS, _TEXTS = 1 << 16, 1 << 13  # read at once
_BYTES_AN_OCCURRENCE = 40


@dataclass(frozen=True, repr=False)
class ContextIndex(Described):
    """The contexts of a corpus and an index of their words: what `index_contexts` builds and `read_contexts` reads.

    Parameters
    ----------
    path
        Its file.
    name, sha256
        Name of the corpus, and the hash of its paragraphs.
    contexts, words
        How many there are.
    longest
        Characters of a context, at most.
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
        """Return how many contexts hold both words of pairs, and how far apart they are there.

        Parameters
        ----------
        pairs
            Cues with their responses. A word of several words, as "ice cream", is looked up as they follow each other;
            upper and lower case are one.
        progress
            Whether to show a bar.

        Returns
        -------
        pandas.DataFrame
            A row a pair: `cue`, `response`; `contexts`, those that hold both; `cue_count` and `response_count`, how
            often each occurs; `distance`, characters from the start of one to the start of the other where they are
            nearest in a context, the mean over contexts (missing without contexts); `left_out`, why there is none.

        Raises
        ------
        ArgumentError
            If a pair is not two texts.
        NotEnoughMemoryError
            If the places of the words do not fit.
        """
        import pandas as pd

        found = find_pairs(self, pairs, progress=progress)
        return pd.DataFrame(
            {
                "cue": [cue for cue, _ in found.pairs],
                "response": [response for _, response in found.pairs],
                "contexts": [len(each.contexts) for each in found.shared],
                "cue_count": [len(found.occurrences[cue]) for cue, _ in found.pairs],
                "response_count": [len(found.occurrences[response]) for _, response in found.pairs],
                "distance": pd.array(_mean_distances(self, found), dtype="Float64"),
                "left_out": found.left_out,
            }
        )

    def texts(self, contexts: Iterable[int]) -> list[str]:
        """Return the texts of contexts, by their numbers from 0.

        Raises
        ------
        ArgumentError
            If there is no such context.
        """
        wanted = list(contexts)
        if wrong := [each for each in wanted if not is_count(each) or each >= self.contexts]:
            raise ArgumentError(
                f"contexts: {wrong[0]!r} is no number of a context. Give some from 0 to {self.contexts - 1}."
            )
        with _opened(self.path) as base:
            found = [base.execute("SELECT text FROM contexts WHERE id = ?", (int(each),)).fetchone() for each in wanted]
        texts = [row[0] for row in found if row and isinstance(row[0], str) and "\n" not in row[0]]
        if len(texts) < len(wanted):
            raise _damaged(self.path, "contexts are missing")
        return texts


def read_contexts(path: str | os.PathLike[str], *, corpus: TextsLike | None = None) -> ContextIndex:
    """Read the index of a corpus that `index_contexts` built.

    Parameters
    ----------
    path
        Its file.
    corpus
        If given, the index must be of this corpus: its paragraphs are hashed.

    Returns
    -------
    ContextIndex
        The texts stay in the file.

    Raises
    ------
    InputFileError
        If the file is no index of ours, or damaged.
    EmbeddingError
        If it is the index of another corpus.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = bb.embeddings.index_contexts(["A cat.", "A dog."], f"{folder}/pets.contexts")
    ...     bb.embeddings.read_contexts(f"{folder}/pets.contexts").texts([1])
    ['A dog.']
    """
    source = input_file(path)
    with source.open("rb") as stream:
        header = stream.read(100)
    if not header.startswith(_SQLITE) or int.from_bytes(header[68:72]) != APPLICATION:
        raise InputFileError(f"{source} is no index of contexts. Build one with index_contexts, or bayesbias contexts.")
    if source.stat().st_size < _SEALED and not check_sealed_file(source):
        raise _damaged(source, "it is cut short")
    if int.from_bytes(header[60:64]) != VERSION:
        raise InputFileError(f"{source} was written by another version of this package. Build it again.")
    with _opened(source) as base:
        rows = base.execute("SELECT name, value FROM facts").fetchall()
    try:
        facts = {name: json.loads(value) for name, value in rows}
        texts, counts = (facts["name"], facts["sha256"]), (facts["contexts"], facts["words"], facts["longest"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(source, "it does not say what it holds") from error
    if not (all(map(is_text, texts)) and all(map(is_count, counts)) and facts["sha256"]):
        raise _damaged(source, "it does not say what it holds")
    if corpus is not None and corpus_hash(read_texts(corpus)) != facts["sha256"]:
        raise EmbeddingError(
            f"{source} is the index of another corpus than {corpus_name(corpus)}: of {facts['name']}, or as it was "
            "before it changed. Build another index, or allow overwriting (overwrite=True, or --overwrite)."
        )
    return ContextIndex(source, *texts, *counts)


@dataclass(frozen=True)
class FoundPairs:
    """Pairs of words in an index: where each word occurs, and what contexts hold both."""

    pairs: list[tuple[str, str]]
    occurrences: dict[str, Occurrences]
    shared: list[Shared]
    left_out: list[str] = field(default_factory=list)


def find_pairs(index: ContextIndex, pairs: Iterable[tuple[str, str]], *, progress: bool) -> FoundPairs:
    """Return where the words of pairs occur, the contexts that hold both words of each, and why there are none."""
    checked = check_pairs(pairs)
    found = find_words(index, [word for pair in checked for word in pair], progress=progress)
    shared, reasons = [], []
    for cue, response in with_progress(checked, "contexts of pairs", progress=progress):
        one, other = found[cue], found[response]
        reason = _overlap(cue, response) or _absent(index, {cue: one, response: other})
        shared.append(Shared.none() if reason else shared_contexts(one, other))
        reasons.append(reason or ("" if len(shared[-1].contexts) else f"no context of {index.name} holds both words"))
    return FoundPairs(checked, found, shared, reasons)


def check_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs of texts; raise `ArgumentError` if they are something else."""
    checked = []
    for pair in check_items("pairs", pairs, "pairs of words"):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2 or not all(map(is_text, pair)):
            raise ArgumentError(f"pairs: {pair!r:.60} is no pair of words. Give such as ('guitar', 'music').")
        checked.append((str(pair[0]), str(pair[1])))
    return checked


def find_words(index: ContextIndex, words: Iterable[str], *, progress: bool) -> dict[str, Occurrences]:
    """Return where each word, or each series of words that follow each other, occurs."""
    parts = {word: words_of(word) for word in words}
    single = list(dict.fromkeys(part for each in parts.values() for part in each))
    found: dict[str, Occurrences] = {}
    with _opened(index.path) as base:
        count = "SELECT cnt FROM counts WHERE term = ?"
        needed = sum((base.execute(count, (part,)).fetchone() or (0,))[0] for part in single)
        what = f"{needed:,} places of {len(single):,} words"
        check_memory(needed * _BYTES_AN_OCCURRENCE, what, "Take fewer words at a time.")
        for part in with_progress(single, "places of words", progress=progress):
            cursor = base.execute("SELECT doc, offset FROM places WHERE term = ?", (part,))
            blocks = [np.empty((0, 2), dtype=np.int64)]
            while rows := cursor.fetchmany(_ROWS):
                blocks.append(np.array(rows, dtype=np.int64))
            places = np.concatenate(blocks)
            if len(places) and not 0 <= places[:, 0].min() <= places[:, 0].max() < index.contexts:
                raise _damaged(index.path, f"contexts of {part!r} are missing")
            found[part] = Occurrences(places[:, 0].copy(), places[:, 1].copy(), 1)
    return {word: Occurrences.following([found[part] for part in each]) for word, each in parts.items()}


def text_blocks(index: ContextIndex, contexts: NDArray[np.int64]) -> Iterator[tuple[slice, list[str]]]:
    """Yield the texts of contexts, whose numbers rise, in blocks: their places in `contexts`, and the texts."""
    for start in range(0, len(contexts), _TEXTS):
        block = slice(start, min(start + _TEXTS, len(contexts)))
        yield block, index.texts(contexts[block].tolist())


def character_spans(
    index: ContextIndex, contexts: NDArray[np.int64], words: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the first and the last character + 1 of words in their contexts: an array of shape (words, 2)."""
    distinct, rows = np.unique(contexts, return_inverse=True)
    order = np.argsort(rows, kind="stable")
    found = np.empty((len(contexts), 2), dtype=np.int64)
    for block, texts in text_blocks(index, distinct):
        low, high = np.searchsorted(rows[order], [block.start, block.stop])
        chosen = order[low:high]
        try:
            found[chosen] = spans(texts, rows[chosen] - block.start, words[chosen], lengths[chosen])
        except IndexError as error:
            raise _damaged(index.path, str(error)) from error
    return found


def _mean_distances(index: ContextIndex, found: FoundPairs) -> list[float | None]:
    """Return of each pair the mean distance of its words in characters, None without contexts."""
    sizes = [len(each.contexts) for each in found.shared]
    if not sum(sizes):
        return [None] * len(sizes)
    contexts = np.concatenate([each.contexts for each in found.shared])
    starts = []
    for side, name in enumerate(("cue_words", "response_words")):
        words = np.concatenate([getattr(each, name) for each in found.shared])
        lengths = np.repeat([found.occurrences[pair[side]].length for pair in found.pairs], sizes)
        starts.append(character_spans(index, contexts, words, lengths)[:, 0])
    sums = np.bincount(np.repeat(np.arange(len(sizes)), sizes), abs(starts[0] - starts[1]), minlength=len(sizes))
    return [float(total / size) if size else None for total, size in zip(sums, sizes, strict=True)]


def _overlap(cue: str, response: str) -> str:
    one, other = words_of(cue), words_of(response)
    if not one or not other:
        return f"{(response if one else cue)!r} has no letter"
    if one == other:
        return "cue and response are one word"
    short, long = sorted((one, other), key=len)
    if any(long[start : start + len(short)] == short for start in range(len(long))):
        return "one word is a part of the other"
    return ""


def _absent(index: ContextIndex, words: dict[str, Occurrences]) -> str:
    absent = [word for word, places in words.items() if not len(places)]
    return f"{' and '.join(map(repr, absent))} not in {index.name}" if absent else ""


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an index for reading; what goes wrong in it becomes an `InputFileError`."""
    try:
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as base:
            yield base
    except BayesBiasError:
        raise
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> InputFileError:
    return InputFileError(f"{path} is damaged, or no index of contexts ({why}). Build it again with index_contexts.")
