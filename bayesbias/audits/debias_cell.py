"""A cell of a report on debiasing: one embedding by one method, with all that is asked of it."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias.audits.debias_result import ASSOCIATION, ORIGINAL, TEXTS
from bayesbias.audits.plan import question_table
from bayesbias.base.checks import is_text
from bayesbias.base.files.inputs import LINES, input_file, read_content
from bayesbias.changes.engine import changes_of, checked_tables
from bayesbias.changes.result import CHAINS, Estimation
from bayesbias.debias import DebiasWords
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import BayesBiasError, BayesBiasWarning, ReportError, collected_warnings, warn_user
from bayesbias.metrics import MEASURES, MeasureResult, measure, paired_change
from bayesbias.metrics.quantities import DrawnDirections, Quantity
from bayesbias.models.fits import groups_without_contrast
from bayesbias.reports.posterior.contrasts import contrasts
from bayesbias.studies.study import Study
from bayesbias.workers.cells import Answer, content_digest, has_texts, has_types, package_version, warning_texts

if TYPE_CHECKING:
    import pandas as pd

_SCORE_FRAMES = ("estimates", "scores")
_DIRECTION_FRAMES = ("coordinates", "directions")


@dataclass(frozen=True)
class RequestedScore:
    """A score of a whole embedding, and the data that it needs.

    - `measure`: name in `bayesbias.metrics.MEASURES`.
    - `label`: name in the report.
    - `data`: data that the measure needs besides the embedding, such as a path; or None.
    - `options`: options of the measure's own function.
    """

    measure: str
    label: str
    data: Any = None
    options: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def digest(self) -> str:
        """Hash of measure, label, options and data: of a file, its content."""
        is_path = isinstance(self.data, str | os.PathLike) and MEASURES[self.measure].data == "path"
        content = hashlib.sha256(read_content(input_file(self.data), LINES)).hexdigest() if is_path else self.data
        return content_digest([self.measure, self.label, content, self.options])


@dataclass(frozen=True, eq=False)
class DebiasCell:
    """One embedding by one method, with all studies and scores.

    - `embedding`: name of the embedding.
    - `vectors`: hash of its words and vectors.
    - `method`, `chosen`: name of a method and the method; `ORIGINAL` and None where nothing is done.
    - `sets`: words that methods need.
    - `studies`, `scores`: questions about the embedding.
    - `max_lost`, `hdi_prob`, `draws`, `random_seed`: as for `bayesbias.audit`.
    - `before`: answer of the embedding before debiasing, with which a method is compared; it follows from the other
      fields.
    """

    embedding: str
    vectors: str
    method: str
    chosen: Any
    sets: DebiasWords
    studies: tuple[Study, ...]
    scores: tuple[RequestedScore, ...]
    max_lost: float
    hdi_prob: float
    draws: int
    random_seed: int
    before: Answer | None = None

    @property
    def source(self) -> str:
        """Name of the embedding."""
        return self.embedding

    @cached_property
    def digest(self) -> str:
        """Hash of all that enters the answer: cells with equal hashes have equal answers."""
        content = [
            self.vectors,
            [self.method, repr(self.chosen), asdict(self.sets) if self.chosen is not None else None],
            [asdict(study) for study in self.studies],
            [score.digest for score in self.scores],
            [self.max_lost, self.hdi_prob, self.draws, self.random_seed],
        ]
        return content_digest([content, package_version()])[:32]

    @property
    def estimation(self) -> Estimation:
        """How the contrast of a study is estimated, alike for all methods."""
        return Estimation(draws=self.draws, seed=self.random_seed, hdi_prob=self.hdi_prob)

    def answer(self, source: Embedding) -> Answer:
        """Return rows of the report (`rows`) on the embedding after debiasing, and what was left out.

        Without `before`, the embedding is measured as it is, and the answer also holds the scores with which those
        after debiasing are compared.
        """
        import pandas as pd

        from bayesbias.base.machine import threadpool_limits

        rows: list[dict[str, Any]] = []
        left_out: dict[str, str] = {}
        doubts: dict[str, list[tuple[str, str]]] = {}
        frames: dict[str, pd.DataFrame] = {}
        before = self.before
        scores: dict[str, Any] = {}
        with threadpool_limits(1, "blas"), collected_warnings() as caught:
            embedding = source if self.chosen is None else self.chosen.fit(source, self.sets).transform(source)
            for study in self.studies:
                try:
                    if before is None:
                        rows.append(_association(source, study, self))
                    else:
                        _raise_if_left_out(before, study.name)
                        row, doubts[study.name] = _changed_association(source, embedding, study, self)
                        rows.append(row)
                except BayesBiasError as error:
                    left_out[study.name] = str(error)
            for request in self.scores:
                try:
                    if before is not None:
                        _raise_if_left_out(before, request.label)
                    score = _score(embedding, source, request, self)
                    change = {} if before is None else _change(_read_score(before, request.label), score, self)
                    rows.append(_score_row(score, request) | change)
                    if before is None:
                        scores[request.label] = _score_facts(score)
                        frames |= _score_frames(score, request.label)
                except BayesBiasError as error:
                    left_out[request.label] = str(error)
        warned = warning_texts(caught)
        frames["rows"] = pd.DataFrame(rows)
        return Answer(frames, {"left_out": left_out, "scores": scores, "doubts": doubts}, warned)

    def accepts(self, answer: Answer) -> bool:
        """Whether an answer that was read from a file can be one of this cell."""
        left_out, scores = answer.facts["left_out"], answer.facts["scores"]
        rows, names = answer.frames["rows"], {study.name for study in self.studies}
        names |= {request.label for request in self.scores}
        if not has_texts(left_out) or not has_types(rows, TEXTS) or not (rows.empty or set(rows["measure"]) <= names):
            return False
        doubts = [pair for pairs in answer.facts["doubts"].values() for pair in pairs]
        if not all(is_text(kind) and is_text(text) for kind, text in doubts):
            return False
        if self.chosen is not None:
            return True
        return set(scores) == {request.label for request in self.scores} - set(left_out) and all(
            isinstance(_read_score(answer, label), MeasureResult) for label in scores
        )


def _raise_if_left_out(before: Answer, name: str) -> None:
    """Raise an error with the reason if the embedding before debiasing has no number to compare with."""
    if name in before.facts["left_out"]:
        raise ReportError(before.facts["left_out"][name])


def _association(source: Embedding, study: Study, cell: DebiasCell) -> dict[str, Any]:
    """Return the contrast of associated words with the first other connection."""
    from bayesbias.models.sampling import fit

    table, estimation = question_table(source, study, cell.max_lost), cell.estimation
    fitted = fit(table, draws=estimation.draws, chains=CHAINS, random_seed=estimation.seed, progress=False)
    if lacking := groups_without_contrast(fitted):
        named = "; ".join(f"{group} has {text}" for group, text in lacking.items())
        warn_user(f"Groups of {study.name!r} in no contrast: {named}.", BayesBiasWarning)
    contrast = contrasts(fitted, hdi_prob=cell.hdi_prob).iloc[0]
    return _about(source, study, table) | {"quantity": contrast["contrast"]} | _values(contrast)


def _changed_association(
    source: Embedding, changed: Embedding, study: Study, cell: DebiasCell
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the contrast after debiasing with its change, and the kinds and texts of the doubts about it."""
    table, other = (question_table(embedding, study, cell.max_lost) for embedding in (source, changed))
    tables = checked_tables({ORIGINAL: table, cell.method: other})
    changes = changes_of(tables, cell.estimation)
    if changes.changes.empty:
        raise ReportError(f"The study {study.name!r} has no associated words to compare with others.")
    row = changes.changes.iloc[0]
    in_conditions = changes.contrasts[changes.contrasts["contrast"] == row["contrast"]].set_index("condition")
    return _about(source, study, table) | {
        "quantity": row["contrast"],
        **_values(in_conditions.loc[cell.method].iloc[0]),
        "change": row["mean"],
        "change_observed": row["observed"],
        "change_low": row["hdi_low"],
        "change_high": row["hdi_high"],
        "probability_of_direction": row["probability_of_direction"],
        "reading": row["reading"],
    }, [(doubt.kind, doubt.text) for doubt in changes.doubts]


def _values(contrast: "pd.Series[Any]") -> dict[str, Any]:
    return {
        "value": contrast["mean"],
        "observed": contrast["observed"],
        "value_low": contrast["hdi_low"],
        "value_high": contrast["hdi_high"],
    }


def _about(source: Embedding, study: Study, table: "pd.DataFrame") -> dict[str, Any]:
    """Return the columns of a row that describe its study."""
    lost = sum(len(source.lookup(words).lost) for words in (*study.protected.values(), *study.attributes.values()))
    return {"kind": ASSOCIATION, "measure": study.name, "better": "", "items": len(table), "lost": lost}


def _score(embedding: Embedding, source: Embedding, request: RequestedScore, cell: DebiasCell) -> MeasureResult:
    settings = MEASURES[request.measure].accepted(
        random_seed=cell.random_seed, hdi_prob=cell.hdi_prob, progress=False, reference=source
    )
    return measure(request.measure, embedding, request.data, **settings | dict(request.options))


def _score_row(score: MeasureResult, request: RequestedScore) -> dict[str, Any]:
    import pandas as pd

    first, entry = pd.DataFrame(score.estimates).iloc[0], MEASURES[request.measure]
    return {
        "kind": entry.about,
        "measure": request.label,
        "better": entry.better,
        "quantity": first["quantity"],
        "value": first["value"],
        "value_low": first["hdi_low"],
        "value_high": first["hdi_high"],
        "items": int(first["items"]),
        "lost": sum(map(len, score.lost_words.values())),
    } | ({} if score.along is None else {"observed": first["observed"]})


def _change(before: MeasureResult, after: MeasureResult, cell: DebiasCell) -> dict[str, Any]:
    """Return the change of the headline of a score, on the same items."""
    change = paired_change(before, after, random_seed=cell.random_seed, hdi_prob=cell.hdi_prob).iloc[0]
    row = {"change": change["change"], "change_low": change["hdi_low"], "change_high": change["hdi_high"]}
    return row if after.along is None else row | {"change_observed": change["observed"]}


# --- scores as facts and frames ---------------------------------------------------------------------------


def _score_facts(score: MeasureResult) -> dict[str, Any]:
    """Return the fields of a score except its frames and directions, and what follows from them."""
    others = {*_SCORE_FRAMES, "along", "statistics", "study"}
    facts = {name: value for name, value in vars(score).items() if name not in others}
    return facts | {"quantities": [asdict(quantity) for quantity in score.quantities]}


def _score_frames(score: MeasureResult, label: str) -> "dict[str, pd.DataFrame]":
    """Return the frames of a score, and its directions as frames."""
    import pandas as pd

    frames = {f"{name} of {label}": getattr(score, name) for name in _SCORE_FRAMES}
    if score.along is not None:
        arrays = score.along.coordinates, score.along.draws
        for name, array in zip(_DIRECTION_FRAMES, arrays, strict=True):
            frames[f"{name} of {label}"] = pd.DataFrame(array).rename(columns=str)
    return frames


def _read_score(answer: Answer, label: str) -> MeasureResult:
    """Return a score of an answer, whether a file kept it or not."""
    facts = dict(answer.facts["scores"][label])
    facts |= {name: answer.frames[f"{name} of {label}"] for name in _SCORE_FRAMES}
    facts["statistics"] = dict(zip(*(facts["estimates"][name].tolist() for name in ("quantity", "value")), strict=True))
    facts["lost_words"] = {kind: tuple(labels) for kind, labels in facts["lost_words"].items()}
    facts["quantities"] = tuple(Quantity(**_with_tuples(quantity)) for quantity in facts["quantities"])
    if f"{_DIRECTION_FRAMES[0]} of {label}" in answer.frames:
        arrays = (answer.frames[f"{name} of {label}"].to_numpy("float32") for name in _DIRECTION_FRAMES)
        facts["along"] = DrawnDirections(*arrays)
    return MeasureResult(**facts)


def _with_tuples(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
