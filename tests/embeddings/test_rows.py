"""What readers share: repeats, compressed files, and errors that keep their kind on their way out."""

from pathlib import Path

import numpy as np
import pytest

from bayesbias.embeddings.rows import Rows, check_header, check_input, checked, decode
from bayesbias.errors import EmbeddingError, InputFileError


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


def test_empty_files_and_damaged_words(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(InputFileError, match="empty"):
        check_input(tmp_path / "f")
    with pytest.raises(EmbeddingError, match=r"b'\\xff' .* line 1 .* UTF-8"):
        decode(b"\xff", source="f", where="at line 1")
    for words, dimensions in ((0, 5), (5, 0), (5, 100_001)):
        with pytest.raises(EmbeddingError, match="header"):
            check_header(words, dimensions, "f")
