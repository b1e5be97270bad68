"""Corpora: every source gives the same numbers; what cannot be read says why."""

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from bayesbias.embeddings.training import corpus as module
from bayesbias.embeddings.training import tokenize
from bayesbias.embeddings.training.corpus import DOCUMENT_END, read_corpus
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, NotEnoughMemoryError

TEXT = "The king and the queen.\n\nA queen, a king; 2 children!\nthe end\n"
LISTS = [["the", "king", "and", "the", "queen"], [], ["a", "queen", "a", "king", "children"], ["the", "end"]]


def decoded(corpus) -> list[str]:
    names = [*corpus.words, "RARE", "|"]
    return [names[number] for number in corpus.stream]


def test_words_keep_inner_hyphens_and_apostrophes():
    assert tokenize("O'Neill’s co-op -- naïve 'quote'") == ["o'neill’s", "co-op", "naïve", "quote"]


def test_every_source_gives_the_same_corpus(tmp_path: Path):
    plain, packed, folder = tmp_path / "text.txt", tmp_path / "packed", tmp_path / "folder"
    plain.write_text("\ufeff" + TEXT.replace("\n", "\r\n"), encoding="utf-8")
    packed.write_bytes(gzip.compress(TEXT.encode(), mtime=0))
    (folder / "inside").mkdir(parents=True)
    (folder / "1.txt").write_text("The king\nand the\nqueen.")
    (folder / "2.txt.gz").write_bytes(gzip.compress(b"A queen, a king;\n2 children!", mtime=0))
    (folder / "inside" / "3.txt").write_text("the end")
    (folder / "notes.md").write_text("no text of the corpus")
    wanted = read_corpus(LISTS, min_count=1)
    for source in (plain, str(packed), folder, iter(LISTS), (tuple(each) for each in LISTS)):
        found = read_corpus(source, min_count=1)
        assert " ".join(decoded(found)) == "the king and the queen | a queen a king children | the end |"
        assert (found.sha256, found.documents, found.tokens) == (wanted.sha256, 3, 12)
    assert read_corpus(plain, min_count=1).facts()["name"] == "text.txt"
    assert wanted.facts()["name"] == "lists of words"


def test_words_are_in_the_order_of_their_frequency_and_rare_ones_keep_their_places():
    found = read_corpus(LISTS, min_count=2)
    assert found.words == ("the", "a", "queen", "king")  # of equally frequent ones the later first, as in gensim
    assert found.counts.tolist() == [3, 2, 2, 2]
    assert " ".join(decoded(found)) == "the king RARE the queen | a queen a king RARE | the RARE |"
    assert (found.stream == DOCUMENT_END).sum() == 3


def test_the_hash_is_that_of_the_words_in_their_order():
    hashes = {
        read_corpus(each, min_count=1).sha256 for each in (LISTS, LISTS[::-1], [[*LISTS[0], *LISTS[2]], LISTS[3]])
    }
    assert len(hashes) == 3
    assert read_corpus(LISTS, min_count=2).sha256 in hashes


@pytest.mark.parametrize(
    ("source", "min_count", "said"),
    [
        ([], 1, r"No word occurs 1 times or more in the 0 words of the 0 documents.*smaller min_count"),
        (LISTS, 5, r"No word occurs 5 times or more in the 12 words of the 3 documents"),
        (LISTS, 3, r"Only the word 'the' occurs 3 times or more"),
        (["the king"], 1, r"Document 0 of the corpus is str and no list of words"),
        ([["a"], {"a", "b"}], 1, r"Document 1 of the corpus is set"),
        ([["a", ["b"]]], 1, r"Document 0 .* no word"),
        ([["a", 5]], 1, r"Words must be text; found 5"),
        ([["a", "b\0"]], 1, r"holds a NUL"),
        ([["a", "\ud800"]], 1, r"surrogate"),
    ],
)
def test_what_is_no_corpus(source, min_count, said):
    with pytest.raises(EmbeddingError, match=said):
        read_corpus(source, min_count=min_count)


def test_files_that_are_none(tmp_path: Path):
    with pytest.raises(ArgumentError, match="corpus=5"):
        read_corpus(5, min_count=1)  # type: ignore[arg-type]
    with pytest.raises(InputFileError, match="There is no file"):
        read_corpus(tmp_path / "none.txt", min_count=1)
    with pytest.raises(InputFileError, match=r"holds no file that ends in \.txt or \.txt\.gz"):
        read_corpus(tmp_path, min_count=1)
    bad = tmp_path / "bad.txt"
    bad.write_bytes("fine\nZoë".encode("latin-1"))
    with pytest.raises(InputFileError, match="line 2 is not UTF-8"):
        read_corpus(bad, min_count=1)
    bad.write_bytes(gzip.compress(TEXT.encode() * 100, mtime=0)[:-20])
    with pytest.raises(InputFileError, match="damaged or cut short"):
        read_corpus(bad, min_count=1)


def test_a_corpus_takes_few_bytes_a_word():
    def many():
        rng = np.random.default_rng(1)
        for _ in range(100):
            yield [str(number) for number in rng.integers(50, size=1000)]

    tracemalloc.start()
    found = read_corpus(many(), min_count=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.tokens == 100_000
    assert peak < 20 * found.tokens  # of lists of words, 60 and more


def test_a_corpus_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bayesbias.base.memory.free_memory", lambda: 10)
    with pytest.raises(NotEnoughMemoryError, match="12 words of a corpus need"):
        module.read_corpus(LISTS, min_count=1)
