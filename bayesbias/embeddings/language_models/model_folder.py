"""Check that a model's folder names no file outside of it, and nothing that would run code or download it."""

import json
import os
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from math import inf, prod
from pathlib import Path
from typing import Any, Literal

from bayesbias.base.files.inputs import (
    JSON,
    LINES,
    MemoryCost,
    check_folder,
    file_size,
    is_folder,
    open_input,
    read_content,
)
from bayesbias.base.machine import check_memory
from bayesbias.embeddings.readers.tensor_file import open_tensors
from bayesbias.errors import InputFileError, library_reason

type Predicts = Literal["masked", "next"]
"""Words that a language model predicts: masked ones from both sides, or the next one from those before it."""

type States = dict[Path, list[tuple[int, ...]]]
"""What changes with a file: see `file_states`."""

FROM_SAVE = (
    "Give a folder that transformers' save_pretrained wrote. Names on the Hub are not looked up: download the model "
    "first, for example with huggingface_hub.snapshot_download."
)
# Files that determine a model: weights, configuration and tokenizer. No other file of a folder is opened.
_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.spm", "*.codes", "*.tokenizer")
# What libraries make of those that they parse; and bytes for each byte of weights, and of what they take as a text.
_COSTS = {"*.json": JSON, **dict.fromkeys(("*.txt", "*.codes", "*.tokenizer"), LINES)}
_COSTS |= dict.fromkeys(("*.model", "*.spm"), MemoryCost(20))
_BYTES_A_BYTE = {"*.safetensors": 2, "*.md": 4, "*.jinja": 4}
# Other implementations are packages of kernels, which transformers may download, or are compiled (flex_attention).
_IMPLEMENTATIONS = ("eager", "sdpa", "batched_mm", "grouped_mm")
# Settings of transformers that name another model or its files, or load compiled kernels.
_OTHER_MODELS = (
    *("backbone", "quantization_config", "audio_tokenizer", "audio_tokenizer_class", "class_info_file"),
    "transformers_weights",
)
# Classes of transformers by their names: it takes any of its classes, of which some read or download further models.
_CLASS = re.compile(r"(?!Rag|Mgpstr)[\w.]*(Tokenizer|Processor|FeatureExtractor|Backend)(Fast|Pil)?")
_CLASSES = (
    "processor_class",
    "tokenizer_class",
    "feature_extractor_type",
    "image_processor_type",
    "video_processor_type",
)
_TOKENIZER = "tokenizer_config.json"
_VERSIONS, _VERSION = "fast_tokenizer_files", re.compile(r"tokenizer\.[\w.]*json")
# Settings that count layers, each of which has tensors of its own, and those that count nothing.
_LAYERS, _NO_SIZES = re.compile(r"(layer|depth|block)s?$"), re.compile(r"(theta|base|_ids?|label2id)$")
# To a multiple of which texts are padded, and how many names are made.
_FEW = re.compile(r"attention_window|block_size|radius|labels$")
# How often a model goes through the same weights, and into what pieces it cuts a text: of each, it makes squares.
_AGAIN, _MOST_AGAIN = re.compile(r"(repeats|cycles|iters|iterations|hash|hashes|pretraining_tp)$"), 64
_PIECE, _LONGEST_PIECE = re.compile(r"(?<!attention_)chunk_(size|length)$"), 1024
_LARGEST = 1 << 24  # of other whole numbers, such as how many positions a model has
# Models that make a square of positions in each layer, which has so many tensors or more.
_SQUARES, _LEAST_TENSORS = ("clvp", "gpt_bigcode", "gpt_neo", "imagegpt"), 8
_LONGEST_PADDED = 8192  # pieces of a text
_MOST_GROWTH, _LONGEST_ADDED = 64, 100  # of a text, in letters for each of its letters; letters added at once
_MOST_ENTRIES = 1_000_000  # of settings: those of a hundred thousand added pieces
_MOST_STEPS = 1_000  # by which a tokenizer changes a text, of which models have a few
# A plain regular expression that matches a letter at least; to try one could take for ever.
_TAKES_LETTERS = re.compile(r"(\\s|[\w ]|\[[\w ]+\])(\+|\{[1-9],?\d?\})?([\w ]|\\s)*")
# A path on the machine that saved the tokenizer, which transformers ignores.
_IGNORED = "special_tokens_map_file"


def check_model_folder(folder: Path, parts: Iterable[str] = ("",)) -> None:
    """Raise `InputFileError` if a model would be read from outside of its folder, or would run code.

    - `parts`: folders in it that are read.
    """
    inside = folder.resolve()
    check_files(folder)
    for name in dict.fromkeys(parts):
        if not _is_inside(folder, name, inside):
            raise InputFileError(f"{folder} names its part {name!r:.80}, outside of the folder. Download it again.")
        part = folder / name
        for path in files_of(part, "adapter_config.json"):
            raise InputFileError(
                f"{path} describes an adapter of another model. Merge both with peft's merge_and_unload, and save the "
                "result."
            )
        _check_memory(part)
        for path in files_of(part, "*.index.json"):
            _check_index(path)
        for path in files_of(part, "*config.json"):
            _check_settings(path, inside)
        for path in files_of(part, "config.json"):
            check_sizes(path, stored_shapes(part))
        for path in files_of(part, "tokenizer*.json"):  # transformers may take one of another version
            _check_tokenizer(path)


def check_files(folder: Path) -> None:
    """Raise `InputFileError` if a model's folder has a link out of it, a pipe, or a device."""
    inside = folder.resolve()
    # A snapshot of the Hugging Face Hub has links to files of its own model, beside it.
    check_folder(folder, *([inside.parent.parent / "blobs"] if inside.parent.name == "snapshots" else []))


def file_states(folder: Path) -> States:
    """Return the states of the files that libraries read from a model's folder, to compare them after reading."""
    below = folder.rglob("*") if is_folder(folder) else ()
    return _states(path for path in below if any(map(path.match, (*_FILES, *_BYTES_A_BYTE))))


@contextmanager
def unchanged(folder: Path, files: States) -> Iterator[None]:
    """Raise `InputFileError` at the end if files are in other states than when they were checked.

    So it is if a folder changes inside the block: a file may come and go in it, or the folder may make way for another.
    """
    folders = [folder, *folder.rglob("*/")]
    before = _states(folders)
    yield
    if (file_states(folder), _states(folders)) != (files, before):
        raise InputFileError(f"{folder} changed while the model was read. Copy the folder, and give the copy.")


def _states(paths: Iterable[Path]) -> States:
    return {path: list(_looks(path)) for path in paths}


def _looks(path: Path) -> Iterator[tuple[int, ...]]:
    """Yield the number, size and times of a file or link, and of what it leads to."""
    for look in (os.lstat, os.stat):
        with suppress(OSError):  # of a link to no file, or a file that was removed
            entry = look(path)
            yield entry.st_dev, entry.st_ino, entry.st_size, entry.st_mtime_ns, entry.st_ctime_ns


def predicted_words(folder: Path) -> Predicts:
    """Return which words the model in a folder predicts, from its config.json.

    Raises `InputFileError` if there is none, or it names a model that predicts no words.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise InputFileError(f"{folder} is no folder of a model: it holds no config.json. {FROM_SAVE}")
    check_model_folder(folder)
    settings = read_settings(path)
    named = settings.get("architectures") if isinstance(settings, dict) else None
    classes = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    for name in classes:
        if name.endswith("ForMaskedLM"):
            return "masked"
        if name.endswith(("ForCausalLM", "LMHeadModel")):
            return "next"
    kinds = f" ({', '.join(map(repr, classes))[:80]})" if classes else ""
    raise InputFileError(
        f"{path} names no model that predicts words{kinds}. Give one saved as ...ForMaskedLM, ...ForCausalLM or "
        "...LMHeadModel."
    )


def folder_digest(folder: Path, parts: Iterable[str] = ("",)) -> str:
    """Return the hash of a model's files, which identifies its results in caches; `parts` as for the check."""
    content = sha256()
    for path in sorted({path for part in parts for pattern in _FILES for path in files_of(folder / part, pattern)}):
        content.update(f"{path.relative_to(folder)} {file_size(path)}\n".encode())
        with open_input(path) as stream:
            while chunk := stream.read(1 << 20):
                content.update(chunk)
    return content.hexdigest()


def files_of(part: Path, pattern: str) -> list[Path]:
    """Return the ordinary files of a folder whose names match a pattern."""
    if not os.path.isdir(part):  # noqa: PTH112 - Path.is_dir of Python 3.12 raises OSError for a name that is too long
        return []
    return sorted(path for path in part.glob(pattern) if path.is_file())


def read_settings(path: Path, what: str = "a list of settings") -> Any:
    """Return the content of a model's JSON file; raise `InputFileError` if it is not JSON."""
    try:
        return json.loads(read_content(path, JSON).decode())
    except (OSError, ValueError, RecursionError) as fault:
        raise InputFileError(
            f"{path} is not {what} ({library_reason(fault)}) Download the model again, or save it with save_pretrained."
        ) from fault


def entries(settings: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each entry of a JSON document, with the keys that lead to it.

    >>> list(entries({"a": [1, {"b": "c"}]}))
    [((), {'a': [1, {'b': 'c'}]}), (('a',), [1, {'b': 'c'}]), (('a',), {'b': 'c'}), (('a', 'b'), 'c'), (('a',), 1)]
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), settings)]
    while waiting:
        keys, entry = waiting.pop()
        yield keys, entry
        if isinstance(entry, dict):
            waiting += [((*keys, key), value) for key, value in entry.items()]
        elif isinstance(entry, list):
            waiting += [(keys, value) for value in entry]


def stored_shapes(part: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors in a folder, those for which its files have the bytes.

    Raises `InputFileError` for a file without a sound description of its tensors.
    """
    shapes = {}
    for path in files_of(part, "*.safetensors"):
        file = open_tensors(path)
        for name, entry in file.entries.items():
            try:
                shape, (begin, end) = tuple(map(int, entry["shape"])), entry["data_offsets"]
                if 0 <= begin <= end <= file.size and min(shape, default=0) >= 0 and prod(shape) <= 8 * (end - begin):
                    shapes[name] = shape
            except (TypeError, KeyError, ValueError):  # the metadata, or damage, which the library finds
                continue
    return shapes


def check_sizes(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise `InputFileError` if settings make a model larger than its weights, before a library makes it."""
    if not shapes:
        return
    largest = max(_LARGEST, *(8 * size for shape in shapes.values() for size in shape))
    limits = {_LAYERS: len(shapes), _AGAIN: _MOST_AGAIN, _PIECE: _LONGEST_PIECE, _FEW: _LONGEST_PADDED}
    settings = read_settings(path)
    for keys, entry in entries(settings):
        key = keys[-1] if keys else ""
        if type(entry) is not int or any(map(_NO_SIZES.search, keys)):
            continue
        most = next((limit for name, limit in limits.items() if name.search(key)), largest)
        if entry > most:
            raise InputFileError(
                f"{path} has the setting {key} {entry:,}, and the weights beside it are of a smaller model: "
                f"{len(shapes):,} tensors. Download the model again."
            )
        if "position" in key and isinstance(settings, dict) and settings.get("model_type") in _SQUARES:
            check_memory(len(shapes) * entry**2 / _LEAST_TENSORS, f"{path}: {key} {entry:,}", "Take another model.")


def _check_tokenizer(path: Path) -> None:
    """Raise `InputFileError` if a tokenizer makes very long texts of short ones."""
    content = read_settings(path, "a tokenizer")
    parts = content if isinstance(content, dict) else {}
    for keys, entry in entries(parts.get("padding")):
        if keys and keys[-1] in ("Fixed", "pad_to_multiple_of") and not is_length(entry):
            raise InputFileError(f"{path} has the setting {keys[-1]}: {entry!r:.80}. Remove its padding.")
    every = entries([parts.get(name) for name in ("normalizer", "pre_tokenizer")])
    steps, growth = [step for _, step in every if isinstance(step, dict)], 1.0
    if len(steps) > _MOST_STEPS:
        raise InputFileError(f"{path} changes a text in more than {_MOST_STEPS:,} steps. Download the model again.")
    for step in steps:
        added = max(len(str(step.get(name, ""))) for name in ("content", "prepend"))
        growth *= _growth(step)
        if growth > _MOST_GROWTH or added > _LONGEST_ADDED:
            raise InputFileError(
                f"{path}: its normalizer makes a text more than {_MOST_GROWTH} times as long. Download the model "
                "again, or remove its Replace or Prepend."
            )
    if _added_pieces(parts.get("post_processor")) > _LONGEST_ADDED:
        raise InputFileError(f"{path}: its post_processor adds more than {_LONGEST_ADDED} pieces to a text. Remove it.")


def _growth(step: dict[str, Any]) -> float:
    """Return how many letters replace one at most in a step of a tokenizer."""
    kind, pattern, added = step.get("type"), step.get("pattern"), len(str(step.get("content", "")))
    if kind == "ByteLevel":  # a sign for each byte, which has two bytes itself
        return 2
    if kind == "Precompiled":
        try:
            table = b64decode(str(step.get("precompiled_charsmap")))
        except ValueError:
            return inf
        texts = table[4 + int.from_bytes(table[:4], "little") :].decode("utf-8", "replace").split("\0")
        return max(map(len, texts))
    if pattern is None:
        return 1
    if isinstance(pattern, dict) and isinstance(pattern.get("String"), str):
        return max(1, added / max(1, len(pattern["String"])))
    expression = pattern.get("Regex") if isinstance(pattern, dict) else None
    takes_letters = isinstance(expression, str) and _TAKES_LETTERS.fullmatch(expression)
    return max(1, added + (not takes_letters))  # between letters too, if it may match nothing


def _added_pieces(processor: Any) -> int:
    """Return how many pieces a tokenizer adds to a text, and how often it takes the text, at most."""
    steps = [step for _, step in entries(processor) if isinstance(step, dict)]
    sizes = {str(step.get("id")): len(step["ids"]) for step in steps if isinstance(step.get("ids"), list)}
    pieces = [step["SpecialToken"] for step in steps if isinstance(step.get("SpecialToken"), dict)]
    return sum(sizes.get(str(piece.get("id")), 1) for piece in pieces) + sum("Sequence" in step for step in steps)


def is_length(value: Any) -> bool:
    """Return whether a setting is a length to which texts may be padded, or is not set."""
    return value is None or isinstance(value, bool) or (type(value) is int and value <= _LONGEST_PADDED)


def _is_inside(folder: Path, name: str, inside: Path) -> bool:
    """Return whether a name is that of a folder within another; some texts cannot be names."""
    try:
        return (folder / name).resolve().is_relative_to(inside)
    except (OSError, ValueError):
        return False


def _check_memory(part: Path) -> None:
    """Raise `NotEnoughMemoryError` if libraries would need more memory than is free for the files of a folder."""
    for pattern, cost in _COSTS.items():
        for path in files_of(part, pattern):
            read_content(path, cost)
    sizes = (size * file_size(path) for pattern, size in _BYTES_A_BYTE.items() for path in files_of(part, pattern))
    check_memory(sum(sizes), f"{part}: its weights", "Take a smaller model, or allow more memory.")


def _check_index(path: Path) -> None:
    """Raise `InputFileError` unless an index of weights names files of weights beside it."""
    try:
        parts = list(read_settings(path, "an index of weights")["weight_map"].values())
    except (TypeError, KeyError, AttributeError) as fault:
        raise InputFileError(
            f"{path} is not an index of weights ({library_reason(fault)}) Download the model again."
        ) from fault
    if outside := [part for part in parts if not isinstance(part, str) or not _is_name(part)]:
        raise InputFileError(f"{path} names {outside[0]!r:.80}, outside of the folder. Download the model again.")
    if others := [part for part in parts if not part.endswith(".safetensors")]:
        raise InputFileError(
            f"{path} names {others[0]!r:.80}, which may be a pickle. Save the model again with safe_serialization=True."
        )


def _check_settings(path: Path, inside: Path) -> None:
    """Raise `InputFileError` if settings name a file outside of the folder, another model, or code to download."""
    for number, (keys, entry) in enumerate(entries(read_settings(path))):
        if number > _MOST_ENTRIES:
            raise InputFileError(f"{path} has more than {_MOST_ENTRIES:,} settings. Download the model again.")
        key = keys[-1] if keys else ""
        if key in _OTHER_MODELS and entry:
            raise InputFileError(
                f"{path} has the setting {key!r}: it needs code or weights that are not in the folder. Load the model "
                "yourself, and save it without this setting."
            )
        if not isinstance(entry, str):
            continue
        if any(name.endswith("_implementation") for name in keys) and entry not in _IMPLEMENTATIONS:
            raise InputFileError(
                f"{path} has the {key} {entry!r:.80}, which may be code to download or to compile. Write "
                f"{' or '.join(_IMPLEMENTATIONS[:2])}, or remove the line."
            )
        if (key in _CLASSES and not _CLASS.fullmatch(entry)) or (key == _VERSIONS and not _VERSION.fullmatch(entry)):
            raise InputFileError(
                f"{path} has the {key} {entry!r:.80}, which could read or download another model. Remove the line."
            )
        if key != _IGNORED and _leads_outside(entry, path, inside):
            raise InputFileError(f"{path} names the file {entry!r:.300}, outside of the folder. Remove the line.")


def _leads_outside(text: str, path: Path, inside: Path) -> bool:
    """Return whether a text in the settings `path` is the path of a file outside of the model's folder."""
    if os.path.basename(text) == text and path.name != _TOKENIZER:  # noqa: PTH119 - a word
        return False
    # From here or from the folder: libraries differ. `isfile` is False for texts that cannot be paths.
    named = (place for place in (Path(text), path.parent / text) if os.path.isfile(place))  # noqa: PTH113
    return any(not place.resolve().is_relative_to(inside) for place in named)


def _is_name(part: str) -> bool:
    """Return whether a text is the name of a file, without a folder."""
    return part not in ("", "..") and Path(part).name == part
