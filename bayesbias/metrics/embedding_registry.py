"""The registry of scores of a whole embedding: their meaning, which way is better, what they need."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from bayesbias.base.checks import HDI_PROB, check_flag, check_probability, resolve_seed
from bayesbias.base.statements import Described, Facts
from bayesbias.embeddings.embedding import EmbeddingLike
from bayesbias.errors import MeasureError, did_you_mean, name_some
from bayesbias.metrics.embedding_scores.result import EmbeddingScore
from bayesbias.metrics.intrinsic.clustering import clustering
from bayesbias.metrics.intrinsic.proximity import gipe
from bayesbias.metrics.intrinsic.recoverability import recoverability
from bayesbias.metrics.intrinsic.sembias import sembias
from bayesbias.metrics.intrinsic.vocabulary import midb, vocabulary_direct_bias
from bayesbias.metrics.quality.analogies import analogies
from bayesbias.metrics.quality.benchmark_files import read_analogies, read_sembias, read_similarity
from bayesbias.metrics.quality.similarity import word_similarity
from bayesbias.metrics.shared_parameters import shared_parameters

_WORDS = "words that should be neutral (without any: all of letters that the embedding has)"
_DAWKINS = "Dawkins (2021), appendix B"


@dataclass(frozen=True, repr=False)
class EmbeddingMeasure(Described):
    """Description of a score of a whole embedding.

    Parameters
    ----------
    name, title
        Name in `EMBEDDING_MEASURES`, and full name.
    about
        ``"bias"``, for a bias that is left in the geometry, or ``"quality"``, for the usefulness of the embedding.
    formula
        Formula as plain text.
    better
        Better values of the headline: ``"lower"``, ``"higher"`` or ``"nearer to 0"``.
    range
        Possible values.
    needs
        Data that the score needs besides the embedding.
    data
        Argument that takes these data: ``"path"``, ``"names"`` or ``"words"``.
    required
        Whether these data must be given.
    source
        Authors and publication.
    conventions
        Choices that the formula leaves open.
    avoid
        Cases in which not to use it.
    function
        Function of an embedding and the data that returns an `EmbeddingScore`.
    read
        Reader of its file, which raises an error if the file is faulty. None: it needs no file.
    """

    name: str
    title: str
    about: str
    formula: str
    better: str
    range: str
    needs: str
    data: str
    required: bool
    source: str
    conventions: str
    avoid: str
    function: Callable[..., EmbeddingScore]
    read: Callable[[Any], Any] | None = None

    @property
    def _facts(self) -> Facts:
        names = ("name", "title", "about", "formula", "better", "range", "needs", "conventions", "avoid", "source")
        return {name: getattr(self, name) for name in names}

    @property
    def depends_on_length(self) -> bool:
        """Whether it depends on the lengths of vectors, unless these are scaled (``normalize=True``)."""
        return "normalize" in signature(self.function).parameters

    @property
    def takes_reference(self) -> bool:
        """Whether its words or directions can come from the embedding before debiasing (``reference=``)."""
        return "reference" in signature(self.function).parameters


EMBEDDING_MEASURES: dict[str, EmbeddingMeasure] = {
    entry.name: entry
    for entry in (
        EmbeddingMeasure(
            "vocabulary_direct_bias", "direct bias of a vocabulary", "bias",
            "mean over words of abs(cos(w, g)) ** c, g = she - he", "lower", "0 to 1", _WORDS, "words", False,
            f"Bolukbasi et al. (2016), DirectBias_c; {_DAWKINS}, DB",
            "g is of the reference, or of the embedding itself, from unit vectors, unless a direction is given; c = 1; "
            "of several pairs, or a posterior of the direction, the interval has its spread",
            "without a reference where she and he were made alike; to say that a bias is gone: it ignores all other "
            "directions",
            vocabulary_direct_bias,
        ),
        EmbeddingMeasure(
            "midb", "multi-dimensional information-weighted direct bias", "bias",
            "mean over words of sum_i a_i <g_i, x>: g_i principal components of all differences between two lists of "
            "names, a_i their shares",
            "nearer to 0", "unbounded", f"two lists of names; {_WORDS}", "names", True, "Dawkins (2021), equation 3",
            "4 components, uncentred, vectors as stored; positive towards the first list; names are drawn as words are",
            "without normalize=True, to compare embeddings whose vectors differ in length; to say that words have no "
            "bias: those of both signs cancel",
            midb,
        ),
        EmbeddingMeasure(
            "clustering", "clusters of words from either side", "bias",
            "v-measure of two clusters (k-means) against the sides on which words were before debiasing",
            "lower", "0 to 1", _WORDS, "words", False, f"Gonen and Goldberg (2019); {_DAWKINS}",
            "1,500 words, half from each end of she - he in the reference; vectors of length 1; accuracy is given too",
            "without a reference, to compare embeddings: each would choose words of its own; to say that a bias is "
            "gone: two clusters can follow something else, and a classifier still find the sides",
            clustering,
        ),
        EmbeddingMeasure(
            "recoverability", "recoverability of a bias by classifiers", "bias",
            "share of words whose side before debiasing a classifier finds from their vectors",
            "lower", "0 to 1; 0.5 is chance", _WORDS, "words", False,
            f"Gonen and Goldberg (2019); {_DAWKINS}",
            "5,000 words, half from each end of she - he in the reference; 20% to learn from; variance of Nadeau and "
            "Bengio over 10 splits",
            "without a reference, to compare embeddings: each would choose words of its own; with few words, which end "
            "near the middle of the axis",
            recoverability,
        ),
        EmbeddingMeasure(
            "sembias", "SemBias", "bias",
            "share of tuples whose pair of largest cos(he - she, a - b) is the definition",
            "higher", "0 to 1", "the file of SemBias", "path", True,
            f"Zhao et al. (2018), GN-GloVe; {_DAWKINS}",
            "differences of vectors as stored; stereotype and none are given too; the definitions and stereotypes are "
            "drawn, not the tuples",
            "with an embedding that lacks many of its words; where she and he were made alike; without normalize=True, "
            "to compare embeddings whose vectors differ in length",
            sembias, read_sembias,
        ),
        EmbeddingMeasure(
            "gipe", "gender-based illicit proximity estimate", "bias",
            "weighted mean over words of the share of neighbours whose indirect bias is above a threshold",
            "lower", "0 to 1", _WORDS, "words", False, f"Kumar et al. (2020); {_DAWKINS}",
            "100 neighbours, threshold 0.03, indirect bias in the reference along the direction of nine pairs",
            "without a whole vocabulary: the nearest words of a study are not those of the language; without a "
            "reference, on debiased vectors: along a direction that is gone nothing is illicit",
            gipe,
        ),
        EmbeddingMeasure(
            "word_similarity", "word similarity", "quality",
            "Spearman's correlation of cos(a, b) with people's scores of the pairs", "higher", "-1 to 1",
            "a file of word similarity", "path", True,
            "Rubenstein and Goodenough (1965); Hill, Reichart and Korhonen (2015)",
            "pairs with lost words are left out and named; Bayesian bootstrap over pairs",
            "to compare embeddings of different words, other than on the pairs that both have (paired_change)",
            word_similarity, read_similarity,
        ),
        EmbeddingMeasure(
            "analogies", "analogies (3CosAdd)", "quality",
            "share of questions a : b = c : d whose d is the word of largest cos(w, b - a + c)", "higher", "0 to 1",
            "a file of analogies", "path", True, "Mikolov et al. (2013)",
            "the words of the question are left out, and questions with lost words named; pairs are drawn, not "
            "questions",
            "to compare embeddings of different vocabularies, where wrong answers can be fewer",
            analogies, read_analogies,
        ),
    )
}  # fmt: skip
"""Name -> `EmbeddingMeasure`, for every score of a whole embedding."""


@shared_parameters()
def score_embedding(
    name: str,
    embedding: EmbeddingLike,
    data: Any = None,
    *,
    reference: EmbeddingLike | None = None,
    random_seed: int | None = None,
    hdi_prob: float = HDI_PROB,
    progress: bool = True,
    **options: Any,
) -> EmbeddingScore:
    """Return the score of an embedding by the measure of a given name.

    Parameters
    ----------
    name
        Name in `EMBEDDING_MEASURES`.
    data
        Data that the measure needs besides the embedding: a path, names or words, as its entry's `data` says.
    reference
        Embedding before debiasing, for measures that choose words or directions in it; others ignore it.
    **options
        Other options of the measure's function, such as `threshold`, `splits`, `components`.

    Raises
    ------
    MeasureError
        If there is no such measure or option, its data is missing, or it cannot be computed.

    Examples
    --------
    >>> path = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
    >>> round(bb.metrics.score_embedding("vocabulary_direct_bias", path, random_seed=1).value, 3)
    0.077
    """
    common_options = {
        "random_seed": resolve_seed(random_seed),
        "hdi_prob": check_probability("hdi_prob", hdi_prob),
        "progress": check_flag("progress", progress),
        "reference": reference,
    }
    entry = find_embedding_measure(name)
    if data is None and entry.required:
        raise MeasureError(f"{name} needs {entry.needs}. Give it as data.")
    parameter_names = list(signature(entry.function).parameters)
    for option in options:
        if option not in parameter_names or option in ("embedding", entry.data, *common_options):
            hint = did_you_mean(option, parameter_names)
            raise MeasureError(f"{name} has no option {option!r}{hint}; it has {name_some(parameter_names, 20)}.")
    accepted_options = {option: value for option, value in common_options.items() if option in parameter_names}
    return entry.function(embedding, **{entry.data: data}, **accepted_options, **options)


def find_embedding_measure(name: str) -> EmbeddingMeasure:
    """Return the entry of a measure in `EMBEDDING_MEASURES`, or raise `MeasureError`.

    >>> find_embedding_measure("sembias").better
    'higher'
    """
    if not isinstance(name, str) or name not in EMBEDDING_MEASURES:
        hint = did_you_mean(str(name).lower().replace("-", "_"), EMBEDDING_MEASURES)
        raise MeasureError(
            f"There is no score of an embedding {name!r}{hint}. Known are {', '.join(EMBEDDING_MEASURES)}."
        )
    return EMBEDDING_MEASURES[name]
