"""Which measure a file is for; files of words."""

from pathlib import Path

import pytest

from bayesbias.errors import InputFileError, MeasureError
from bayesbias.metrics.quality.benchmark_files import benchmark_measure, read_words


@pytest.mark.parametrize(
    ("content", "measure"),
    [
        (": family\nboy girl man woman\n", "analogies"),
        ("# theirs\nboy girl man woman\n", "analogies"),
        ("boy girl 3.5\n", "word_similarity"),
        ("boy girl N 3.5\n", "word_similarity"),
        ("word1\tword2\tPOS\tscore\nboy\tgirl\tN\t3\n", "word_similarity"),
        ("Word 1,Word 2,Human (mean)\nboy,girl,3\n", "word_similarity"),
        ("", "word_similarity"),
    ],
)
def test_the_measure_of_a_file_is_seen_by_its_first_line(content: str, measure: str, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(content)
    assert benchmark_measure(path) == measure


@pytest.mark.shared
def test_the_measure_of_the_usual_files_is_seen(shared: Path) -> None:
    folder = shared / "data" / "benchmarks"
    found = {path.name: benchmark_measure(path) for path in folder.glob("*.txt")}
    assert {name for name, measure in found.items() if measure == "analogies"} == {
        "questions-words.txt",
        "MSR-syntax.txt",
    }


def test_a_file_without_words_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("# none yet\n")
    with pytest.raises(MeasureError, match="has no words"):
        read_words(path)
    with pytest.raises(InputFileError, match="There is no file"):
        read_words(tmp_path / "other.txt")
