"""A masked language model as a source: how likely a word is at its place in contexts that hold the other word too."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import pandas as pd

from bayesbias.asymmetry.sources.context_means import ContextMean, context_mean, ratio_sd, student_summary
from bayesbias.base.checks import HDI_PROB, check_count, resolve_seed, with_progress
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.contexts.index import ContextIndex, character_spans, find_pairs, read_contexts
from bayesbias.embeddings.contexts.occurrences import Occurrences, Places, Shared
from bayesbias.embeddings.contextual.forward import masked_log_probabilities
from bayesbias.embeddings.contextual.language_model import LanguageModel, load_language_model
from bayesbias.errors import name_some

type _Place = tuple[int, int]  # a context, and a word's place there

_NONE = np.empty(0, dtype=np.int64)
_LEAST = 2  # contexts of a pair: one alone has no error
_CHUNK = 4_096  # masked words that are in memory at a time


@dataclass(frozen=True, eq=False, repr=False)
class MaskedModel(Described):
    """A masked language model and the contexts that it is asked about: what `masked_model` returns.

    Parameters
    ----------
    name
        That of the model's folder.
    index
        The contexts.
    most
        How many contexts of a pair are asked about, at most.
    random_seed
        Which contexts they are.
    """

    name: str
    index: ContextIndex
    most: int
    random_seed: int
    _model: LanguageModel
    _batch: int
    _progress: bool
    # The log probability of the word at each place that was asked about, None where it is not one piece.
    _answers: dict[_Place, float | None] = field(default_factory=dict)
    # The probability of each pair that was asked for, and the contexts that it is of.
    _means: dict[tuple[str, str], tuple[ContextMean, Places]] = field(default_factory=dict)

    @property
    def _facts(self) -> Facts:
        return {"name": self.name, "corpus": self.index.name, "contexts": self.index.contexts, "most": self.most}

    def log_conditionals(self, cues: Sequence[str], responses: Sequence[str]) -> pd.DataFrame:
        """Return log P(response given cue) of pairs, over the contexts that hold both.

        Parameters
        ----------
        cues, responses
            Words, as many responses as cues: pair by pair.

        Returns
        -------
        pandas.DataFrame
            One row a pair, in order: `cue`, `response`, `log_probability` (natural logarithm), `sd` (its standard
            error over contexts), `left_out` (why there is no number, else empty: then these two are missing),
            `contexts` (that hold both), `asked` (those of them that are in the mean), `cue_count` (how often the cue
            occurs).
        """
        pairs = list(zip(cues, responses, strict=True))
        found = find_pairs(self.index, pairs, progress=self._progress)
        split = {word: self._split(word) for word in dict.fromkeys(responses)}
        reasons = [split[pair[1]] or reason for pair, reason in zip(pairs, found.left_out, strict=True)]
        contexts = [
            _NONE if reason else self._chosen(pair, shared.contexts)
            for pair, reason, shared in zip(pairs, reasons, found.shared, strict=True)
        ]
        inside = [found.occurrences[pair[1]].inside(chosen) for pair, chosen in zip(pairs, contexts, strict=True)]
        self._ask(inside)
        rows = []
        for pair, reason, shared, places in zip(pairs, reasons, found.shared, inside, strict=True):
            mean = self._mean(found.occurrences[pair[0]], shared, places) if not reason else None
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
                    "cue_count": len(found.occurrences[pair[0]]),
                }
            )
        return pd.DataFrame(rows)

    def lar_summary(self, a: Sequence[str], b: Sequence[str], *, hdi_prob: float = HDI_PROB) -> pd.DataFrame:
        """Return intervals of log asymmetry ratios that heed that both directions are over the same contexts.

        Parameters
        ----------
        a, b
            Words, pair by pair, whose probabilities were asked for in both directions.
        hdi_prob
            Probability inside the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a pair: `sd`, `hdi_low`, `hdi_high`, `probability_of_direction`.
        """
        pairs = list(zip(a, b, strict=True))
        for asked in (pairs, [pair[::-1] for pair in pairs]):
            if absent := [pair for pair in asked if pair not in self._means]:
                self.log_conditionals(*map(list, zip(*absent, strict=True)))
        ratios, errors, worth = (np.empty(len(pairs)) for _ in range(3))
        for row, pair in enumerate(pairs):
            (forward, there), (backward, back) = self._means[pair], self._means[pair[::-1]]
            ratios[row] = forward.log_probability - backward.log_probability
            # Where a word is one piece in other contexts than the other, the errors are taken for independent.
            same = np.array_equal(there, back)
            errors[row] = ratio_sd(forward, backward) if same else np.hypot(forward.sd, backward.sd)
            worth[row] = min(forward.worth, backward.worth)
        return pd.DataFrame({"sd": errors, **student_summary(ratios, errors, worth, hdi_prob)})

    def _too_few(self, shared: Shared) -> str:
        """Return why a pair that has contexts has no number."""
        if len(shared.contexts) < _LEAST:
            return f"only {len(shared.contexts)} context of {self.index.name} holds both words: its error is not known"
        return f"fewer than {_LEAST} contexts in which {self.name} reads both words, and the response as one piece"

    def _split(self, word: str) -> str:
        """Return why a word cannot be predicted, empty if it can."""
        pieces = self._model.split(word)
        if len(pieces) == 1 and self._model.tokenizer.convert_tokens_to_ids(pieces[0]) != self._model.unknown:
            return ""
        return f"{self.name} {f'splits {word!r} into {name_some(pieces)}' if len(pieces) > 1 else f'lacks {word!r}'}"

    def _chosen(self, pair: tuple[str, str], contexts: Places) -> Places:
        """Return the contexts of a pair that are asked about, the same in both directions."""
        if len(contexts) <= self.most:
            return contexts
        words = sha256("\0".join(sorted(pair)).encode()).digest()
        rng = np.random.default_rng([self.random_seed, int.from_bytes(words[:8])])
        return np.sort(rng.choice(contexts, self.most, replace=False))

    def _ask(self, words: list[Occurrences]) -> None:
        """Ask the model about places where it has not been asked."""
        lengths = {
            place: each.length
            for each in words
            for place in zip(each.contexts.tolist(), each.words.tolist(), strict=True)
            if place not in self._answers
        }
        new = sorted(lengths)
        for start in with_progress(range(0, len(new), _CHUNK), "masked words", progress=self._progress):
            chunk = new[start : start + _CHUNK]
            contexts, places = np.array(chunk, dtype=np.int64).T
            spans = character_spans(self.index, contexts, places, np.array([lengths[place] for place in chunk]))
            distinct = sorted(set(contexts.tolist()))
            pieces = dict(zip(distinct, self._model.pieces(self.index.texts(distinct)), strict=True))
            self._answers.update(dict.fromkeys(chunk))
            rows, at, asked = [], [], []
            for place, (first, last) in zip(chunk, spans.tolist(), strict=True):
                read = pieces[place[0]]
                word = read.of(first, last)
                known = read.is_whole(word, first, last) and read.numbers[word[0]] != self._model.unknown
                if known and len(read.numbers) <= self._model.longest:
                    rows.append(read.numbers)
                    at.append(word[0])
                    asked.append(place)
            answers = masked_log_probabilities(self._model, rows, at, batch=self._batch, progress=False)
            self._answers.update(zip(asked, answers.tolist(), strict=True))

    def _mean(self, cue: Occurrences, shared: Shared, response: Occurrences) -> tuple[ContextMean, Places] | None:
        """Return P(response given cue) and the contexts that it is of; None where there are too few."""
        places = zip(response.contexts.tolist(), response.words.tolist(), strict=True)
        answers = [self._answers[place] for place in places]
        kept = np.array([answer is not None for answer in answers], dtype=bool)
        contexts, rows = np.unique(response.contexts[kept], return_inverse=True)
        if len(contexts) < _LEAST:
            return None
        each = np.exp([answer for answer in answers if answer is not None])
        probabilities = np.bincount(rows, each) / np.bincount(rows)
        distinct, counts = np.unique(cue.contexts, return_counts=True)
        others = counts[~np.isin(distinct, shared.contexts)]
        asked = counts[np.searchsorted(distinct, contexts)]
        mean = context_mean(probabilities, asked, others, total=len(cue), contexts=len(shared.contexts))
        return mean, contexts


def masked_model(
    model: str | os.PathLike[str],
    index: ContextIndex | str | os.PathLike[str],
    *,
    most: int = 200,
    batch: int = 32,
    device: str | None = None,
    random_seed: int | None = None,
    progress: bool = True,
) -> MaskedModel:
    """Return a masked language model as a source of P(response given cue), over the contexts that hold both words.

    P(b given a) is the sum, over the contexts that hold both, of P(context given a) times the probability that the
    model gives b at its masked place; P(context given a) is 1 / (how often a occurs), and a context that holds a
    several times counts as often. Where b occurs several times, one place at a time is masked, and the mean of them is
    taken. Contexts without b add 0, so that P(b given a) says both how often b stands by a and how sure the model is
    of it there.

    Parameters
    ----------
    model
        A folder that transformers' ``save_pretrained`` wrote: the weights as .safetensors, and the tokenizer.
    index
        From `bb.embeddings.index_contexts`, or its file.
    most
        How many contexts of a pair are asked about, at most; of more a random sample is taken, which both directions
        share. At least 2.
    batch
        Contexts at a time.
    device
        ``"cpu"``, ``"cuda"`` and so on; None takes a graphics card if there is one.
    random_seed
        Which contexts are taken of a pair with many.
    progress
        Whether to show bars.

    Returns
    -------
    MaskedModel
        For `lar` and what reads it. Its answers are kept while it lives. Words that the model splits into pieces, and
        pairs without contexts, are left out with the reason.

    Raises
    ------
    EmbeddingError
        If torch or transformers is not installed, or the model cannot be loaded, or it predicts no masked words.
    InputFileError
        If there is no such folder, or the index is none.

    Notes
    -----
    The standard error is that of a ratio of two sums over contexts (delta method): it says how far the number could be
    from that of endless contexts of this kind, not whether the model is right. The original gives none. Intervals of
    log asymmetry ratios are those of Student's t, whose degrees of freedom heed that a few contexts can add nearly all
    of a probability. A single log probability from few contexts is mostly too low, as what adds most is rare, and
    two of its standard errors hold the truth less often than they should; in a ratio the two errors cancel.

    The original takes the paragraph as a context and says nothing of how several places of b are put together. We add
    the marks of begin and end that the model was trained with, not one after each sentence.

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
    most, batch = check_count("most", most, least=_LEAST), check_count("batch", batch)
    contexts = index if isinstance(index, ContextIndex) else read_contexts(index)
    loaded = load_language_model(model, masked=True, device=device)
    return MaskedModel(loaded.name, contexts, most, seed, loaded, batch, progress)
