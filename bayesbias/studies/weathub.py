"""WEATHub: the lists of WEAT in 24 languages, by human translators, from a file of the user."""

import os
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from bayesbias.base.checks import normalized
from bayesbias.base.files.inputs import JSON, input_file, parse_json, read_content
from bayesbias.errors import InputFileError, StudyError, did_you_mean, name_some
from bayesbias.studies.study import Study

_LISTS = ("targ1", "targ2", "attr1", "attr2")
_SOURCE = (
    "Anjishnu Mukherjee, Chahat Raj, Ziwei Zhu and Antonios Anastasopoulos (2023). Global voices, local biases: "
    "socio-cultural prejudices across languages. EMNLP 2023, 15828-15845: the data set WEATHub"
)


def load_weathub(path: str | os.PathLike[str], lists: str, test: str) -> Study:
    """Return a study from the word lists of WEATHub, of which you give the file; it has no control words.

    Words that translation made equal are left out: repeats in a list, and words that would be in two lists. The notes
    of the study name them. Many entries have several words: see `phrases` of `load_embedding`.

    Parameters
    ----------
    path
        Folder ``data`` of the repository iamshnoo/weathub (a folder for each name of lists, a JSON file for each test),
        or a JSON file, which may be gzipped, with the same content as sections.
    lists
        Code of the language and kind of lists, such as ``"de_human"``, ``"de_new"`` or ``"hi_india"``.
    test
        Name of the test, such as ``"weat7"``. Its targets 1 and 2 are expected to be close to its attributes 1 and 2.

    Raises
    ------
    InputFileError
        If the file cannot be read or is no JSON.
    StudyError
        If there are no such lists, or they do not make a study.

    References
    ----------
    Mukherjee, A., Raj, C., Zhu, Z. and Anastasopoulos, A. (2023). Global voices, local biases: socio-cultural
    prejudices across languages. EMNLP 2023.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> examples = {"targ1": ["Mathe"], "targ2": ["Kunst"], "attr1": ["er", "sie"], "attr2": ["sie", "Frau"]}
    >>> entry = {name: {"category": name, "examples": words} for name, words in examples.items()}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "weathub.json")
    ...     size = file.write_text(json.dumps({"de_human": {"weat7": entry}}))
    ...     study = load_weathub(file, "de_human", "weat7")
    >>> study.language, study.attributes, study.notes
    ('de', {'attr1': ('er',), 'attr2': ('Frau',)}, 'Left out, because they are in two lists: sie.')
    """
    source = Path(path)
    if source.is_dir():
        section = _json(source / lists / f"{test}.json")
    else:
        section = _entry(_entry(_json(source), lists, source), test, source)
    groups: dict[str, list[str]] = {}
    for name in _LISTS:
        words = _entry(section, name, source)
        examples = words.get("examples") if isinstance(words, dict) else None
        if not isinstance(examples, list) or not all(isinstance(word, str) for word in examples):
            raise StudyError(f"{source}: {name} of {test} in {lists} has no list of words, examples. Restore the file.")
        groups[str(words.get("category", name))] = [
            normalized(word.strip(), where=f"{source}, {name}: ", error=StudyError) for word in examples
        ]
    if len(groups) < len(_LISTS):
        raise StudyError(f"{source}: two lists of {test} in {lists} have one name: {', '.join(groups)}. Rename one.")
    counts = [Counter(words) for words in groups.values()]
    shared = {word for word, lists_with_it in Counter(chain.from_iterable(counts)).items() if lists_with_it > 1}
    repeated = {word for words in counts for word, count in words.items() if count > 1} - shared
    reasons = (("because they are in two lists", shared), ("repeats in a list", repeated))
    (x, y, a, b), cleaned = (
        groups,
        {
            name: [word for word in dict.fromkeys(words) if word and word not in shared]
            for name, words in groups.items()
        },
    )
    return Study(
        name=f"{lists}_{test}",
        language=lists.split("_")[0],
        protected={x: cleaned[x], y: cleaned[y]},
        attributes={a: cleaned[a], b: cleaned[b]},
        associated=[(x, a), (y, b)],
        human="none",
        neutral="none",
        source=f"{_SOURCE}, {lists}, {test}.",
        notes=" ".join(f"Left out, {why}: {', '.join(sorted(words))}." for why, words in reasons if words),
    )


def _json(path: Path) -> Any:
    """Return the content of a JSON file, which may be gzipped."""
    content = read_content(input_file(path), JSON)
    try:
        return parse_json(content)
    except ValueError as error:
        raise InputFileError(f"{path} is no JSON file ({error}). Download it again.") from error


def _entry(section: Any, name: str, path: Path) -> Any:
    if not isinstance(section, dict) or name not in section:
        names = list(section) if isinstance(section, dict) else []
        raise StudyError(
            f"{path} has no {name!r}{did_you_mean(name, names)}. It has: {name_some(names, 40) or 'none'}."
        )
    return section[name]
