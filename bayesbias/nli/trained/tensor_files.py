"""Files of arrays with facts about them: safetensors, which hold no code, whole or absent, with a checksum."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.base.arrays import Floats
from bayesbias.base.files import input_file
from bayesbias.base.outputs import atomic_path
from bayesbias.errors import InputFileError
from bayesbias.nli.trained.pytorch import extra

_PROGRAM = "bayesbias"
_WHAT = {"model": "a model that bb.nli.train trained and save wrote", "training": "a checkpoint of bb.nli.train"}


def write_tensors(
    path: Path, kind: str, facts: Mapping[str, Any], arrays: Mapping[str, Floats], *, overwrite: bool
) -> None:
    """Write arrays and facts; `kind` is ``"model"`` or ``"training"``."""
    numbers = {name: np.ascontiguousarray(each, dtype=np.float32) for name, each in arrays.items()}
    said = json.dumps(dict(facts), ensure_ascii=False, sort_keys=True)
    with atomic_path(path, overwrite=overwrite) as made:
        about = {"kind": kind, "facts": said, "sha256": _checksum(kind, said, numbers)}
        # One text, since several would stand in any order, and the same model is to give the same bytes.
        made.write_bytes(extra("safetensors.numpy").save(numbers, metadata={_PROGRAM: json.dumps(about)}))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Return facts and arrays of a file; raise `InputFileError` if it is damaged, or of another kind."""
    source = input_file(path)
    library = extra("safetensors")
    try:
        with library.safe_open(source, framework="np") as stream:
            if _PROGRAM not in (stream.metadata() or {}):
                raise InputFileError(f"{source} is not {_WHAT[kind]}: it is a file of another program.")
            about = json.loads(stream.metadata()[_PROGRAM])
            if about["kind"] != kind:
                raise InputFileError(f"{source} is {_WHAT[about['kind']]}, and not {_WHAT[kind]}.")
            arrays = {name: stream.get_tensor(name) for name in sorted(stream.keys())}
        said = about["facts"]
        if any(each.dtype != np.float32 for each in arrays.values()) or about["sha256"] != _checksum(
            kind, said, arrays
        ):
            raise damaged(source)
        facts = json.loads(said)
        if not isinstance(facts, dict) or not all(np.isfinite(each).all() for each in arrays.values()):
            raise damaged(source)
    except library.SafetensorError as fault:
        raise InputFileError(f"{source} is not {_WHAT[kind]}, or it is damaged or cut short ({fault}).") from fault
    except (KeyError, TypeError, ValueError, RecursionError) as fault:
        if isinstance(fault, InputFileError):
            raise
        raise damaged(source) from fault
    return facts, arrays


def damaged(path: Path) -> InputFileError:
    """Return the error of a file that holds something else than was written."""
    return InputFileError(f"{path} is damaged: its content is not that which it was written with. Write it again.")


def _checksum(kind: str, said: str, arrays: Mapping[str, Floats]) -> str:
    content = sha256(f"{kind}\n{said}\n".encode())
    for name in sorted(arrays):
        content.update(f"{name} {arrays[name].shape}\n".encode())
        content.update(np.ascontiguousarray(arrays[name], dtype="<f4").data)
    return content.hexdigest()
