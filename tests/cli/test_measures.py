"""Single-number measures on the command line."""

import json
from pathlib import Path

import pytest

import bayesbias as bb
from tests.cli.running import in_process
from tests.reports.axes.test_project import PAIRS, WORDS, planted


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


def test_scores_of_an_embedding_and_their_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    one, two = (bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz") for seed in (1, 2))
    Path("pairs.txt").write_text("she he 9\nnurse doctor 5\nman woman 8\nart music 4\n")
    Path("questions.txt").write_text(": family\nhe she man woman\nman woman he she\nboy girl man woman\n")
    settings = ["--original", two, "--seed", "1"]
    command = ["quality", one, "pairs.txt", "questions.txt", *settings]
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    shown = capsys.readouterr().out
    assert "(89% HPDI, seed 1)" in shown
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["score"] for row in printed["scores"]] == ["pairs.txt", "questions.txt", "questions.txt"]
    first, second = (bb.metrics.word_similarity(vectors, "pairs.txt", random_seed=1).value for vectors in (one, two))
    assert printed["scores"][0]["value"] == first
    assert printed["changes"][0]["change"] == first - second
    Path("women.txt").write_text("woman\ngirl\nmother\ndaughter\n")
    Path("men.txt").write_text("man\nboy\nfather\nson\n")
    command = ["intrinsic", one, "--words-in-all", "200", "--splits", "2", "--names", "women.txt", "men.txt", *settings]
    assert in_process(*command, "--json", monkeypatch=monkeypatch) == 0
    printed = json.loads(capsys.readouterr().out)
    measures = {row["score"] for row in printed["changes"]}
    assert measures == {"vocabulary_direct_bias", "midb", "clustering", "recoverability", "gipe"}
    command = ["intrinsic", one, "--measure", "gipe", "--neighbours", "20", "--seed", "1"]
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    expected = bb.metrics.gipe(one, neighbours=20, random_seed=1)
    assert f"{expected.value:.3f}" in capsys.readouterr().out
    # Of very many words GIPE, whose time grows with their square, is computed only on request.
    monkeypatch.setattr("bayesbias.metrics.intrinsic.proximity.MOST_WORDS", 100)
    assert in_process(*command, monkeypatch=monkeypatch) == 0
    assert f"{expected.value:.3f}" in capsys.readouterr().out
    assert in_process("intrinsic", one, "--words-in-all", "200", "--splits", "2", monkeypatch=monkeypatch) == 0
    without = capsys.readouterr()
    assert "gipe" not in without.out.lower()
    assert "GIPE is left out" in without.err
    assert "--measure gipe" in without.err
    assert in_process("intrinsic", one, "--measure", "sembias", monkeypatch=monkeypatch) == 2
    assert "SemBias" in capsys.readouterr().err


def test_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    vectors, axis, words = tmp_path / "vectors.npz", tmp_path / "height.toml", tmp_path / "words.txt"
    bb.write_embedding(planted(), vectors)
    axis.write_text(f"pairs = {[list(pair) for pair in PAIRS]}", encoding="utf-8")
    words.write_text("\n".join(WORDS), encoding="utf-8")
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(["word,height", *(f"{word},{n}" for n, word in enumerate(WORDS))]), encoding="utf-8")
    given = ["project", vectors, "--axis", axis, "--ratings", ratings, "--seed", "1"]
    assert in_process(*given, "--words", words, "-o", tmp_path / "axes", "--json", monkeypatch=monkeypatch) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    made = {"report.html", "axis_1.png", "axes.csv", "words.csv", "pairs.csv", "ratings.csv"}
    assert made <= {path.name for path in (tmp_path / "axes").iterdir()}
    assert [row["word"] for row in tables["words"]] == WORDS
    assert in_process(*given, "--json", monkeypatch=monkeypatch) == 0  # the words of the ratings
    assert json.loads(capsys.readouterr().out)["tables"] == tables
    with ratings.open("a", encoding="utf-8") as file:
        file.write("".join(f"\nunheard{number},1" for number in range(100)))
    assert in_process(*given, "--json", monkeypatch=monkeypatch) == 0  # those that the file lacks are not lost
    printed = capsys.readouterr()
    assert json.loads(printed.out)["tables"] == tables
    assert f"{len(WORDS)} of {len(WORDS) + 100} rated words are in the embedding" in printed.err
    assert in_process(*given, "--words", words, "--study", "weat7", monkeypatch=monkeypatch) == 2
