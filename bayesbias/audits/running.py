"""Cells answered by workers, each once; the answers can be kept, so that a run goes on after a stop."""

import builtins
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import pandas as pd

from bayesbias import errors
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_path, is_text, resolve_seed
from bayesbias.base.files.inputs import SEAL_SIZE, input_file, open_input, sealed
from bayesbias.base.files.outputs import (
    atomic_path,
    check_folder,
    check_unshared,
    claimed,
    clear_workshops,
    create_folder,
)
from bayesbias.base.files.stored_arrays import arrays_of
from bayesbias.base.machine import check_memory
from bayesbias.base.progress import with_progress
from bayesbias.errors import (
    BayesBiasWarning,
    ClusterError,
    InputFileError,
    LostWordsWarning,
    OutputError,
    name_some,
    warn_user,
)
from bayesbias.workers.cells import Answer, Cell
from bayesbias.workers.workers import StartWorkers, Workers

_SEED = "seed.txt"
_BYTES_A_BYTE = 4  # content, body, arrays and frames


class KeptCell(Cell, Protocol):
    """A cell whose answer is kept."""

    def accepts(self, answer: Answer) -> bool:
        """Whether an answer that was read from a file can be one of this cell."""


@dataclass(frozen=True)
class KeptAnswers:
    """Answers in a folder that this run holds."""

    folder: Path

    def read(self, cell: KeptCell) -> Answer | None:
        """Return the kept answer of a cell; None if there is none, or its file is damaged or not of this cell."""
        path = self.path(cell)
        if not path.is_file():  # reading a pipe could block for ever
            return None
        try:
            check_memory(_BYTES_A_BYTE * path.stat().st_size, f"{path}", "Remove it, or allow more memory.")
            with open_input(path) as stream:
                content = stream.read()
        except OSError as error:
            raise OutputError(f"Cannot read the cells in {self.folder}: {error.strerror or error}.") from error
        body = content[:-SEAL_SIZE]
        return _read_answer(body, path, cell) if sealed(body) == content else None

    def write(self, cell: KeptCell, answer: Answer) -> None:
        """Write the answer of a cell, whole or not at all."""
        numbers: list[Floats] = [np.empty(0)]
        described: dict[str, dict[str, Any]] = {}
        for name, frame in answer.frames.items():
            described[name] = {}
            for column, values in frame.items():
                if values.dtype.kind == "f":
                    numbers.append(values.to_numpy(float))
                described[name][str(column)] = len(values) if values.dtype.kind == "f" else values.to_list()
        parts = {"digest": cell.digest, "facts": answer.facts, "warned": answer.warned, "frames": described}
        content = BytesIO()
        text = np.frombuffer(json.dumps(parts, default=_plain).encode(), dtype=np.uint8)
        np.savez(content, allow_pickle=False, parts=text, numbers=np.concatenate(numbers))
        with atomic_path(self.path(cell), overwrite=True) as path:
            path.write_bytes(sealed(content.getvalue()))

    def seed(self) -> int:
        """Return the seed that was drawn when the folder was begun, or a new one."""
        path = self.folder / _SEED
        if not path.exists():
            with atomic_path(path) as new:
                new.write_text(f"{resolve_seed(None)}\n", encoding="ascii")
        with open_input(input_file(path)) as stream:
            text = stream.read(20).decode("ascii", "replace").strip()
        if not text.isdecimal():
            raise InputFileError(f"{path} holds no seed. Remove it, or give random_seed.")
        return resolve_seed(int(text))

    def path(self, cell: KeptCell) -> Path:
        """Return the file of the answer of a cell."""
        return self.folder / f"{cell.digest}.npz"


def check_cells_folder(cells: Any) -> Path | None:
    """Return the folder of kept answers, which may be new, in a folder that may be new; None if there is to be none."""
    if cells is None:
        return None
    folder = check_path(cells, "cells")
    check_folder(folder if folder.parent.is_dir() else folder.parent, overwrite=True)
    return folder


@contextmanager
def keep_answers(folder: Path | None) -> Iterator[KeptAnswers | None]:
    """Lock a folder of answers against other runs, and clear what killed runs left in it."""
    if folder is None:
        yield None
        return
    new = not folder.parent.exists()
    create_folder(folder.parent)
    try:
        with claimed(folder):
            create_folder(folder)
            check_unshared(folder / _SEED)
            clear_workshops(folder)
            begun = (folder / _SEED).exists()
            try:
                yield KeptAnswers(folder)
            finally:  # a run without answers leaves nothing
                if not begun and not any(folder.glob("*.npz")):
                    (folder / _SEED).unlink(missing_ok=True)
                with suppress(OSError):
                    folder.rmdir()
    finally:
        with suppress(OSError):
            if new:
                folder.parent.rmdir()


def _read_answer(body: bytes, path: Path, cell: KeptCell) -> Answer | None:
    """Return the answer in the body of a file; None if there is none of this cell, whatever there is."""
    try:
        with ZipFile(BytesIO(body)) as members:  # a small compressed file could hold a huge array
            if any(member.compress_type != ZIP_STORED for member in members.infolist()):
                return None
        arrays = arrays_of(BytesIO(body), path, {"parts": ("u", 1), "numbers": ("f", 1)})
        parts = json.loads(arrays["parts"].tobytes())
        frames = dict(_read_frames(parts["frames"], arrays["numbers"]))
        warned = [(category, text) for category, text in parts["warned"] if is_text(category) and is_text(text)]
        answer = Answer(frames, parts["facts"], warned)
        # The file may have been renamed, or written by another program.
        of_cell = parts["digest"] == cell.digest and len(warned) == len(parts["warned"]) and cell.accepts(answer)
    except Exception:  # noqa: BLE001 - NumPy, zip files and pandas can raise anything on a hostile file
        return None
    return answer if of_cell else None


def _read_frames(described: Mapping[str, Any], numbers: Floats) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield frames by name: each column is a list, or the count of the numbers that it takes, one column after another.

    Raises `ValueError` if the counts are not those of the numbers, or a column is neither.
    """
    if numbers.dtype != float or numbers.ndim != 1:
        raise ValueError("numbers")
    start = 0
    for name, columns in described.items():
        frame: dict[str, Any] = {}
        for column, content in columns.items():
            if not isinstance(content, int | list) or (isinstance(content, int) and content < 0):
                raise ValueError(column)
            size = content if isinstance(content, int) else 0
            frame[column] = content if isinstance(content, list) else numbers[start : start + size]
            start += size
        yield name, pd.DataFrame(frame)
    if start != len(numbers):
        raise ValueError("numbers")


def _plain(value: Any) -> Any:
    return value.item()


type Failures = dict[tuple[str, str], str]
"""Source and digest of a cell -> the error that it ended with."""


def run_cells[AnyCell: KeptCell](
    cells: Sequence[AnyCell],
    sources: Mapping[str, Any],
    *,
    workers: StartWorkers,
    store: KeptAnswers | None,
    progress: bool,
    label: str = "Cells",
    check: Callable[[Sequence[AnyCell], Workers], None] = lambda *_: None,
) -> tuple[dict[str, Answer], Failures]:
    """Return the answers of cells by digest, and the errors of those that failed; give the warnings of answers.

    - `cells`: cells in the order in which workers take them. Equal ones are answered once; if one fails, the others
      are tried too, since an error names its source. If one of them is answered, none has failed.
    - `sources`: sources by name, such as embeddings.
    - `workers`: function that starts the workers; called only if there is something to answer.
    - `store`: folder of kept answers, or None.
    - `label`: text of the progress bar.
    - `check`: function that raises an error if the cells to be answered are too much for the workers.

    Raises `ClusterError` if the workers are gone. What they had answered is kept.
    """
    answers = {cell.digest: answer for cell in cells if store and (answer := store.read(cell))}
    failed: Failures = {}
    waiting = _waiting(cells, answers, failed)
    if store and (damaged := [path for path in map(store.path, waiting) if path.exists()]):
        warn_user(
            f"{len(damaged):,} kept answer{'s are' if len(damaged) > 1 else ' is'} damaged or of another cell, and "
            f"computed again: {name_some(damaged, 1)}. If nobody changed them, check the disk.",
            BayesBiasWarning,
        )
    if waiting:
        with workers() as team:
            check(waiting, team)
            try:
                while waiting:
                    steps = with_progress(range(len(waiting)), label, progress=progress)
                    for _, (cell, outcome) in zip(steps, team.outcomes(sources, waiting), strict=True):
                        if isinstance(outcome, str):
                            failed[cell.source, cell.digest] = outcome
                            continue
                        answers[cell.digest] = outcome
                        if store:
                            store.write(cell, outcome)
                    waiting = _waiting(cells, answers, failed)
            except ClusterError as error:
                fate = (
                    f"kept in {store.folder}: run it again, and it goes on" if store else "lost: no folder keeps them"
                )
                raise ClusterError(f"{error} {len(answers):,} of {len(cells):,} cells are {fate}.") from error
    ordered = {cell.digest: answers[cell.digest] for cell in cells if cell.digest in answers}
    _repeat(warned for answer in ordered.values() for warned in answer.warned)
    return ordered, {key: error for key, error in failed.items() if key[1] not in answers}


def _waiting[AnyCell: KeptCell](
    cells: Iterable[AnyCell], answers: Mapping[str, Answer], failed: Failures
) -> list[AnyCell]:
    """Return one cell of each digest without an answer, of a source that did not fail in it."""
    waiting = (cell for cell in cells if cell.digest not in answers and (cell.source, cell.digest) not in failed)
    return list({cell.digest: cell for cell in waiting}.values())


def _repeat(warned: Iterable[tuple[str, str]]) -> None:
    """Give each warning once, except those of lost words, which reports sum up."""
    for name, message in dict.fromkeys(warned):
        category = getattr(errors, name, getattr(builtins, name, None))
        if not (isinstance(category, type) and issubclass(category, Warning)):
            category = UserWarning
        if not issubclass(category, BayesBiasWarning):
            warnings.warn(message, category, 2)
        elif not issubclass(category, LostWordsWarning):
            warn_user(message, category)
