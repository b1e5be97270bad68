"""Arguments that many functions share: what is taken, what is refused, and a bar for those who can see it."""

import itertools
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.base.checks import (
    SEED_LIMIT,
    check_choice,
    check_count,
    check_flag,
    check_frame,
    check_items,
    check_number,
    check_path,
    check_probability,
    check_rope,
    normalized,
    resolve_seed,
)
from bayesbias.embeddings.training.corpus import read_corpus
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, StudyError


@pytest.mark.parametrize("seed", [0, 7, SEED_LIMIT - 1, np.int64(7), np.uint8(7)])
def test_seeds_are_whole_numbers(seed: Any) -> None:
    assert resolve_seed(seed) == seed
    assert type(resolve_seed(seed)) is int


@pytest.mark.parametrize("seed", [-1, SEED_LIMIT, True, np.False_, 1.0, "1", np.array([1])])
def test_other_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(ArgumentError, match="random_seed="):
        resolve_seed(seed)


def test_a_seed_is_drawn_where_none_is_given() -> None:
    drawn = {resolve_seed(None) for _ in range(20)}
    assert len(drawn) > 1
    assert all(0 <= seed < SEED_LIMIT for seed in drawn)


@pytest.mark.parametrize("value", [0, True, 2.0, "3", None, np.nan])
def test_counts(value: Any) -> None:
    assert check_count("draws", np.int8(5), least=5) == 5
    with pytest.raises(ArgumentError, match="draws="):
        check_count("draws", value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.1, True, "0.5", None])
def test_numbers_and_probabilities(value: Any) -> None:
    assert check_number("sd", np.float32(0.5), low=0, high=1) == 0.5
    assert check_number("sd", 0, low=0, high=1) == 0
    for refused in (value, 0):
        with pytest.raises(ArgumentError, match="sd="):
            check_number("sd", refused, low=0, high=1, above=True)
        with pytest.raises(ArgumentError, match="hdi_prob="):
            check_probability("hdi_prob", refused)


def test_flags_and_choices() -> None:
    assert check_flag("progress", np.True_) is True
    with pytest.raises(ArgumentError, match="progress=1"):
        check_flag("progress", 1)
    assert check_choice("level", "word", ("overall", "word")) == "word"
    for refused in ("words", None, ["word"]):
        with pytest.raises(ArgumentError, match="level="):
            check_choice("level", refused, ("overall", "word"))


@pytest.mark.parametrize("rope", [0, -0.1, (0.1, -0.1), (1,), "0.1", True, (0.0, np.inf)])
def test_regions_of_practical_equivalence(rope: Any) -> None:
    assert check_rope(None) is None
    assert check_rope([-0.01, 0.02]) == (-0.01, 0.02)
    with pytest.raises(ArgumentError, match="rope="):
        check_rope(rope)


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_that_no_float_holds_and_no_text_shows_are_refused(digits: int) -> None:
    value = 10**digits
    with pytest.raises(ArgumentError, match="draws=int"):
        check_count("draws", value)
    for refused in (
        lambda: check_number("sd", value, low=0, high=1),
        lambda: check_probability("hdi_prob", value),
        lambda: check_rope(value),
        lambda: check_choice("level", value, ["word"]),
        lambda: check_flag("pages", value),
        lambda: resolve_seed(value),
    ):
        with pytest.raises(ArgumentError, match="=int"):
            refused()


def test_a_frame_with_a_column_twice_is_refused() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(ArgumentError, match=r"table .* column 'a'"):
        check_frame("table", frame, "a frame")
    with pytest.raises(ArgumentError, match=r"pairs .* column 'a'"):
        bb.asymmetry.lar(bb.asymmetry.static({"x": [1.0, 0.0], "y": [0.0, 1.0]}), frame)


def test_a_list_without_end_is_refused() -> None:
    with pytest.raises(ArgumentError, match="words"):
        check_items("words", pd.DataFrame({"a": [1]}), "a list of words")
    assert check_items("words", range(3), "a list of words") == [0, 1, 2]
    with pytest.raises(ArgumentError, match=r"words .*10,000,000"):
        check_items("words", itertools.count(), "a list of words")


@pytest.mark.parametrize(
    "address", ["https://example.org/v.txt", "s3:/bucket/v.npz", "tcp://10.0.0.1:8786", "file:///x"]
)
def test_an_address_is_no_path(address: str) -> None:
    with pytest.raises(ArgumentError, match=f"{address.split('/')[0]}.* is an address"):
        check_path(address)
    assert check_path("C:/vectors.txt") == Path("C:/vectors.txt")


@pytest.mark.parametrize(("name", "value"), [("tune", 10**12), ("draws", 10**17), ("seeds", 10**6), ("workers", 10**9)])
def test_what_would_take_too_long_or_too_much_is_said(name: str, value: int) -> None:
    with pytest.raises(ArgumentError, match=rf"{name}={value}: .* take [\d,.]+ (hours|GB)"):
        check_count(name, value)


MARKS = "".join(map(chr, (0x300, 0x316)))


def test_marks_without_end_are_refused_before_a_normal_form_is_made(tmp_path: Path) -> None:
    """Sorting 300,000 of them takes hours."""
    many = "a" + MARKS * 150_000
    (tmp_path / "a.vec").write_text(f"2 2\nshe 1 2\n{many} 1 2\n", encoding="utf-8")
    (tmp_path / "a.bin").write_bytes(b"2 2\nshe " + bytes(8) + f"{many[:400]} ".encode() + bytes(8))
    np.savez(tmp_path / "a.npz", words=["she", many], vectors=np.eye(2))
    (tmp_path / "a.txt").write_text(f"she\n{many}\n", encoding="utf-8")
    for name, place in (("a.vec", "line 3"), ("a.bin", "row 2"), ("a.npz", "row 2")):
        for words in (["she"], None):
            if name == "a.bin" and words is None:  # its vectors are zero
                continue
            with pytest.raises(EmbeddingError, match=rf"{place}: The text .* combining marks in a row"):
                bb.load_embedding(tmp_path / name, words=words)
    with pytest.raises(InputFileError, match="line 2: The text"):
        read_corpus(tmp_path / "a.txt", min_count=1)
    with pytest.raises(StudyError, match="combining marks"):
        bb.load_study({"X": [many, "b"], "Y": ["c", "d"], "A": ["e", "f"], "B": ["g", "h"]})


def test_marks_of_languages_are_normal() -> None:
    """Every letter that sorts is in the range that is looked at, and 30 in a row are Unicode's own limit (UAX #15)."""
    assert not any(map(unicodedata.combining, map(chr, [*range(0x300), *range(0x1F000, 0x110000)])))
    word = "a" + MARKS * 15
    assert normalized(word) == unicodedata.normalize("NFC", word)
    with pytest.raises(EmbeddingError, match="more than 30"):
        normalized(f"{word}\u0300", "NFKD")


def test_no_other_module_makes_a_normal_form() -> None:
    package = Path(bb.__file__).parent
    uses = [
        path
        for path in package.rglob("*.py")
        if re.search(r"unicodedata\.(is_)?normal|import .*\bnormalize\b", path.read_text("utf-8"))
    ]
    assert [path.name for path in uses] == ["checks.py"]
