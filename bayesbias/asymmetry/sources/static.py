"""Static vectors as a source of P(b given a): projections, and a softmax over a vocabulary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bayesbias.asymmetry.sources.conditional_sources import CONDITIONALS
from bayesbias.asymmetry.sources.softmax import BLOCK, log_normalisers, scaled
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import check_number
from bayesbias.base.memory import check_memory
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsError, MeasureError, name_some
from bayesbias.metrics.look_up import as_embedding, checked_words

_CUES = 4096  # whose vectors are held at once, of pairs


@dataclass(frozen=True, eq=False, repr=False)
class StaticVectors(Described):
    """Vectors as a source of conditional probabilities (see `static`, which makes it).

    Parameters
    ----------
    name
        Of the embedding.
    embedding
        Of the cues.
    context
        Of the responses; the same as `embedding` where there is one matrix.
    vocabulary
        The words that a probability is a share of: those asked for that the context has.
    lost
        Words of the vocabulary that the context lacks.
    temperature
        Projections are divided by it.
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
    def _known(self) -> frozenset[str]:
        return frozenset(self.vocabulary)

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        """Return log P(response given cue) of pairs: see `ConditionalSource`."""
        reasons = [self._reason(cue, response) for cue, response in zip(cues, responses, strict=True)]
        kept = np.array([not reason for reason in reasons], dtype=bool)
        logs = np.where(kept, 0.0, np.nan)
        if kept.any():
            pairs = [pair for pair, keep in zip(zip(cues, responses, strict=True), kept, strict=True) if keep]
            logs[kept] = self._logs(*zip(*pairs, strict=True))
        sd = np.where(kept, 0.0, np.nan)
        return pd.DataFrame(dict(zip(CONDITIONALS, (list(cues), list(responses), logs, sd, reasons), strict=True)))

    def _logs(self, cues: Sequence[str], responses: Sequence[str]) -> Floats:
        words = list(dict.fromkeys(cues))
        vectors = self.embedding.matrix(words)
        normalisers = log_normalisers(vectors, self._responses, self.temperature)
        row = {word: place for place, word in enumerate(words)}
        places = np.array([row[cue] for cue in cues])
        units = scaled(vectors, self.temperature).astype(np.float64)
        found = np.empty(len(cues))
        for start in range(0, len(cues), _CUES):
            part = slice(start, start + _CUES)
            answers = self.context.matrix(responses[part])
            found[part] = np.einsum("ij,ij->i", units[places[part]], answers, dtype=np.float64)
        logs: Floats = np.minimum(found - normalisers[places], 0.0)
        return logs

    def _reason(self, cue: str, response: str) -> str:
        if cue not in self.embedding:
            return f"{self.embedding.name} lacks {cue!r}"
        if response not in self.context:
            return f"{self.context.name} lacks {response!r}"
        return "" if response in self._known else f"{response!r} is not in the vocabulary"


def static(
    embedding: EmbeddingLike,
    context: EmbeddingLike | None = None,
    *,
    vocabulary: Iterable[str] | None = None,
    temperature: float = 1.0,
) -> StaticVectors:
    """Make vectors a source of P(b given a), by projection and softmax.

    P(b given a) = exp(proj(b, a)) / sum over the vocabulary of exp(proj(x, a)), with proj(b, a) = <b, a> / length of a.

    Parameters
    ----------
    embedding
        Of the cues, and of the responses too if there is no `context`.
    context
        Of the responses: the second matrix of skip-gram, or of GloVe.
    vocabulary
        The words that the softmax goes over, such as the `vocabulary` of evocation data, as in the paper. Words that
        the vectors lack are left out and named in `lost`. None: all words of the responses' vectors.
    temperature
        Projections are divided by it; 1 as in the paper.

    Returns
    -------
    StaticVectors
        A source for `lar`. Its probabilities have no error: its `sd` is 0.

    Raises
    ------
    LostWordsError
        If the vectors have fewer than two words of the vocabulary.
    MeasureError
        If cues and responses have different dimensions.
    NotEnoughMemoryError
        If the vectors of the vocabulary, and the projections of a block of cues, do not fit.

    Notes
    -----
    With one matrix the projections of a pair differ only by the lengths of the vectors, and the softmaxes' sums by how
    many neighbours a word has: where all lengths are 1, LAR is the log ratio of the two sums. So lengths matter, and
    they do not mean the same everywhere: in Google News common words have short vectors, and CAM with people is below 0
    with the vectors as they are, and above 0 at length 1 (``validation/asymmetry``).

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
    if len(looked_up.found) < 2:
        raise LostWordsError(
            f"The embedding {responses.name!r} has {len(looked_up.found)} of the {len(words)} words of the vocabulary "
            f"({name_some(looked_up.lost, 5)}), and at least two are needed (the case rule is "
            f"{responses.case_text!r})."
        )
    size = len(looked_up.found)
    item = responses.vectors.dtype.itemsize
    check_memory(
        item * size * (2 * responses.dimensions + BLOCK),
        f"Projections on {size:,} words",
        "Give a smaller vocabulary.",
    )
    return StaticVectors(source.name, source, responses, tuple(looked_up.found), looked_up.lost, float(temperature))
