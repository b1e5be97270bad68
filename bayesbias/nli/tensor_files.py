"""Files of arrays and facts in the format safetensors: no code, written whole or not at all, with a checksum."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.files.inputs import parse_json
from bayesbias.base.files.outputs import atomic_path
from bayesbias.base.machine import require
from bayesbias.embeddings.readers.tensor_file import open_tensors
from bayesbias.errors import InputFileError

_PROGRAM = "bayesbias"
_WHAT = {"model": "a model saved after bb.nli.train", "training": "a checkpoint of bb.nli.train"}


def pytorch() -> Any:
    """Return the module `torch`; raise `MeasureError` if it is not installed."""
    return extra("torch")


def extra(name: str) -> Any:
    """Return a module of the extra; raise `MeasureError` if it is not installed."""
    return require(name, "nli", "A model of inference")


def write_tensors(
    path: Path, kind: str, facts: Mapping[str, Any], arrays: Mapping[str, Floats], *, overwrite: bool
) -> None:
    """Write arrays and facts; `kind` is ``"model"`` or ``"training"``."""
    numbers = {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in arrays.items()}
    facts_text = json.dumps(dict(facts), ensure_ascii=False, sort_keys=True)
    with atomic_path(path, overwrite=overwrite) as made:
        about = {"kind": kind, "facts": facts_text, "sha256": _checksum(kind, facts_text, numbers)}
        # A single entry, since several would be in any order, and the same model must give the same bytes.
        made.write_bytes(extra("safetensors.numpy").save(numbers, metadata={_PROGRAM: json.dumps(about)}))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Return the facts and arrays of a file; raise `InputFileError` if it is damaged or of another kind."""
    stored = open_tensors(path)
    source = stored.path
    try:
        if _PROGRAM not in stored.metadata:
            raise InputFileError(f"{source} is not {_WHAT[kind]}, but a file of another program.")
        about = parse_json(stored.metadata[_PROGRAM])
        if about["kind"] != kind:
            raise InputFileError(f"{source} is {_WHAT[about['kind']]}, not {_WHAT[kind]}.")
        arrays = {name: stored.array(name).astype(np.float32) for name in stored.names}
        facts_text = about["facts"]
        if about["sha256"] != _checksum(kind, facts_text, arrays):
            raise damaged(source)
        facts = parse_json(facts_text)
        if not isinstance(facts, dict) or not all(np.isfinite(array).all() for array in arrays.values()):
            raise damaged(source)
    except (KeyError, TypeError, ValueError) as fault:
        if isinstance(fault, InputFileError):
            raise
        raise damaged(source) from fault
    return facts, arrays


def damaged(path: Path) -> InputFileError:
    """Return the error for a file whose content differs from what was written."""
    return InputFileError(f"{path} is damaged: its content has changed since it was written. Write it again.")


def _checksum(kind: str, facts_text: str, arrays: Mapping[str, Floats]) -> str:
    content = sha256(f"{kind}\n{facts_text}\n".encode())
    for name in sorted(arrays):
        content.update(f"{name} {arrays[name].shape}\n".encode())
        content.update(np.ascontiguousarray(arrays[name], dtype="<f4").data)
    return content.hexdigest()
