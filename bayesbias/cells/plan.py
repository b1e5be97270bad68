"""An audit as a TOML file that names embeddings, studies and settings, so that it can be repeated."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.base.files import read_toml
from bayesbias.cells.questions import AUDIT_MEASURES
from bayesbias.errors import ReportError, did_you_mean, raise_faults
from bayesbias.models.spec import list_models
from bayesbias.studies.study import list_studies

_LISTS = {"studies": '["weat7"]', "measures": '["contrast", "weat"]', "models": '["crossed", "hierarchical"]'}
_TEXTS = ("model", "case", "scheduler")
_NUMBERS = ("max_lost", "hdi_prob", "draws", "tune", "chains", "random_seed", "seeds", "workers")
_KEYS = ("embeddings", *_LISTS, *_TEXTS, *_NUMBERS)
_EXCLUSIVE = (("model", "models"), ("random_seed", "seeds"), ("workers", "scheduler"))


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
    list `models` (``"none"``: no model), `random_seed` or a list `seeds`, `workers` or `scheduler`, `case`, `max_lost`,
    `hdi_prob`, `draws`, `tune` and `chains`.

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
    raise_faults(ReportError, f"The audit {path}", list(_faults(content)))
    folder = Path(path).resolve().parent  # so that no path is taken for a name
    settings = {key: content[key] for key in (*_TEXTS, *_NUMBERS, "models") if key in content}
    if "model" in settings:
        settings["model"] = _model(content["model"], folder)
    if "models" in settings:
        settings["models"] = [_model(name, folder) for name in content["models"]]
    no_model = None in settings.get("models", [settings.get("model", "")])
    bundled_studies = list_studies()
    return AuditPlan(
        embeddings={name: folder / file for name, file in content["embeddings"].items()},
        studies=tuple(name if name in bundled_studies else str(folder / name) for name in content["studies"]),
        measures=tuple(content.get("measures", AUDIT_MEASURES[1:] if no_model else AUDIT_MEASURES)),
        settings=settings,
    )


def _model(name: str, folder: Path) -> str | None:
    if name == "none":
        return None
    return name if name in list_models() else str(folder / name)


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    for key in content:
        if key not in _KEYS:
            yield f"unknown key {key!r}{did_you_mean(key, _KEYS)}; an audit has {', '.join(_KEYS)}"
    embeddings = content.get("embeddings")
    if not isinstance(embeddings, dict) or not embeddings:
        yield 'no table [embeddings] with names and files, such as: GloVe = "glove.6B.300d.txt"'
    elif bad := [name for name, file in embeddings.items() if not isinstance(file, str) or not file]:
        dotted = "; a name with a dot needs quotes too" if isinstance(embeddings[bad[0]], dict) else ""
        yield f"the embedding {bad[0]!r} is not the name of a file between quotes{dotted}"
    for key, example in _LISTS.items():
        names = content.get(key, [] if key == "studies" else ["weat"])
        if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
            yield f"{key} must be a list of names between quotes, such as {key} = {example}"
    if "seeds" in content and not (isinstance(content["seeds"], list) and content["seeds"]):
        yield "seeds must be a list of whole numbers, such as seeds = [1, 2]"
    for first, second in _EXCLUSIVE:
        if first in content and second in content:
            yield f"{first} and {second}: give one of the two"
    for key in _TEXTS:
        if not isinstance(content.get(key, ""), str):
            yield f"{key} must be a text between quotes"
