"""Files that another user removes, replaces or cuts while they are read: an error of ours, whenever it happens."""

import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.readers import fasttext_bin, histwords
from bayesbias.errors import BayesBiasError, InputFileError
from bayesbias.models.covariates import read_covariates
from tests.embeddings.files import fasttext_of_one_word
from tests.fuzz import checkpoints, contexts
from tests.fuzz.sound import LABELLED, NORMS, RELATIONS, STUDY, whole

# Name -> content, and what reads it.
READERS: dict[str, tuple[Callable[[], bytes], Callable[[Path], object]]] = {
    "v.txt": (lambda: whole("glove.txt"), bb.load_embedding),
    "v.bin": (lambda: whole("bin"), bb.load_embedding),
    "v.npz": (lambda: whole("npz"), bb.load_embedding),
    "t.csv": (lambda: whole("csv"), bb.read_table),
    "s.toml": (STUDY.encode, bb.load_study),
    "f.nc": (lambda: whole("nc"), bb.read_fit),
    "i.contexts": (contexts.whole_index, bb.embeddings.read_contexts),
    "checkpoint": (checkpoints.sound, checkpoints.continued),
    "n.csv": (lambda: NORMS[0], bb.asymmetry.read_evocation),
    "r.csv": (lambda: RELATIONS[0], bb.asymmetry.read_relations),
    "p.csv": (LABELLED[0].encode, bb.nli.read_pairs),
    "c.csv": (lambda: b"word,share\nhe,1\nshe,2\n", read_covariates),
}
_MOST_OPENED = 40
_act: list[Callable[[str], None]] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _act and isinstance(arguments[0], str | bytes | os.PathLike):
        _act[0](os.fsdecode(arguments[0]))


@cache
def _hooked() -> None:
    sys.addaudithook(_hook)


@contextmanager
def before_opening(path: Path, number: int, change: Callable[[], object]) -> Iterator[list[int]]:
    """Change a file before it is opened for the n-th time; yield a list with how often it was."""
    _hooked()
    count = [0]

    def act(name: str) -> None:
        if name == str(path):
            count[0] += 1
            if count[0] == number:
                change()

    _act.append(act)
    try:
        yield count
    finally:
        _act.clear()


def _link_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


@pytest.mark.skipif(os.name != "posix", reason="only there are open files removed")
@pytest.mark.parametrize("change", [Path.unlink, _link_to_itself])
@pytest.mark.parametrize("name", READERS)
def test_a_file_that_goes_while_it_is_read(name: str, change: Callable[[Path], None], tmp_path: Path) -> None:
    content, read = READERS[name]
    path = tmp_path / "given" / name
    for number in range(1, _MOST_OPENED):
        path.parent.mkdir()
        path.write_bytes(content())
        with before_opening(path, number, lambda: change(path)) as opened, suppress(BayesBiasError):
            read(path)
        shutil.rmtree(path.parent)
        if opened[0] < number:
            break
    assert 1 < number < _MOST_OPENED - 1


def _histwords(path: Path) -> None:
    path.with_name("1990-vocab.pkl").write_bytes(pickle.dumps([f"word{number}" for number in range(5_000)]))
    np.save(path, np.ones((5_000, 100), dtype=np.float32))


def _fasttext(path: Path) -> None:
    path.write_bytes(fasttext_of_one_word(9_900, 1))


@pytest.mark.skipif(os.name != "posix", reason="only there are open files cut")
@pytest.mark.parametrize(
    ("reader", "write", "name"), [(histwords, _histwords, "1990-w.npy"), (fasttext_bin, _fasttext, "v.bin")]
)
def test_a_file_that_is_cut_while_it_is_read(
    reader: ModuleType, write: Callable[[Path], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that were mapped into memory would end the process (SIGBUS)."""
    write(tmp_path / name)
    monkeypatch.setattr(reader, "check_room", lambda *_, **__: os.truncate(tmp_path / name, 4096))
    with pytest.raises(InputFileError, match=f"{name}.*(ends|cut short)"):
        bb.load_embedding(tmp_path / name)
