"""Hostile answers of cells under right seals, plans of audits, words asked of an index, and folders of models."""

import json
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

import bayesbias as bb
from bayesbias.audits.audit import AuditGrid, audit_frame
from bayesbias.audits.audit_cell import AuditCell, make_cells
from bayesbias.audits.plan import lost_lists, read_audit_plan
from bayesbias.audits.running import KeptAnswers
from bayesbias.base.files.inputs import SEAL_SIZE, sealed
from bayesbias.errors import InputFileError
from tests.audits import pets
from tests.fuzz.contexts import whole_index
from tests.fuzz.mutations import flipped, mutated
from tests.fuzz.odd import with_odd_value

Generator = np.random.Generator
MEASURES = ("contrast", "mac")
_SETTINGS = {"max_lost": 0.2, "hdi_prob": 0.89, "draws": 25, "tune": 50, "chains": 4}


@cache
def cell() -> AuditCell:
    """Return a cell that is answered in a moment."""
    model = bb.load_model("no_pooling")
    (one,) = make_cells([pets.embedding(1)], [pets.study()], [model], [1], measures=MEASURES, **_SETTINGS)
    return one


@cache
def kept_answer() -> bytes:
    """Return the kept answer of the cell, without its seal."""
    with tempfile.TemporaryDirectory() as folder:
        store = KeptAnswers(Path(folder))
        store.write(cell(), cell().answer(pets.embedding(1)))
        return store.path(cell()).read_bytes()[:-SEAL_SIZE]


def answer_of(path: Path) -> object:
    """Read the file as the kept answer of the cell, and return what an audit makes of it."""
    folder = path.with_name("cells")
    folder.mkdir(exist_ok=True)
    store = KeptAnswers(folder)
    shutil.copy(path, store.path(cell()))
    answer = store.read(cell())
    if answer is None:
        raise InputFileError("It is computed again.")
    source = pets.embedding(1)
    lost = tuple(word for words in lost_lists(source, pets.study()) for word in words.lost)
    grid = AuditGrid([cell()], {source.name: source}, {(source.name, "pets"): lost})
    return audit_frame(grid, {cell().digest: answer}, {}).to_csv()


def answered() -> object:
    """Return what an audit makes of the sound answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sound.npz"
        path.write_bytes(sealed(kept_answer()))
        return answer_of(path)


def damaged_answer(rng: Generator) -> bytes:
    """Return a kept answer with damage under a right seal: the archive's own checksums find it, or it says the same."""
    content = kept_answer()
    return sealed(flipped(content, rng) if rng.random() < 0.3 else mutated(content, rng))


def lying_answer(rng: Generator) -> bytes:
    """Return an answer with something odd in its description, in a sound archive under a right seal."""
    with np.load(BytesIO(kept_answer())) as arrays:
        parts, numbers = json.loads(arrays["parts"].tobytes()), arrays["numbers"]
    lie = with_odd_value(parts, rng)
    made = BytesIO()
    text = np.frombuffer(json.dumps(lie).encode("utf-8", "surrogatepass"), dtype=np.uint8)
    changed = numbers if rng.random() < 0.7 else rng.choice([np.nan, np.inf, -1e308, 0], size=len(numbers))
    np.savez(made, parts=text, numbers=changed)
    return sealed(made.getvalue())


@cache
def _plan() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return pets.write_plan(Path(folder), 1, 2, rope="0.02", max_lost="0.2", chains="2", tune="50").read_bytes()


_PLAN_VALUES = (
    *("0", "1", "-1", "2", "100000", "1000000000000", "1e300", "nan", "inf", "true", '""', '"none"', "[]", "[1, 2]"),
    *("[1, 1]", '["mac"]', '["weat", "weat"]', '["/dev/zero"]', '"https://example.org/x"', '["../../etc/passwd"]'),
    *(
        '"tcp://127.0.0.1:1"',
        "{a = 1}",
        '"\\u001b[31m"',
        '["\\u0000"]',
        "99999999999999999999",
        "[-0.02, 0.02]",
        "1979-05-27",
    ),
)
_PLAN_KEYS = (
    *("studies", "measures", "models", "model", "seeds", "random_seed", "draws", "tune", "chains", "rope", "max_lost"),
    *("case", "hdi_prob", "workers", "scheduler", "embeddings", "other"),
)


def plan_text(rng: Generator) -> bytes:
    """Return a plan with odd values, or a damaged one."""
    plan = _plan().replace(b'"hierarchical"', b'"none"').replace(b'"contrast", ', b"")
    if rng.random() < 0.3:
        return mutated(plan, rng)
    lines = plan.decode().splitlines()
    for _ in range(int(rng.integers(1, 3))):
        key, value = rng.choice(_PLAN_KEYS), rng.choice(_PLAN_VALUES)
        lines = [f"{key} = {value}", *(line for line in lines if not line.startswith(f"{key} = "))]
    return "\n".join(lines).encode()


def plan_of(path: Path) -> object:
    """Read a plan and, if it has no model, run it on this process."""
    if not path.with_name("e0.npz").exists():
        pets.write_plan(path.parent, 1, 1)
    plan = read_audit_plan(path)
    settings = {name: value for name, value in plan.settings.items() if name != "workers"}
    if plan.settings.get("models") != [None]:
        return str(plan)
    return bb.audit(plan.embeddings, plan.studies, plan.measures, progress=False, **settings).to_csv()


def frozen_plan_text(rng: Generator) -> bytes:
    """Return a frozen plan of a small study with an odd value, or a damaged one."""
    plan = replace(bb.audits.freeze_plan(pets.study(), model="crossed", rope=0.02), settings={"Case rules": "exact"})
    content = plan.to_dict()
    if rng.random() < 0.6:
        content = with_odd_value(content, rng)
    try:
        text = tomli_w.dumps(content).encode(errors="replace")
    except (AttributeError, TypeError):  # TOML has no such value
        text = str(content).encode(errors="replace")
    return mutated(text, rng) if rng.random() < 0.5 else text


def frozen_plan_of(path: Path) -> object:
    """Read a frozen plan, and write it again."""
    plan = bb.reports.read_plan(path)
    bb.reports.write_plan(plan, path.with_name("again.toml"), overwrite=True)
    return repr(plan), plan.edits, bb.reports.registration_text(plan)


WORDS = ("cat", "dog", "ice cream", "zebra", "number", "saw")
OPERATORS = (
    *(
        '"',
        "'",
        "*",
        "^",
        "-",
        "+",
        "(",
        ")",
        ":",
        " OR ",
        " AND ",
        " NOT ",
        " NEAR ",
        "NEAR(cat dog, 5)",
        "text:",
        "%",
    ),
    *("_", "\0", "'; DROP TABLE contexts; --", "\\", "\n", "\x1b[31m", "\ud800", " " * 50, "é", "猫", "a" * 3000, ""),
)


def asked_words(rng: Generator) -> bytes:
    """Return pairs of words with quotes and operators of query languages, as JSON."""

    def word() -> str:
        parts = [str(rng.choice(np.array((*WORDS, *OPERATORS), dtype=object))) for _ in range(int(rng.integers(1, 4)))]
        return "".join(parts)

    return json.dumps([[word(), word()] for _ in range(int(rng.integers(1, 6)))]).encode()


def counts_of(path: Path) -> object:
    """Ask a sound index for pairs, and return what it says then of two words that it holds."""
    place = path.with_name("sound.contexts")
    if not place.exists():
        place.write_bytes(whole_index())
    index = bb.embeddings.read_contexts(place)
    pairs = [tuple(pair) for pair in json.loads(path.read_bytes())]
    try:
        said = index.pairs([*pairs, ("cat", "dog")], progress=False)
    except bb.errors.BayesBiasError as error:
        if not str(error).strip():
            raise
        said = index.pairs([("cat", "dog")], progress=False)
    if (said["contexts"] > index.contexts).any():
        return "more contexts than there are"
    return said.iloc[-1][["contexts", "cue_count", "response_count"]].tolist(), bb.embeddings.read_contexts(
        place
    ).sha256


def counted() -> object:
    """Return what a sound index says of two words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.json"
        path.write_text("[]")
        return counts_of(path)


# --- folders of models ------------------------------------------------------------------------------------

_OWN = "sentence_transformers.models.Transformer"
_HOSTILE_FOLDERS: tuple[dict[str, Any], ...] = (
    {"modules": [{"type": "os.system", "path": ""}]},
    {"modules": [{"type": "own.Model", "path": ""}], "files": {"own.py": "raise SystemExit"}},
    {"modules": [{"type": _OWN, "path": "../outside"}]},
    {"modules": [{"type": _OWN, "path": "/etc"}]},
    {"modules": [{"type": _OWN, "path": "link"}], "links": {"link": "/etc"}},
    {"modules": [{"type": _OWN, "path": ""}], "links": {"model.safetensors": "/etc/passwd"}},
    {"modules": [{"type": _OWN, "path": ""}], "links": {"config.json": "/etc/passwd"}},
    {
        "modules": [{"type": _OWN, "path": ""}],
        "files": {"model.safetensors.index.json": json.dumps({"weight_map": {"a": "../outside.safetensors"}})},
    },
    {
        "modules": [{"type": _OWN, "path": ""}],
        "files": {"model.safetensors.index.json": json.dumps({"weight_map": {"a": "/etc/passwd"}})},
    },
    {"modules": [{"type": _OWN, "path": ""}], "files": {"pytorch_model.bin": "\x80\x02."}},
)


def hostile_folder(rng: Generator) -> bytes:
    """Return the description of a folder of a model that would run code or read elsewhere, as JSON; at times odd."""
    folder = _HOSTILE_FOLDERS[int(rng.integers(len(_HOSTILE_FOLDERS)))]
    if rng.random() < 0.5:
        folder = {**folder, "modules": [*folder["modules"], with_odd_value({"type": _OWN, "path": "1_Pooling"}, rng)]}
    return json.dumps(folder).encode()


def write_model_folder(described: dict[str, Any], folder: Path) -> Path:
    """Write a folder of a model as it is described."""
    folder.mkdir()
    (folder / "modules.json").write_text(json.dumps(described["modules"]))
    if "config.json" not in described.get("links", {}):
        (folder / "config.json").write_text(json.dumps({"model_type": "bert", **described.get("config", {})}))
    for name, content in described.get("files", {}).items():
        (folder / name).write_text(content)
    for name, target in described.get("links", {}).items():
        (folder / name).symlink_to(target)
    return folder


def model_folder_of(path: Path) -> object:
    """Read a folder of a model: each is to be refused before any library is imported."""
    folder = path.with_name("model")
    shutil.rmtree(folder, ignore_errors=True)
    return str(bb.embeddings.load_encoder(write_model_folder(json.loads(path.read_bytes()), folder)))
