"""Memory: the least of what the machine and the limits leave, and errors before work that needs more."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base.machine import memory
from bayesbias.errors import NotEnoughMemoryError


def test_what_is_free_heeds_a_limit_of_the_process() -> None:
    """The system's own refusal is the independent source: what is said to be free can be taken, and twice it not."""
    resource = pytest.importorskip("resource")
    program = (
        "import resource, bayesbias.base.machine.memory as memory, numpy as np\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({2**32}, {resource.RLIM_INFINITY}))\n"
        "free = memory.free_memory()\n"
        "np.empty(int(0.9 * free), dtype=np.uint8)\n"
        "try:\n    np.empty(int(1.1 * free), dtype=np.uint8)\n"
        "except MemoryError:\n    print(free)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 2**31 < int(done.stdout) < 2**32


@pytest.mark.parametrize(("kind", "name"), [("", "memory.max"), ("memory", "memory.limit_in_bytes")])
def test_what_is_free_heeds_the_limit_of_a_job_and_of_what_is_around_it(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psutil

    whole = memory.free_memory()
    (tmp_path / "own").write_text(f"3:cpu,io:/job\n0:{kind}:/job/step\n")
    (tmp_path / "job" / "step").mkdir(parents=True)
    (tmp_path / "job" / "step" / name).write_text("max\n")
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "_GROUPS", {kind: (tmp_path, name)})
    assert memory.free_memory() == pytest.approx(whole, rel=0.5)
    (tmp_path / "job" / name).write_text(f"{psutil.Process().memory_info().rss + 50_000_000}\n")
    assert 0 <= memory.free_memory() <= 60_000_000


def _word2vec(path: Path) -> None:
    path.write_bytes(b"2 3\n" + b"".join(word + b" " + np.ones(3, "<f4").tobytes() for word in (b"he", b"she")))


def _text(path: Path) -> None:
    path.write_text("2 3\nhe 1 1 1\nshe 1 1 2\n")


def _glove(path: Path) -> None:
    path.write_text("he 1 1 1\nshe 1 1 2\n")


def _npz(path: Path) -> None:
    np.savez(path, words=np.array(["he", "she"]), vectors=np.ones((2, 3)))


@pytest.mark.parametrize(
    ("name", "write"), [("a.bin", _word2vec), ("a.vec", _text), ("a.txt", _glove), ("a.npz", _npz)]
)
def test_an_embedding_that_does_not_fit_is_refused_before_it_is_read(
    name: str, write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / name)
    assert bb.load_embedding(tmp_path / name).vectors.shape == (2, 3)
    monkeypatch.setattr(memory, "free_memory", lambda: 100)
    with pytest.raises(NotEnoughMemoryError, match=rf"{name}: 2 .* 3 .* words=\["):
        bb.load_embedding(tmp_path / name)
    monkeypatch.setattr(memory, "free_memory", lambda: 800)  # for one word, and those of the sample
    assert bb.load_embedding(tmp_path / name, words=["he"]).vectors.shape == (1, 3)
    monkeypatch.setattr(memory, "free_memory", lambda: 300)
    with pytest.raises(NotEnoughMemoryError, match=rf"{name}: 2 .* 3 "):
        bb.load_embedding(tmp_path / name, words=["he", "she", "they"])


def test_an_allowance_ends_with_what_was_free_at_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2_000_000_000)
    rows = memory.Allowance("f: its rows", "Read fewer.")
    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    for _ in range(4):
        rows.take(500_000_000)
    with pytest.raises(
        NotEnoughMemoryError, match=r"^f: its rows need 2\.2 GB or more, and 2\.0 GB are .* Read fewer\.$"
    ):
        rows.take(200_000_000)
