"""The lines of the page "From WEFE" about debiasing, beside what WEFE itself gave."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from tests.validation import test_debiasing as debiasing
from tests.validation.wefe_page import DEBIAS, ON_PAGE, near, stated, vectors


def debiased(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, int]]:
    """Return cosines of words after our debiasing, WEFE's, the lengths of WEFE's vectors, and the words' places."""
    kept, one, two = DEBIAS[kind], vectors(1), vectors(2)
    titled = kept["title_cased"]
    matrix = np.concatenate([one.vectors, two.matrix([word.lower() for word in titled])])
    cased = bb.Embedding((*one.words, *titled), matrix, name="cased")
    fitted = bb.debias.HardDebias().fit(cased, kept["sets"], equalize=kept["equalize"])
    assert fitted.subspace.explained.tolist() == near(kept["explained"])
    after = fitted.transform(cased).matrix(kept["words"]).astype(np.float64)
    theirs = np.array(kept["cosines"])
    lengths = np.sqrt(np.diag(theirs))
    return after @ after.T, theirs / np.outer(lengths, lengths), lengths, {w: n for n, w in enumerate(kept["words"])}


def hard_debias() -> None:
    cosines, theirs, lengths, place = debiased("hard")
    np.testing.assert_allclose(cosines, theirs, atol=2e-6)
    np.testing.assert_allclose(np.diag(cosines), 1.0, atol=1e-6)
    stated(f"(woman {lengths[place['woman']]:.3f}, man {lengths[place['man']]:.3f})")


def hard_debiased(
    case: str, *, components: int | None = None, equalize: Any = None, **transforming: Any
) -> tuple[bb.Embedding, dict[str, Any]]:
    """Return our hard-debiased vectors, which agree with WEFE's of this case, and what it stored."""
    pairs = [["woman", "man"], ["girl", "boy"], ["she", "he"], ["mother", "father"], ["daughter", "son"]]
    source = vectors()
    before = source.vectors.copy()
    fitted = bb.debias.HardDebias(components).fit(source, pairs, equalize=equalize and pairs[:equalize], name="gender")
    after = fitted.transform(source, **transforming)
    theirs = ON_PAGE["hard_debias"][case]
    assert bb.metrics.weat(after, "weat7", ddof=0).effect_size == near(theirs["effect_size"])
    units = [one.vectors / np.linalg.norm(one.vectors, axis=1, keepdims=True) for one in (source, after)]
    assert int((np.abs(units[0] - units[1]).max(axis=1) > 1e-6).sum()) == theirs["changed"]
    np.testing.assert_array_equal(source.vectors, before)
    return after, theirs


def hard_debias_components() -> None:
    for case in ("pca_args, 1", "pca_args, 3"):
        hard_debiased(case, components=1)


def hard_debias_name() -> None:
    after, theirs = hard_debiased("as it is")
    assert "gender" in after.name
    assert "gender" in theirs["name"]


def hard_debias_copy() -> None:
    assert hard_debiased("as it is")[1]["original_unchanged"], "WEFE's default; ours was compared above"


def hard_debias_target() -> None:
    in_pairs = ["woman", "man", "girl", "boy", "she", "he", "mother", "father", "daughter", "son"]
    hard_debiased("target", target=["math", "poetry", *in_pairs])
    with pytest.raises(AssertionError):
        hard_debiased("target", target=["math", "poetry"])


def multiclass_hard_debias() -> None:
    cosines, theirs, _, place = debiased("multiclass")
    torah = place["Torah"]
    rest = [row for row in place.values() if row != torah]
    np.testing.assert_allclose(cosines[np.ix_(rest, rest)], theirs[np.ix_(rest, rest)], atol=2e-6)
    on_directions = np.array(DEBIAS["multiclass"]["on_directions"])
    assert np.abs(on_directions[torah]).max() < 1e-6 < np.abs(on_directions[place["torah"]]).max()
    assert abs(cosines[torah, place["torah"]] - theirs[torah, place["torah"]]) > 0.1


DEBIASING_ROWS: dict[str, Callable[[], object]] = {
    "`HardDebias`": hard_debias,
    "`HardDebias(pca_args=...)`": hard_debias_components,
    "`HardDebias(criterion_name=...)`": hard_debias_name,
    "`fit(equalize_pairs=...)`": lambda: hard_debiased("equalize_pairs", equalize=2),
    "`transform(ignore=...)`": lambda: hard_debiased("ignore", ignore=["math", "poetry"]),
    "`transform(target=...)`": hard_debias_target,
    "`transform(copy=...)`": hard_debias_copy,
    "`MulticlassHardDebias`": multiclass_hard_debias,
    "`HalfSiblingRegression`": debiasing.test_half_sibling_regression_of_wefe,
    "`DoubleHardDebias`": debiasing.test_the_parts_of_double_hard_debiasing_of_wefe,
}
