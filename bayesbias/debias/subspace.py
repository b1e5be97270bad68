"""The bias subspace: the few directions in which the words of definitional sets differ."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayesbias.base.checks import check_count
from bayesbias.base.statements import Described, Facts
from bayesbias.debias.debias_words import DebiasWords, needed, sets_in, words_in
from bayesbias.embeddings.embedding import Embedding, EmbeddingLike
from bayesbias.embeddings.loading import load_embedding
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user
from bayesbias.geometry import weighted_directions

# Below this, a difference of unit vectors is rounding.
ROUNDING = 1e-6
_BLOCK = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class Subspace(Described):
    """Orthonormal directions in which definitional sets, or two lists of names, differ.

    Parameters
    ----------
    directions : array, shape (components, dimensions)
        Orthonormal rows. Along each, the first words of the sets lie on average on the positive side.
    explained : array, shape (components,)
        Share of the sets' variance along each direction.
    sets : tuple
        The sets that were used; those with a lost word are not among them. Of names: the two lists.
    """

    directions: np.ndarray
    explained: np.ndarray
    sets: tuple[tuple[str, ...], ...]

    @property
    def _facts(self) -> Facts:
        return {
            "components": len(self.directions),
            "dimensions": self.directions.shape[1],
            "explained": float(self.explained.sum()),
            "sets": self.sets,
        }


def bias_subspace(embedding: EmbeddingLike, sets: DebiasWords, *, components: int | None = None) -> Subspace:
    """Return the bias subspace of definitional sets.

    Parameters
    ----------
    embedding
        Its vectors are brought to unit length.
    sets
        The definitional sets; each is centred on its own mean, and all sets weigh the same.
    components
        Number of directions. None (default): one fewer than the largest set has words (1 for pairs).

    Raises
    ------
    ArgumentError
        If `components` is not a whole number of at least 1.
    MeasureError
        If no set is left, a set's words all have the same direction, or the sets span fewer directions.

    Warns
    -----
    LostWordsWarning
        If sets are left out because the embedding lacks a word.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama and Kalai (2016), arXiv:1607.06520, section 5, step 1: the first rows of the SVD
    of C = sum_i sum_{w in D_i} (w - mu_i)^T (w - mu_i) / abs(D_i). Manzini, Lim, Tsvetkov and Black (2019),
    arXiv:1904.04047, section 2, for sets of more than two words.

    Examples
    --------
    >>> embedding = bb.Embedding(("he", "she", "nurse"), [[1, 0.2, 1], [-1, 0.2, 1], [-0.5, 1, 0]])
    >>> bias_subspace(embedding, bb.debias.DebiasWords("gender", [["he", "she"]])).directions + 0.0
    array([[1., 0., 0.]])
    """
    embedding = whole_embedding(embedding)
    wanted = sets.largest - 1 if components is None else check_count("components", components)
    found = sets_in(embedding, sets.definitional)
    if not found:
        raise MeasureError(
            f"The embedding {embedding.name!r} has no definitional set of {sets.name!r} whole. Give sets of words "
            "that it has, or load it with these words and a case rule that finds them."
        )
    rows, firsts = [], []
    for words in found:
        vectors = unit_rows(embedding.stored(words))
        centered = vectors - vectors.mean(axis=0)
        if np.abs(centered).max() < ROUNDING:
            raise MeasureError(
                f"The words {name_some(map(repr, words))} have vectors of the same direction, so they do not show "
                "what is to be removed. Leave this set out, or check the embedding."
            )
        rows.append(centered / np.sqrt(len(words)))
        firsts.append(centered[0])
    _, scales, directions = np.linalg.svd(np.concatenate(rows), full_matrices=False)
    rank = int((scales > ROUNDING * scales[0]).sum())
    if wanted > rank:
        raise MeasureError(
            f"components={wanted}, but the definitional sets that were found ({len(found)}) differ in only {rank} "
            f"direction{'s' * (rank > 1)}. Give more sets, or fewer components."
        )
    explained = scales**2 / (scales**2).sum()
    directions = directions[:wanted]
    sign = np.where(np.sum(firsts, axis=0) @ directions.T < 0, -1.0, 1.0)
    return Subspace(directions * sign[:, None], explained[:wanted], found)


def name_subspace(
    embedding: EmbeddingLike,
    sets: DebiasWords,
    *,
    components: int = 4,
    centred: bool = False,
    method: str = "This subspace",
) -> Subspace:
    """Return the directions in which two lists of names differ most, with their shares of the squared differences.

    Parameters
    ----------
    embedding
        Its vectors are taken as they are, as in the source's formula; `bb.metrics.midb` does so too.
    sets
        Words with two lists of `names`. "Mary" finds "mary" too.
    components
        Number of directions.
    centred
        Whether the mean difference of the two lists is taken away first; see `bb.geometry.weighted_directions`.
    method
        What needs the names, for the message if there are none.

    Raises
    ------
    MeasureError
        If there are no two lists of names, fewer than two names of a list are left, or the names' differences span
        fewer directions.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks names.

    References
    ----------
    Dawkins (2021), Marked attribute bias in natural language inference, section 4.

    Examples
    --------
    >>> vectors = {"Ann": [1, 2.0], "Eve": [2, 2.0], "Bob": [1, -2.0], "Tom": [0, -1.0]}
    >>> words = bb.debias.DebiasWords("gender", [["Ann", "Bob"]], names=[["Ann", "Eve"], ["Bob", "Tom"]])
    >>> name_subspace(vectors, words, components=2).explained.round(3)
    array([0.956, 0.044])
    """
    embedding = whole_embedding(embedding)
    first, second = needed(sets, "names", method, lists=2)
    kept = (
        words_in(embedding, first, "the first list of names"),
        words_in(embedding, second, "the second list of names"),
    )
    one, other = (embedding.stored(words).astype(np.float64) for words in kept)
    directions, weights = weighted_directions(one, other, components, centred=centred)
    return Subspace(directions, weights, (tuple(kept[0]), tuple(kept[1])))


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Return rows of length 1, as float64; they are scaled before they are squared, so that no square vanishes."""
    wide = np.asarray(vectors, dtype=np.float64)
    scaled = wide / np.abs(wide).max(axis=1, keepdims=True)
    rows: np.ndarray = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return rows


def row_blocks(rows: np.ndarray) -> list[np.ndarray]:
    """Return rows in blocks that are small beside a large embedding."""
    return np.array_split(rows, max(1, -(-len(rows) // _BLOCK)))


def whole_embedding(embedding: EmbeddingLike, *, dimensions: int | None = None) -> Embedding:
    """Return an embedding with all its words; raise `MeasureError` if it has not the dimensions of the fitted one."""
    found: Embedding = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
    if dimensions not in (None, found.dimensions):
        raise MeasureError(
            f"The method was fitted to vectors of {dimensions} dimensions; those of {found.name!r} have "
            f"{found.dimensions}. Fit it to this embedding."
        )
    return found


def chosen_rows(
    embedding: Embedding, target: Iterable[str] | None, ignore: Iterable[str] | None, specific: Iterable[str] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows are `target`, and which of these are not to be left out, as arrays of bool.

    Raises
    ------
    LostWordsError
        If the embedding lacks a target word.

    Warns
    -----
    LostWordsWarning
        If it lacks a word of `ignore`; words of `specific`, which take the place of an absent `ignore`, may be lost.
    """
    place = {word: row for row, word in enumerate(embedding.words)}
    if isinstance(target, str) or isinstance(ignore, str):
        raise MeasureError("`target` and `ignore` are lists of words, not one text. Write ['nurse'], for example.")
    targets = np.ones(len(embedding), dtype=bool)
    if target is not None:
        wanted = list(target)
        embedding.matrix(wanted)  # names all absent words, with a hint
        targets[:] = False
        targets[[place[form] for form in embedding.lookup(wanted).found.values()]] = True
    left_out = embedding.lookup(specific if ignore is None else ignore)
    if left_out.lost and ignore is not None:
        warn_user(
            f"The embedding {embedding.name!r} lacks {len(left_out.lost)} of the words to ignore "
            f"({name_some(left_out.lost)}).",
            LostWordsWarning,
        )
    chosen = targets.copy()
    chosen[[place[form] for form in left_out.found.values()]] = False
    return targets, chosen
