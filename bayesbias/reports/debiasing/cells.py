"""A cell of a report on debiasing: one embedding by one method, with all that is asked of it."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.base.files import input_file
from bayesbias.debias import DebiasWords
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import BayesBiasError, ReportError, collected_warnings
from bayesbias.metrics import EMBEDDING_MEASURES, EmbeddingScore, paired_change, score_embedding
from bayesbias.models.spec import ModelSpec
from bayesbias.reports.audits.audit import question_table
from bayesbias.reports.audits.cells import Answer, package_version
from bayesbias.reports.embeddings.comparison import model_of_differences
from bayesbias.reports.embeddings.difference_frames import gap_frame, own_gaps, with_own_gaps
from bayesbias.reports.embeddings.shared_pairs import (
    checked_tables,
    common_pairs,
    difference_table,
    pair_differences,
)
from bayesbias.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ASSOCIATION = "association"
"""The kind of the rows that a model answers; the others are as `EmbeddingMeasure.about` says."""
ORIGINAL = "original"
"""What stands in the place of a method where nothing was done."""

CHANGED = "changed"


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

    @cached_property
    def after(self) -> str:
        """Hash of the cell of the embedding before debiasing, whose answer this one is compared with; else empty."""
        return "" if self.chosen is None else replace(self, method=ORIGINAL, chosen=None).digest

    def fit_seed(self, study: Study) -> int:
        """Return the seed of the fits of a study: another for other vectors, methods and studies."""
        return int(_digest([self.vectors, self.method, study.name, self.random_seed])[:8], 16)


def answer_debias_cell(source: Embedding, cell: DebiasCell, before: Answer | None = None) -> Answer:
    """Debias an embedding by the method of a cell, and answer everything that is asked of it.

    `before` is the answer of the embedding before debiasing; None: this is the one that is asked for.
    """
    from threadpoolctl import threadpool_limits

    rows: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    gaps, scores = {}, {}
    with threadpool_limits(1, "blas"), collected_warnings() as caught:
        embedding = source if cell.chosen is None else cell.chosen.fit(source, cell.sets).transform(source)
        for study in cell.studies:
            try:
                if before is None:
                    row, gaps[study.name] = _association(source, study, cell)
                else:
                    row = _changed_association(source, embedding, study, cell, _found(before.gaps, study.name, before))
                rows.append(row)
            except BayesBiasError as error:
                left_out[study.name] = str(error)
        for asked in cell.scores:
            try:
                first = None if before is None else _found(before.scores, asked.label, before)
                score = _score(embedding, source, asked, cell)
                rows.append(_score_row(score, asked) | ({} if first is None else _change(first, score, cell)))
                if before is None:
                    scores[asked.label] = score
            except BayesBiasError as error:
                left_out[asked.label] = str(error)
    warned = [(each.category.__name__, str(each.message)) for each in caught]
    return Answer(rows, {}, left_out, warned, gaps=gaps, scores=scores)


def _found[T](kept: Mapping[str, T], name: str, before: Answer) -> T:
    """Return what there is of an embedding before debiasing, or raise why there is nothing."""
    if name not in kept:
        raise ReportError(before.left_out[name])
    return kept[name]


def _association(source: Embedding, study: Study, cell: DebiasCell) -> tuple[dict[str, Any], "pd.DataFrame"]:
    """Return the contrast of associated words with the first other connection, and all such contrasts."""
    table = question_table(source, study, cell.max_lost)
    gaps = own_gaps(_fitted(table, cell.model, study, cell), cell.hdi_prob, each_word=False)
    row = gaps.iloc[0]
    return _about(source, study, table) | {
        "quantity": row["contrast"],
        "value": row["mean"],
        "value_plain": row["observed"],
        "value_low": row["hdi_low"],
        "value_high": row["hdi_high"],
    }, gaps


def _changed_association(
    source: Embedding, changed: Embedding, study: Study, cell: DebiasCell, before: "pd.DataFrame"
) -> dict[str, Any]:
    """Return the contrast of associated words with the first other connection after debiasing, and its change."""
    table, other = (question_table(each, study, cell.max_lost) for each in (source, changed))
    common, _ = common_pairs(checked_tables({ORIGINAL: table, CHANGED: other}))
    after = _fitted(common[CHANGED], cell.model, study, cell)
    pairs = pair_differences(common[ORIGINAL], common[CHANGED], cell.method)
    differing = difference_table(pairs, source="differences of cosine distances", simulated=False)
    difference = _fitted(differing, model_of_differences(cell.model), study, cell) if len(differing) else None
    gaps = gap_frame(pairs, difference, cell.hdi_prob, None, cell.fit_seed(study), each_word=False)
    if gaps is None:
        raise ReportError(f"The study {study.name!r} has no associated words to compare with others.")
    row = with_own_gaps(gaps, before, own_gaps(after, cell.hdi_prob, each_word=False)).iloc[0]
    return _about(source, study, table) | {
        "quantity": row["contrast"],
        "value": row["other_gap"],
        "value_plain": row["other_plain"],
        "value_low": row["other_low"],
        "value_high": row["other_high"],
        "change": row["mean"],
        "change_plain": row["other_plain"] - row["baseline_plain"],
        "change_low": row["hdi_low"],
        "change_high": row["hdi_high"],
        "reading": row["reading"],
    }


def _about(source: Embedding, study: Study, table: "pd.DataFrame") -> dict[str, Any]:
    """Return what a row says of a study, whatever its numbers."""
    lost = sum(len(source.lookup(words).lost) for words in (*study.protected.values(), *study.attributes.values()))
    return {"kind": ASSOCIATION, "measure": study.name, "better": "", "items": len(table), "lost": lost}


def _fitted(table: "pd.DataFrame", model: ModelSpec, study: Study, cell: DebiasCell) -> "xr.DataTree":
    from bayesbias.models.sampling import fit

    return fit(table, model, draws=cell.draws, chains=cell.chains, random_seed=cell.fit_seed(study), progress=False)


def _score(embedding: Embedding, source: Embedding, asked: AskedScore, cell: DebiasCell) -> EmbeddingScore:
    settings = {"random_seed": cell.random_seed, "hdi_prob": cell.hdi_prob, "progress": False, **dict(asked.options)}
    return score_embedding(asked.measure, embedding, asked.data, reference=source, **settings)


def _score_row(score: EmbeddingScore, asked: AskedScore) -> dict[str, Any]:
    """Return the headline of a score."""
    first, entry = score.estimates.iloc[0], EMBEDDING_MEASURES[asked.measure]
    return {
        "kind": entry.about,
        "measure": asked.label,
        "better": entry.better,
        "quantity": first["quantity"],
        "value": first["value"],
        "value_low": first["hdi_low"],
        "value_high": first["hdi_high"],
        "items": int(first["items"]),
        "lost": sum(map(len, score.lost.values())),
    }


def _change(before: EmbeddingScore, after: EmbeddingScore, cell: DebiasCell) -> dict[str, Any]:
    """Return the change of the headline of a score, on the same items."""
    change = paired_change(before, after, random_seed=cell.random_seed, hdi_prob=cell.hdi_prob).iloc[0]
    return {"change": change["change"], "change_low": change["hdi_low"], "change_high": change["hdi_high"]}


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()
