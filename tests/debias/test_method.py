"""What all methods share: word lists that are checked, a transform by blocks, and docstrings that are whole."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias.method import FittedMethod, Method, as_list, chosen_rows, row_blocks, whole_embedding
from bayesbias.errors import EmbeddingError, LostWordsError, LostWordsWarning, MeasureError
from tests.debias.made import PAIRS, WORDS, made_embedding

METHODS = [*bb.debias.METHODS.values(), bb.debias.Chain]
FITTED = [value for name in bb.debias.__all__ if name.startswith("Fitted") for value in [getattr(bb.debias, name)]]


@dataclass(frozen=True, eq=False, repr=False)
class FittedShrink(FittedMethod):
    """A share by which vectors shrink."""

    _label = "shrunk by {share:g} ({sets.name})"

    sets: bb.debias.DebiasWords
    share: float

    @property
    def _facts(self) -> dict[str, float]:
        return {"share": self.share}

    @property
    def _dimensions(self) -> int:
        return 12

    @property
    def _unchanged(self) -> list[str]:
        return list(self.sets.concept)

    def _moved(self, source: bb.Embedding, rows: np.ndarray) -> np.ndarray:
        return (1 - self.share) * source.vectors[rows]


@dataclass(frozen=True)
class Shrink(Method[FittedShrink]):
    """A method of a few lines."""

    needs = ("concept",)

    share: float = 0.25

    def _fit(self, source: bb.Embedding, words: bb.debias.DebiasWords) -> FittedShrink:
        return FittedShrink(words, self.share)


def test_a_method_of_a_few_lines_has_all_that_others_have() -> None:
    embedding = made_embedding()
    with pytest.raises(MeasureError, match=r"Shrink .*`concept`"):
        Shrink().fit(embedding, PAIRS)
    fitted = Shrink().fit(embedding, WORDS, name="gender")
    after = fitted.transform(embedding)
    assert after.name == "made, shrunk by 0.25 (gender)"
    changed = (after.vectors != embedding.vectors).any(axis=1)
    assert [word for word, differs in zip(embedding.words, changed, strict=True) if not differs] == list(WORDS.concept)
    np.testing.assert_allclose(after["he"], 0.75 * embedding["he"])
    some = fitted.transform(embedding, target=iter(["he", "she"]), ignore=iter(["she"]))
    assert (some["she"] == embedding["she"]).all()
    assert (some["he"] == after["he"]).all()
    with pytest.raises(MeasureError, match="12 dimensions"):
        fitted.transform(made_embedding(5))
    chained = bb.debias.Chain(Shrink(), Shrink()).fit(embedding, WORDS).transform(embedding)
    np.testing.assert_allclose(chained["he"], 0.5625 * embedding["he"])


@pytest.mark.parametrize("function", [*(method.fit for method in METHODS), *(fitted.transform for fitted in FITTED)])
def test_every_argument_is_documented_where_it_is_read(function: Callable[..., Any]) -> None:
    """`help` of each `fit` and `transform` has all its parameters, also those that one method adds."""
    text = inspect.getdoc(function) or ""
    sections = dict(zip(*2 * [iter(re.split(r"\n\n(\w+)\n-+\n", text)[1:])], strict=True))
    assert list(sections) == ["Parameters", "Returns", "Raises", "Warns"]
    documented = re.findall(r"^(\w+)\n    \w", sections["Parameters"], re.MULTILINE)
    assert set(documented) == set(inspect.signature(function).parameters) - {"self"}


@pytest.mark.parametrize("method", METHODS)
def test_needs_are_word_lists(method: type[Method]) -> None:
    assert set(method.needs) <= {field.name for field in fields(bb.debias.DebiasWords)}


def test_iterators_are_read_once_and_strings_stay() -> None:
    assert as_list(iter(["he", "she"])) == ["he", "she"]
    assert as_list("he") == "he"
    assert as_list(None) is None


EMBEDDING = bb.Embedding(("he", "she", "nurse"), np.eye(3), name="toy", case=("exact", "lower"))


def test_ignored_words_are_targets_that_are_not_chosen() -> None:
    targets, chosen = chosen_rows(EMBEDDING, ["He", "nurse"], ["Nurse"])
    assert targets.tolist() == [True, False, True]
    assert chosen.tolist() == [True, False, False]
    assert chosen_rows(EMBEDDING, None, None, ["she", "absent"])[1].tolist() == [True, False, True]
    assert chosen_rows(EMBEDDING, None, [], ["she"])[1].all(), "given words take the place of the unchanged ones"


def test_absent_words_and_strings() -> None:
    with pytest.raises(LostWordsError, match="absent"):
        chosen_rows(EMBEDDING, ["absent"], None)
    with pytest.warns(LostWordsWarning, match="'toy' .*absent"):
        chosen_rows(EMBEDDING, None, ["absent"])
    for target, ignore in (("he", None), (None, "he")):
        with pytest.raises(MeasureError, match="`target` and `ignore`"):
            chosen_rows(EMBEDDING, target, ignore)
    for target, ignore in (([("he", "she")], None), (None, [3])):
        with pytest.raises(EmbeddingError, match="Words must be text"):
            chosen_rows(EMBEDDING, target, ignore)  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match=r"300 dimensions.* 'toy' .*3"):
        whole_embedding(EMBEDDING, dimensions=300)


@pytest.mark.parametrize("count", [0, 1, 10_000, 25_001])
def test_blocks_have_each_row_once_and_are_small(count: int) -> None:
    blocks = row_blocks(np.arange(count))
    assert [row for block in blocks for row in block] == list(range(count))
    assert all(0 < len(block) <= 10_000 for block in blocks)
