"""Provenance of tables: their origin and lost words, and checks of provenance from files."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bayesbias.base.checks import is_count, is_number, is_text
from bayesbias.studies.faults import question_faults
from bayesbias.tables.effective_words import KEY as DEPENDENT_WORDS
from bayesbias.tables.effective_words import dependence_faults

_LOST = ("word", "role", "list", "reason")
_COUNTS = ("dropped", "same_vectors")


class Provenance(dict[str, Any]):
    """Provenance of a table, whose lists are shared by copies, because pandas copies attrs at every step."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Provenance":
        return Provenance(self)


def provenance_faults(facts: object) -> Iterator[str]:
    """Yield the faults of a table's provenance, which may have any types; unknown keys are not checked.

    >>> list(provenance_faults({"embedding": 5, "study": "weat7"}))
    ['embedding must be a section with texts, not 5']
    """
    if not isinstance(facts, Mapping):
        yield f"it must be a section, not {_short(facts)}"
        return
    for key in ("study", "hash", "source", "quantity"):
        if key in facts and not is_text(facts[key]):
            yield f"{key} must be a text, not {_short(facts[key])}"
    for key in ("simulated", "edited"):
        if key in facts and not isinstance(facts[key], bool):
            yield f"{key} must be true or false, not {_short(facts[key])}"
    embedding = facts.get("embedding", {})
    if not (isinstance(embedding, Mapping) and all(is_text(value) for value in embedding.values())):
        yield f"embedding must be a section with texts, not {_short(embedding)}"
    lost = facts.get("lost_words", [])
    entries = lost if isinstance(lost, list) else [lost]
    if bad := [entry for entry in entries if not _is_lost(entry)]:
        yield f"lost_words must be a list of sections with {', '.join(_LOST)}, and has {_short(bad[0])}"
    share = facts.get("max_lost", 0)
    if not is_number(share) or not 0 <= share <= 1:
        yield f"max_lost must be a share from 0 to 1, not {_short(share)}"
    left_out = facts.get("left_out_controls", [])
    if not (isinstance(left_out, list) and all(map(is_text, left_out))):
        yield f"left_out_controls must be a list of words, not {_short(left_out)}"
    duplicates = facts.get("duplicates", {})
    if not isinstance(duplicates, Mapping) or not all(is_count(duplicates.get(name, 0)) for name in _COUNTS):
        yield f"duplicates must be a section with counts, not {_short(duplicates)}"
    contexts, errors = facts.get("contexts", {}), facts.get("context_errors", [])
    counts = ("median", "fewest")
    if not isinstance(contexts, Mapping) or not all(is_count(contexts.get(name, 0)) for name in counts):
        yield f"contexts must be a section with the median and the fewest number, not {_short(contexts)}"
    if not isinstance(errors, list) or not all(map(_is_error, errors)):
        yield f"context_errors must be a list of sections with contrast, level, name and sd, not {_short(errors)}"
    if DEPENDENT_WORDS in facts:
        yield from dependence_faults(facts[DEPENDENT_WORDS])
    try:
        json.dumps(facts, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        yield "it holds what cannot be written, such as a set, or text with an unpaired surrogate"
    yield from question_faults(facts.get("questions", {}))


def _is_lost(entry: Any) -> bool:
    return isinstance(entry, Mapping) and all(is_text(entry.get(name)) for name in _LOST)


def _is_error(entry: Any) -> bool:
    names = ("contrast", "level", "name")
    if not isinstance(entry, Mapping) or not all(is_text(entry.get(name)) for name in names):
        return False
    return is_number(entry.get("sd")) and entry["sd"] >= 0


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
