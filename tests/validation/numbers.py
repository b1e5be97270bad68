"""Whether every number of a text is one that a test computed."""

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"(?<![\w`])[-+]?\d[\d,]*(?:\.\d+)?(?![\w`])")
_CODE = re.compile(r"`[^`]*`")


def unexplained(text: str, computed: Iterable[str]) -> list[str]:
    """Return texts with numbers that a text lacks, and numbers of the text that are in none of them.

    >>> unexplained("Of 12 words 0.5 (0.1 to 0.9) and 7.", ["12 words", "0.5 (0.1 to 0.9)", "0.3"])
    ['lacks 0.3', 'not computed: 7']
    """
    parts = sorted(set(computed), key=len, reverse=True)
    faults = [f"lacks {part}" for part in parts if part not in text]
    for part in parts:
        text = re.sub(rf"(?<![\d.]){re.escape(part)}(?!\d)", " ", text)
    left = _NUMBER.findall(_CODE.sub(" ", text))
    return faults + [f"not computed: {number}" for number in left]
