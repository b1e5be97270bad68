"""An audit as a TOML file that names embeddings, studies and settings, so that it can be repeated."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Required, TypedDict

from bayesbias.base.files.inputs import read_toml
from bayesbias.base.files.toml_files import toml_faults
from bayesbias.cells.questions import AUDIT_MEASURES
from bayesbias.errors import ReportError, raise_faults
from bayesbias.models.spec import list_models
from bayesbias.studies.study import list_studies

_EXCLUSIVE = (("model", "models"), ("random_seed", "seeds"))


class _PlanFile(TypedDict, total=False):
    embeddings: Required[dict[str, str]]
    studies: Required[list[str]]
    measures: list[str]
    model: str
    models: list[str]
    random_seed: int
    seeds: list[int]
    case: str
    max_lost: float
    controls: bool
    hdi_prob: float
    rope: float | list[float]
    draws: int
    tune: int
    chains: int
    workers: int


@dataclass(frozen=True)
class AuditPlan:
    """Arguments of `bayesbias.audit` that a file names.

    Parameters
    ----------
    embeddings
        Name -> path.
    studies
        Names of bundled studies, or paths.
    measures
        Names of measures.
    settings
        Other arguments by name, as far as the file has them.
    """

    embeddings: Mapping[str, Path]
    studies: tuple[str, ...]
    measures: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_audit_plan(path: str | os.PathLike[str]) -> AuditPlan:
    """Return the plan of an audit in a TOML file; its paths are relative to the folder of the file.

    The file has a table ``[embeddings]`` of names and paths and a list `studies`. It may have `measures`, `model` or a
    list `models` (``"none"``: no model), `random_seed` or a list `seeds`, `workers`, `case`, `max_lost`, `controls`,
    `hdi_prob`, `rope`, `draws`, `tune` and `chains`. It names no Dask scheduler, which could run code here.

    Raises
    ------
    InputFileError
        If the file cannot be read.
    ReportError
        If it is not TOML, or not a plan; all faults are listed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "audit.toml")
    ...     written = path.write_text("embeddings = {GloVe = 'glove.txt'}; studies = ['weat7']".replace("; ", chr(10)))
    ...     read_audit_plan(path).studies
    ('weat7',)
    """
    content = read_toml(path, ReportError)
    if "scheduler" in content:
        raise ReportError(
            f"The audit {path} names a Dask scheduler, which could run any program here, and plans come from anyone. "
            "Remove the line. If you trust it, give its address with --scheduler, or as the argument scheduler."
        )
    both = [f"{one} and {other}: give one of the two." for one, other in _EXCLUSIVE if {one, other} <= content.keys()]
    raise_faults(ReportError, f"The audit {path}", chain(toml_faults(content, _PlanFile), both))
    folder = Path(path).resolve().parent  # so that no path is taken for a name
    settings = {key: value for key, value in content.items() if key not in ("embeddings", "studies", "measures")}
    bundled_models, bundled_studies = list_models(), list_studies()
    if "model" in settings:
        settings["model"] = _model(content["model"], folder, bundled_models)
    if "models" in settings:
        settings["models"] = [_model(name, folder, bundled_models) for name in content["models"]]
    no_model = None in settings.get("models", [settings.get("model", "")])
    return AuditPlan(
        embeddings={name: folder / file for name, file in content["embeddings"].items()},
        studies=tuple(name if name in bundled_studies else str(folder / name) for name in content["studies"]),
        measures=tuple(content.get("measures", AUDIT_MEASURES[1:] if no_model else AUDIT_MEASURES)),
        settings=settings,
    )


def _model(name: str, folder: Path, bundled_models: list[str]) -> str | None:
    if name == "none":
        return None
    return name if name in bundled_models else str(folder / name)
