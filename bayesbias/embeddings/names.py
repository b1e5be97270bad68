"""The names of people that an embedding has: one rule for all methods and measures that take lists of names."""

from collections.abc import Sequence

from bayesbias.embeddings.embedding import Embedding, EmbeddingLike, Lookup
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.vocabularies import forms
from bayesbias.errors import LostWordsWarning, MeasureError, name_some, warn_user

_SPELLINGS = ("exact", "title", "upper", "lower")


def names_in(embedding: EmbeddingLike, lists: Sequence[Sequence[str]], *, least: int = 2) -> tuple[Lookup, ...]:
    """Return which names of each list an embedding has, in which spelling, and which are lost.

    A name is looked up by the case rule of the embedding, then with a capital, in capitals and in lower case. Where an
    embedding has any of the names with a capital, lower case is another word ("dawn", "crystal"), and does not count.

    Parameters
    ----------
    embedding
        An embedding with all its words.
    lists
        Lists of names.
    least
        Smallest number of names of a list that the embedding must have.

    Raises
    ------
    MeasureError
        If the embedding has fewer than `least` names of a list.

    Warns
    -----
    LostWordsWarning
        If the embedding lacks names.

    Examples
    --------
    >>> cased = bb.Embedding(("dawn", "Mary", "Dawn"), np.eye(3), case="lower")
    >>> names_in(cased, [["Mary", "Dawn"]])[0].matches
    {'Mary': 'Mary', 'Dawn': 'Dawn'}
    >>> uncased = bb.Embedding(("mary", "dawn"), np.eye(2))
    >>> names_in(uncased, [["Mary", "Dawn"]])[0].matches
    {'Mary': 'mary', 'Dawn': 'dawn'}
    """
    source = embedding if isinstance(embedding, Embedding) else load_embedding(embedding)
    vocabulary = set(source.words)
    spellings = [
        {
            name: tuple(dict.fromkeys(form for form in (source.match(name), *forms(name, _SPELLINGS)) if form))
            for name in names
        }
        for names in lists
    ]
    distinguishes = any(
        form in vocabulary and not form.islower() for names in spellings for some in names.values() for form in some
    )
    lookups = []
    for names in spellings:
        matches = {
            name: next((form for form in some if form in vocabulary and not (distinguishes and form.islower())), None)
            for name, some in names.items()
        }
        present = {name: form for name, form in matches.items() if form is not None}
        lookups.append(Lookup(present, tuple(name for name in matches if name not in present)))
    counts = [len(set(lookup.matches.values())) for lookup in lookups]
    lost = [name for lookup in lookups for name in lookup.lost]
    of_lists = " and ".join(f"{count} of {len(names)}" for count, names in zip(counts, spellings, strict=True))
    if min(counts) < least:
        raise MeasureError(
            f"The embedding {source.name!r} has {of_lists} names, and {least} of each list are needed: it lacks "
            f"{name_some(lost)}. Give names that it has, or load more of its words."
        )
    if lost:
        warn_user(f"The embedding {source.name!r} has {of_lists} names; it lacks {name_some(lost)}.", LostWordsWarning)
    return tuple(lookups)
