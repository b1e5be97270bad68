"""What a text takes in memory is not more than its reader counts, whatever separates its words."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.base.files import inputs
from bayesbias.base.files.spreadsheets import read_csv
from bayesbias.base.files.word_lists import read_word_lists
from bayesbias.embeddings.training.corpus import read_corpus
from bayesbias.errors import BayesBiasError, NotEnoughMemoryError
from bayesbias.metrics.intrinsic.quality import read_sembias, read_similarity

_ROWS = 20_000


def _frame(path: Path) -> object:
    return read_csv(path, "Give numbers.", keys=("word",))


def _numbered(row: str) -> str:
    return "".join(row.format(number) for number in range(_ROWS))


_TEXTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "words after carriage returns": (read_word_lists, "a\r" * _ROWS),
    "words of two letters": (read_word_lists, "ab\n" * _ROWS),
    "lists": (read_word_lists, "a,b\n" + "ab,cd\r" * _ROWS),
    "decimal commas": (_frame, "word;x\n" + "a;1,5\n" * _ROWS),
    "one column": (_frame, "word,x\n" + _numbered("{:x},y\n")),
    "pairs after carriage returns": (
        bb.nli.read_pairs,
        "premise,hypothesis,label\r" + "ab,bc,neutral\r" * _ROWS,
    ),
    "answers in one line": (bb.asymmetry.read_evocation, f"<eat>{'<response/>' * _ROWS}</eat>"),
    "relations": (bb.asymmetry.read_relations, _numbered("{:x},b,c\n")),
    "rated pairs": (read_similarity, _numbered("a{} b 1\n")),
    "questions": (read_sembias, _numbered("a{}:b c:d e:f g:h\n")),
    "a line of hyphens": (lambda path: read_corpus(path, min_count=1), "a-" * (10 * _ROWS) + "\n"),
    "a line of letters": (lambda path: read_corpus(path, min_count=1), "a b " * (5 * _ROWS) + "\n"),
}


def _answer(read: Callable[[Path], object], path: Path) -> object:
    try:
        return read(path)
    except BayesBiasError as error:
        return type(error)


@pytest.mark.parametrize("name", _TEXTS)
def test_a_text_that_takes_more_than_is_free_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, text = _TEXTS[name]
    monkeypatch.setattr(inputs, "_PIECE", 1 << 14)  # below it, a line is not counted
    path = tmp_path / "text.csv"
    path.write_text(text[:100] + "\n", newline="")
    _answer(read, path)  # what is imported is not counted
    path.write_text(text, newline="")
    tracemalloc.start()
    try:
        _answer(read, path)
        _, took = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took > 500_000
    monkeypatch.setattr(memory, "free_memory", lambda: took)
    assert _answer(read, path) is NotEnoughMemoryError
