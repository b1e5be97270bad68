"""The pairs of a study's words as the rows of a table, whatever is measured: lists, connections, lost words."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.base.lost_words import list_labels
from bayesbias.base.machine import check_memory
from bayesbias.errors import LostWordsError, name_some
from bayesbias.studies.faults import plain_factors
from bayesbias.studies.study import Study
from bayesbias.tables.schema import CONNECTION_DTYPE, judge_lost_entries

# Peak while a table of a million pairs is built.
_BYTES_A_PAIR = 300


@dataclass(frozen=True, eq=False)
class StudyPairs:
    """Words of a study that can be measured: frames of `word` and `list` for protected and attribute words."""

    study: Study
    protected: pd.DataFrame
    attributes: pd.DataFrame

    @classmethod
    def from_words(cls, study: Study, words: Container[str]) -> "StudyPairs":
        """Return the words of a study that are among some words."""
        return cls(study, members(study.protected, words), members(study.attribute_lists, words))

    @cached_property
    def connections(self) -> dict[tuple[str, str], str]:
        """Connection of each protected group and attribute list."""
        return {
            (group, name): name if name in ("human", "neutral") else self.study.connection(group, name)
            for group in self.study.protected
            for name in self.study.attribute_lists
        }

    @property
    def empty_lists(self) -> list[str]:
        """The lists that have no word, as in messages."""
        groups, lists = set(self.protected["list"]), set(self.attributes["list"])
        return [
            *(f"protected group {name!r}" for name in self.study.protected if name not in groups),
            *(f"list {name!r}" for name in self.study.attribute_lists if name not in lists),
        ]

    def check_memory(self) -> None:
        """Raise `NotEnoughMemoryError` if the rows of all pairs do not fit into the free memory."""
        rows, columns = len(self.protected), len(self.attributes)
        check_memory(
            rows * columns * _BYTES_A_PAIR,
            f"The pairs of {rows:,} protected and {columns:,} attribute words",
            "Take shorter lists, or allow more memory.",
        )

    def frame(self, numbers: Mapping[str, np.ndarray]) -> pd.DataFrame:
        """Return a row for each pair, in the order of the study.

        `numbers` are columns, each of shape (protected words, attribute words).
        """
        rows, columns = len(self.protected), len(self.attributes)
        protected = self.protected.loc[np.repeat(self.protected.index, columns)].reset_index(drop=True)
        attributes = self.attributes.loc[np.tile(self.attributes.index, rows)].reset_index(drop=True)
        pairs = zip(protected["list"], attributes["list"], strict=True)
        return pd.DataFrame(
            {
                "protected_word": protected["word"],
                "protected_group": protected["list"],
                "attribute_word": attributes["word"],
                "attribute_group": attributes["list"],
                "connection": pd.Categorical([self.connections[pair] for pair in pairs], dtype=CONNECTION_DTYPE),
                **{name: values.ravel() for name, values in numbers.items()},
            }
        )

    def raise_if_a_list_is_empty(self, source: str, hint: str) -> None:
        """Raise `LostWordsError` if a list has no word; `source` is what was measured, `hint` says what to do."""
        words = self.study.words
        if self.protected.empty and self.attributes.empty:
            raise LostWordsError(
                f"{source} has none of the {len(words):,} words of the study {self.study.name!r} (for example "
                f"{name_some(words, 4)}). {hint}"
            )
        if empty := self.empty_lists:
            raise LostWordsError(
                f"{source} has no word of {name_some(empty)} of the study {self.study.name!r}, so its question cannot "
                f"be answered. {hint}"
            )

    @property
    def facts(self) -> dict[str, Any]:
        """What a table's provenance says of the study."""
        study = self.study
        questions = {name: [list(side) for side in sides] for name, sides in study.questions.items()}
        texts = {"description": study.description, "study_source": study.source}
        return {
            "study": study.name,
            **{key: text for key, text in texts.items() if text},
            **({"questions": questions} if questions else {}),
            **({"factors": factors} if (factors := plain_factors(vars(study))) else {}),
            "left_out_controls": list(study.left_out_controls),
        }


def members(lists: Mapping[str, Sequence[str]], words: Container[str]) -> pd.DataFrame:
    """Return the entries of lists that are among some words, with their lists."""
    pairs = [(word, name) for name, listed in lists.items() for word in listed if word in words]
    return pd.DataFrame(pairs, columns=["word", "list"])


def lists_of(study: Study) -> dict[str, Sequence[str]]:
    """Return all lists of a study, by kind and name, since two of both kinds may have one name."""
    labels = list_labels(study.protected, study.attribute_lists)
    return {labels[role, name]: words for role, name, words in _every_list(study)}


def lost_entries(study: Study, reasons: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the entries of lost words for a table's provenance; `reasons` has the reason of each lost word."""
    return [
        {"word": word, "role": role, "list": name, "reason": reasons[word]}
        for role, name, words in _every_list(study)
        for word in words
        if word in reasons
    ]


def judge_lost(study: Study, lost: list[dict[str, str]], source: str, *, hint: str, max_lost: float) -> None:
    """Warn of a study's lost words, or raise `LostWordsError` if a list lost more than the share `max_lost`."""
    sizes = {(role, name): len(words) for role, name, words in _every_list(study)}
    judge_lost_entries(lost, source, sizes=sizes, hint=hint, max_lost=max_lost)


def _every_list(study: Study) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield role, name and words of each list of a study."""
    for role, lists in (("protected", study.protected), ("attribute", study.attribute_lists)):
        for name, words in lists.items():
            yield role, name, words
