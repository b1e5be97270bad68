"""Files of models: what comes back, and files that are damaged, foreign, or say what cannot be."""

import json
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import InputFileError, LostWordsError, LostWordsWarning, MeasureError, OutputError
from bayesbias.nli.attention_model import AttentionModel
from bayesbias.nli.tensor_files import read_tensors, write_tensors
from tests.nli.made import PAIR_VECTORS, QUICK, animal_pairs

pytestmark = pytest.mark.extras
PAIRS = animal_pairs()
SENTENCES = PAIRS["premise"].tolist(), PAIRS["hypothesis"].tolist()


@pytest.fixture(scope="module")
def model() -> AttentionModel:
    vectors = {**PAIR_VECTORS, "he": np.arange(1.0, 13), "gnu": np.ones(12)}
    embedding = bb.load_embedding(vectors, name="<b>animals")
    return bb.nli.train(embedding, PAIRS, development=PAIRS, epochs=2, random_seed=1, **QUICK)


@pytest.fixture
def path(model: AttentionModel, tmp_path: Path) -> Path:
    return model.save(tmp_path / "model.safetensors")


def test_what_is_loaded_is_what_was_saved(model: AttentionModel, path: Path) -> None:
    again = bb.nli.load(path)
    assert np.array_equal(again(*SENTENCES), model(*SENTENCES))
    assert repr(again) == repr(model)
    assert again.history.equals(model.history)
    assert (again.settings, again.random_seed, again.sources) == (model.settings, model.random_seed, model.sources)
    assert set(again.sources) >= {"embedding", "vectors", "pairs", "bayesbias"}
    assert again.sources["bayesbias"] == bb.__version__
    second = again.save(path.with_name("again.safetensors"))
    assert second.read_bytes() == path.read_bytes()


def test_another_process_answers_the_same(model: AttentionModel, path: Path) -> None:
    code = (
        "import sys, numpy as np, bayesbias as bb\n"
        "np.save(sys.argv[2], bb.nli.load(sys.argv[1])(['A dog sleeps.'], ['No cat sleeps']))"
    )
    subprocess.run([sys.executable, "-c", code, path, path.with_suffix(".npy")], check=True)
    assert np.array_equal(np.load(path.with_suffix(".npy")), model(["A dog sleeps."], ["No cat sleeps"]))


def test_words_that_the_file_does_not_hold_need_the_embedding(model: AttentionModel, path: Path) -> None:
    """It holds "he", which only the test sets have, and not "gnu", which no sentence had."""
    sentences = ["A gnu sleeps"], ["He sleeps"]
    with pytest.raises(LostWordsError, match=r"model\.safetensors .* 1 .*: gnu\. .*embedding="):
        bb.nli.load(path)(*sentences)
    assert np.isfinite(bb.nli.load(path)(["He sleeps"], ["No dog sleeps"])).all()
    whole = bb.nli.load(path, embedding=model.vectors.embedding)
    answers = whole(*sentences)
    assert np.array_equal(bb.nli.load(whole.save(path, overwrite=True))(*sentences), answers)


@pytest.mark.filterwarnings("error")
def test_lost_words_are_told_again_only_where_they_are_new(model: AttentionModel, path: Path) -> None:
    again = bb.nli.load(path)
    with pytest.warns(LostWordsWarning, match=r"model\.safetensors .* 3 .* 4 "):
        again(["He ate an apple"], ["He ate an apple"])
    again(["He ate an apple"], ["He ate an apple"])


def test_an_embedding_with_other_vectors_is_refused(model: AttentionModel, path: Path) -> None:
    original = {word: np.array(vector) for word, vector in PAIR_VECTORS.items()} | {"he": np.arange(1.0, 13)}
    longer = {word: 3 * vector for word, vector in original.items()}
    assert np.array_equal(bb.nli.load(path, embedding=longer)(*SENTENCES), model(*SENTENCES))  # of the same direction
    for other, message in (
        (original | {"dog": -original["dog"]}, r"model\.safetensors.* 1 of 12 words .*: dog\."),
        ({word: vector for word, vector in original.items() if word != "cat"}, "1 of 12 words .*: cat"),
        ({word: vector[:6] for word, vector in original.items()}, "12 of 12 words"),
        ({"hund": [1.0] * 12}, "12 of 12 words"),
    ):
        with pytest.raises(MeasureError, match=message):
            bb.nli.load(path, embedding=other)


def test_files_are_not_replaced_unless_it_is_allowed(model: AttentionModel, path: Path) -> None:
    with pytest.raises(OutputError, match="exists"):
        model.save(path)
    path.write_text("old")
    assert bb.nli.load(model.save(path, overwrite=True)).random_seed == 1
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_every_part_and_every_flipped_bit_is_refused_or_changes_nothing(model: AttentionModel, path: Path) -> None:
    whole = path.read_bytes()
    head = 8 + struct.unpack("<Q", whole[:8])[0]
    rng = np.random.default_rng(1)
    sizes = [0, 1, 7, 8, 9, head - 1, head, head + 1, len(whole) - 1, *rng.integers(len(whole), size=40)]
    for size in sizes:
        path.write_bytes(whole[:size])
        with pytest.raises(InputFileError):
            bb.nli.load(path)
    expected = model(*SENTENCES)
    places = [*range(8), *rng.integers(8, head, size=400), *rng.integers(head, len(whole), size=60)]
    read = 0
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            loaded = bb.nli.load(path)
        except InputFileError:
            continue
        assert np.array_equal(loaded(*SENTENCES), expected)
        read += 1
    assert read < 5  # spaces of the head


def test_files_of_other_programs(path: Path) -> None:
    from safetensors.numpy import save_file

    for content in (
        b"",
        b"PK\x03\x04" + bytes(100),
        b"\x80\x04K\x05.",
        struct.pack("<Q", 1 << 62) + b"{}",
        b"x" * 1000,
    ):
        path.write_bytes(content)
        with pytest.raises(InputFileError, match=r"model\.safetensors"):
            bb.nli.load(path)
    save_file({"a": np.zeros(3, dtype=np.float32)}, path)
    with pytest.raises(InputFileError, match=r"model\.safetensors"):
        bb.nli.load(path)
    with pytest.raises(InputFileError, match="none"):
        bb.nli.load(path.with_name("none"))
    with pytest.raises(InputFileError, match="folder"):
        bb.nli.load(path.parent)


@pytest.mark.parametrize("kind", ["F8_E4M3", "F8_E5M2", "BF16", "F16", "F64", "I64"])
def test_types_of_numbers_that_no_model_has(path: Path, kind: str) -> None:
    """NumPy lacks some of them."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    size = {"F8_E4M3": 1, "F8_E5M2": 1, "BF16": 2, "F16": 2, "F64": 8, "I64": 8}[kind]
    head = json.dumps(
        {
            "__metadata__": header["__metadata__"],
            "vectors": {"dtype": kind, "shape": [2, 2], "data_offsets": [0, 4 * size]},
        }
    ).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(4 * size))
    with pytest.raises(InputFileError, match=r"model\.safetensors"):
        bb.nli.load(path)


def lies() -> Iterator[tuple[str, Callable[[dict[str, Any], dict[str, Any]], Any]]]:
    """Changes of a model's facts and arrays that cannot be, in a file whose checksum is right."""
    odd: tuple[Any, ...] = (None, True, -1, 0, 1.5, "x", [], {}, [1], {"a": 1}, [[1]], 10**30, "\ud800")
    for name in ("settings", "random_seed", "sources", "losses", "accuracies", "forms", "words", "warned"):
        yield f"no {name}", lambda facts, _, name=name: facts.pop(name)
        for value in odd:
            if (name, value) == ("words", {}):  # a model that has met no word
                continue
            if (name == "random_seed" and value in (0, 1)) or (name == "warned" and value == []):
                continue
            yield f"{name} {value!r:.20}", lambda facts, _, name=name, value=value: facts.update({name: value})
    for name in ("hidden_units", "intra_attention"):
        for value in (*odd, 17, 10**9):
            if name == "intra_attention" and value is True:
                continue
            yield (
                f"{name} {value!r:.20}",
                lambda facts, _, name=name, value=value: facts["settings"].update({name: value}),
            )
    for rows in ([], [0], [-1], [10**6], [1.0], [True], "ab", 5, None):
        yield f"rows {rows!r}", lambda facts, _, rows=rows: facts["words"].update({"dog": rows})
    yield "a word twice", lambda facts, _: facts["forms"].__setitem__(0, facts["forms"][1])
    yield "a loss more", lambda facts, _: facts["losses"].append(1.0)
    yield "a loss that is none", lambda facts, _: facts["losses"].__setitem__(0, "x")
    yield "no vectors", lambda _, arrays: arrays.pop("vectors")
    yield "a vector less", lambda _, arrays: arrays.update(vectors=arrays["vectors"][:-1])
    yield "flat vectors", lambda _, arrays: arrays.update(vectors=arrays["vectors"].ravel())
    yield "vectors without a length", lambda _, arrays: arrays["vectors"].__setitem__((0, slice(2)), 3e38)
    yield "long vectors", lambda _, arrays: arrays.update(vectors=arrays["vectors"] * 2)
    yield "a weight less", lambda _, arrays: arrays.pop("weights/project")
    yield "a weight more", lambda _, arrays: arrays.update(more=np.zeros(3))
    yield "another shape", lambda _, arrays: arrays.update({"weights/project": arrays["weights/project"].T})
    yield "a weight that is no number", lambda _, arrays: arrays["weights/project"].__setitem__((0, 0), np.nan)


def test_content_that_cannot_be_is_refused(path: Path) -> None:
    whole, accepted, messages = path.read_bytes(), [], set()
    for name, change in lies():
        path.write_bytes(whole)
        facts, arrays = read_tensors(path, "model")
        change(facts, arrays)
        try:
            write_tensors(path, "model", facts, arrays, overwrite=True)
        except UnicodeEncodeError:  # it cannot even be written
            continue
        try:
            bb.nli.load(path)
        except InputFileError as error:
            messages.add(str(error).removeprefix(str(path)))
        else:
            accepted.append(name)
    assert accepted == []
    assert len(messages) == 1  # none is an error of a library
    assert "damaged" in messages.pop()


def test_a_file_that_is_not_changed_is_read(path: Path) -> None:
    """Or the test above would show nothing."""
    write_tensors(path, "model", *read_tensors(path, "model"), overwrite=True)
    assert bb.nli.load(path).random_seed == 1


def test_head_that_is_no_json_of_ours(path: Path) -> None:
    from safetensors.numpy import save_file

    for about in (
        "",
        "[]",
        "{",
        "[" * 100_000,
        "5",
        "{}",
        '{"kind": []}',
        '{"kind": "model", "facts": 5, "sha256": 5}',
    ):
        save_file({"vectors": np.zeros((3, 2), dtype=np.float32)}, path, metadata={"bayesbias": about})
        with pytest.raises(InputFileError, match="damaged"):
            bb.nli.load(path)
