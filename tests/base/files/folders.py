"""A folder of two files as an output."""

from pathlib import Path

from bayesbias.base.files.outputs import whole_folder

NAMES = ("a.txt", "b.txt", "c_*.txt")


def fill(folder: Path, text: str, *, names: tuple[str, ...] = ("a.txt", "b.txt"), overwrite: bool = True) -> None:
    with whole_folder(folder, names=NAMES, overwrite=overwrite) as made:
        for name in names:
            (made / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
