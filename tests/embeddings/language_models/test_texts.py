"""Texts of a corpus, and the words in them."""

import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbias.embeddings.language_models.texts import (
    Occurrences,
    cut,
    read_texts,
    shared_contexts,
    spans,
    word_places,
    word_texts,
    words_of,
)
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, NotEnoughMemoryError

PLAIN = st.text(alphabet="aB éß.,-'\t09_", max_size=60)


def test_a_table_is_no_corpus() -> None:
    with pytest.raises(EmbeddingError, match="table"):
        list(read_texts(pd.DataFrame({"text": ["A cat."]})))
    assert list(read_texts(pd.Series(["A cat."], name="text"))) == [b"A cat."]


@settings(deadline=None)  # the first words need a table of all letters
@given(st.lists(PLAIN, min_size=1, max_size=6))
def test_words_and_their_places_are_those_of_a_regular_expression(contexts: list[str]) -> None:
    first, starts, ends = word_places(contexts)
    spans_by_text = [[match.span() for match in re.finditer(r"[^\W_]+", text)] for text in contexts]
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [
        span for text_spans in spans_by_text for span in text_spans
    ]
    assert first.tolist() == np.cumsum([0, *map(len, spans_by_text)])[:-1].tolist()
    texts = word_texts(contexts)
    assert [text.split() for text in texts] == [re.findall(r"[^\W_]+", text.lower()) for text in contexts]
    assert list(map(len, texts)) == list(map(len, contexts))


@given(st.text(max_size=80))
def test_any_text_has_as_many_words_as_places(text: str) -> None:
    text = text.replace("\n", " ").encode("utf-8", "ignore").decode()
    assert len(words_of(text)) == len(word_places([text])[1])


def test_a_letter_whose_lower_case_is_two_letters_and_marks_of_other_scripts_keep_their_places() -> None:
    assert words_of("İstanbul Σοφός") == ["İstanbul", "σοφός"]
    assert words_of("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert spans(["İ dog"], np.array([0]), np.array([1]), np.array([1])).tolist() == [[2, 5]]


@given(PLAIN, st.integers(5, 30))
def test_pieces_hold_all_words_and_are_not_too_long(text: str, longest: int) -> None:
    pieces = list(cut(text, longest))
    assert all(0 < len(piece) <= longest for piece in pieces)
    assert re.sub(r"\s", "", "".join(pieces)) == re.sub(r"\s", "", text)


def test_a_file_a_gzipped_file_a_folder_and_a_list_are_the_same_texts(tmp_path: Path) -> None:
    lines = ["A cat sat.", "", "Zoë's dog"]
    content = "\r\n".join(lines).encode()
    (tmp_path / "b.txt").write_bytes(content)
    (tmp_path / "c.gz").write_bytes(gzip.compress(content, mtime=0))
    folder = tmp_path / "folder" / "inner"
    folder.mkdir(parents=True)
    (folder.parent / "1.txt").write_bytes(content[:12])
    (folder / "2.txt.gz").write_bytes(gzip.compress(content[12:], mtime=0))
    (folder / "3.csv").write_bytes(b"not read")
    expected = [line.encode() for line in lines]
    for source in (tmp_path / "b.txt", str(tmp_path / "c.gz"), folder.parent, lines, iter(lines)):
        assert list(read_texts(source)) == expected


def test_what_is_no_corpus_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="file"):
        list(read_texts(tmp_path / "absent.txt"))
    with pytest.raises(InputFileError, match="file"):
        list(read_texts(tmp_path))
    with pytest.raises(ArgumentError, match="corpus="):
        list(read_texts(5))  # type: ignore[arg-type]
    with pytest.raises(EmbeddingError, match="Paragraph 1"):
        list(read_texts(["a", b"b"]))  # type: ignore[list-item]
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"a cat" * 100, mtime=0)[:-9])
    with pytest.raises(InputFileError, match="damaged"):
        list(read_texts(tmp_path / "cut.txt.gz"))


def test_a_paragraph_that_does_not_fit_is_refused_and_others_are_streamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "corpus.txt.gz"
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 5_000_000)
    path.write_bytes(gzip.compress(b"A cat.\n" * 1_000_000))
    assert sum(1 for _ in read_texts(path)) == 1_000_000
    path.write_bytes(gzip.compress(b"A cat. " * 1_000_000))
    with pytest.raises(NotEnoughMemoryError, match=r"corpus\.txt\.gz: the words of one line"):
        list(read_texts(path))


def test_the_nearest_places_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(4)

    def drawn() -> Occurrences:
        keys = np.unique(rng.integers(0, 300, size=50))
        return Occurrences(keys // 20, keys % 20, 1)

    for _ in range(20):
        cue, response = drawn(), drawn()
        shared = shared_contexts(cue, response)
        assert shared.contexts.tolist() == sorted(set(cue.contexts.tolist()) & set(response.contexts.tolist()))
        for context, one, other in zip(shared.contexts, shared.cue_words, shared.response_words, strict=True):
            mine, theirs = (occurrences.words[occurrences.contexts == context] for occurrences in (cue, response))
            assert one in mine
            assert other in theirs
            assert abs(one - other) == abs(mine[:, None] - theirs).min()


def test_phrases_are_those_of_the_text() -> None:
    """Against a plain search in contexts of letters, of phrases of one to three words."""
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("abc"), size=rng.integers(1, 30))) for _ in range(40)]
    places = {
        letter: np.array([(c, w) for c, text in enumerate(texts) for w, found in enumerate(text) if found == letter])
        for letter in "abc"
    }
    for phrase in ("a", "ab", "ba", "aa", "abc", "cba", "aaa"):
        parts = [Occurrences(*places[letter].T, 1) for letter in phrase]
        occurrences = Occurrences.following(parts)
        expected = [(c, w) for c, text in enumerate(texts) for w in range(len(text)) if text.startswith(phrase, w)]
        assert list(zip(occurrences.contexts.tolist(), occurrences.words.tolist(), strict=True)) == expected
        assert occurrences.length == len(phrase)
        assert occurrences.distinct.tolist() == sorted({context for context, _ in expected})
        inside = occurrences.inside(np.array([3, 17, 90]))
        assert set(inside.contexts.tolist()) == {context for context, _ in expected} & {3, 17}


def test_a_phrase_does_not_cross_contexts() -> None:
    first, second = Occurrences(np.array([0]), np.array([4]), 1), Occurrences(np.array([1]), np.array([5]), 1)
    assert len(Occurrences.following([first, second])) == 0
    assert len(Occurrences.following([])) == 0
    assert len(shared_contexts(first, second).contexts) == 0
