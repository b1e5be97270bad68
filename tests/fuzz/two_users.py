"""A user writes into a folder that a stranger filled with links, pipes, folders and files of other names."""

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb
from bayesbias import errors
from bayesbias.base.files.outputs import _exchanger, atomic_path
from tests.base.files.folders import fill
from tests.base.files.users import STRANGER, USER, as_user, hostile_journal, shared_folder
from tests.fuzz.sound import VECTORS
from tests.fuzz.storages import one_of, whole_cache

Generator = np.random.Generator
_HOME = {"out.csv": "profile", "c.sqlite": "mine", "private/a.txt": "key", "private/key": "key"}
_PLACES = ("{name}", "{name}/a.txt", "{name}/new", "{shop}", "{shop}/new", "{shop}/{name}")
_JOURNALS = (
    *({"of": "out", "made": [], "old": []}, {"of": "out", "made": ["../home/out.csv"], "old": ["/etc/passwd"]}, [], 5),
)


def plan(rng: Generator) -> bytes:
    """Return what a stranger plants and what the user then writes, as JSON."""
    write = one_of(rng, WRITES)
    name = WRITES[write][1]
    plants = []
    for _ in range(int(rng.choice([0, 1, 1, 2, 3, 5]))):
        planted = one_of(rng, _PLACES).format(name=name, shop=_shop(name))
        targets = ("home", "home/out.csv", "home/private", "home/absent", "home/private/key", "..", "absent", planted)
        kind = one_of(rng, ("link", "link", "hard", "folder", "file", "pipe", "journal", "sqlite"))
        plants.append([kind, planted, one_of(rng, targets), int(one_of(rng, (0o1777, 0o777, 0o700, 0o2775, 0o4777)))])
    mode = int(one_of(rng, (0o1777, 0o1777, 0o777, 0o1757)))
    return json.dumps(
        {
            "write": write,
            "mode": mode,
            "theirs": bool(rng.random() < 0.2),
            "plants": plants,
            "overwrite": bool(rng.random() < 0.7),
        }
    ).encode()


def written_of(path: Path) -> object:
    """Let a stranger plant, and the user write; what the user has stays as it was, and nothing of it gets out."""
    described = json.loads(path.read_bytes())
    with shared_folder(described["mode"]) as (shared, home):
        as_user(USER, _furnish, home)
        if described["theirs"]:
            os.chown(shared, STRANGER, STRANGER)
        _said(as_user(STRANGER, _plant, shared, described["plants"]))
        write, name = WRITES[described["write"]]
        answer = as_user(USER, write, shared / name, described["overwrite"])
        kept = {str(place.relative_to(home)): place.read_text() for place in home.rglob("*") if place.is_file()}
        if kept != _HOME:
            raise AssertionError(f"the private folder became {kept}: {answer}")
        if out := [
            place for place in shared.rglob("*") if _is_own(place) and place.read_bytes() in (b"key", b"profile")
        ]:
            raise AssertionError(f"{out} got out: {answer}")
        return _said(answer)


def _shop(name: str) -> str:
    """Return the name of the workshop of an output, which a stranger knows as well."""
    return f".{name}-{sha256(name.encode()).hexdigest()[:8]}.bayesbias"


def _is_own(place: Path) -> bool:
    return place.is_file() and not place.is_symlink() and place.stat().st_nlink == 1


def _said(answer: str) -> str:
    """Return an answer; raise the errors of which it is the text."""
    name, _, message = answer.partition(": ")
    if answer.startswith("unexpected"):
        raise AssertionError(answer)
    if isinstance(kind := getattr(errors, name, None), type) and issubclass(kind, errors.BayesBiasError):
        raise kind(message)
    return answer


def _furnish(home: Path) -> None:
    for name, text in _HOME.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)


def _plant(shared: Path, plants: list[Any]) -> None:
    os.umask(0)
    for kind, name, target, mode in plants:
        place, aim = shared / name, shared.parent / target if target.startswith("home") else Path(target)
        with suppress(OSError):  # the system does not allow it, or the name is taken
            place.parent.mkdir(exist_ok=True)
            if kind == "link":
                place.symlink_to(aim)
            elif kind == "hard":
                os.link(aim, place)
            elif kind == "folder":
                place.mkdir()
            elif kind == "pipe":
                os.mkfifo(place)
            elif kind == "journal":
                (place / "journal.json").write_text(json.dumps(one_of(np.random.default_rng(mode), _JOURNALS)))
            elif kind == "sqlite":
                _create(place, whole_cache())
                hostile_journal(place, aim)
            else:
                _create(place, b"theirs")
            if kind in ("folder", "file"):
                place.chmod(mode)


def _create(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:  # nothing that was planted before is opened, such as a pipe
        stream.write(content)


def _file(path: Path, overwrite: bool) -> str:
    with atomic_path(path, overwrite=overwrite) as made:
        made.write_text("new")
    return "wrote"


def _folder(path: Path, overwrite: bool) -> str:
    fill(path, "new", overwrite=overwrite)
    return "wrote"


def _vectors(path: Path, overwrite: bool) -> str:
    bb.write_embedding(VECTORS, path, overwrite=overwrite)
    return "wrote"


def _cache(path: Path, overwrite: bool) -> str:
    bb.encode(lambda texts: [[1.0, 2.0] for _ in texts], ["a"], name="one", cache=path)
    return "wrote"


def _index(path: Path, overwrite: bool) -> str:
    bb.embeddings.index_contexts(["a cat"], path, overwrite=overwrite)
    return "wrote"


WRITES = {
    "file": (_file, "out.csv"),
    "folder": (_folder, "out"),
    "vectors": (_vectors, "out.npz"),
    "cache": (_cache, "c.sqlite"),
    "index": (_index, "out.contexts"),
}


def loaded() -> object:
    """Load what the users cannot."""
    _exchanger()
    whole_cache()
    with shared_folder(0o755) as (shared, _):
        return [write(shared / f"{number}{name}", False) for number, (write, name) in enumerate(WRITES.values())]
