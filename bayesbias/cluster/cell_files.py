"""The answers of cells in a folder: one file a cell, named by the hash of all that enters its answer."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from bayesbias.base.checks import is_text
from bayesbias.base.files import SEAL_SIZE, sealed
from bayesbias.base.outputs import atomic_path
from bayesbias.errors import OutputError
from bayesbias.metrics.embedding_scores.drawn_directions import DrawnDirections
from bayesbias.metrics.embedding_scores.result import EmbeddingScore
from bayesbias.metrics.embedding_scores.statistics import Quantity
from bayesbias.reports.audits import audit_frame
from bayesbias.reports.audits.cells import Answer
from bayesbias.reports.debiasing import report

_FACTS = "facts"
_TEXTS = {*audit_frame.TEXTS, *report.TEXTS}  # the columns of answers that are no numbers


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
    try:
        with np.load(BytesIO(body), allow_pickle=False) as arrays:
            facts = json.loads(arrays[_FACTS].tobytes())
            draws = {str(measure): arrays[f"draws_{at}"] for at, measure in enumerate(facts["draws"])}
            scores = {
                str(label): _score(found, *(arrays[name] for name in _along_names(at) if name in arrays))
                for at, (label, found) in enumerate(dict(facts["scores"]).items())
            }
        warned = [(category, text) for category, text in facts["warned"]]
        answer = Answer(
            rows=facts["rows"],
            draws=draws,
            left_out=facts["left_out"],
            warned=warned,
            gaps={study: pd.DataFrame(columns) for study, columns in dict(facts["gaps"]).items()},
            scores=scores,
        )
        # It may have been given another name, or be a stranger's.
        return answer if facts["digest"] == digest and _can_be(answer) else None
    except (BadZipFile, EOFError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write_answer(folder: Path, digest: str, answer: Answer) -> None:
    """Write the answer of a cell, whole or not at all."""
    facts = {
        "digest": digest,
        "rows": answer.rows,
        "left_out": answer.left_out,
        "warned": answer.warned,
        "draws": list(answer.draws),
        "gaps": {study: gaps.to_dict("list") for study, gaps in answer.gaps.items()},
        "scores": {label: _score_facts(score) for label, score in answer.scores.items()},
    }
    content = BytesIO()
    arrays = {f"draws_{at}": values for at, values in enumerate(answer.draws.values())}
    for at, score in enumerate(answer.scores.values()):
        if score.along is not None:
            arrays |= dict(zip(_along_names(at), vars(score.along).values(), strict=True))
    arrays[_FACTS] = np.frombuffer(json.dumps(facts, default=_plain).encode(), dtype=np.uint8)
    np.savez(content, allow_pickle=False, **arrays)
    with atomic_path(_path(folder, digest), overwrite=True) as path:
        path.write_bytes(sealed(content.getvalue()))


def _can_be(answer: Answer) -> bool:
    """Whether what a file says has the types of an answer."""
    values = [(name in _TEXTS, value) for row in answer.rows for name, value in dict(row).items()]
    said = [*answer.warned, *dict(answer.left_out).items()]
    return (
        answer.draws.keys() <= {row["measure"] for row in answer.rows}
        and all(is_text(value) if text else isinstance(value, int | float | None) for text, value in values)
        and all(is_text(text) for pair in said for text in pair)
        and all(each.ndim == 1 and each.dtype == float and np.isfinite(each).all() for each in answer.draws.values())
    )


def _score_facts(score: EmbeddingScore) -> dict[str, Any]:
    """Return all of a score but its directions; numbers come back from JSON as they were."""
    frames = {name: getattr(score, name).to_dict("list") for name in ("estimates", "items")}
    return vars(score) | frames | {"quantities": [asdict(quantity) for quantity in score.quantities], "along": None}


def _along_names(at: int) -> tuple[str, str]:
    return f"coordinates_{at}", f"directions_{at}"


def _score(facts: Mapping[str, Any], *along: np.ndarray) -> EmbeddingScore:
    """Return a score again."""
    again: dict[str, Any] = {name: pd.DataFrame(facts[name]) for name in ("estimates", "items")}
    again["lost"] = {kind: tuple(labels) for kind, labels in dict(facts["lost"]).items()}
    again["quantities"] = tuple(Quantity(**_with_tuples(each)) for each in facts["quantities"])
    again["along"] = DrawnDirections(*along) if along else None
    return EmbeddingScore(**{**facts, **again})


def _with_tuples(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in dict(facts).items()}


def _path(folder: Path, digest: str) -> Path:
    return folder / f"{digest}.npz"


def _plain(value: Any) -> Any:
    """Return one of NumPy's numbers as Python's."""
    return value.item()
