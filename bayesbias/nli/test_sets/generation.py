"""`test_set`: pairs of a premise and a hypothesis that does not follow from it, generated from templates."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias.base.checks import check_type
from bayesbias.base.files.inputs import bundled
from bayesbias.errors import MeasureError, did_you_mean
from bayesbias.nli.test_sets.definition import Definition, read_definition


def list_test_sets() -> list[str]:
    """Return the names of the bundled test sets.

    Examples
    --------
    >>> bb.nli.list_test_sets()
    ['dev_occupations', 'explicit', 'names', 'occupations']
    """
    return sorted(path.stem for path in bundled("data", "nli").glob("*.toml"))


def test_set(name: str | os.PathLike[str]) -> pd.DataFrame:  # not a test of pytest
    """Return the pairs of sentences of a test set, whose correct label is always "neutral".

    Parameters
    ----------
    name
        ``"explicit"``: A person VERB OBJECT -> A man VERB OBJECT (8 words, 15,744 pairs); ``"names"`` (64 words,
        125,952 pairs); ``"occupations"`` (32 words, 62,976 pairs); ``"dev_occupations"``: An OCCUPATION VERB OBJECT ->
        A man VERB OBJECT (164 occupations, 6 words, 1,936,512 pairs). Or the path of a TOML file (text that ends in
        ``.toml`` is a path).

    Returns
    -------
    pandas.DataFrame
        One row per pair, word by word, each with the same premises in the same order: `premise`, `hypothesis`, `word`,
        `group`, `verb` and `object`; and `subject`, the subject of the premise, if the definition has subjects. The
        same file always gives the same rows, so the index identifies a pair.

    Raises
    ------
    MeasureError
        If there is no such test set, or the file has faults; all are listed.
    InputFileError
        If the file cannot be read.

    Notes
    -----
    Verbs and objects, and the rule that combines them, are those of the code of Dev et al.; so are the occupations of
    ``"dev_occupations"``. Dawkins's names and occupations were not available: those of ``"names"`` and
    ``"occupations"`` are our choice, in the same numbers and as the paper describes them.

    References
    ----------
    Hillary Dawkins (2021). Marked attribute bias in natural language inference. Findings of ACL-IJCNLP 2021, sections
    3.2 and 3.3, appendix A. Sunipa Dev, Tao Li, Jeff M. Phillips and Vivek Srikumar (2020). On measuring and mitigating
    biased inferences of word embeddings. AAAI 34(05), 7659-7666.

    Examples
    --------
    >>> pairs = bb.nli.test_set("explicit")
    >>> len(pairs), *pairs.loc[15_743, ["premise", "hypothesis"]]
    (15744, 'A person prepared a soup.', 'She prepared a soup.')
    """
    return pairs_of(read_definition(_path(name)))


def pairs_of(definition: Definition) -> pd.DataFrame:
    """Return the pairs of sentences of a definition."""
    actions = [(verb, put) for verb, _, put in definition.pairs]
    words, subjects = definition.words, definition.subjects or ("",)
    # Each sentence is made once, and shared by the rows.
    with_articles = [definition.articles.put(subject) if subject else "" for subject in subjects]
    premises = _sentences(definition.premise, with_articles, actions)
    hypotheses = _sentences(definition.hypothesis, [put for _, put, _ in words], actions).reshape(len(words), 1, -1)
    of_word, of_subject, of_action = (
        index.ravel() for index in np.indices((len(words), len(subjects), len(actions)), dtype=np.int32)
    )
    shape = (len(words), len(subjects), len(actions))
    frame = pd.DataFrame(
        {
            "premise": np.tile(premises, len(words)),
            "hypothesis": np.broadcast_to(hypotheses, shape).ravel(),
            "word": _labels(of_word, [word for word, _, _ in words]),
            "group": _labels(of_word, [group for _, _, group in words]),
            "verb": _labels(of_action, [verb for verb, _, _ in definition.pairs]),
            "object": _labels(of_action, [thing for _, thing, _ in definition.pairs]),
        }
    )
    if definition.subjects:
        frame["subject"] = _labels(of_subject, subjects)
    return frame


def _sentences(template: str, firsts: Sequence[str], actions: Sequence[tuple[str, str]]) -> NDArray[np.object_]:
    """Return the sentences of all actions about the first word or subject, then those about the second, and so on."""
    of_actions = [template.replace("{verb}", verb).replace("{object}", thing) for verb, thing in actions]
    filled = [text.replace("{word}", first).replace("{subject}", first) for first in firsts for text in of_actions]
    return np.array([text[0].upper() + text[1:] for text in filled], dtype=object)


def _labels(codes: NDArray[np.int32], values: Sequence[str]) -> Any:
    """Return a categorical column of the values at these positions."""
    categories = list(dict.fromkeys(values))
    place = {value: code for code, value in enumerate(categories)}
    of_values = np.array([place[value] for value in values], dtype=np.int32)
    return pd.Categorical.from_codes(of_values[codes], pd.Index(categories))


def _path(name: str | os.PathLike[str]) -> Path:
    check_type("name", name, (str, os.PathLike), "the name of a test set, or the path of a TOML file")
    if isinstance(name, os.PathLike) or name.endswith(".toml"):
        return Path(name)
    bundled_names = list_test_sets()
    if name not in bundled_names:
        raise MeasureError(
            f"There is no test set {name!r}{did_you_mean(name, bundled_names)}. Give the name of a bundled one "
            f"({', '.join(bundled_names)}) or the path of a TOML file."
        )
    return bundled("data", "nli", f"{name}.toml")
