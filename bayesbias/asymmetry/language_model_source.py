"""`masked_model`: a masked language model as a source of P(b given a), over contexts with both words."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from bayesbias.base.arrays import Floats
from bayesbias.base.checks import HDI_PROB, check_count, resolve_seed
from bayesbias.base.progress import with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.language_models.context_index import ContextIndex, character_spans, find_pairs, read_contexts
from bayesbias.embeddings.language_models.device_loop import Precision
from bayesbias.embeddings.language_models.language_model import (
    LanguageModel,
    load_language_model,
    masked_log_probabilities,
)
from bayesbias.embeddings.language_models.texts import Occurrences, Places, Shared
from bayesbias.errors import name_some

_LEAST = 2  # contexts of a pair, since one alone has no standard error
_CHUNK = 4_096  # masked words in memory at once


@dataclass(frozen=True)
class ResponseMean:
    """P(response given cue) over contexts.

    - `log_probability`: natural logarithm of P.
    - `relative`: contribution of each sampled context relative to P, of shape (sampled,).
    - `weights`: share of the cue's occurrences in each sampled context, of shape (sampled,).
    - `elsewhere`: sum of the squared shares of the contexts with the cue but without the response.
    - `contexts`: number of contexts with both words, sampled or not.
    """

    log_probability: float
    relative: Floats
    weights: Floats
    elsewhere: float
    contexts: int

    @property
    def sd(self) -> float:
        """Standard error of the log probability."""
        deviations = self.relative - self.weights
        return _sd(self.elsewhere, deviations, self.relative, self.contexts)

    @property
    def effective_contexts(self) -> float:
        """Effective number of sampled contexts (Leslie Kish, 1965, Survey Sampling): smaller if few dominate."""
        return float(self.relative.sum() ** 2 / (self.relative @ self.relative))


def response_mean(
    probabilities: Floats, counts: NDArray[Any], other_counts: NDArray[Any], *, total: int, contexts: int
) -> ResponseMean:
    """Return P(response given cue) = sum over contexts of P(context given cue) P(response masked, in the context).

    A context with both words contributes its share of the cue's occurrences times the probability of the masked
    response; other contexts of the cue contribute 0. The contexts are a sample from the language, so the error is that
    of a ratio of two sums over contexts (delta method); if only some contexts with both words were used, it includes
    the error of this second sample.

    - `probabilities`: probability of the masked response in each sampled context, averaged over its occurrences: shape
      (sampled,).
    - `counts`: number of occurrences of the cue in each of these: shape (sampled,).
    - `other_counts`: number of occurrences of the cue in each context without the response: shape (such contexts,).
    - `total`: number of all occurrences of the cue.
    - `contexts`: number of contexts with both words, of which at least 2 are sampled.

    Zhang, Campbell, Yu and Kumaravel (2021), equation 6, with P(context given cue) = 1 / C(cue), where a context that
    holds the cue k times counts k times.

    Three contexts have the cue, one of them twice; two of them have the response:

    >>> mean = response_mean(np.array([0.2, 0.4]), np.array([1, 2]), np.array([1]), total=4, contexts=2)
    >>> round(float(np.exp(mean.log_probability)), 6), round(mean.sd, 3)
    (0.25, 0.465)
    """
    added = counts * probabilities
    whole = float(added.sum()) * contexts / len(added)
    elsewhere = float((other_counts / total) @ (other_counts / total))
    return ResponseMean(float(np.log(whole / total)), added / whole, counts / total, elsewhere, contexts)


def ratio_sd(forward: ResponseMean, backward: ResponseMean) -> float:
    """Return the standard error of log P(b given a) - log P(a given b), both over the same contexts.

    A context with both words often raises both probabilities, so the two errors are not independent.
    """
    deviations = (forward.relative - forward.weights) - (backward.relative - backward.weights)
    differences = forward.relative - backward.relative
    return _sd(forward.elsewhere + backward.elsewhere, deviations, differences, forward.contexts)


def student_summary(means: Floats, sds: Floats, effective_contexts: Floats, hdi_prob: float) -> dict[str, Floats]:
    """Return intervals and probabilities of direction of numbers whose errors come from few contexts.

    They are those of Student's t, with `ResponseMean.effective_contexts` minus 1, and at least 1, degrees of freedom:
    where one context dominates, the others say little about the variation of such contexts.

    >>> summary = student_summary(np.array([1.0, 1.0]), np.array([0.5, 0.5]), np.array([3.0, 1000.0]), 0.89)
    >>> {name: values.round(2).tolist() for name, values in summary.items()}
    {'hdi_low': [-0.38, 0.2], 'hdi_high': [2.38, 1.8], 'probability_of_direction': [0.91, 0.98]}
    """
    freedom = np.maximum(effective_contexts - 1, 1.0)
    half = stdtrit(freedom, (1 + hdi_prob) / 2) * sds
    direction = stdtr(freedom, np.abs(means) / sds)
    return {"hdi_low": means - half, "hdi_high": means + half, "probability_of_direction": direction}


def _sd(elsewhere: float, deviations: Floats, relative: Floats, contexts: int) -> float:
    """Return the standard error of a log probability, or of a difference of two, over the contexts of a language."""
    sampled = len(relative)
    variance = elsewhere + contexts * float(deviations.mean() ** 2 + deviations.var(ddof=1))
    # The sampled contexts are a second sample, from the contexts with both words.
    variance += contexts**2 * (1 / sampled - 1 / contexts) * float(relative.var(ddof=1))
    return float(np.sqrt(variance))


type _Place = tuple[int, int]  # a context, and the position of a word in it

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class MaskedModel(Described):
    """A masked language model with an index of contexts, from `masked_model`.

    Parameters
    ----------
    name
        Name of the model's folder.
    index
        Index of the contexts.
    most
        Largest number of contexts used per pair.
    random_seed
        Seed of the sample of contexts.
    """

    name: str
    index: ContextIndex
    most: int
    random_seed: int
    _model: LanguageModel
    _progress: bool
    # Log probability of the word at each place, None where it is not a single piece.
    _answers: dict[_Place, float | None] = field(default_factory=dict)
    # Probability of each pair, and the contexts that were used.
    _means: dict[tuple[str, str], tuple[ResponseMean, Places]] = field(default_factory=dict)

    @property
    def _facts(self) -> Facts:
        return {"name": self.name, "corpus": self.index.name, "contexts": self.index.contexts, "most": self.most}

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        """Return log P(response given cue) of pairs, over the contexts with both words.

        Parameters
        ----------
        cues, responses
            Words of the pairs: as many responses as cues.

        Returns
        -------
        pandas.DataFrame
            One row per pair, in order: `cue`, `response`, `log_probability` (natural logarithm), `sd` (its standard
            error over contexts), `left_out` (the reason if these two are missing, else empty), `contexts` (number of
            contexts with both words), `asked` (number of these that are used), `cue_count` (number of occurrences of
            the cue).
        """
        pairs = list(zip(cues, responses, strict=True))
        pair_contexts = find_pairs(self.index, pairs, progress=self._progress)
        split = {word: self._split(word) for word in dict.fromkeys(responses)}
        reasons = [split[pair[1]] or reason for pair, reason in zip(pairs, pair_contexts.left_out, strict=True)]
        contexts = [
            _NONE if reason else self._chosen(pair, shared.contexts)
            for pair, reason, shared in zip(pairs, reasons, pair_contexts.shared, strict=True)
        ]
        inside = [
            pair_contexts.occurrences[pair[1]].inside(chosen) for pair, chosen in zip(pairs, contexts, strict=True)
        ]
        self._ask(inside)
        rows = []
        for pair, reason, shared, places in zip(pairs, reasons, pair_contexts.shared, inside, strict=True):
            mean = self._mean(pair_contexts.occurrences[pair[0]], shared, places) if not reason else None
            if mean is not None:
                self._means[pair] = mean
            rows.append(
                {
                    "cue": pair[0],
                    "response": pair[1],
                    "log_probability": mean[0].log_probability if mean else np.nan,
                    "sd": mean[0].sd if mean else np.nan,
                    "left_out": reason or ("" if mean else self._too_few(shared)),
                    "contexts": len(shared.contexts),
                    "asked": len(mean[1]) if mean else 0,
                    "cue_count": len(pair_contexts.occurrences[pair[0]]),
                }
            )
        return pd.DataFrame(rows)

    def lar_summary(self, a: Sequence[str], b: Sequence[str], *, hdi_prob: float = HDI_PROB) -> pd.DataFrame:
        """Return intervals of log asymmetry ratios that account for the contexts that both directions share.

        Parameters
        ----------
        a, b
            Words of the pairs.
        hdi_prob
            Probability inside the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per pair: `sd`, `hdi_low`, `hdi_high`, `probability_of_direction`.
        """
        pairs = list(zip(a, b, strict=True))
        for directed_pairs in (pairs, [pair[::-1] for pair in pairs]):
            if absent := [pair for pair in directed_pairs if pair not in self._means]:
                self.log_conditionals(*map(list, zip(*absent, strict=True)))
        ratios, errors, effective_contexts = (np.empty(len(pairs)) for _ in range(3))
        for row, pair in enumerate(pairs):
            (forward, contexts), (backward, backward_contexts) = self._means[pair], self._means[pair[::-1]]
            ratios[row] = forward.log_probability - backward.log_probability
            # If the words are single pieces in different contexts, the errors are treated as independent.
            same = np.array_equal(contexts, backward_contexts)
            errors[row] = ratio_sd(forward, backward) if same else np.hypot(forward.sd, backward.sd)
            effective_contexts[row] = min(forward.effective_contexts, backward.effective_contexts)
        return pd.DataFrame({"sd": errors, **student_summary(ratios, errors, effective_contexts, hdi_prob)})

    def _too_few(self, shared: Shared) -> str:
        """Return why a pair that has contexts has no number."""
        if len(shared.contexts) < _LEAST:
            count = len(shared.contexts)
            return f"only {count} context of {self.index.name} holds both words: too few for a standard error"
        return f"fewer than {_LEAST} contexts in which {self.name} reads both words, the response as a single piece"

    def _split(self, word: str) -> str:
        """Return why a word cannot be predicted, or an empty text."""
        pieces = self._model.split(word)
        if len(pieces) == 1 and self._model.tokenizer.convert_tokens_to_ids(pieces[0]) != self._model.unknown:
            return ""
        return f"{self.name} {f'splits {word!r} into {name_some(pieces)}' if len(pieces) > 1 else f'lacks {word!r}'}"

    def _chosen(self, pair: tuple[str, str], contexts: Places) -> Places:
        """Return the contexts to use for a pair, the same in both directions."""
        if len(contexts) <= self.most:
            return contexts
        words = sha256("\0".join(sorted(pair)).encode()).digest()
        rng = np.random.default_rng([self.random_seed, int.from_bytes(words[:8])])
        return np.sort(rng.choice(contexts, self.most, replace=False))

    def _ask(self, words: list[Occurrences]) -> None:
        """Compute the answers for places that have none yet."""
        lengths = {
            place: occurrences.length
            for occurrences in words
            for place in zip(occurrences.contexts.tolist(), occurrences.words.tolist(), strict=True)
            if place not in self._answers
        }
        new = sorted(lengths)
        for start in with_progress(range(0, len(new), _CHUNK), "masked words", progress=self._progress):
            chunk = new[start : start + _CHUNK]
            contexts, places = np.array(chunk, dtype=np.int64).T
            spans = character_spans(self.index, contexts, places, np.array([lengths[place] for place in chunk]))
            distinct = sorted(set(contexts.tolist()))
            pieces = self._model.pieces(self.index.texts(distinct))
            self._answers.update(dict.fromkeys(chunk))
            texts = np.searchsorted(distinct, contexts)
            whole, piece_places = pieces.whole_words(texts, spans)
            read = texts[whole]
            is_known = pieces.ids[pieces.bounds[read] + piece_places] != self._model.unknown
            sent = is_known & (pieces.lengths[read] <= self._model.longest)
            answers = masked_log_probabilities(self._model, pieces.take(read[sent]), piece_places[sent])
            self._answers.update(zip([chunk[word] for word in whole[sent]], answers.tolist(), strict=True))

    def _mean(self, cue: Occurrences, shared: Shared, response: Occurrences) -> tuple[ResponseMean, Places] | None:
        """Return P(response given cue) and the contexts used, or None if there are too few."""
        places = zip(response.contexts.tolist(), response.words.tolist(), strict=True)
        answers = [self._answers[place] for place in places]
        has_answer = np.array([answer is not None for answer in answers], dtype=bool)
        contexts, rows = np.unique(response.contexts[has_answer], return_inverse=True)
        if len(contexts) < _LEAST:
            return None
        masked_probabilities = np.exp([answer for answer in answers if answer is not None])
        probabilities = np.bincount(rows, masked_probabilities) / np.bincount(rows)
        distinct, counts = np.unique(cue.contexts, return_counts=True)
        others = counts[~np.isin(distinct, shared.contexts)]
        cue_counts = counts[np.searchsorted(distinct, contexts)]
        mean = response_mean(probabilities, cue_counts, others, total=len(cue), contexts=len(shared.contexts))
        return mean, contexts


def masked_model(
    model: str | os.PathLike[str],
    index: ContextIndex | str | os.PathLike[str],
    *,
    most: int = 200,
    batch: int | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    random_seed: int | None = None,
    progress: bool = True,
) -> MaskedModel:
    """Return a masked language model as a source of P(response given cue), over the contexts with both words.

    P(b given a) is the sum, over the contexts with both words, of P(context given a) times the probability that the
    model gives b at its masked place. P(context given a) is the number of occurrences of a in the context over that in
    all contexts. If b occurs several times in a context, its places are masked one at a time, and the probabilities are
    averaged. Contexts without b contribute 0, so P(b given a) reflects both how often b occurs near a and how probable
    the model considers it there.

    Parameters
    ----------
    model
        Folder written by transformers' ``save_pretrained``: weights as .safetensors, and the tokenizer.
    index
        Index from `bb.embeddings.index_contexts`, or its file.
    most
        Largest number of contexts used per pair, at least 2. From more contexts, a random sample is drawn, which both
        directions share.
    batch, device, precision
        As for `bb.embeddings.contextual_embedding`.
    random_seed
        Seed of the samples of contexts.
    progress
        Whether to show progress bars.

    Returns
    -------
    MaskedModel
        A source for `lar`, which keeps its answers in memory. Words that the model splits into pieces, and pairs
        without contexts, are left out with a reason.

    Raises
    ------
    EmbeddingError
        If torch or transformers is not installed, the model cannot be loaded, or it does not predict masked words.
    InputFileError
        If there is no such folder, or the index is invalid.

    Notes
    -----
    The standard error is that of a ratio of two sums over contexts (delta method). It measures the deviation from the
    result of infinitely many such contexts, not whether the model is right; the original has none. Intervals of log
    asymmetry ratios are those of Student's t, with fewer degrees of freedom where a few contexts dominate a
    probability. A single log probability from few contexts is usually too low, since the dominant contexts are rare,
    and two standard errors contain the truth less often than they should; in a ratio the two errors cancel.

    The original uses paragraphs as contexts and does not specify how several places of b are combined. We add the start
    and end tokens that the model was trained with, not one after each sentence.

    References
    ----------
    Zhang, Campbell, Yu and Kumaravel (2021), equation 6 and appendix B.

    Examples
    --------
    The folder of a model, and an index of a corpus (see `bb.embeddings.index_contexts`)::

        source = bb.asymmetry.masked_model("bert-base-uncased/", "wikipedia.contexts", random_seed=1)
        bb.asymmetry.lar(source, [("guitar", "music")])
    """
    seed = resolve_seed(random_seed)
    most, batch = check_count("most", most, least=_LEAST), None if batch is None else check_count("batch", batch)
    contexts = index if isinstance(index, ContextIndex) else read_contexts(index)
    loaded = load_language_model(model, predicts="masked", device=device, precision=precision, batch=batch)
    return MaskedModel(loaded.name, contexts, most, seed, loaded, progress)
