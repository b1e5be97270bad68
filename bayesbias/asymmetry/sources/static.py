"""`static`: word vectors as a source of P(b given a), by projection and a softmax over a vocabulary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bayesbias.asymmetry.sources.conditional_sources import CONDITIONALS
from bayesbias.asymmetry.sources.softmax import BLOCK, log_normalisers, scaled
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_number
from bayesbias.base.machine.memory import check_memory
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsError, MeasureError, name_some
from bayesbias.metrics.look_up import as_embedding, checked_words

_CUES = 4096  # pairs whose vectors are in memory at once


@dataclass(frozen=True, eq=False, repr=False)
class StaticVectors(Described):
    """Vectors as a source of conditional probabilities (see `static`, which makes it).

    Parameters
    ----------
    name
        Name of the embedding.
    embedding
        Embedding of the cues.
    context
        Embedding of the responses; the same as `embedding` if there is a single matrix.
    vocabulary
        Words over which the softmax is taken.
    lost
        Words of the requested vocabulary that the context lacks.
    temperature
        Divisor of the projections.
    """

    name: str
    embedding: Embedding
    context: Embedding
    vocabulary: tuple[str, ...]
    lost: tuple[str, ...]
    temperature: float

    @property
    def _facts(self) -> Facts:
        return {
            "name": self.name,
            "vocabulary": len(self.vocabulary),
            "lost": self.lost,
            "context": self.context.name if self.context is not self.embedding else "the same vectors",
            "temperature": self.temperature,
        }

    @cached_property
    def _responses(self) -> Floats:
        return self.context.matrix(self.vocabulary)

    @cached_property
    def _vocabulary_words(self) -> frozenset[str]:
        return frozenset(self.vocabulary)

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        """Return log P(response given cue) of pairs: see `ConditionalSource`."""
        reasons = [self._reason(cue, response) for cue, response in zip(cues, responses, strict=True)]
        has_number = np.array([not reason for reason in reasons], dtype=bool)
        logs = np.where(has_number, 0.0, np.nan)
        if has_number.any():
            pairs = [pair for pair, keep in zip(zip(cues, responses, strict=True), has_number, strict=True) if keep]
            logs[has_number] = self._logs(*zip(*pairs, strict=True))
        sd = np.where(has_number, 0.0, np.nan)
        return pd.DataFrame(dict(zip(CONDITIONALS, (list(cues), list(responses), logs, sd, reasons), strict=True)))

    def _logs(self, cues: Sequence[str], responses: Sequence[str]) -> Floats:
        words = list(dict.fromkeys(cues))
        vectors = self.embedding.matrix(words)
        normalisers = log_normalisers(vectors, self._responses, self.temperature)
        row = {word: place for place, word in enumerate(words)}
        places = np.array([row[cue] for cue in cues])
        units = scaled(vectors, self.temperature).astype(np.float64)
        projections = np.empty(len(cues))
        for start in range(0, len(cues), _CUES):
            part = slice(start, start + _CUES)
            answers = self.context.matrix(responses[part])
            projections[part] = np.einsum("ij,ij->i", units[places[part]], answers, dtype=np.float64)
        logs: Floats = np.minimum(projections - normalisers[places], 0.0)
        return logs

    def _reason(self, cue: str, response: str) -> str:
        if cue not in self.embedding:
            return f"{self.embedding.name} lacks {cue!r}"
        if response not in self.context:
            return f"{self.context.name} lacks {response!r}"
        return "" if response in self._vocabulary_words else f"{response!r} is not in the vocabulary"


def static(
    embedding: EmbeddingLike,
    context: EmbeddingLike | None = None,
    *,
    vocabulary: Iterable[str] | None = None,
    temperature: float = 1.0,
) -> StaticVectors:
    """Return word vectors as a source of P(b given a), by projection and softmax.

    P(b given a) = exp(proj(b, a)) / sum over the vocabulary of exp(proj(x, a)), with proj(b, a) = <b, a> / length of a.

    Parameters
    ----------
    embedding
        Embedding of the cues, and also of the responses if there is no `context`.
    context
        Embedding of the responses: the second matrix of skip-gram or GloVe.
    vocabulary
        Words over which the softmax is taken, such as the `vocabulary` of evocation data, as in the paper. Words
        without a vector are left out and listed in `lost`. None uses all words of the responses' vectors.
    temperature
        Divisor of the projections; 1 in the paper.

    Returns
    -------
    StaticVectors
        A source for `lar`. Its probabilities have no error, so `sd` is 0.

    Raises
    ------
    LostWordsError
        If the vectors have fewer than two words of the vocabulary.
    MeasureError
        If cues and responses have different dimensions.
    NotEnoughMemoryError
        If the vectors of the vocabulary, and the projections of a block of cues, do not fit into memory.

    Notes
    -----
    With a single matrix, the projections of a pair differ only through the lengths of the vectors, and the sums of the
    softmaxes through the number of neighbours of a word: if all lengths are 1, LAR is the log ratio of the two sums.
    Lengths therefore matter, and their meaning depends on the embedding: in Google News, common words have short
    vectors, and CAM with people is negative with the original vectors but positive at length 1
    (``validation/asymmetry``).

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equations 7 and 8. Fatemeh Torabi Asr, Robert Zinkov and Michael Jones
    (2018). Querying word embeddings for similarity and relatedness. NAACL-HLT 2018, 675-684.

    Examples
    --------
    >>> vectors = {"circle": [3.0, 1.0], "ellipse": [1.0, 0.0], "square": [0.5, 2.0]}
    >>> source = bb.asymmetry.static(vectors)
    >>> found = bb.asymmetry.lar(source, [("ellipse", "circle")])
    >>> found[["log_b_given_a", "log_a_given_b", "lar"]].round(3).values.tolist()
    [[-0.197, -2.427, 2.23]]
    """
    check_number("temperature", temperature, low=0.0, high=1e6, above=True)
    source = as_embedding(embedding)
    responses = source if context is None else as_embedding(context)
    if source.dimensions != responses.dimensions:
        raise MeasureError(
            f"The cues have {source.dimensions} dimensions and the context {responses.dimensions}. Give both matrices "
            "of one model."
        )
    words = responses.words if vocabulary is None else checked_words("The vocabulary", vocabulary)
    looked_up = responses.lookup(words)
    if len(looked_up.matches) < 2:
        raise LostWordsError(
            f"The embedding {responses.name!r} has {len(looked_up.matches)} of {len(words)} words of the vocabulary "
            f"(it lacks {name_some(looked_up.lost, 5)}); at least two are needed. Its case rule is "
            f"{responses.case_text!r}."
        )
    size = len(looked_up.matches)
    item = responses.vectors.dtype.itemsize
    check_memory(
        item * size * (2 * responses.dimensions + BLOCK),
        f"Projections on {size:,} words",
        "Give a smaller vocabulary.",
    )
    return StaticVectors(source.name, source, responses, tuple(looked_up.matches), looked_up.lost, float(temperature))
