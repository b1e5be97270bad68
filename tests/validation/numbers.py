"""Whether every number of a text is one that a test computed."""

import re
from collections.abc import Iterable
from pathlib import Path

_CONTRAST = re.compile(r"\{\w+\}")
_NUMBER = re.compile(r"(?<![\w`])[-+]?\d[\d,]*(?:\.\d+)?(?![\w`])")
_CODE = re.compile(r"`[^`]*`")
# What is no result: the probability of an interval, years, numbers of tests, tables and figures.
_NAMES = re.compile(r"\b89 %|\b(?:19|20)\d\d\b|\b(?:WEAT|[Tt]able|[Ff]igures?) \d+\b")
_NO_PROSE = re.compile(r"^```.*?^```|^\|[^\n]*$|^ {4}\S[^\n]*$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)


def prose(path: Path) -> str:
    """Return the text of a Markdown file in one line, without its code blocks, tables and targets of links."""
    return " ".join(_NO_PROSE.sub(" ", path.read_text(encoding="utf-8")).split())


def unexplained(text: str, computed: Iterable[str]) -> list[str]:
    """Return texts with numbers that a text lacks, and numbers of the text that are in none of them.

    >>> unexplained("Of 12 words in 2021 0.5 (0.1 to 0.9) and 7.", ["12 words", "0.5 (0.1 to 0.9)", "0.3", "0.9"])
    ['lacks 0.3', 'not computed: 7']
    """
    parts = sorted(set(computed), key=len, reverse=True)
    whole = [re.compile(rf"(?<![\d.]){re.escape(part)}(?!\d|[.,]\d)") for part in parts]
    faults = [f"lacks {part}" for part, pattern in zip(parts, whole, strict=True) if not pattern.search(text)]
    for pattern in whole:
        text = pattern.sub(" ", text)
    left = _NUMBER.findall(_NAMES.sub(" ", _CODE.sub(" ", text)))
    return faults + [f"not computed: {number}" for number in left]


def template_prose(path: Path) -> str:
    """Return the text of a template in one line, with a mark where a script fills in a number or a table."""
    return _CONTRAST.sub("...", prose(path))


def listed(numbers: Iterable[float], last: str = "or") -> str:
    """Return different numbers as they stand in a sentence.

    >>> listed([76, 8, 23, 8])
    '8, 23 or 76'
    """
    *some, highest = (f"{number:g}" for number in sorted(set(numbers)))
    return f"{', '.join(some)} {last} {highest}"


def binomial_error(share: float, samples: int) -> float:
    """Return the Monte Carlo error of a share of samples."""
    return float((share * (1 - share) / samples) ** 0.5)
