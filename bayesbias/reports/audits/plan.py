"""An audit as a file: which embeddings, studies and measures, so that it can be repeated."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.base.files import read_toml
from bayesbias.errors import ReportError, did_you_mean, raise_faults
from bayesbias.models.spec import list_models
from bayesbias.reports.audits.asked import AUDIT_MEASURES
from bayesbias.studies.study import list_studies

_SETTINGS = ("measures", "model", "case", "max_lost", "hdi_prob", "draws", "tune", "chains", "seed")
# What `bayesbias run` asks besides, of many workers.
_OF_RUNS = ("models", "seeds", "workers", "scheduler")
_KEYS = ("embeddings", "studies", *_SETTINGS, *_OF_RUNS)
_LISTS = {"studies": '["weat7"]', "measures": '["contrast", "weat"]', "models": '["crossed", "hierarchical"]'}
_AS_THEY_ARE = ("case", "max_lost", "hdi_prob", "draws", "tune", "chains", "workers", "scheduler")


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
    models, seeds
        As for `bayesbias.run_study`: one or several; none if the file names none.
    settings
        `case`, `max_lost`, `hdi_prob`, `draws`, `tune`, `chains`, `workers` and `scheduler`, as far as the file
        names them.
    """

    embeddings: Mapping[str, Path]
    studies: tuple[str, ...]
    measures: tuple[str, ...]
    models: tuple[str | None, ...] = ()
    seeds: tuple[int, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_one_process(self) -> dict[str, Any]:
        """The settings of `bayesbias.audit`.

        Raises
        ------
        ReportError
            If the plan asks for several models or seeds, or for workers.
        """
        more = [name for name in ("workers", "scheduler") if name in self.settings]
        more += [name for name in ("models", "seeds") if len(getattr(self, name)) > 1]
        if more:
            raise ReportError(f"The plan has {', '.join(more)}, which an audit has not. Use: bayesbias run")
        one = {"model": self.models, "random_seed": self.seeds}
        return {**self.settings, **{name: values[0] for name, values in one.items() if values}}

    @property
    def of_workers(self) -> dict[str, Any]:
        """The settings of `bayesbias.run_study`."""
        several = {"models": self.models, "random_seed": self.seeds}
        return {**self.settings, **{name: list(values) for name, values in several.items() if values}}


def read_audit_plan(path: str | os.PathLike[str]) -> AuditPlan:
    """Read an audit from a TOML file; paths in it are those from the folder that it stands in.

    The file has a table ``[embeddings]`` of names and paths and a list `studies`, and may have `measures`, `model`
    (``"none"``: no model), `case`, `max_lost`, `hdi_prob`, `draws`, `tune`, `chains` and `seed`; for
    `bayesbias run` also lists
    `models` and `seeds` in place of one, and `workers` or `scheduler`.

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
    models = tuple(
        None if model == "none" else model if model in list_models() else str(folder / model)
        for model in content.get("models", [content["model"]] if "model" in content else [])
    )
    known = list_studies()
    return AuditPlan(
        embeddings={name: folder / file for name, file in content["embeddings"].items()},
        studies=tuple(each if each in known else str(folder / each) for each in content["studies"]),
        measures=tuple(content.get("measures", AUDIT_MEASURES[1:] if None in models else AUDIT_MEASURES)),
        models=models,
        seeds=tuple(content.get("seeds", [content["seed"]] if "seed" in content else [])),
        settings={key: content[key] for key in _AS_THEY_ARE if key in content},
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
    for key, example in _LISTS.items():
        value = content.get(key, [] if key == "studies" else ["weat"])
        if not isinstance(value, list) or not value or not all(isinstance(each, str) and each for each in value):
            yield f"{key} must be a list of names between quotes, such as {key} = {example}"
    if "seeds" in content and not (isinstance(content["seeds"], list) and content["seeds"]):
        yield "seeds must be a list of whole numbers, such as seeds = [1, 2]"
    for one, several in (("model", "models"), ("seed", "seeds"), ("workers", "scheduler")):
        if one in content and several in content:
            yield f"{one} and {several}: give one of the two"
    for key in ("model", "case", "scheduler"):
        if not isinstance(content.get(key, ""), str):
            yield f"{key} must be a text between quotes"
