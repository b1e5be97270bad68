"""Pages of reports whose every name is hostile: what a browser would run of them is the page's own script alone."""

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayesbias as bb
from bayesbias.audits.audit_report import AuditReport
from bayesbias.base.results import Result
from tests.audits import debiased_pets as pets
from tests.audits import pets as studies
from tests.audits.test_ranks import audit_of
from tests.delivery.page.pages import HOSTILE, Reader
from tests.reports.made import made_fit, made_table

Generator = np.random.Generator
NAMES = (
    *HOSTILE,
    "<script>document.title = 'ran'</script>",
    "</title><script>document.title = 'ran'</script>",
    "</script><script>document.title = 'ran'</script>",
    "<svg onload=\"document.title='ran'\">",
    "<a href=\"javascript:document.title='ran'\">x</a>",
    "' onmouseover='document.title=1' x='",
    "<base href=https://example.org><iframe src=//example.org>",
    "<meta http-equiv=refresh content=0;url=//example.org>",
    "<!--",
    "]]>",
    "<style>@import '//example.org'</style>",
    "\u202eturned",
    "\x1b[31mred",
    "{% raw %}",
    "<math><mtext></mtext><script>document.title = 'ran'</script></math>",
    "\\u003cscript\\u003e",
    "`${document.title = 'ran'}`",
)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def _fit() -> xr.DataTree:
    return made_fit(draws=100)


def audit(names: Sequence[str]) -> Result:
    """Return an audit of embeddings and studies with these names."""
    return AuditReport(_audited(names))


def _audited(names: Sequence[str]) -> pd.DataFrame:
    first, second, study, group = names
    keys = [(name, study, "contrast") for name in (first, second)]
    frame = audit_of({key: -0.1 * place for place, key in enumerate(keys, 1)}, {key: np.full(20, -0.1) for key in keys})
    frame[["reading", "quantity", "protected_group"]] = ["nearer", "associated - different", ""]
    frame[["hdi_low", "hdi_high", "ess_bulk"]] = [-0.25, -0.02, 100.0]
    frame.record.failed[first, group] = f"StudyError: {group}"
    return frame


def gate(names: Sequence[str]) -> Result:
    """Return the gate of such an audit."""
    return bb.gate(_audited(names), rope=0.02)


def trainings(names: Sequence[str]) -> Result:
    """Return a comparison of trainings with these names."""
    return bb.compare_trainings({names[0]: _fit(), names[1]: _fit()}, random_seed=1)


def encoders(names: Sequence[str]) -> Result:
    """Return a comparison of the tables of encoders with these names, with words and groups called so."""
    rows = made_table((*names[2:], "he", "she"))
    other = rows.assign(cosine_distance=rows["cosine_distance"] + np.random.default_rng(1).normal(0, 0.01, len(rows)))
    rows.attrs = {"bayesbias": {"study": names[2], "embedding": {"name": names[0], "hash": "0", "case": "exact"}}}
    return bb.compare_embeddings({names[0]: rows, names[1]: other}, draws=100, random_seed=1, progress=False)


def debiasing(names: Sequence[str]) -> Result:
    """Return a report on debiasing an embedding with such a name, of a study and by a method called so."""
    source = pets.embedding()
    named = bb.Embedding(source.words, source.vectors, name=names[0])
    settings = {**pets.SMALL, "measures": ["vocabulary_direct_bias"]}
    return bb.debias_report([named], studies.study(names[1]), {names[2]: pets.Weak()}, sets=pets.SETS, **settings)


MAKERS: dict[str, Callable[[Sequence[str]], Result]] = {
    "audit": audit,
    "gate": gate,
    "trainings": trainings,
    "encoders": encoders,
    "debiasing": debiasing,
}


def drawn(kind: str) -> Callable[[], object]:
    """Return what writes a page of a kind, which imports and compiles what it needs."""

    def draw() -> object:
        with tempfile.TemporaryDirectory() as folder:
            return bb.write(MAKERS[kind](("a", "b", "c", "d")), Path(folder) / "page.html")

    return draw


def hostile_names(rng: Generator) -> bytes:
    """Return four different names as JSON: hostile ones, or two joined."""
    chosen = rng.choice(len(NAMES), size=8, replace=False)
    names = [
        NAMES[place] + (NAMES[chosen[4 + at]] if rng.random() < 0.3 else "") for at, place in enumerate(chosen[:4])
    ]
    return json.dumps(names).encode()


def page_of(kind: str) -> Callable[[Path], object]:
    """Return what writes the page of a kind with the names in a file, and reads the page."""

    def read(path: Path) -> object:
        written = bb.write(MAKERS[kind](json.loads(path.read_bytes())), path.with_suffix(".html"), overwrite=True)
        return faults(written.read_text(encoding="utf-8"))

    return read


def faults(page: str) -> list[str]:
    """Return what a page holds that it should not: scripts, handlers, links that run or load, and tags of names."""
    reader = Reader(page)
    found = []
    if len(reader.all("script")) != 1 or "document.title" in _SCRIPT.findall(page)[0]:
        found.append("a script")
    for tag, attributes in reader.elements:
        if tag in ("iframe", "base", "object", "embed", "form", "math"):
            found.append(tag)
        for name, value in attributes.items():
            if name.startswith("on"):
                found.append(f"{tag} {name}")
            if name in ("src", "href", "action") and not str(value).startswith(
                ("#", "data:image/", "question_", "https://doi")
            ):
                found.append(f"{tag} {name}={value}")
    policies = [meta["content"] for meta in reader.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    if len(policies) != 1 or not str(policies[0]).startswith("default-src 'none'"):
        found.append("no policy")
    if any(str(meta.get("http-equiv", "")).lower() == "refresh" for meta in reader.all("meta")):
        found.append("refresh")
    return found
