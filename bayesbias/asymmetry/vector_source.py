"""`lar`: log asymmetry ratios from any source of P(b given a); and `static`: word vectors as a source, by a softmax."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from bayesbias.asymmetry.log_ratios import BLOCK, log_normalisers, normal_summary, scaled
from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_frame, check_number, check_probability, check_type
from bayesbias.base.machine import check_memory
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.errors import LostWordsError, MeasureError, name_some
from bayesbias.metrics.look_up import as_embedding, checked_words

CONDITIONALS = ("cue", "response", "log_probability", "sd", "left_out")
PAIR = ("a", "b")
COUNT_RATIO = "lar_from_counts"
"""Optional column of `lar`: the log ratio of shares of answers."""
_NUMBERS = ("log_b_given_a", "log_a_given_b", "lar", "sd", "hdi_low", "hdi_high", "probability_of_direction")
_CUES = 4096  # pairs whose vectors are in memory at once


@runtime_checkable
class ConditionalSource(Protocol):
    """Source of the probability of a response given a cue: people's associations, vectors, a language model.

    Any object with this property and this method is a source, such as those of `evocation`, `static` and
    `masked_model`. A source whose posterior of an LAR is not approximately Normal may have a second method,
    ``lar_summary(a, b, hdi_prob=...)``, that returns a frame with `hdi_low`, `hdi_high` and
    `probability_of_direction`, with `sd` if the errors of the two directions are correlated, and with `lar_from_counts`
    if the source has counts.
    """

    @property
    def name(self) -> str:
        """Name of the source in results."""
        ...

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        """Return log P(response given cue) of pairs.

        Parameters
        ----------
        cues, responses
            Words of the pairs: as many responses as cues.

        Returns
        -------
        pandas.DataFrame
            One row per pair, in order: `cue`, `response`, `log_probability` (natural logarithm), `sd` (its standard
            error; 0 if the source has none) and `left_out` (the reason if there is no number, else empty).
        """
        ...


def lar(
    source: ConditionalSource, pairs: pd.DataFrame | Sequence[tuple[str, str]], *, hdi_prob: float = HDI_PROB
) -> pd.DataFrame:
    """Return the log asymmetry ratio of pairs of words: whether a evokes b more than b evokes a.

    LAR(a; b) = log P(b given a) - log P(a given b).

    Parameters
    ----------
    source
        Source of the probabilities: from `evocation`, `static` or `masked_model`, or any `ConditionalSource`.
    pairs
        Pairs (a, b), or a frame with the columns `a` and `b` whose other columns, such as `relation`, are kept.
    hdi_prob
        Probability inside the intervals.

    Returns
    -------
    pandas.DataFrame
        One row per pair, in order:

        - `a`, `b` and the other columns of `pairs`;
        - `log_b_given_a`, `log_a_given_b`, `lar`, its standard error `sd`, `hdi_low`, `hdi_high` and
          `probability_of_direction` (0.5 to 1); with norms, `lar` is the posterior mean;
        - `left_out`: the reason why the source has no number, and the numbers are missing; otherwise empty;
        - `lar_from_counts`, with norms: the log ratio of the shares of answers, the paper's LAR; missing for pairs
          listed in only one direction.

    Raises
    ------
    MeasureError
        If there is no pair, a pair is repeated (with the same relation, if there is one), a word is paired with itself
        or is not text, or the source's answer does not conform to `ConditionalSource`.

    Notes
    -----
    Logarithms are natural: with LAR = 0.69, b follows a twice as often as a follows b.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 1; Griffiths, Steyvers and Tenenbaum (2007).

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "cue": ["guitar", "guitar", "music"], "response": ["music", "string", "guitar"],
    ...     "count": [30, 41, 2], "participants": [146, 146, 150],
    ... })
    >>> ratios = bb.asymmetry.lar(bb.asymmetry.evocation(table), [("guitar", "music")])
    >>> ratios.loc[0, "hdi_low"] > 1
    np.True_
    """
    check_probability("hdi_prob", hdi_prob)
    if not isinstance(source, ConditionalSource):
        raise MeasureError(
            f"The source is {type(source).__name__}. Give bb.asymmetry.evocation(table), .static(embedding), "
            ".masked_model(model, index), or an object with a property name and a method log_conditionals."
        )
    frame = checked_cue_pairs(pairs)
    a, b = (frame[side].tolist() for side in PAIR)
    forward, backward = checked_conditionals(source, a, b), checked_conditionals(source, b, a)
    reasons = _reasons(forward, backward)
    has_number = np.array([not reason for reason in reasons])
    columns = {name: np.full(len(frame), np.nan) for name in _NUMBERS}
    if has_number.any():
        ahead, back = forward[has_number], backward[has_number]
        both = np.stack([ahead["log_probability"].to_numpy(), back["log_probability"].to_numpy()])
        errors = np.hypot(ahead["sd"].to_numpy(), back["sd"].to_numpy())
        numbers = {"log_b_given_a": both[0], "log_a_given_b": both[1], "lar": both[0] - both[1], "sd": errors}
        first, second = ([word for word, keep in zip(side, has_number, strict=True) if keep] for side in (a, b))
        numbers |= _summary(source, first, second, numbers["lar"], errors, hdi_prob)
        columns |= {name: np.full(len(frame), np.nan) for name in numbers if name not in columns}
        for name, values in numbers.items():
            columns[name][has_number] = values
    return frame.assign(**columns, left_out=reasons)


def _summary(
    source: ConditionalSource, a: list[str], b: list[str], ratios: Floats, errors: Floats, hdi_prob: float
) -> dict[str, Floats]:
    lar_summary = getattr(source, "lar_summary", None)
    if lar_summary is None:
        return normal_summary(ratios, errors, hdi_prob)
    frame = lar_summary(a, b, hdi_prob=hdi_prob)
    names = ("sd", "hdi_low", "hdi_high", "probability_of_direction", COUNT_RATIO)
    return {name: frame[name].to_numpy() for name in names if name in frame}


def checked_conditionals(source: ConditionalSource, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
    """Return a source's answer for pairs; raise `MeasureError` unless it conforms to `ConditionalSource`."""
    answer: Any = source.log_conditionals(cues, responses)
    if not isinstance(answer, pd.DataFrame) or not set(CONDITIONALS) <= set(answer.columns):
        raise MeasureError(
            f"The source {source.name!r} must return a frame with the columns {', '.join(CONDITIONALS)}."
        )
    if answer["cue"].tolist() != list(cues) or answer["response"].tolist() != list(responses):
        raise MeasureError(f"The source {source.name!r} must return the pairs in the order of its arguments.")
    has_number = answer["left_out"] == ""
    numbers = answer.loc[has_number, ["log_probability", "sd"]].to_numpy(dtype=np.float64)
    # A probability is at most 1, up to rounding.
    wrong = ~np.isfinite(numbers).all(axis=1) | (numbers[:, 0] > 1e-6) | (numbers[:, 1] < 0)
    if wrong.any():
        row = answer[has_number].iloc[int(np.argmax(wrong))]
        raise MeasureError(
            f"The source {source.name!r} gives {row['cue']} -> {row['response']} the log probability "
            f"{row['log_probability']:g} with the standard error {row['sd']:g}. Return finite numbers and a logarithm "
            "of at most 0, or a reason in left_out; log P is not finite where P is 0."
        )
    return answer.reset_index(drop=True)


def checked_cue_pairs(pairs: Any) -> pd.DataFrame:
    """Return pairs of words as a frame with the columns a and b first; raise `MeasureError` if they are invalid."""
    if isinstance(pairs, pd.DataFrame):
        check_frame("pairs", pairs, "pairs of words")
        if lacking := [name for name in PAIR if name not in pairs.columns]:
            raise MeasureError(f"The pairs lack the columns {', '.join(lacking)}. Give a frame with a and b.")
        others = [name for name in pairs.columns if name not in {*PAIR, *_NUMBERS, COUNT_RATIO, "left_out"}]
        frame = pairs[[*PAIR, *others]].reset_index(drop=True)
    else:
        check_type("pairs", pairs, Sequence, "pairs of words such as [('guitar', 'music')], or a frame with a and b")
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise MeasureError(f"{pair!r} is not a pair of words. Give pairs such as ('guitar', 'music').")
        frame = pd.DataFrame(list(map(tuple, pairs)), columns=list(PAIR))
    if frame.empty:
        raise MeasureError("There are no pairs. Give at least one, such as ('guitar', 'music').")
    for name in PAIR:
        for row, word in enumerate(frame[name].tolist()):
            if not isinstance(word, str) or not word:
                raise MeasureError(f"Row {row} of the pairs has {word!r} as {name}. Give a word, as text.")
    if len(same := frame.index[frame["a"] == frame["b"]]):
        raise MeasureError(f"{frame.loc[same[0], 'a']!r} is paired with itself. Leave such pairs out.")
    labels = [*PAIR, "relation"] if "relation" in frame else list(PAIR)
    repeated = frame[frame.duplicated(labels)]
    if len(repeated):
        named = name_some(" - ".join(map(str, row)) for row in repeated[labels].itertuples(index=False))
        raise MeasureError(f"Some pairs are repeated: {named}. Keep each once (drop_duplicates).")
    return frame


def _reasons(forward: pd.DataFrame, backward: pd.DataFrame) -> list[str]:
    """Return the reasons why pairs are left out, each reason once."""
    both = zip(forward["left_out"], backward["left_out"], strict=True)
    return ["; ".join(dict.fromkeys(reason for reason in pair if reason)) for pair in both]


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
    >>> ratios = bb.asymmetry.lar(source, [("ellipse", "circle")])
    >>> ratios[["log_b_given_a", "log_a_given_b", "lar"]].round(3).values.tolist()
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
