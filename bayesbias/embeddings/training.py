"""Train skip-gram vectors on a text of one's own, repeatably."""

import re
from collections.abc import Iterable

from bayesbias.arguments import check_count, check_items, check_type, resolve_seed, with_progress
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import EmbeddingError

_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


def tokenize(text: str) -> list[str]:
    """Return the lower-cased words of a text; numbers and punctuation are left out, inner hyphens kept.

    >>> tokenize("The short-term rate was 3.5 %, she said.")
    ['the', 'short-term', 'rate', 'was', 'she', 'said']
    """
    return _TOKEN.findall(text.lower())


def train_skipgram(
    texts: Iterable[str],
    *,
    dimensions: int = 100,
    window: int = 5,
    negative: int = 5,
    min_count: int = 5,
    epochs: int = 5,
    random_seed: int | None = None,
    progress: bool = True,
    name: str = "skip-gram",
) -> Embedding:
    """Train skip-gram vectors with negative sampling (word2vec) on `texts`.

    Runs in one thread, because with more the same seed does not give the same vectors.

    Parameters
    ----------
    texts
        One document an item; each is lower-cased and split by `tokenize`.
    dimensions
        Length of a vector.
    window
        Largest distance, in words, between a word and its context.
    negative
        Noise words drawn for each context word.
    min_count
        Words that occur less often get no vector.
    epochs
        Passes over the texts.
    random_seed
        The same seed, texts and settings give the same vectors, bit for bit, on the same machine. Drawn if left out,
        and then recorded in the name.
    progress
        Whether to show a progress bar, one step an epoch.
    name
        Name of the embedding that is returned.

    Returns
    -------
    Embedding
        All words with at least `min_count` occurrences, most frequent first.

    Raises
    ------
    ArgumentError
        If the seed or a number is not usable.
    EmbeddingError
        If no word occurs `min_count` times.

    References
    ----------
    Mikolov, Sutskever, Chen, Corrado and Dean (2013), equation 4.

    Examples
    --------
    >>> texts = ["the king and the queen", "the king and the king"] * 5
    >>> train_skipgram(texts, dimensions=4, epochs=1, random_seed=1).words
    ('the', 'king', 'and', 'queen')
    """
    seed = resolve_seed(random_seed)
    check_count("dimensions", dimensions)
    check_count("window", window)
    check_count("negative", negative)
    check_count("min_count", min_count)
    check_count("epochs", epochs)
    documents = check_items("texts", texts, "a list of texts")
    for place, text in enumerate(documents):
        check_type(f"texts[{place}]", text, str, "a text")
    from gensim.models import Word2Vec
    from gensim.models.callbacks import CallbackAny2Vec

    steps = with_progress(range(epochs), "Training", progress=progress)

    class Step(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_begin(self, _model: Word2Vec) -> None:
            next(steps)

    sentences = [tokens for text in documents if (tokens := tokenize(text))]
    model = Word2Vec(
        vector_size=dimensions,
        window=window,
        sg=1,
        negative=negative,
        min_count=min_count,
        seed=seed,
        workers=1,
    )
    if sentences:
        model.build_vocab(sentences)
    if not sentences or len(model.wv) == 0:
        raise EmbeddingError(
            f"No word occurs {min_count} times in the {len(sentences)} texts, so there is nothing to train. "
            "Give more text or a smaller min_count."
        )
    model.train(sentences, total_examples=len(sentences), epochs=epochs, callbacks=[Step()])
    next(steps, None)  # the bar's end
    name = f"{name}, seed {seed}" if random_seed is None else name
    return Embedding(words=tuple(model.wv.index_to_key), vectors=model.wv.vectors, name=name)
