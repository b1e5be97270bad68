"""The number of cores, inside and outside a worker."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base import machine as memory
from bayesbias.base.machine import available_cores, one_core, require, same_environment, show
from bayesbias.errors import FitError, MeasureError, NotEnoughMemoryError, OutputError


def test_every_core_is_used_outside_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert available_cores() == 7
    with one_core():
        assert available_cores() == 1
        with one_core():
            assert available_cores() == 1
        assert available_cores() == 1, "the outer worker is still there"
    assert available_cores() == 7


def test_an_unknown_number_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def test_an_error_inside_a_worker_gives_the_cores_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    with pytest.raises(ZeroDivisionError), one_core():
        raise ZeroDivisionError
    assert available_cores() == 7


def test_a_worker_of_one_thread_restricts_no_other_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    with ThreadPoolExecutor(1) as pool, one_core():
        assert pool.submit(available_cores).result() == 7


def test_new_changed_and_removed_variables_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHANGED", "before")
    monkeypatch.setenv("REMOVED", "before")
    before = dict(os.environ)
    with pytest.raises(ImportError):
        _changes_and_fails()
    assert dict(os.environ) == before


@same_environment()
def _changes_and_fails() -> None:
    os.environ |= {"NEW": "1", "CHANGED": "after"}
    del os.environ["REMOVED"]
    raise ImportError("a library is broken")


def test_what_an_optional_library_sets_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sets_a_variable.py").write_text("import os\nos.environ['SET_BY_A_LIBRARY'] = 'True'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert require("sets_a_variable", "classifiers", "A test").os is os
    assert "SET_BY_A_LIBRARY" not in os.environ


def test_a_library_that_an_interrupt_stops_is_not_called_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled modules turn an interrupt in their import into an `ImportError`."""
    (tmp_path / "compiled.py").write_text(
        "import signal\n"
        "try:\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "except BaseException:\n"
        "    raise ImportError('initialization failed')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            require("compiled", "classifiers", "A test")
    finally:
        signal.signal(signal.SIGINT, previous)


def test_a_module_that_is_there_is_returned() -> None:
    assert require("math", "none", "Counting") is math


@pytest.mark.parametrize("module", ["sklearn", "sklearn.svm"])
def test_the_error_names_purpose_package_extra_and_advice(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FitError, match=r"^RNSB .*'bayesbias\[classifiers\]'\. Or wait\.$"):
        require(module, "classifiers", "RNSB", error=FitError, advice="Or wait.")


def test_what_brings_pytorch_says_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MeasureError, match="5 GB"):
        require("torch", "nli", "A model")
    with pytest.raises(MeasureError, match=r"\[cluster\]'\.$"):
        require("torch", "cluster", "A model")


def test_a_module_that_is_broken_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr("bayesbias.base.machine.import_module", broken)
    with pytest.raises(MeasureError, match="libgomp"):
        require("torch", "nli", "A model")


def test_what_is_free_respects_a_limit_of_the_process() -> None:
    """The system's own refusal is the independent source: what is said to be free can be taken, and twice it not."""
    resource = pytest.importorskip("resource")
    program = (
        "import resource, bayesbias.base.machine as memory, numpy as np\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({2**32}, {resource.RLIM_INFINITY}))\n"
        "free = memory.free_memory()\n"
        "np.empty(int(0.9 * free), dtype=np.uint8)\n"
        "try:\n    np.empty(int(1.1 * free), dtype=np.uint8)\n"
        "except MemoryError:\n    print(free)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 2**31 < int(done.stdout) < 2**32


@pytest.mark.parametrize(("kind", "name"), [("", "memory.max"), ("memory", "memory.limit_in_bytes")])
def test_what_is_free_respects_the_limit_of_a_job_and_of_what_is_around_it(
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
        NotEnoughMemoryError, match=r"^f: its rows would need 2\.2 GB or more, and 2\.0 GB are .* Read fewer\.$"
    ):
        rows.take(200_000_000)


def test_control_characters_are_visible(capsys: pytest.CaptureFixture[str]) -> None:
    show("\x1b[2Jcat \u202e\ntwo\tünïcode")
    assert capsys.readouterr().out == "\\x1b[2Jcat \\u202e\ntwo\tünïcode\n"


IMPORTS = """
import os
before = dict(os.environ)
from bayesbias.base.machine import ThreadpoolController, threadpool_limits
assert dict(os.environ) == before, set(os.environ) ^ set(before)
import threadpoolctl
assert threadpool_limits is threadpoolctl.threadpool_limits
assert dict(os.environ) == before
"""


def test_the_environment_is_as_before() -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KMP_")}
    run = subprocess.run([sys.executable, "-c", IMPORTS], env=clean, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.skipif(os.name == "nt", reason="modes of folders")
def test_no_folder_is_private_where_others_can_rename_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "mine"))
    make_folder = memory.private_folder.__wrapped__
    for mode, is_safe in ((0o755, True), (0o1777, True), (0o777, False)):
        tmp_path.chmod(mode)
        if is_safe:
            Path(make_folder()).rmdir()
        else:
            with pytest.raises(OutputError, match="TMPDIR"):
                make_folder()
        assert not list((tmp_path / "mine").iterdir())
