"""Single-number measures on the command line."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process


def test_weat_and_null(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    monkeypatch.chdir(tmp_path)
    assert in_process("weat", vectors, "--study", "weat7", monkeypatch=monkeypatch) == 0
    expected = bb.metrics.weat(bb.load_embedding(vectors), "weat7")
    assert f"{expected.effect_size:.6g}" in capsys.readouterr().out
    options = ["--effect-size", "1.2671948", "--seed", "1", "-o", "null.png"]
    assert in_process("null", *options, monkeypatch=monkeypatch) == 0
    share = float(capsys.readouterr().out.split("effect_size")[-1].split()[1])
    assert share == pytest.approx(0.006, abs=0.002)
    assert (tmp_path / "null.png").stat().st_size > 10_000


def test_measures_are_listed_and_run(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    assert in_process("measures", monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    for entry in bb.metrics.MEASURES.values():
        for text in (entry.name, entry.title, *entry.card.values()):
            assert text in shown
    options = ["--option", "attributes=quiet", "--option", "normalize=false", "--option", "targets=cats, dogs"]
    assert in_process("measure", "rnd", "vectors.txt", "--study", "pets.toml", *options, monkeypatch=monkeypatch) == 0
    expected = bb.metrics.rnd("vectors.txt", "pets.toml", attributes="quiet", normalize=False)
    assert f"{expected.rnd:.6g}" in capsys.readouterr().out
    options = ["--option", "base_pairs=[('cat', 'dog')]", "--option", "k=3"]
    assert in_process("measure", "nbm", "vectors.txt", "--study", "pets.toml", *options, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "nbm of pets in vectors" in shown
    assert "kitten" in shown


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        (("weat", "vectors.txt", "--study", "pets.toml"), {"measure", "statistics", "tables", "lost_words"}),
        (
            ("measure", "normalized_association_score", "vectors.txt", "--study", "pets.toml"),
            {"measure", "statistics", "tables"},
        ),
        (("measures",), set(bb.metrics.MEASURES)),
        (
            ("null", "--samples", "200", "--effect-size", "1", "--claims", "2", "--seed", "1"),
            {"null", "shares", "claims"},
        ),
    ],
)
def test_numbers_are_printed_as_json(
    command: tuple[str, ...],
    keys: set[str],
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(workplace)
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    assert keys <= set(json.loads(capsys.readouterr().out))
