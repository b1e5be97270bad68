"""Folders of embeddings by period."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.periods import periods_of
from bayesbias.errors import InputFileError


def write_npz(path: Path, number: float = 1.0) -> None:
    path.parent.mkdir(exist_ok=True)
    np.savez(path, words=np.array(["king", "queen"]), vectors=np.array([[number, 1.0], [0.0, number]]))


def test_files_are_ordered_by_number(tmp_path: Path) -> None:
    for number in (1990, 190, 2010):
        write_npz(tmp_path / f"coha_{number}.npz", number)
    (tmp_path / "README.md").write_text("about")
    periods = bb.embeddings.load_periods(tmp_path, words=["king"])
    assert list(periods) == ["190", "1990", "2010"]
    assert periods["190"].vectors.tolist() == [[190.0, 1.0]]


def test_a_folder_a_period(tmp_path: Path) -> None:
    for place, number in enumerate((2000, 1990)):
        write_npz(tmp_path / str(number) / "vectors.npz", place + 1)
    (tmp_path / "logs").mkdir()
    assert list(bb.embeddings.load_periods(tmp_path)) == ["1990", "2000"]
    write_npz(tmp_path / "1990" / "other.npz")
    with pytest.raises(InputFileError, match="2 embeddings"):
        bb.embeddings.load_periods(tmp_path)


def test_histwords(tmp_path: Path) -> None:
    for year in (1900, 1910):
        (tmp_path / f"{year}-vocab.pkl").write_bytes(pickle.dumps(["king", "queen"], 2))
        np.save(tmp_path / f"{year}-w.npy", np.array([[1.0, 2.0], [0.0, 0.0 if year == 1900 else 1.0]]))
    periods = bb.embeddings.load_periods(tmp_path)
    assert {name: list(embedding.words) for name, embedding in periods.items()} == {
        "1900": ["king"],
        "1910": ["king", "queen"],
    }


def test_several_numbers_keep_the_name(tmp_path: Path) -> None:
    for seed in (10, 9):
        write_npz(tmp_path / f"wikipedia2018_seed{seed}.npz", seed)
    assert list(bb.embeddings.load_periods(tmp_path)) == ["wikipedia2018_seed9", "wikipedia2018_seed10"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["1990.npz"], "1 embedding,"),
        (["before.npz", "1990.npz"], "before"),
        (["a1990.npz", "b1990.npz"], "same numbers"),
    ],
)
def test_unclear_folders_are_refused(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        write_npz(tmp_path / name)
    with pytest.raises(InputFileError, match=message):
        bb.embeddings.load_periods(tmp_path)
    with pytest.raises(InputFileError, match="no folder"):
        bb.embeddings.load_periods(tmp_path / names[0])


def test_files_of_a_command_have_names_of_their_own() -> None:
    assert periods_of([Path("a")]) == Path("a")
    assert periods_of([Path("b.csv.gz"), Path("a.npz")]) == {"b": Path("b.csv.gz"), "a": Path("a.npz")}
    with pytest.raises(InputFileError, match="same name"):
        periods_of([Path("x/a.csv"), Path("y/a.npz")])
