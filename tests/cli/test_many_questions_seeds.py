"""`trainings` with debiasing methods: lost words, dimensions that are left, and code that repeats the page."""

import json
import os
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.cli.many_questions import _check_pairs
from bayesbias.errors import InputFileError, LostWordsWarning
from tests.base.files.test_files_that_change import before_opening
from tests.cli.running import in_process

LISTS = {"cats": ["cat", "kitten"], "dogs": ["dog", "puppy"], "purr": ["purr", "meow"], "bark": ["bark", "growl"]}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of the words of a study and of other words, the study, and sets of which one is lost."""
    folder = tmp_path_factory.mktemp("seeds")
    every = [word for words in LISTS.values() for word in words] + [f"other{place}" for place in range(40)]
    rng = np.random.default_rng(1)
    common = {word: rng.normal(size=8) for word in every}
    for seed in (1, 2):
        lines = [
            f"{word} {' '.join(f'{value:.5f}' for value in common[word] + rng.normal(scale=0.1, size=8))}"
            for word in every
        ]
        (folder / f"seed{seed}.txt").write_text("\n".join(lines) + "\n")
    lists = {name: json.dumps(words) for name, words in LISTS.items()}
    (folder / "pets.toml").write_text(
        'associated = [["cats", "purr"], ["dogs", "bark"]]\n[controls]\nhuman = "none"\nneutral = "none"\n'
        f"[protected]\ncats = {lists['cats']}\ndogs = {lists['dogs']}\n"
        f"[attributes]\npurr = {lists['purr']}\nbark = {lists['bark']}\n"
    )
    (folder / "sets.toml").write_text('definitional = [["cat", "dog"], ["kitten", "puppy"], ["lion", "wolf"]]\n')
    return folder


@pytest.mark.slow
def test_the_code_on_a_page_of_methods_runs_and_gives_its_numbers(
    vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--study", vectors / "pets.toml", "--model", "hierarchical", "--draws", "100", "--seed", "1"]
    given += ["--method", "linear", "--method", "hard", "--sets", vectors / "sets.toml", "-o", tmp_path / "methods"]
    paths = [vectors / f"seed{seed}.txt" for seed in (1, 2)]
    assert in_process("trainings", *paths, *given, "--json", monkeypatch=monkeypatch) == 0
    data = json.loads(capsys.readouterr().out)
    lost = [doubt["text"] for doubt in data["doubts"] if "lion" in doubt["text"]]
    assert lost == [
        "Debiasing: the embedding lacks 2 of the definitional words (lion, wolf): left out 1 of 3 sets.",
        "Debiasing: the embedding lacks words (lion): left out 1 of 3 sets to equalize.",
    ]
    page = (tmp_path / "methods" / "report.html").read_text(encoding="utf-8")
    assert page.index("Conditions</h2>") < page.index("Groups</h2>")
    # A linear method removes one direction of eight from all words, hard debiasing only from some.
    rows = [re.sub(r"<[^>]+>", " ", row) for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)]
    assert any(re.search(r"\blinear\b.*\b7 of 8\b", row, re.DOTALL) for row in rows)
    assert any(re.search(r"\bhard\b.*\b[78] of 8\b", row, re.DOTALL) for row in rows)
    code = unescape(re.search(r"import bayesbias as bb\n.*?</code>", page, re.S)[0].removesuffix("</code>"))  # type: ignore[index]
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with pytest.warns(LostWordsWarning):
        exec(code, names)
    repeated = names["compared"]
    assert isinstance(repeated, bb.changes.TrainingComparison)
    means = [row["mean"] for row in data["tables"]["contrasts"]]
    np.testing.assert_allclose(repeated.contrasts["mean"], means)
    assert Path("trainings.html").exists()


def test_words_that_all_seeds_lack_are_named_in_one_warning(
    vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = _given_without(("growl", "meow"), ("growl", "meow"), vectors, tmp_path)
    assert in_process("trainings", *given, "-o", tmp_path / "stable", monkeypatch=monkeypatch) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert shown.count("lack 2 words") == 1
    assert "meow of 'purr'; growl of 'bark'" in shown


def test_a_word_that_only_some_seeds_lack_is_named_before_the_fits(
    vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = _given_without(("growl",), ("growl", "meow"), vectors, tmp_path)
    monkeypatch.setattr(bb, "fit", None)
    assert in_process("trainings", *given, "-o", tmp_path / "stable", monkeypatch=monkeypatch) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "Only some of the embeddings lack these words: meow of 'purr' (seed2)." in shown
    assert "growl" not in shown


def _given_without(first: tuple[str, ...], second: tuple[str, ...], vectors: Path, folder: Path) -> list[object]:
    """Return arguments for copies of both seeds that lack words."""
    for seed, lacking in ((1, first), (2, second)):
        lines = (vectors / f"seed{seed}.txt").read_text().splitlines()
        others = [line for line in lines if line.split()[0] not in lacking]
        (folder / f"seed{seed}.txt").write_text("\n".join(others) + "\n")
    given = ["--study", vectors / "pets.toml", "--model", "hierarchical", "--draws", "100", "--max-lost", "0.5"]
    return [*(folder / f"seed{seed}.txt" for seed in (1, 2)), *given]


def test_files_of_a_second_condition_that_cannot_be_paired_are_named_before_the_fits(
    vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bb, "fit", None)
    others = tmp_path / "others"
    others.mkdir()
    (others / "other1.txt").write_text("cat 1 2\n")
    copies = tmp_path / "copies"
    copies.mkdir()
    for seed in (1, 2):
        (copies / f"seed{seed}.txt").write_bytes((vectors / f"seed{seed}.txt").read_bytes())
    paths = [vectors / f"seed{seed}.txt" for seed in (1, 2)]
    given = [*paths, "--study", vectors / "pets.toml", "-o", tmp_path / "out"]
    for folder, said in (
        (paths[0], "--changed takes a folder, and"),
        (others, "others has no seed1.txt; it has other1.txt."),
        (vectors, "seed1.txt has the same content as the embedding"),  # the folder of the embeddings themselves
        (copies, "seed1.txt has the same content as the embedding"),
    ):
        assert in_process("trainings", *given, "--changed", folder, monkeypatch=monkeypatch) == 2
        assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has pipes with names")
def test_a_pipe_that_takes_the_place_of_a_changed_file_is_not_waited_for(tmp_path: Path) -> None:
    embedding, changed = tmp_path / "v.txt", tmp_path / "changed" / "v.txt"
    changed.parent.mkdir()
    for path in (embedding, changed):
        path.write_text("cat 1 2\n")

    def replace() -> None:
        changed.unlink()
        os.mkfifo(changed)

    with before_opening(changed, 3, replace), pytest.raises(InputFileError, match="not an ordinary file"):
        _check_pairs(changed.parent, [embedding])
