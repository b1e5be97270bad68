"""Documents of JSON and TOML: what their values must be, whoever wrote them."""

import json
from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Any

from bayesbias.base.checks import is_text

_MOST_NESTED = 100
_LARGEST = 2**63


def parse_json(text: str | bytes) -> Any:
    """Return the content of a JSON document; raise `ValueError` if the text is not JSON, or a value is not usable.

    A key that occurs twice is refused: programs differ in which of its values they take.

    >>> parse_json('{"mean": 0.1, "mean": 0.2}')
    Traceback (most recent call last):
        ...
    ValueError: the key 'mean' occurs twice
    """
    try:
        content = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError(_nested()) from None
    if fault := value_fault(content):
        raise ValueError(fault)
    return content


def value_fault(content: Any) -> str:
    """Return what is wrong with a value of a document that was read from JSON or TOML; empty if nothing is.

    Whole numbers have 64 bits at most, other numbers are finite, texts can be encoded, and nesting is limited: what is
    beyond this breaks messages, arrays and files much later.

    >>> value_fault({"rope": [0.02, float("inf")]})
    'a number is not finite'
    """
    unchecked: list[tuple[Any, int]] = [(content, 0)]
    while unchecked:
        value, depth = unchecked.pop()
        if isinstance(value, dict | list):
            if depth == _MOST_NESTED:
                return _nested()
            inner = [*value, *value.values()] if isinstance(value, dict) else value
            unchecked += [(part, depth + 1) for part in inner]
        elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
            return "a whole number has more than 64 bits"
        elif isinstance(value, float) and not isfinite(value):
            return "a number is not finite"
        elif isinstance(value, str) and not is_text(value):
            return "a text holds half of a character (an unpaired surrogate)"
    return ""


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key!r:.60} occurs twice")
    return content


def _nested() -> str:
    return f"values are nested more than {_MOST_NESTED} deep"
