"""Corpora: every source gives the same numbers; what cannot be read says why."""

import gzip
import tracemalloc
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest

from bayesbias.embeddings.training import corpus as module
from bayesbias.embeddings.training import tokenize
from bayesbias.embeddings.training.corpus import DOCUMENT_END, count_cooccurrences, read_corpus, resampled
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, NotEnoughMemoryError

TEXT = "The king and the queen.\n\nA queen, a king; 2 children!\nthe end\n"
LISTS = [["the", "king", "and", "the", "queen"], [], ["a", "queen", "a", "king", "children"], ["the", "end"]]


def decoded(corpus) -> list[str]:
    names = [*corpus.words, "RARE", "|"]
    return [names[number] for number in corpus.stream]


def test_words_keep_inner_hyphens_and_apostrophes():
    assert tokenize("O'Neill’s co-op -- naïve 'quote'") == ["o'neill’s", "co-op", "naïve", "quote"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी पढ़ता", ["हिन्दी".strip(), "पढ़ता"]),
        ("İstanbul İzmir", ["istanbul", "izmir"]),
        ("cafe\u0301 nai\u0308ve", ["caf\u00e9", "na\u00efve"]),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"]),
        ("\u0301x 5\u0301 y", ["x", "y"]),
    ],
)
def test_marks_belong_to_their_letters(text: str, words: list[str]):
    assert tokenize(text) == [normalize("NFC", word) for word in words]


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
    for source in (plain, str(packed), folder, iter(LISTS), (tuple(document) for document in LISTS)):
        corpus = read_corpus(source, min_count=1)
        assert " ".join(decoded(corpus)) == "the king and the queen | a queen a king children | the end |"
        assert (corpus.sha256, corpus.documents, corpus.tokens) == (wanted.sha256, 3, 12)
    assert read_corpus(plain, min_count=1).facts()["name"] == "text.txt"
    assert wanted.facts()["name"] == "lists of words"


def test_words_are_in_the_order_of_their_frequency_and_rare_ones_keep_their_places():
    corpus = read_corpus(LISTS, min_count=2)
    assert corpus.words == ("the", "a", "queen", "king")  # of equally frequent ones the later first, as in gensim
    assert corpus.counts.tolist() == [3, 2, 2, 2]
    assert " ".join(decoded(corpus)) == "the king RARE the queen | a queen a king RARE | the RARE |"
    assert (corpus.stream == DOCUMENT_END).sum() == 3


def test_the_hash_is_that_of_the_words_in_their_order():
    hashes = {
        read_corpus(documents, min_count=1).sha256
        for documents in (LISTS, LISTS[::-1], [[*LISTS[0], *LISTS[2]], LISTS[3]])
    }
    assert len(hashes) == 3
    assert read_corpus(LISTS, min_count=2).sha256 in hashes


@pytest.mark.parametrize(
    ("source", "min_count", "message"),
    [
        ([], 1, r"1 times .* 0 words .* 0 documents.*smaller min_count"),
        (LISTS, 5, r"5 times .* 12 words .* 3 documents"),
        (LISTS, 3, r"word 'the' .* 3 times"),
        (["the king"], 1, r"Document 0"),
        ([["a"], {"a", "b"}], 1, r"Document 1"),
        ([["a", ["b"]]], 1, r"Document 0"),
        ([["a", 5]], 1, r"text.* 5"),
        ([["a", "b\0"]], 1, r"NUL"),
        ([["a", "\ud800"]], 1, r"surrogate"),
    ],
)
def test_what_is_no_corpus(source, min_count, message):
    with pytest.raises(EmbeddingError, match=message):
        read_corpus(source, min_count=min_count)


def test_files_that_are_none(tmp_path: Path):
    with pytest.raises(ArgumentError, match="corpus=5"):
        read_corpus(5, min_count=1)  # type: ignore[arg-type]
    with pytest.raises(InputFileError, match="file"):
        read_corpus(tmp_path / "none.txt", min_count=1)
    with pytest.raises(InputFileError, match=r"\.txt .* \.txt\.gz"):
        read_corpus(tmp_path, min_count=1)
    bad = tmp_path / "bad.txt"
    bad.write_bytes("fine\nZoë".encode("latin-1"))
    with pytest.raises(InputFileError, match=r"line 2 .* UTF-8"):
        read_corpus(bad, min_count=1)
    bad.write_bytes(gzip.compress(TEXT.encode() * 100, mtime=0)[:-20])
    with pytest.raises(InputFileError, match="damaged"):
        read_corpus(bad, min_count=1)


def test_a_corpus_takes_few_bytes_a_word():
    def many():
        rng = np.random.default_rng(1)
        for _ in range(100):
            yield [str(number) for number in rng.integers(50, size=1000)]

    peaks = []
    for _ in range(3):  # threads of other tests may allocate meanwhile
        tracemalloc.start()
        corpus = read_corpus(many(), min_count=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert corpus.tokens == 100_000
    assert min(peaks) < 20 * corpus.tokens  # of lists of words, 60 and more


def test_a_corpus_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 10)
    with pytest.raises(NotEnoughMemoryError, match="words of the corpus"):
        module.read_corpus(LISTS, min_count=1)
    # Few words, but long ones: their texts count.
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 10_000_000)
    long = "a" * 10_000
    assert module.read_corpus([["a", long] * 1000], min_count=1).tokens == 2000
    with pytest.raises(NotEnoughMemoryError, match="words of the corpus"):
        module.read_corpus(([f"{long}{number}"] for number in range(2000)), min_count=1)


def test_resampled_documents_are_whole_documents_of_the_corpus() -> None:
    """Each drawn document is one of the corpus, rare words included, and the counts are those of the stream."""
    rng = np.random.default_rng(1)
    texts = [rng.choice(list("abcdefgh"), rng.integers(1, 9)).tolist() + ["rare"] * (k == 3) for k in range(30)]
    corpus = read_corpus(texts, min_count=2)
    originals = {tuple(word if word in corpus.words else None for word in text) for text in texts}
    for seed in range(20):
        drawn = resampled(corpus, seed)
        names = [*drawn.words, None, "END"]
        words = [names[number] for number in drawn.stream]
        places = np.flatnonzero(drawn.stream == DOCUMENT_END)
        starts = [0, *(places[:-1] + 1)]
        documents = [tuple(words[start:end]) for start, end in zip(starts, places, strict=True)]
        assert len(documents) == len(texts) == drawn.documents
        assert set(documents) <= originals
        assert len(set(documents)) < len(originals)
        counts = {word: sum(text.count(word) for text in documents) for word in drawn.words}
        assert list(counts.values()) == drawn.counts.tolist() == sorted(counts.values(), reverse=True)
        assert min(counts.values()) > 0
        assert drawn.tokens == sum(map(len, documents))


def test_a_line_or_a_document_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    (tmp_path / "texts").mkdir()
    line = tmp_path / "line.txt"
    line.write_bytes(gzip.compress(b"a " * 5_000_000))
    (tmp_path / "texts" / "document.txt.gz").write_bytes(gzip.compress(b"a a a\n" * 500_000))
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "words.txt.gz").write_bytes(gzip.compress((b"a" * 10_000 + b"\n") * 10_000))
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 50_000_000)
    with pytest.raises(NotEnoughMemoryError, match=r"line\.txt: the words of one line"):
        read_corpus(line, min_count=1)
    with pytest.raises(NotEnoughMemoryError, match=r"document\.txt\.gz: its words"):
        read_corpus(tmp_path / "texts", min_count=1)
    with pytest.raises(NotEnoughMemoryError, match=r"words\.txt\.gz: its words"):
        read_corpus(tmp_path / "long", min_count=1)


END = -1
# What cooccur of github.com/stanfordnlp/GloVe (commit 52f7dbc) counts in two documents, with -symmetric 1
# -window-size 3 -max-product 5 -overflow-length 1000. (Where nothing overflows it counts its first entry twice.)
GLOVE_TEXT = "a b a c b d a\nb a c c d"
GLOVE_COUNTS = [[1, 4, 19 / 6, 5 / 3], [4, 2 / 3, 7 / 3, 1], [19 / 6, 7 / 3, 2, 2], [5 / 3, 1, 2, 0]]


def dense(parts, words):
    matrix = np.zeros((words, words))
    for part in parts:
        for row in range(len(part.starts) - 1):
            for entry in range(part.starts[row], part.starts[row + 1]):
                one, other = part.first + row, part.columns[entry]
                assert other <= one
                assert matrix[one, other] == 0, "each entry stands once"
                matrix[one, other] = matrix[other, one] = part.values[entry]
    return matrix


def by_hand(stream, words, window):
    matrix = np.zeros((words, words))
    for place, word in enumerate(stream):
        for distance in range(1, window + 1):
            if word == END or place - distance < 0 or stream[place - distance] == END:
                break
            matrix[word, stream[place - distance]] += 1 / distance
            matrix[stream[place - distance], word] += 1 / distance
    return matrix


@pytest.mark.parametrize("pairs_at_once", [1, 50, 1 << 20])
@pytest.mark.parametrize("window", [1, 4, 100])
def test_against_a_loop_over_pairs(window, pairs_at_once):
    rng = np.random.default_rng(window)
    stream = np.minimum(rng.geometric(0.2, size=400) - 1, 14).astype(np.int32)
    stream[rng.random(400) < 0.05] = END
    parts = count_cooccurrences(stream, 15, window, pairs_at_once)
    np.testing.assert_allclose(dense(parts, 15), by_hand(stream.tolist(), 15, window), rtol=1e-6)
    assert (len(parts) > 1) == (pairs_at_once < 100)


def test_against_the_authors_program():
    words = {"a": 0, "b": 1, "c": 2, "d": 3}
    stream = np.array([words.get(token, END) for token in GLOVE_TEXT.replace("\n", " | ").split()], dtype=np.int32)
    matrix = dense(count_cooccurrences(stream, 4, 3), 4)
    np.testing.assert_allclose(matrix, GLOVE_COUNTS, rtol=1e-6)


def test_words_that_never_meet():
    stream = np.array([0, END, 1, END], dtype=np.int32)
    assert sum(len(part.columns) for part in count_cooccurrences(stream, 2, 5)) == 0
