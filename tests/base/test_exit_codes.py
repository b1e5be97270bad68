"""Exit codes: one table, which the guide shows; faults of the machine differ from mistakes."""

import gzip
import sqlite3
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.base.exit_codes import EXIT_CODES, SEVERITY, exit_code_markdown, failure
from bayesbias.errors import ArgumentError, BayesBiasError, ClusterError, EmbeddingError, InputFileError, OutputError

GUIDE = Path(bb.__file__).parents[1] / "docs" / "guide" / "gate.md"


def test_the_guide_has_the_table_of_the_code() -> None:
    assert exit_code_markdown() in GUIDE.read_text(encoding="utf-8")


def test_each_outcome_has_a_code_of_its_own() -> None:
    codes = [row.code for row in EXIT_CODES.values()]
    assert len(set(codes)) == len(codes)
    assert [EXIT_CODES[outcome].code for outcome in SEVERITY] == [3, 7, 5, 6, 4, 0]
    assert (EXIT_CODES["fault"].code, EXIT_CODES["mistake"].code) == (1, 2)


def caused(error: BayesBiasError, cause: BaseException) -> BayesBiasError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ArgumentError("rope=-1"), "mistake"),
        (OutputError("out exists."), "mistake"),
        (caused(OutputError("Cannot write."), OSError(28, "No space left on device")), "fault"),
        (caused(OutputError("Cannot use the cache."), sqlite3.OperationalError("disk I/O error")), "fault"),
        (caused(InputFileError("There is no file."), FileNotFoundError(2, "no such file")), "fault"),
        (caused(InputFileError("It is damaged."), gzip.BadGzipFile("Not a gzipped file")), "mistake"),
        (caused(EmbeddingError("The encoder failed."), ConnectionError("no answer")), "fault"),
        (caused(EmbeddingError("The encoder failed."), TimeoutError("no answer")), "fault"),
        (caused(EmbeddingError("The encoder failed."), SystemExit(0)), "mistake"),
        (ClusterError("The scheduler is gone."), "fault"),
        (MemoryError(), "fault"),
    ],
)
def test_faults_are_what_the_machine_or_a_service_caused(error: BaseException, outcome: str) -> None:
    assert failure(error) == outcome


def test_a_missing_file_is_a_fault() -> None:
    with pytest.raises(InputFileError) as caught:
        bb.load_embedding("no_such_vectors.txt")
    assert failure(caught.value) == "fault"
