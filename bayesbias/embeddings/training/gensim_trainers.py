"""word2vec (skip-gram and CBOW) and fastText, trained by gensim."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.base.machine import check_memory
from bayesbias.embeddings.training.corpus import DOCUMENT_END, Advance, Corpus, Trainer, check_neighbours

# gensim silently drops the words of a document beyond this number.
LONGEST_DOCUMENT = 10_000


def skipgram(corpus: Corpus, settings: dict[str, Any], threads: int) -> Trainer:
    """Return the trainer of skip-gram with negative sampling.

    Mikolov, Sutskever, Chen, Corrado and Dean (2013), equation 4.
    """
    return _word2vec(corpus, settings, threads, sg=1)


def cbow(corpus: Corpus, settings: dict[str, Any], threads: int) -> Trainer:
    """Return the trainer of the continuous bag of words with negative sampling.

    Mikolov, Chen, Corrado and Dean (2013), section 3.1.
    """
    return _word2vec(corpus, settings, threads, sg=0)


def fasttext(corpus: Corpus, settings: dict[str, Any], threads: int) -> Trainer:
    """Return the trainer of skip-gram with n-grams of letters: Bojanowski, Grave, Joulin and Mikolov (2017)."""
    from gensim.models import FastText

    ngrams = {"min_n": settings["min_n"], "max_n": settings["max_n"], "bucket": settings["buckets"]}
    _check(corpus, settings, rows=3 * len(corpus.words) + settings["buckets"])

    def train(seed: int, advance: Advance) -> dict[str, NDArray[np.float32]]:
        return _trained(FastText(sg=1, seed=seed, **ngrams, **_options(settings, threads)), corpus, settings, advance)

    return train


def _word2vec(corpus: Corpus, settings: dict[str, Any], threads: int, *, sg: int) -> Trainer:
    from gensim.models import Word2Vec

    _check(corpus, settings, rows=2 * len(corpus.words))

    def train(seed: int, advance: Advance) -> dict[str, NDArray[np.float32]]:
        return _trained(Word2Vec(sg=sg, seed=seed, **_options(settings, threads)), corpus, settings, advance)

    return train


def _options(settings: dict[str, Any], threads: int) -> dict[str, Any]:
    return {
        "vector_size": settings["dimensions"],
        "window": settings["window"],
        "negative": settings["negative"],
        "sample": settings["sample"],
        "alpha": settings["learning_rate"],
        "min_alpha": settings["last_learning_rate"],
        "min_count": settings["min_count"],
        "sorted_vocab": 0,  # the corpus is sorted
        "workers": threads,
    }


def _check(corpus: Corpus, settings: dict[str, Any], *, rows: int) -> None:
    check_neighbours(corpus, settings["min_count"])
    check_memory(
        4 * rows * settings["dimensions"],
        f"{len(corpus.words):,} vectors of {settings['dimensions']} dimensions",
        "Take fewer dimensions, or a larger min_count.",
    )


def _trained(model: Any, corpus: Corpus, settings: dict[str, Any], advance: Advance) -> dict[str, NDArray[np.float32]]:
    model.build_vocab_from_freq(dict(zip(corpus.words, corpus.counts.tolist(), strict=True)))
    documents = Documents(corpus, advance)
    model.train(documents, total_examples=sum(1 for _ in documents.ends()), epochs=settings["epochs"])
    # syn1neg holds the weights by which negative sampling predicts a word: its context vector.
    return {"vectors": model.wv.vectors, "context_vectors": model.syn1neg}


class Documents:
    """The documents of a corpus as lists of words, long ones in pieces; can be iterated over repeatedly."""

    def __init__(self, corpus: Corpus, advance: Advance) -> None:
        self._stream, self._advance = corpus.stream, advance
        # Rare words count in gensim's schedule, so they stay, under a name that no word has.
        self._names = np.array([*corpus.words, "\0"], dtype=object)

    def ends(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each piece."""
        first = 0
        for end in np.flatnonzero(self._stream == DOCUMENT_END).tolist():
            for start in range(first, end, LONGEST_DOCUMENT):
                yield start, min(end, start + LONGEST_DOCUMENT)
            first = end + 1

    def __iter__(self) -> Iterator[list[str]]:
        for start, end in self.ends():
            self._advance(end - start)
            yield self._names[self._stream[start:end]].tolist()
