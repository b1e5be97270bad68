"""The comparison of embeddings on the command line."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from tests.cli.running import in_process


@pytest.mark.slow
def test_embeddings_are_compared_by_their_tables(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    original = bb.load_embedding("vectors.txt")
    for name, matrix in (("original", original.vectors), ("changed", original.vectors + np.eye(8)[0])):
        table = bb.distance_table(bb.Embedding(original.words, matrix, name=name), "pets.toml")
        bb.write_table(table, f"{name}.csv")
    command = ("compare", "original.csv", "changed.csv", "-o", "compared", "--seed", "1")
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert "changed" in capsys.readouterr().out
    written = {path.name for path in (workplace / "compared").iterdir()}
    assert {"report.html", "gaps.csv", "changes.csv", "distances.csv", "change_1.png"} <= written
