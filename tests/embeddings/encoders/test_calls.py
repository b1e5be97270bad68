"""Calls of an encoder: a text must get the vector that it had before; what never answers is refused."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.encoders.calls import MOST_CHANGED, REPEATED, changes, spread_out
from bayesbias.errors import ArgumentError, EmbeddingError

WORDS = [f"word{number:02d}" for number in range(32)]


def vectors(texts: list[str], seed: int = 1) -> np.ndarray:
    return np.stack([np.random.default_rng([seed, *text.encode()]).standard_normal(16) for text in texts])


def test_an_encoder_that_answers_differently_each_time_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)

    def with_dropout(texts: list[str]) -> np.ndarray:
        of_texts = vectors(texts)
        return of_texts * (rng.random(of_texts.shape) > 0.1)

    with pytest.raises(EmbeddingError, match=r"Dropout.*eval\(\)"):
        bb.encode(with_dropout, WORDS, name="client")
    with pytest.raises(EmbeddingError, match="Dropout"):
        bb.encode(with_dropout, WORDS, name="client", cache=tmp_path / "c.sqlite")
    # Nothing of it is in the cache: another function of that name begins anew.
    assert bb.encode(vectors, WORDS, name="client", cache=tmp_path / "c.sqlite")["word00"].size == 16


def test_rounding_is_no_change() -> None:
    rng = np.random.default_rng(1)

    def rounded(texts: list[str]) -> np.ndarray:
        of_texts = vectors(texts).astype(np.float32)
        return of_texts * (1 + rng.choice([-1, 1], of_texts.shape) / 2**8)  # the last bit of bfloat16

    assert len(bb.encode(rounded, WORDS, name="client")) == 32
    before, after = np.array([[1.0, 0.0]]), np.array([[1.0, MOST_CHANGED]])
    assert changes(after, before)[0] < MOST_CHANGED < changes(after + 0.001, before)[0]


def test_the_largest_rounding_moves_cosines_and_contrasts_as_little_as_its_docstring_says() -> None:
    rng = np.random.default_rng(1)

    def unit(*shape: int) -> np.ndarray:
        drawn = rng.standard_normal((*shape, 384))
        return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)

    def moved(of_words: np.ndarray) -> np.ndarray:
        changed = of_words + MOST_CHANGED * unit(*of_words.shape[:-1])
        return changed / np.linalg.norm(changed, axis=-1, keepdims=True)

    words, lists = unit(200, 8), unit(200, 2, 8)  # two hundred studies of eight words and two lists of eight
    before, after = (
        np.einsum("swd,slad->slwa", *vectors) for vectors in ((words, lists), (moved(words), moved(lists)))
    )
    assert (after - before).std() == pytest.approx(0.002, abs=0.0005)
    contrasts = [(cosines[:, 0] - cosines[:, 1]).mean(axis=(1, 2)) for cosines in (before, after)]
    assert (contrasts[1] - contrasts[0]).std() < 0.001


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"name": "client", "cache": tmp_path / "c.sqlite"}
    first = bb.encode(vectors, WORDS, **settings)

    def second(texts: list[str]) -> np.ndarray:
        return vectors(texts, seed=2)

    with pytest.raises(EmbeddingError, match=r"8 of 8 texts than in the cache.*version='2'"):
        bb.encode(second, WORDS, **settings)
    changed = bb.encode(second, WORDS, **settings, version="2")
    np.testing.assert_array_equal(changed.vectors, vectors(WORDS, seed=2).astype(np.float32))
    assert changed.steps == ("encoded by version 2 of client",)
    np.testing.assert_array_equal(bb.encode(vectors, WORDS, **settings).vectors, first.vectors)


def test_a_run_that_goes_on_with_another_version_is_refused(tmp_path: Path) -> None:
    """The service fails in the middle, and has another model when the run is started again."""
    settings: dict[str, Any] = {"name": "client", "cache": tmp_path / "c.sqlite", "batch": 10, "attempts": 1}
    calls: list[int] = []

    def failing(texts: list[str]) -> np.ndarray:
        calls.append(len(texts))
        if len(calls) > 3:
            raise ConnectionError("no answer")
        return vectors(texts)

    with pytest.raises(EmbeddingError, match="no answer"):
        bb.encode(failing, WORDS, ["A WORD.", "The WORD."], **settings)
    with pytest.raises(EmbeddingError, match="in the cache"):
        bb.encode(lambda texts: vectors(texts, seed=2), WORDS, ["A WORD.", "The WORD."], **settings)


def test_a_version_that_changes_in_the_middle_of_a_run_is_refused(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"name": "client", "cache": tmp_path / "c.sqlite", "batch": 8}
    calls: list[int] = []

    def changing(texts: list[str]) -> np.ndarray:
        calls.append(len(texts))
        return vectors(texts, seed=1 if len(calls) < 4 else 2)

    with pytest.raises(EmbeddingError, match="at the beginning of this run"):
        bb.encode(changing, WORDS, **settings)
    for seed in (1, 2):  # what the cache has by now is a mixture, which no version answers for
        with pytest.raises(EmbeddingError, match="in the cache"):
            bb.encode(lambda texts, seed=seed: vectors(texts, seed), WORDS, **settings)


def test_texts_are_compared_from_the_first_to_the_last() -> None:
    assert spread_out(WORDS)[0] == "word00"
    assert spread_out(WORDS)[-1] == "word31"
    assert len(set(spread_out(WORDS))) == REPEATED
    assert spread_out([]) == []
    for count in range(8, 500):  # between two that are compared, less than a seventh is not
        places = list(map(int, spread_out([str(place) for place in range(count)])))
        assert 7 * (np.diff(places).max() - 1) < count


def test_a_call_has_a_time_limit() -> None:
    released = threading.Event()

    def hanging(texts: list[str]) -> np.ndarray:
        released.wait(60)
        return vectors(texts)

    with pytest.raises(EmbeddingError, match=r"1 attempt: TimeoutError: no answer in 0\.05 seconds"):
        bb.encode(hanging, WORDS, name="client", attempts=1, timeout=0.05)
    released.set()
    assert len(bb.encode(vectors, WORDS, name="client", timeout=60)) == 32
    with pytest.raises(ArgumentError, match="timeout"):
        bb.encode(vectors, WORDS, name="client", timeout=0)


@pytest.mark.parametrize("timeout", [None, 60])
def test_a_function_that_ends_the_program_fails(timeout: float | None) -> None:
    def ending(texts: list[str]) -> np.ndarray:
        raise SystemExit(0)

    with pytest.raises(EmbeddingError, match=r"tried to end the program \(sys.exit\(0\)\)"):
        bb.encode(ending, WORDS, name="client", attempts=1, timeout=timeout)


def test_a_stop_of_this_program_is_no_failure_of_the_encoder() -> None:
    def stopped(texts: list[str]) -> np.ndarray:
        raise SystemExit(143)

    with pytest.raises(SystemExit):
        bb.encode(stopped, WORDS, name="client")


def test_an_asynchronous_function_is_named_as_one() -> None:
    async def embed(texts: list[str]) -> np.ndarray:
        return vectors(texts)

    with pytest.raises(EmbeddingError, match=r"asynchronous.*asyncio\.run"):
        bb.encode(embed, WORDS, name="client")
    encoder: Callable[[list[str]], np.ndarray] = lambda texts: asyncio.run(embed(texts))  # noqa: E731
    assert len(bb.encode(encoder, WORDS, name="client")) == 32


@pytest.mark.parametrize("version", ["", " ", 2])
def test_a_version_is_a_text(version: Any) -> None:
    with pytest.raises(ArgumentError, match="version"):
        bb.encode(vectors, WORDS, name="client", version=version)


def test_a_folder_has_no_version(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="version"):
        bb.encode(tmp_path, WORDS, version="2")
