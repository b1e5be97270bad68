"""A cell of an audit: one study of one embedding, by one model and one seed, with all measures."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.embeddings.embedding import Embedding
from bayesbias.metrics.directions.direct_bias import GENDER_PAIRS
from bayesbias.metrics.directions.word_scores import load_base_pairs
from bayesbias.metrics.embedding_scores.result import EmbeddingScore
from bayesbias.metrics.registry import MEASURES
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# The measures that need every word of an embedding.
_OF_ALL_WORDS = {"nbm"}
_STUDY_CONTENT = ("name", "protected", "attributes", "associated", "human", "neutral", "questions")


@dataclass(frozen=True, eq=False)
class Cell:
    """What is asked of one embedding in one go.

    Parameters
    ----------
    embedding
        Its name.
    vectors
        Hash of the words and vectors that can enter the answer (`vectors_digest`).
    study, model, measures, max_lost, hdi_prob, draws, tune, chains, random_seed
        As for `bayesbias.audit`.
    """

    embedding: str
    vectors: str
    study: Study
    model: ModelSpec | None
    random_seed: int
    measures: tuple[str, ...]
    max_lost: float
    hdi_prob: float
    draws: int
    tune: int
    chains: int

    @property
    def after(self) -> str:
        """No other cell is answered before."""
        return ""

    @property
    def question(self) -> tuple[str, str]:
        """The names of embedding and study."""
        return self.embedding, self.study.name

    @property
    def variant(self) -> tuple[str, int]:
        """The model's name, empty if there is none, and the seed that was given."""
        return (self.model.name if self.model else ""), self.random_seed

    @cached_property
    def _data(self) -> list[Any]:
        content = {name: getattr(self.study, name) for name in _STUDY_CONTENT}
        return [self.vectors, content, self.model.digest if self.model else "", self.random_seed]

    @cached_property
    def fit_seed(self) -> int:
        """The seed of the fit: another for other data, since with one seed their draws would go up and down together.

        It depends on vectors, study, model and seed alone, and so on no place, order or worker.
        """
        return int(_digest(self._data)[:8], 16)

    @cached_property
    def digest(self) -> str:
        """Hash of all that enters the answer: equal ones have equal answers. The embedding's name does not enter it."""
        settings = [self.max_lost, self.hdi_prob, self.draws, self.tune, self.chains]
        measures = [[name, repr(MEASURES[name].options) if name in MEASURES else ""] for name in self.measures]
        return _digest([self._data, measures, settings, package_version()])[:32]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a cell gives.

    Parameters
    ----------
    rows
        Rows of the audit's frame, without the cell's names.
    draws
        Measure -> posterior draws of its estimate, shape (draws,).
    left_out
        Measure -> why it has no answer.
    warned
        Class and text of the warnings.
    kept
        The fit and its distance table, if they are to be kept.
    gaps, scores
        Of an embedding before debiasing, what its debiased ones are compared with: the gaps of a study (`own_gaps`),
        and the scores by their labels.
    """

    rows: Sequence[Mapping[str, Any]]
    draws: Mapping[str, np.ndarray]
    left_out: Mapping[str, str]
    warned: Sequence[tuple[str, str]]
    kept: "tuple[xr.DataTree, pd.DataFrame] | None" = None
    gaps: "Mapping[str, pd.DataFrame]" = field(default_factory=dict)
    scores: Mapping[str, EmbeddingScore] = field(default_factory=dict)


def needed_words(studies: Iterable[Study], measures: Sequence[str]) -> list[str] | None:
    """Return the words that can enter an answer, or None if all words of an embedding do."""
    if _OF_ALL_WORDS & set(measures):
        return None
    pairs = (*load_base_pairs(), *GENDER_PAIRS)
    return [word for study in studies for word in study.words] + [word for pair in pairs for word in pair]


def vectors_digest(embedding: Embedding, study: Study, measures: Sequence[str]) -> str:
    """Return a hash of the words and vectors that can enter an answer: other words of the embedding do not change it.

    >>> cats = {"cat": [1.0, 0.0], "tom": [0.8, 0.6], "purr": [0.6, 0.8]}
    >>> lists = {"protected": {"cats": ["cat", "tom"]}, "attributes": {"quiet": ["purr"]}}
    >>> study = bb.Study(name="cats", **lists, associated=[("cats", "quiet")], human="none", neutral="none")
    >>> some, more = bb.load_embedding(cats), bb.load_embedding(cats | {"dog": [0.0, 1.0]})
    >>> vectors_digest(some, study, ["mac"]) == vectors_digest(more, study, ["mac"])
    True
    >>> vectors_digest(some, study, ["nbm"]) == vectors_digest(more, study, ["nbm"])
    False
    """
    words = needed_words([study], measures)
    found = embedding.lookup(study.words if words is None else words).found
    if words is None:
        return _digest([found, embedding.digest])
    vectors = embedding.stored(found.values())
    content = hashlib.sha256(np.ascontiguousarray(vectors, dtype=vectors.dtype.newbyteorder("<")).data)
    return _digest([found, vectors.dtype.name, content.hexdigest()])


def make_cells(
    embeddings: Iterable[Embedding],
    studies: Sequence[Study],
    models: Sequence[ModelSpec | None],
    seeds: Sequence[int],
    **settings: Any,
) -> list[Cell]:
    """Return a cell for each embedding, study, model and seed, in this order; `settings` are those of `Cell`."""
    questions = [
        (embedding.name, vectors_digest(embedding, study, settings["measures"]), study)
        for embedding, study in product(embeddings, studies)
    ]
    return [
        Cell(name, vectors, study, model, seed, **settings)
        for (name, vectors, study), model, seed in product(questions, models, seeds)
    ]


@cache
def package_version() -> str:
    """Return the version of this package; read once, since every cell asks for it."""
    from importlib.metadata import version

    return version("bayesbias")


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
