"""Contrasts over seeds on the command line."""

import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import in_process


@pytest.mark.slow
def test_seeds(
    workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (workplace / "vectors.txt").read_text().splitlines()
    for seed in (1, 2, 3):
        moved = [
            " ".join(
                [
                    word,
                    *(f"{float(value) + 0.1 * np.sin(position * seed):.5f}" for position, value in enumerate(values)),
                ]
            )
            for word, *values in map(str.split, lines)
        ]
        (tmp_path / f"seed{seed}.txt").write_text("\n".join(moved) + "\n")
    paths = [tmp_path / f"seed{seed}.txt" for seed in (1, 2, 3)]
    output = tmp_path / "stable"
    given = [
        "--study",
        workplace / "pets.toml",
        "-o",
        output,
        "--model",
        "hierarchical",
        "--draws",
        "200",
        "--seed",
        "1",
    ]
    assert in_process("seeds", *paths, *given, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    made = {"report.html", "seeds.png", "conclusions.txt", "conclusions.json", "contrasts.csv", "by_seed.csv"}
    assert {path.name for path in output.iterdir()} == made
    assert data["verdict"] in unescape((output / "report.html").read_text(encoding="utf-8"))
    assert [row["seeds"] for row in data["tables"]["contrasts"]] == [3, 3]
    assert {row["seed"] for row in data["tables"]["by_seed"]} == {"seed1", "seed2", "seed3"}
    assert in_process("seeds", *paths, *given, monkeypatch=monkeypatch) == 2
    assert "stable" in capsys.readouterr().err
    assert in_process("seeds", paths[0], *given, "--overwrite", monkeypatch=monkeypatch) == 2
    assert "seed1.txt" in capsys.readouterr().err
    (tmp_path / "copy.txt").write_text((tmp_path / "seed1.txt").read_text())
    assert in_process("seeds", paths[0], tmp_path / "copy.txt", *given, "--overwrite", monkeypatch=monkeypatch) == 2
    message = capsys.readouterr().err
    assert all(f"'{name}'" in message for name in ("seed1", "copy"))
    drawn = [option for path in paths[1:] for option in ("--resampled", path)]
    given[3] = tmp_path / "with_documents"
    (tmp_path / "first.txt").write_text((workplace / "vectors.txt").read_text())
    assert in_process("seeds", paths[0], tmp_path / "first.txt", *drawn, *given, "--json", monkeypatch=monkeypatch) == 0
    row = json.loads(capsys.readouterr().out)["tables"]["contrasts"][0]
    assert row["seeds"] == 2
    assert row["document_sd_low"] < row["document_sd"] < row["document_sd_high"]
