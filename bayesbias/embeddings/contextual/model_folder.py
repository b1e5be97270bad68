"""Check that the files of a model are inside its folder."""

import json
from pathlib import Path

from bayesbias.base.files.inputs import printable
from bayesbias.errors import InputFileError, library_reason


def check_model_folder(folder: Path) -> None:
    """Raise `InputFileError` if a model would be read from outside of its folder, by a link or the name of a part."""
    inside = folder.resolve()
    # A snapshot of the Hugging Face Hub has links to files of its own model, beside it.
    places = (inside, inside.parent.parent / "blobs") if inside.parent.name == "snapshots" else (inside,)
    for path in folder.rglob("*"):
        if path.is_symlink() and not any(path.resolve().is_relative_to(place) for place in places):
            raise InputFileError(
                f"{printable(str(path))} is a link to {printable(str(path.resolve()))}, outside of the folder. Put the "
                "file itself there."
            )
    for path in folder.rglob("*.index.json"):
        try:
            parts = list(json.loads(path.read_text(encoding="utf-8"))["weight_map"].values())
        except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError) as fault:
            raise InputFileError(
                f"{path} is no index of weights ({library_reason(fault)}) Download the model again."
            ) from fault
        if outside := [part for part in parts if not isinstance(part, str) or not _is_name(part)]:
            raise InputFileError(f"{path} names {outside[0]!r:.80}, outside of the folder. Download the model again.")


def _is_name(part: str) -> bool:
    """Return whether a text is the name of a file, without a folder."""
    return part not in ("", "..") and Path(part).name == part
