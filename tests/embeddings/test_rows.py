"""What readers share: repeats, damaged words, and the memory of rows."""

import bz2
import gzip
import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from bayesbias.base import machine as memory
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.readers.text import read_glove, read_text
from bayesbias.embeddings.readers.word2vec_binary import read_word2vec_binary
from bayesbias.embeddings.rows import Rows, Wanted, check_header, check_input, checked, decode
from bayesbias.embeddings.vocabulary_sample import WantedWithSample
from bayesbias.errors import EmbeddingError, InputFileError, LostWordsError, NotEnoughMemoryError
from tests.embeddings.files import VECTORS, WORDS, fasttext_model, keyed_vectors

VECTOR = [1.5, -0.5, 0.75, 2.25, -1.25, 0.5, 1.0, -2.0]


def rows(words: str, vectors: list[list[float]]) -> Rows:
    return Rows(list(words), np.array(vectors), list(range(2, 2 + len(words))), "line")


def test_repeats_are_kept_once() -> None:
    words, vectors = checked(rows("aba", [[1.0], [2.0], [1.0]]), "f")
    assert words == ("a", "b")
    np.testing.assert_array_equal(vectors, [[1.0], [2.0]])


def test_a_word_with_two_vectors_is_refused_with_its_lines() -> None:
    with pytest.raises(EmbeddingError, match=r"'a' .* line 2 .* 4"):
        checked(rows("aba", [[1.0], [2.0], [3.0]]), "f")
    with pytest.raises(EmbeddingError, match=r"'b' .* line 3 .* zero"):
        checked(rows("ab", [[1.0], [0.0]]), "f")


@pytest.mark.parametrize("packed", [gzip.compress, bytes])
@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("read", [read_text, read_glove, read_word2vec_binary])
def test_a_word_that_is_repeated_takes_no_more_memory(
    read: Callable[[Path, Wanted], Rows],
    sample: bool,
    packed: Callable[[bytes], bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)
    vectors = [VECTOR, VECTOR, [0.25, *VECTOR[1:]], *([number % 7 + 0.5, *VECTOR[1:]] for number in range(2000))]
    header = b"" if read is read_glove else b"%d 8\n" % len(vectors)
    if read is read_word2vec_binary:
        lines = [b"he " + np.array(vector, "<f4").tobytes() + b"\n" for vector in vectors]
    else:
        lines = [f"he {' '.join(map(str, vector))}\n".encode() for vector in vectors]
    (tmp_path / "f").write_bytes(packed(header + b"".join(lines)))
    wanted = WantedWithSample(frozenset()) if sample else frozenset(["he"])
    kept = read(tmp_path / "f", wanted)
    if not sample:
        assert kept.words == ["he", "he"]
        np.testing.assert_array_equal(kept.vectors, [VECTOR, vectors[2]])
        assert kept.where(1) in ("at line 3", "at line 4") or kept.unit == "byte"


def test_empty_files_and_damaged_words(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(InputFileError, match="empty"):
        check_input(tmp_path / "f")
    with pytest.raises(EmbeddingError, match=r"b'\\xff' .* line 1 .* UTF-8"):
        decode(b"\xff", source="f", where="at line 1")
    for words, dimensions in ((0, 5), (5, 0), (5, 100_001)):
        with pytest.raises(EmbeddingError, match="header"):
            check_header(words, dimensions, "f")


def word2vec_rows(words: list[bytes], promised: int) -> bytes:
    return b"%d 2\n" % promised + b"".join(word + b" " + bytes(8) for word in words)


LONG = b"x" * 9_000
BOMBS = {
    "glove": b"".join(b"w%d 0.1 0.2\n" % number for number in range(100_000)),
    "word2vec_text": b"1 2\n"
    + b"".join(b"w%d 0.1 0.2\n" % number for number in range(100_000)),  # more rows than the header promises
    "word2vec_text, long words": b"1000 2\n" + b"".join(b"%d%s 0.1 0.2\n" % (number, LONG) for number in range(1_000)),
    "word2vec_binary": word2vec_rows([b"%d%s" % (number, LONG) for number in range(1_000)], 1_000),
}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
@pytest.mark.parametrize("name", BOMBS)
def test_rows_are_counted_while_they_are_read(
    name: str, pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(BOMBS[name]))
    monkeypatch.setattr(memory, "free_memory", lambda: 2_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(NotEnoughMemoryError, match=rf"^{path}: .* need .* 0\.0 GB are free\. Read only the words"):
            load_embedding(path, format=name.partition(",")[0])
        assert tracemalloc.get_traced_memory()[1] < 25_000_000  # xz itself takes 10 MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", ["glove", "word2vec_text", "word2vec_binary"])
def test_words_that_nobody_wants_take_no_memory(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may be far larger than the memory, if the words to keep, and those of the sample, are not."""
    words = [b"he", b"she", *(b"w%d" % number for number in range(60_000))]
    content = b"".join(word + b" 0.1 0.2\n" for word in words)
    if form == "word2vec_text":
        content = b"60002 2\n" + content
    if form == "word2vec_binary":
        content = b"60002 2\n" + b"".join(word + b" " + np.ones(2, dtype="<f4").tobytes() for word in words)
    (tmp_path / "f.gz").write_bytes(gzip.compress(content))
    monkeypatch.setattr(memory, "free_memory", lambda: 4_000_000)
    assert load_embedding(tmp_path / "f.gz", words=["she"]).words == ("she",)
    with pytest.raises(NotEnoughMemoryError):
        load_embedding(tmp_path / "f.gz")


TABLE = dict(zip(WORDS, VECTORS, strict=True))
OBJECTS = {
    "mapping": TABLE,
    "read-only mapping": MappingProxyType(TABLE),
    "lists": {word: vector.tolist() for word, vector in TABLE.items()},
    "pair": (WORDS, VECTORS),
    "pair of lists": (list(WORDS), VECTORS.tolist()),
    "pair of arrays": (np.array(WORDS), VECTORS),
    "generator": (iter(WORDS), VECTORS),
    "embedding": Embedding(words=WORDS, vectors=VECTORS),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param("keyed vectors", marks=pytest.mark.gensim), *(name for name in OBJECTS if name != "generator")],
)
def test_objects(name):
    source = keyed_vectors() if name == "keyed vectors" else OBJECTS[name]
    embedding = load_embedding(source)
    assert embedding.words == WORDS
    assert all(type(word) is str for word in embedding.words)
    np.testing.assert_array_equal(embedding.vectors.astype(np.float32), VECTORS)
    assert embedding.name == "embedding"
    few = load_embedding(source, words=["MAN", "child"], case="lower", name="few")
    assert few.words == ("man",)
    assert few.name == "few"
    with pytest.raises(LostWordsError, match=r"'child'"):
        load_embedding(source, words=["child"])


def test_a_frame_has_its_words_in_the_index():
    frame = pd.DataFrame(VECTORS, index=list(WORDS))
    np.testing.assert_array_equal(load_embedding(frame)["king"], VECTORS[WORDS.index("king")])


def test_words_may_be_any_series():
    assert load_embedding(OBJECTS["generator"]).words == WORDS


@pytest.mark.gensim
def test_models_give_only_the_words_that_they_learned():
    model = fasttext_model()
    for source in (model, model.wv):
        embedding = load_embedding(source, words=["king", "kingdom"])
        assert embedding.words == ("king",)
        np.testing.assert_array_equal(embedding["king"], model.wv["king"])


@pytest.mark.gensim
def test_keyed_vectors_whose_rows_are_in_another_order():
    vectors = keyed_vectors()
    vectors.key_to_index = {"man": 4, "king": 0}
    embedding = load_embedding(vectors)
    assert embedding.words == ("man", "king")
    np.testing.assert_array_equal(embedding.vectors, VECTORS[[4, 0]])


def test_an_embedding_keeps_its_name():
    source = Embedding(words=("a",), vectors=[[1.0]], name="mine")
    assert load_embedding(source, case="lower").name == "mine"
    assert load_embedding(source, name="other").name == "other"


def test_a_repeat_with_the_same_vector_is_kept_once():
    assert load_embedding((["a", "b", "a"], [[1.0], [2.0], [1.0]])).words == ("a", "b")
    with pytest.raises(EmbeddingError, match=r"'a' .* row 1 .* row 3"):
        load_embedding((["a", "b", "a"], [[1.0], [2.0], [3.0]]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "NoneType"),
        (3, "int"),
        (b"path", "bytes"),
        (VECTORS, "ndarray"),
        (("a",), "tuple"),
        ((["a", "b"], VECTORS), r"2 words .* 5 vectors"),
        (("ab", VECTORS[:2]), "'ab'"),
        ((3, VECTORS), "listed"),
        (([1], VECTORS[:1]), r"text.* 1"),
        ((VECTORS[:2], ["a", "b"]), r"\(words, matrix\)"),
        ((["a"], VECTORS[0]), r"shape \(4,\)"),
        ((["a"], [["x"]]), "numbers"),
        ({}, r"shape \(0,\)"),
        ({1: [1.0]}, "text"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "numbers"),
        ({"a": [1.0], "b": [0.0]}, r"'b' .* row 2 .* zero"),
        ({"a": 1.0}, r"shape \(1,\)"),
    ],
)
def test_objects_that_do_not_do(source, message):
    with pytest.raises(EmbeddingError, match=message):
        load_embedding(source)
