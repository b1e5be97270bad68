"""An audit as a file: which embeddings, studies and measures, so that it can be repeated."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.errors import ReportError, did_you_mean, raise_faults
from bayesbias.files import read_toml
from bayesbias.models.spec import list_models
from bayesbias.reports.audits.asked import AUDIT_MEASURES
from bayesbias.studies import list_studies

_SETTINGS = ("measures", "model", "case", "max_lost", "seed")
_KEYS = ("embeddings", "studies", *_SETTINGS)


@dataclass(frozen=True)
class AuditPlan:
    """What an audit asks.

    Parameters
    ----------
    embeddings
        Name -> path.
    studies
        Names of bundled studies, or paths.
    measures
        As for `bayesbias.audit`.
    settings
        `model`, `case`, `max_lost` and `random_seed`, as for `bayesbias.audit`, as far as the file names them.
    """

    embeddings: Mapping[str, Path]
    studies: tuple[str, ...]
    measures: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_audit_plan(path: str | os.PathLike[str]) -> AuditPlan:
    """Read an audit from a TOML file; paths in it are those from the folder that it stands in.

    The file has a table ``[embeddings]`` of names and paths and a list `studies`, and may have `measures`, `model`
    (``"none"``: no model), `case`, `max_lost` and `seed`.

    Raises
    ------
    InputFileError
        If the file cannot be read.
    ReportError
        If it is not TOML, or not an audit; all faults are listed.

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
    settings: dict[str, Any] = {key: content[key] for key in ("model", "case", "max_lost") if key in content}
    if settings.get("model") == "none":
        settings["model"] = None
    elif "model" in settings and settings["model"] not in list_models():
        settings["model"] = str(folder / settings["model"])
    if "seed" in content:
        settings["random_seed"] = content["seed"]
    known = list_studies()
    default = AUDIT_MEASURES if settings.get("model", "") is not None else AUDIT_MEASURES[1:]
    return AuditPlan(
        embeddings={name: folder / file for name, file in content["embeddings"].items()},
        studies=tuple(each if each in known else str(folder / each) for each in content["studies"]),
        measures=tuple(content.get("measures", default)),
        settings=settings,
    )


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
    for key in ("studies", "measures"):
        value = content.get(key, [] if key == "studies" else ["weat"])
        if not isinstance(value, list) or not value or not all(isinstance(each, str) and each for each in value):
            yield (
                f'{key} must be a list of names between quotes, such as {key} = ["weat7"]'
                if key == "studies"
                else ('measures must be a list of names between quotes, such as measures = ["contrast", "weat"]')
            )
    for key in ("model", "case"):
        if not isinstance(content.get(key, ""), str):
            yield f"{key} must be a text between quotes"
