"""The parameters that measures share, described once: a decorator completes the docstrings of the functions."""

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc, signature
from textwrap import fill

SHARED = {
    "embedding": (
        "Word vectors: an `Embedding`, the path of a file, gensim's `KeyedVectors`, a mapping of words to vectors, or "
        "a pair of words and matrix."
    ),
    "study": (
        "Word lists: a `Study`, the name of a bundled study, the path of a TOML file, or a mapping of list names to "
        "words, the protected lists first."
    ),
    "max_lost": (
        "Largest share of a list's words that the embedding may lack, from 0 to 1. A list that lost more raises a "
        "`LostWordsError`."
    ),
    "random_seed": "Seed of the random draws. None: a seed is drawn and recorded in the result.",
    "hdi_prob": "Probability inside the intervals.",
    "progress": "Whether to show a progress bar.",
}
"""Parameter -> its description in every measure that does not describe it itself."""

FOUR_LISTS = {
    "targets": "Names of the two protected groups to compare. Default: the study's groups, if it has exactly two.",
    "attributes": "Names of two attribute lists. Default: the list associated with each of the two groups, in order.",
}
"""Descriptions of the lists that `bayesbias.metrics.look_up.four_lists` chooses."""

TWO_GROUPS = {
    "targets": FOUR_LISTS["targets"],
    "attributes": "Names of attribute lists, whose words are pooled. Default: all but the control lists.",
}
"""Descriptions of the lists that `bayesbias.metrics.look_up.two_groups` chooses."""

GROUPS_ON_TWO_LISTS = {
    "targets": "Names of protected groups. Default: all groups of the study.",
    "attributes": "Names of two attribute lists. Default: the study's attribute lists, if it has exactly two.",
}
"""Descriptions of the lists that `bayesbias.metrics.look_up.groups_on_two_lists` chooses."""

_SECTION = re.compile(r"^(?:Parameters\n-+\n(.*?))?(?=^\w[\w ]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^\S.*\n(?:(?: .*)?\n)*", re.MULTILINE)


def shared_parameters[F: Callable[..., object]](lists: Mapping[str, str] | None = None) -> Callable[[F], F]:
    """Return a decorator that adds the parameters in `SHARED` and `lists` to a docstring that lacks them.

    >>> @shared_parameters()
    ... def score(*, progress=True):
    ...     '''Return a number.'''
    >>> score.__doc__.splitlines()[-4:-1]
    ['----------', 'progress', '    Whether to show a progress bar.']
    """
    texts = {**SHARED, **(lists or {})}

    def complete(function: F) -> F:
        if function.__doc__ is None:  # Python was started with -OO
            return function
        order = list(signature(function).parameters)

        def section(match: re.Match[str]) -> str:
            entries = {name: entry.rstrip() for entry in _ENTRY.findall(match[1] or "") for name in _names(entry)}
            added = {name: _entry(name, texts[name]) for name in order if name in texts and name not in entries}
            ordered = sorted({**entries, **added}.items(), key=lambda named: order.index(named[0]))
            return "\n".join(["Parameters", "----------", *dict.fromkeys(entry for _, entry in ordered), "", ""])

        function.__doc__ = _SECTION.sub(section, cleandoc(function.__doc__) + "\n", count=1)
        return function

    return complete


def _entry(name: str, text: str) -> str:
    return f"{name}\n{fill(text, 116, initial_indent='    ', subsequent_indent='    ')}"


def _names(entry: str) -> list[str]:
    """Return the parameters that an entry describes."""
    return [name.strip(" *") for name in entry.partition("\n")[0].partition(" : ")[0].split(",")]
