"""The answers of cells in a folder: one file a cell, named by the hash of all that enters its answer."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.errors import OutputError
from bayesbias.files import SEAL_SIZE, sealed
from bayesbias.outputs import atomic_path
from bayesbias.reports.audits.cells import Answer

_FACTS = "facts"


def read_answer(folder: Path, digest: str) -> Answer | None:
    """Return the answer that a folder holds of a cell; None if there is none, or its file is damaged."""
    try:
        content = _path(folder, digest).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"Cannot read the cells in {folder}: {error.strerror or error}.") from error
    body = content[:-SEAL_SIZE]
    if sealed(body) != content:
        return None
    with np.load(BytesIO(body), allow_pickle=False) as arrays:
        facts = json.loads(arrays[_FACTS].tobytes())
        draws = {measure: arrays[f"draws_{at}"] for at, measure in enumerate(facts["draws"])}
    if facts["digest"] != digest:  # it was given another name
        return None
    warned = [(category, text) for category, text in facts["warned"]]
    return Answer(rows=facts["rows"], draws=draws, left_out=facts["left_out"], warned=warned)


def write_answer(folder: Path, digest: str, answer: Answer) -> None:
    """Write the answer of a cell, whole or not at all."""
    facts = {
        "digest": digest,
        "rows": answer.rows,
        "left_out": answer.left_out,
        "warned": answer.warned,
        "draws": list(answer.draws),
    }
    content = BytesIO()
    arrays = {f"draws_{at}": values for at, values in enumerate(answer.draws.values())}
    arrays[_FACTS] = np.frombuffer(json.dumps(facts, default=_plain).encode(), dtype=np.uint8)
    np.savez(content, allow_pickle=False, **arrays)
    with atomic_path(_path(folder, digest), overwrite=True) as path:
        path.write_bytes(sealed(content.getvalue()))


def _path(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.npz"


def _plain(value: Any) -> Any:
    """Return one of NumPy's numbers as Python's."""
    return value.item()
