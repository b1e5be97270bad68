"""Bundled collections of word lists, from which studies can be made."""

from bayesbias.base.files.inputs import bundled, read_toml
from bayesbias.errors import StudyError, did_you_mean


def list_word_lists() -> list[str]:
    """Return the names of the bundled collections of word lists, from which studies can be made.

    >>> list_word_lists()
    ['bing_liu', 'eds']
    """
    return sorted(path.stem for path in bundled("data", "lists").glob("*.toml"))


def load_word_lists(name: str) -> dict[str, tuple[str, ...]]:
    """Return a bundled collection of word lists: name of a list -> words.

    Parameters
    ----------
    name
        A name from `list_word_lists`: ``"eds"``, the lists of Garg et al. (2018) for gender, ethnicity and religion;
        ``"bing_liu"``, the positive and negative opinion words of Hu and Liu (2004). Cite these papers. Sources and
        licences are in ``bb.bundled("data", "README.md")`` and in the files beside it.

    Raises
    ------
    StudyError
        If there is no such collection.

    Examples
    --------
    >>> lists = load_word_lists("eds")
    >>> lists["adjectives_appearance"][:3]
    ('alluring', 'voluptuous', 'blushing')
    >>> study = bb.Study(
    ...     name="appearance",
    ...     protected={"women": lists["female_terms"], "men": lists["male_terms"]},
    ...     attributes={
    ...         "appearance": lists["adjectives_appearance"],
    ...         "intelligence": lists["adjectives_intelligence"],
    ...     },
    ...     associated=[("women", "appearance"), ("men", "intelligence")],
    ... )
    """
    names = list_word_lists()
    if name not in names:
        raise StudyError(f"There are no word lists {name!r}{did_you_mean(str(name), names)}: {', '.join(names)}.")
    document = read_toml(bundled("data", "lists", f"{name}.toml"), StudyError)
    return {group: tuple(words) for group, words in document["lists"].items()}
