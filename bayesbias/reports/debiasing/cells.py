"""A cell of a report on debiasing: one embedding by one method, with all that is asked of it."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from bayesbias.debias import DebiasWords
from bayesbias.embeddings import Embedding
from bayesbias.errors import BayesBiasError, ReportError, collected_warnings
from bayesbias.files import input_file
from bayesbias.metrics import EMBEDDING_MEASURES, paired_change, score_embedding
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.audits.audit import question_table
from bayesbias.reports.audits.cells import Answer, package_version
from bayesbias.reports.embeddings.comparison import model_of_differences
from bayesbias.reports.embeddings.difference_frames import gap_frame
from bayesbias.reports.embeddings.shared_pairs import (
    checked_tables,
    common_pairs,
    difference_table,
    pair_differences,
)
from bayesbias.studies import Study

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ASSOCIATION = "association"
"""The kind of the rows that a model answers; the others are as `EmbeddingMeasure.about` says."""
ORIGINAL = "original"
"""What stands in the place of a method where nothing was done."""

CHANGED = "changed"
# Fits and scores of embeddings before debiasing, from which every method's change is counted.
_BEFORE: "WeakKeyDictionary[Embedding, dict[tuple[Any, ...], Any]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class AskedScore:
    """A score of a whole embedding, and the data that it needs.

    Parameters
    ----------
    measure
        A name in `bayesbias.metrics.EMBEDDING_MEASURES`.
    label
        What the report calls it.
    data
        What the measure needs besides the embedding, such as a path; or None.
    options
        Options of the measure's own function.
    """

    measure: str
    label: str
    data: Any = None
    options: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def digest(self) -> str:
        """Hash of what is asked: of a file, its content."""
        is_path = isinstance(self.data, str | os.PathLike) and EMBEDDING_MEASURES[self.measure].data == "path"
        content = hashlib.sha256(input_file(self.data).read_bytes()).hexdigest() if is_path else self.data
        return _digest([self.measure, self.label, content, self.options])


@dataclass(frozen=True, eq=False)
class DebiasCell:
    """What is asked of one embedding and one method.

    Parameters
    ----------
    embedding
        Its name.
    vectors
        Hash of its words and vectors.
    method, chosen
        The name of a method and the method; `ORIGINAL` and None where nothing is done.
    sets
        The words that methods need.
    studies, scores
        What is asked.
    model, max_lost, hdi_prob, draws, tune, chains, random_seed
        As for `bayesbias.audit`.
    """

    embedding: str
    vectors: str
    method: str
    chosen: Any
    sets: DebiasWords
    studies: tuple[Study, ...]
    scores: tuple[AskedScore, ...]
    model: ModelSpec
    max_lost: float
    hdi_prob: float
    draws: int
    chains: int
    random_seed: int

    @cached_property
    def digest(self) -> str:
        """Hash of all that enters the answer: equal ones have equal answers."""
        asked = [
            self.vectors,
            [self.method, repr(self.chosen), asdict(self.sets) if self.chosen is not None else None],
            [asdict(study) for study in self.studies],
            [score.digest for score in self.scores],
            [self.model.digest, self.max_lost, self.hdi_prob, self.draws, self.chains, self.random_seed],
        ]
        return _digest([asked, package_version()])[:32]

    def fit_seed(self, study: Study, method: str) -> int:
        """Return the seed of the fits of a study: another for other vectors, methods and studies."""
        return int(_digest([self.vectors, method, study.name, self.random_seed])[:8], 16)


def answer_debias_cell(source: Embedding, cell: DebiasCell) -> Answer:
    """Debias an embedding by the method of a cell, and answer everything that is asked of it."""
    from threadpoolctl import threadpool_limits

    rows: list[Mapping[str, Any]] = []
    left_out: dict[str, str] = {}
    with threadpool_limits(1, "blas"), collected_warnings() as caught:
        changed = None
        if cell.chosen is not None:
            changed = cell.chosen.fit(source, cell.sets).transform(source)
        for study in cell.studies:
            try:
                rows.append(_association(source, changed, study, cell))
            except BayesBiasError as error:
                left_out[study.name] = str(error)
        for asked in cell.scores:
            try:
                rows.extend(_scored(source, changed, asked, cell))
            except BayesBiasError as error:
                left_out[asked.label] = str(error)
    warned = [(each.category.__name__, str(each.message)) for each in caught]
    return Answer(rows, {}, left_out, warned)


def _association(source: Embedding, changed: Embedding | None, study: Study, cell: DebiasCell) -> dict[str, Any]:
    """Return the contrast of associated words with the first other connection, and its change."""
    from bayesbias.models.sampling import fit
    from bayesbias.reports.posterior.contrasts import contrasts

    sizes: dict[str, Any] = {"draws": cell.draws, "chains": cell.chains, "progress": False}

    def original() -> "tuple[pd.DataFrame, xr.DataTree]":
        table = question_table(source, study, cell.max_lost)
        return table, fit(table, cell.model, random_seed=cell.fit_seed(study, ORIGINAL), **sizes)

    table, before = _once(source, (_digest(asdict(study)), cell.model.digest, cell.fit_seed(study, ORIGINAL)), original)
    lost = sum(len(source.lookup(words).lost) for words in (*study.protected.values(), *study.attributes.values()))
    about = {"kind": ASSOCIATION, "measure": study.name, "items": len(table), "lost": lost}
    if changed is None:
        row = contrasts(before, hdi_prob=cell.hdi_prob).iloc[0]
        return about | {
            "quantity": row["contrast"],
            "value": row["mean"],
            "value_low": row["hdi_low"],
            "value_high": row["hdi_high"],
        }
    seed = cell.fit_seed(study, cell.method)
    other = question_table(changed, study, cell.max_lost)
    common, _ = common_pairs(checked_tables({ORIGINAL: table, CHANGED: other}))
    after = fit(common[CHANGED], cell.model, random_seed=seed, **sizes)
    pairs = pair_differences(common[ORIGINAL], common[CHANGED], cell.method)
    differing = difference_table(pairs, source="differences of cosine distances", simulated=False)
    difference = None
    if len(differing):
        difference = fit(differing, model_of_differences(cell.model), random_seed=seed, **sizes)
    gaps = gap_frame(pairs, difference, (before, after), cell.hdi_prob, None, seed, each_word=False)
    if gaps is None:
        raise ReportError(f"The study {study.name!r} has no associated words to compare with others.")
    row = gaps.iloc[0]
    return about | {
        "quantity": row["contrast"],
        "value": row["other_gap"],
        "value_low": row["other_low"],
        "value_high": row["other_high"],
        "change": row["mean"],
        "change_low": row["hdi_low"],
        "change_high": row["hdi_high"],
        "reading": row["reading"],
    }


def _scored(
    source: Embedding, changed: Embedding | None, asked: AskedScore, cell: DebiasCell
) -> Iterator[dict[str, Any]]:
    """Yield the headline of a score, and its change on the same items."""
    settings = {"random_seed": cell.random_seed, "hdi_prob": cell.hdi_prob, "progress": False, **dict(asked.options)}
    before = score = _once(
        source,
        (asked.digest, cell.random_seed, cell.hdi_prob),
        lambda: score_embedding(asked.measure, source, asked.data, reference=source, **settings),
    )
    row: dict[str, Any] = {"kind": EMBEDDING_MEASURES[asked.measure].about, "measure": asked.label}
    if changed is not None:
        score = score_embedding(asked.measure, changed, asked.data, reference=source, **settings)
        change = paired_change(before, score, random_seed=cell.random_seed, hdi_prob=cell.hdi_prob).iloc[0]
        row |= {"change": change["change"], "change_low": change["hdi_low"], "change_high": change["hdi_high"]}
    first = score.estimates.iloc[0]
    yield row | {
        "quantity": first["quantity"],
        "value": first["value"],
        "value_low": first["hdi_low"],
        "value_high": first["hdi_high"],
        "items": int(first["items"]),
        "lost": sum(map(len, score.lost.values())),
    }


def _once[T](source: Embedding, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Return what is made of an embedding before debiasing, which is made once in a process."""
    made = _BEFORE.setdefault(source, {})
    if key not in made:
        made[key] = make()
    found: T = made[key]
    return found


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()
