"""Debiasing methods compared by models of inference that are trained on the debiased vectors."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.base.checks import check_items, check_type
from bayesbias.debias import DebiasWords, methods_from_names
from bayesbias.debias.debias_words import Sets, as_debias_words
from bayesbias.debias.rows import whole_embedding
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError
from bayesbias.nli.answers.inference_comparison import InferenceComparison
from bayesbias.nli.answers.train_and_compare import train_and_compare

if TYPE_CHECKING:
    import pandas as pd

ORIGINAL = "original"


def debias_and_compare(
    embedding: EmbeddingLike,
    methods: Mapping[str, Any] | Sequence[str] | str,
    sets: str | os.PathLike[str] | DebiasWords | Sets,
    pairs: "pd.DataFrame",
    test_set: "pd.DataFrame | str | os.PathLike[str]" = "explicit",
    score: str = "error",
    **options: Any,
) -> InferenceComparison:
    """Return a comparison of models of inference trained on an embedding before and after several debiasing methods.

    Parameters
    ----------
    embedding
        An embedding with all its words; it is the first of the comparison, under the name ``"original"``.
    methods
        Names in `bayesbias.debias.METHODS`, such as ``["misp", "gn_glove+misp"]``; or methods by name, such as ``{"4
        directions": bb.debias.MISP(), "8 directions": bb.debias.MISP(components=8)}``.
    sets
        Words that the methods need: a name of `bayesbias.debias.list_debias_words`, a path, or `DebiasWords`.
    pairs, test_set, score
        As for `bb.nli.train_and_compare`. The default score is the error, whose mean is E.
    **options
        Other arguments of `bb.nli.train_and_compare`, such as `seeds`, `development` and `random_seed`.

    Returns
    -------
    InferenceComparison
        As from `bb.nli.train_and_compare`.

    Raises
    ------
    MeasureError
        If a method is called ``"original"``, or cannot be applied; before any training.
    ArgumentError
        If there is no such method.

    Warns
    -----
    LostWordsWarning
        As for `Method.fit` and `bb.nli.train`.

    References
    ----------
    Dawkins (2021), section 5: E of GN-GloVe(w_a) before and after MISP and MHD, with one training each.

    Examples
    --------
    >>> sentences = ["A man sleeps", "A man eats", "Nobody sleeps"]
    >>> pairs = pd.DataFrame({"premise": ["A man sleeps"] * 3, "hypothesis": sentences})
    >>> pairs["label"] = ["entailment", "neutral", "contradiction"]
    >>> questions = bb.nli.test_set("explicit").query("object in ['apple', 'soup']")
    >>> words = sorted({word for text in [*pairs["hypothesis"], *questions["hypothesis"], *questions["premise"]]
    ...                 for word in text.lower().rstrip(".").split()})
    >>> vectors = words, np.random.default_rng(1).standard_normal((len(words), 8))
    >>> names = bb.debias.DebiasWords("gender", [["he", "she"]], names=[["woman", "lady"], ["man", "guy"]])
    >>> methods = {"misp": bb.debias.MISP(components=1), "mhd": bb.debias.MHD(components=1)}
    >>> comparison = bb.nli.debias_and_compare(
    ...     vectors, methods, names, pairs, questions, seeds=3, development=pairs, random_seed=1, progress=False,
    ...     settings={"hidden_units": 8, "epochs": 3, "batch_size": 3},
    ... )
    >>> comparison.runs.groupby("embedding", sort=False).size().to_dict()
    {'original': 3, 'misp': 3, 'mhd': 3}
    """
    if isinstance(methods, Mapping):
        chosen = dict(methods)
    else:
        names = [methods] if isinstance(methods, str) else check_items("methods", methods, "a list of methods")
        chosen = methods_from_names(names, {})
    for name, method in chosen.items():
        check_type("a name of methods", name, str, "text")
        if name == ORIGINAL or not callable(getattr(method, "fit", None)):
            raise MeasureError(
                f"methods: {name!r} is {method!r}. Give methods by name, such as {{'misp': MISP()}}; the name "
                f"{ORIGINAL!r} is taken."
            )
    source, words = whole_embedding(embedding), as_debias_words(sets)
    embeddings = {ORIGINAL: source}
    embeddings |= {name: method.fit(source, words).transform(source) for name, method in chosen.items()}
    return train_and_compare(embeddings, pairs, test_set, score=score, **options)
