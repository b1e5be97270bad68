"""Files of folders, opened from handles: no name that changes between two looks leads out of the folder."""

import os
from pathlib import Path

import pytest

from bayesbias.base.files import inputs, openings
from bayesbias.base.files.inputs import text_files
from bayesbias.embeddings.language_models.texts import read_texts
from bayesbias.errors import InputFileError
from tests.base.files.test_files_that_change import before_opening


@pytest.mark.parametrize("has_handles", [True, False])
@pytest.mark.parametrize("place", ["a.txt", "part/b.txt"])
def test_a_file_of_a_corpus_that_a_link_replaces_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, has_handles: bool
) -> None:
    monkeypatch.setattr(openings, "_HAS_HANDLES", openings._HAS_HANDLES and has_handles)
    folder, diary = tmp_path / "corpus", tmp_path / "part"
    for inside in (folder / "part", diary):
        inside.mkdir(parents=True)
    (folder / "a.txt").write_text("public words\n")
    (folder / "part" / "b.txt").write_text("public words\n")
    (diary / "b.txt").write_text("private\n")

    def replace() -> None:
        name = folder / Path(place).parts[0]  # a file, or the folder above one
        name.rename(tmp_path / "old")
        name.symlink_to(diary / "b.txt" if place == "a.txt" else diary)

    assert list(read_texts(folder)) == [b"public words"] * 2
    with (
        before_opening(folder / place, 1, replace),
        pytest.raises(InputFileError, match="became another file in the meantime"),
    ):
        list(read_texts(folder))


@pytest.mark.skipif(not openings._HAS_HANDLES, reason="the system has no handles of folders")
@pytest.mark.parametrize("place", ["a.txt", "part/b.txt"])
def test_no_file_of_a_corpus_is_a_link_between_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Whoever asks where a name leads finds the file; whoever follows the name finds a link."""
    folder, diary = tmp_path / "corpus", tmp_path / "part"
    for inside in (folder / "part", diary):
        inside.mkdir(parents=True)
    (folder / place).write_text("public words\n")
    (diary / "b.txt").write_text("private\n")
    name, spare, link = folder / Path(place).parts[0], tmp_path / "spare", tmp_path / "link"
    link.symlink_to(diary / "b.txt" if place == "a.txt" else diary)
    files, resolved = text_files(folder), os.path.realpath

    def asked(path: str, **settings: bool) -> str:
        name.rename(link)
        spare.rename(name)
        answer = resolved(path, **settings)
        name.rename(spare)
        link.rename(name)
        return answer

    name.rename(spare)
    link.rename(name)
    monkeypatch.setattr(inputs, "text_files", lambda _: files)
    monkeypatch.setattr(os.path, "realpath", asked)
    with pytest.raises(InputFileError, match="became another file in the meantime"):
        list(read_texts(folder))


def test_a_folder_of_a_corpus_that_is_removed_meanwhile_is_an_error_of_ours(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    with before_opening(folder, 1, folder.rmdir), pytest.raises(InputFileError, match="folder"):
        list(read_texts(folder))
