"""Files that are read: errors that say what was found."""

import gzip
import json
import math
import os
import socket
import time
import tomllib
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bayesbias as bb
from bayesbias.audits.coherence import COHERENCE
from bayesbias.audits.gate_files import SCHEMA_VERSION, checksum, read_baseline
from bayesbias.audits.plan import read_audit_plan
from bayesbias.base import machine as memory
from bayesbias.base.files import inputs as contents
from bayesbias.base.files.inputs import (
    LINES,
    MemoryCost,
    check_folder,
    input_file,
    is_packed,
    open_content,
    open_input,
    parse_json,
    parse_toml,
    read_content,
    read_lines,
    read_utf8,
    readable,
    text_files,
    value_fault,
)
from bayesbias.base.files.word_lists import read_word_lists
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError, NotEnoughMemoryError, StudyError
from bayesbias.metrics.directions.word_scores import load_base_pairs
from bayesbias.metrics.intrinsic.quality import read_similarity
from bayesbias.models.covariates import read_covariates
from bayesbias.studies.weathub import load_weathub
from tests.base.files.bombs import PACKINGS, lying_gzip, zipped


def test_inputs(tmp_path: Path) -> None:
    (tmp_path / "table.csv").touch()
    assert input_file(tmp_path / "table.csv") == tmp_path / "table.csv"
    with pytest.raises(InputFileError, match=r"tabel\.csv.*'table\.csv'"):
        input_file(tmp_path / "tabel.csv")
    with pytest.raises(InputFileError, match="folder"):
        input_file(tmp_path)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('a = 1\nx = [männer, "b"]', "männer"),
        ('männer = ["a"]', "männer"),
        ("[größe]\nx = 1", "größe"),
        ("x = [man, boy]", "man"),
        ('x = [\n  "a",\n  señora,\n]', "señora"),
        ('x = ["größe", klein]  # schön', "klein"),
    ],
)
def test_words_without_quotes_are_named(text: str, word: str) -> None:
    with pytest.raises(StudyError, match=f'"{word}"'):
        parse_toml(text, "s.toml", StudyError)


@pytest.mark.parametrize("text", ['x = "abc', 'x = ["größe", "b"\ny = 1', "x = 1 1", "x = [1, 2"])
def test_other_faults_of_toml_are_not_said_to_lack_quotes(text: str) -> None:
    with pytest.raises(StudyError, match=r"repeated key\.$"):
        parse_toml(text, "s.toml", StudyError)


DOTS = "a." * 99


@pytest.mark.parametrize(
    "text",
    [
        "a." * 20_000 + "a = 1",
        " . ".join(['"a"'] * 20_000) + " = 1",
        "[" + ".".join(["a"] * 20_000) + "]",
        "x = {" + "a." * 20_000 + "a = 1}",
        f'x = """\n{DOTS}\n"""\n' + "a." * 20_000 + "a = 1",
        'x = ["""b"""", {' + "a." * 20_000 + 'a = 1}, """c""""]',
        "x = ['''b'''', {" + "a." * 20_000 + "a = 1}, '''c'''']",
    ],
)
def test_keys_of_many_parts_are_refused_at_once(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(StudyError, match=r"s\.toml has a key with more than 30 dots"):
        parse_toml(text, "s.toml", StudyError)
    assert time.monotonic() - start < 2  # tomllib takes more than 20 seconds


@pytest.mark.parametrize(
    "text",
    [
        "a." * 30 + "a = 1",
        f'x = "{DOTS}"',
        f"x = '{DOTS}'",
        f'x = """\n"{DOTS}" ""a"" \\""" # {DOTS}\n"""',
        f"x = '''\n{DOTS}' ''a'' \\'''",
        f'x = "\\"{DOTS}\\\\"',
        f'"{DOTS}" = 1',
        f"x = 1 # {DOTS}",
        f"# \"\"\" {DOTS}\nx = 'a'  # it's {DOTS}",
        f"x = [{', '.join(['0.5'] * 99)}]",
        f"x = [{', '.join(['{a.b = 0.5}'] * 99)}]",
        "\n".join(f"[a.b{place}]\nx.y = 0.5" for place in range(99)),
        'x = """a"""""\ny = "a.b"\n',
    ],
)
def test_dots_elsewhere_do_not_count(text: str) -> None:
    assert parse_toml(text, "s.toml", StudyError) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text", ['"""\n' + '\\"""\n' * 100_000, '"' * 300_001, "'" * 300_001, "x = '''\n" + "''\n" * 100_000, "a" * 300_000]
)
def test_texts_without_an_end_take_linear_time(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(StudyError):
        parse_toml(text, "s.toml", StudyError)
    assert time.monotonic() - start < 5


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege on Windows")
def test_a_corpus_has_no_file_from_elsewhere(tmp_path: Path) -> None:
    folder, diary = tmp_path / "corpus", tmp_path / "diary.txt"
    (folder / "part").mkdir(parents=True)
    diary.write_text("private")
    (folder / "part" / "b.txt").write_text("public")
    (folder / "a.txt").symlink_to("part/b.txt")
    assert text_files(folder) == [folder / "a.txt", folder / "part" / "b.txt"]
    assert text_files(diary) == [diary]
    for link, target in (("c.txt", diary), ("part/c", tmp_path), ("part/c.md", "../../diary.txt")):
        (folder / link).symlink_to(target)
        with pytest.raises(InputFileError, match=r"is a link to .* outside of the folder"):
            text_files(folder)
        check_folder(folder, tmp_path)
        (folder / link).unlink()


@pytest.mark.parametrize("error", [InputFileError("no"), EmbeddingError("no"), StudyError("no")])
def test_our_own_errors_pass_while_a_file_is_read(error: BayesBiasError) -> None:
    with pytest.raises(type(error)) as caught, readable(Path("f")):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "Permission"),
        (EOFError("end"), "damaged"),
    ],
)
def test_errors_of_the_system_become_ours(error: Exception, message: str) -> None:
    with pytest.raises(InputFileError, match=message), readable(Path("f")):
        raise error


def test_files_are_unpacked_by_their_content(tmp_path: Path) -> None:
    for name, content in (("plain.gz", b"plain"), ("zipped.txt", gzip.compress(b"zipped", mtime=0))):
        (tmp_path / name).write_bytes(content)
        with open_content(tmp_path / name) as stream:
            assert stream.read().decode() == name.split(".")[0]


@pytest.mark.parametrize("name", PACKINGS)
def test_every_packing_is_read_whole(name: str, tmp_path: Path) -> None:
    path = tmp_path / "any_name"
    for content in (b"word\n" * 1_000_000, b"a", b""):  # of several pieces
        path.write_bytes(PACKINGS[name](content))
        assert read_content(path, LINES) == content
        assert is_packed(path)
    path.write_bytes(PACKINGS[name](bytes(range(256)) * 50)[:-15])
    with pytest.raises(InputFileError, match=r"damaged|no complete zip"):
        read_content(path, LINES)


@pytest.mark.parametrize("pack", [*PACKINGS.values(), lying_gzip, bytes], ids=[*PACKINGS, "lie", "plain"])
def test_a_content_stops_where_the_memory_ends(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(60_000_000)))
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(NotEnoughMemoryError, match=rf"^{path}: .* need .* 0\.0 GB are free\. Check"):
            read_content(path, MemoryCost(2))
        assert tracemalloc.get_traced_memory()[1] < 35_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="the system does not tell holes")
def test_a_file_of_holes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"a 1 2\n")
    for size, refused in ((1 << 25, False), (1 << 40, True)):
        os.truncate(path, size)
        if refused:
            with pytest.raises(InputFileError, match=r"vectors\.txt consists mostly of holes"):
                input_file(path)
        else:
            assert input_file(path) == path
    path.write_bytes((1 << 20) * b"a" + (1 << 26) * b"b")
    os.truncate(path, 1 << 27)
    assert input_file(path) == path  # half of it is written


@pytest.mark.parametrize("read", [read_word_lists, bb.load_study, read_covariates, read_similarity])
@pytest.mark.parametrize("pack", [*PACKINGS.values(), bytes], ids=[*PACKINGS, "plain"])
def test_a_text_that_is_read_as_a_whole_has_a_limit(
    read: Callable[[Path], object],
    pack: Callable[[bytes], bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "zeros.toml"
    path.write_bytes(pack(bytes(40_000_000)))
    monkeypatch.setattr(contents, "_PIECE", 1 << 16)
    monkeypatch.setattr(contents, "_MOST_TEXT", 1 << 20)
    monkeypatch.setattr(contents, "utf8_text", None)
    tracemalloc.start()
    try:
        with pytest.raises(InputFileError, match=rf"^{path} has more than 1,048,576 bytes of text\. .* or divide it\."):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_values_count_besides_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"\n" * 1000)
    monkeypatch.setattr(memory, "free_memory", lambda: 50_000)
    assert len(read_content(path, MemoryCost(2, 40))) == 1000
    with pytest.raises(NotEnoughMemoryError):
        read_content(path, MemoryCost(2, 50))
    path.write_bytes(b"x" * 1000)
    assert read_content(path, MemoryCost(2, 50)) == b"x" * 1000


@pytest.mark.parametrize(
    ("content", "message"),
    [(zipped(b"a", files=2), "2 files"), (zipped(b"a" * 999, method=zipfile.ZIP_BZIP2), "deflate")],
)
def test_zip_files_that_are_not_unpacked(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.zip").write_bytes(content)
    with pytest.raises(InputFileError, match=message):
        read_content(tmp_path / "t.zip", LINES)


def test_names_of_members_may_look_like_archives(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a.zip:b.txt", "cat")
    assert read_utf8(tmp_path / "t.zip:a.zip:b.txt", LINES) == "cat"
    with pytest.raises(InputFileError, match=r"no file 'a\.zip:c\.txt'"):
        read_utf8(tmp_path / "t.zip:a.zip:c.txt", LINES)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 100])
def test_lines_are_those_of_python(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_PIECE", 8)
    content = b"".join(b"x" * (size - 1) + end for end in (b"\n", b"\r\n", b"\n", b"")) + b"end"
    (tmp_path / "f").write_bytes(gzip.compress(content))
    assert list(read_lines(tmp_path / "f")) == content.splitlines(keepends=True)


def test_a_file_of_any_size_is_streamed_but_a_line_without_end_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 5_000_000)
    path = tmp_path / "corpus.txt.gz"
    path.write_bytes(gzip.compress(b"a word\n" * 1_000_000, compresslevel=1))
    assert sum(1 for _ in read_lines(path)) == 1_000_000
    path.write_bytes(gzip.compress(bytes(5_000_000), compresslevel=1))
    with pytest.raises(NotEnoughMemoryError, match="one line"):
        list(read_lines(path))


def test_a_lack_of_memory_that_was_not_foreseen_is_our_error() -> None:
    with pytest.raises(NotEnoughMemoryError, match=r"^f needs more memory"), readable(Path("f")):
        raise MemoryError


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has named pipes")
def test_a_pipe_that_took_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    for read in (
        open_input,
        is_packed,
        lambda path: read_content(path, LINES),
        lambda path: [*read_lines(path)],
    ):
        with pytest.raises(InputFileError, match="not an ordinary file"):
            read(tmp_path / "f")


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has them")
def test_what_is_no_ordinary_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for name in ("/dev/zero", "pipe", "socket"):
            with pytest.raises(InputFileError, match=f"{name} is not an ordinary file"):
                input_file(name)


# A whole number without decimal digits escapes Python's own limit, and breaks the message that shows it.
_LONG_IN_TOML = (f"0x{'f' * 5000}", f"0b{'1' * 20_000}", str(2**63), "nan", "-inf", "1e400")
_IN_JSON = (str(2**63), f"-{'9' * 5000}", "NaN", "-Infinity", "1e400", '"\\ud800"', f"{'[' * 101}{']' * 101}")
_DEEP = f"{'[' * 100_000}{']' * 100_000}"


def test_what_people_write_is_read() -> None:
    content = {
        "mean": -0.1,
        "words": ["größe", "\u202e", ""],
        "counts": [-(2**63), 2**63 - 1],
        "none": None,
        "on": True,
    }
    assert parse_json(json.dumps(content)) == content
    nested = f"{'[' * 100}{']' * 100}"
    assert json.dumps(parse_json(nested)) == nested


@pytest.mark.parametrize("text", [*_IN_JSON, _DEEP, '{"\\ud800": 1}', "{", ""])
def test_values_of_json_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)


def test_a_key_that_occurs_twice_is_named() -> None:
    with pytest.raises(ValueError, match="'mean' occurs twice"):
        parse_json('[{"words": {"mean": 1, "sd": 2, "mean": 3}}]')


@pytest.mark.parametrize("value", _LONG_IN_TOML)
def test_values_of_toml_that_are_refused(value: str) -> None:
    with pytest.raises(StudyError, match=r"^s\.toml .* (64 bits|not finite|without quotes)"):
        parse_toml(f"[a]\nb = [{{c = {value}}}]", "s.toml", StudyError)


def test_a_number_of_many_digits_takes_no_memory() -> None:
    """The pattern of numbers in Python's reader takes a hundred bytes a digit."""
    text = f"a = [{'1' * 500_000}.5]"
    tracemalloc.start()
    try:
        with pytest.raises(StudyError, match="without quotes"):
            parse_toml(text, "s.toml", StudyError)
        _, took = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took < 5 * len(text)


def test_sections_are_not_nested_without_end() -> None:
    with pytest.raises(StudyError, match=r"nested|dots"):
        parse_toml(f"[{'a.' * 400}a]", "s.toml", StudyError)
    assert value_fault({"a": math.inf}) == "a number is not finite"


_TOML_READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "study": (bb.load_study, "associated = {}"),
    "model": (bb.load_model, "[priors]\nsigma = {}"),
    "plan": (read_audit_plan, "studies = {}"),
    "test set": (bb.nli.test_set, "premise = {}"),
    "target words": (bb.reliability.load_target_words, "words = {}"),
    "queries": (bb.reliability.load_queries, "queries = {}"),
    "base pairs": (load_base_pairs, "pairs = [{}]"),
    "debiasing words": (bb.debias.load_debias_words, "definitional = {}"),
}


@pytest.mark.parametrize("value", [_LONG_IN_TOML[0], f"[{_LONG_IN_TOML[0]}]", f"'{'a' * 3_000_000}'"])
@pytest.mark.parametrize("kind", _TOML_READERS)
def test_readers_of_toml_name_the_file_and_not_all_of_its_content(tmp_path: Path, kind: str, value: str) -> None:
    read, text = _TOML_READERS[kind]
    path = tmp_path / "hostile.toml"
    path.write_text(text.format(value))
    with pytest.raises(BayesBiasError, match=r"hostile\.toml") as caught:
        read(path)
    assert len(str(caught.value)) < 100_000


def _weathub(path: Path) -> object:
    return load_weathub(path, "de_human", "weat7")


_QUESTION = {"embedding": "E", "study": "s", "model": "m", "study_hash": "h", "lost_words": 0, "mean": 0.1, "sd": 1}
_QUESTION |= {"model_hash": "h", "words_hash": "h", "interval_includes": ""} | dict.fromkeys(COHERENCE, 0.5)
_LISTS = {name: {"category": name, "examples": [name, "x" + name]} for name in ("targ1", "targ2", "attr1", "attr2")}
_BASELINE = {"rope": [-1, 1], "standardised": False, "hdi_prob": 0.9, "questions": [_QUESTION]}
_JSON_READERS: dict[str, tuple[Callable[[Path], object], Any]] = {
    "baseline": (
        read_baseline,
        _BASELINE | {"schema_version": SCHEMA_VERSION, "checksum": checksum(_BASELINE), "about": "@"},
    ),
    "WEATHub": (_weathub, {"de_human": {"weat7": _LISTS}, "about": "@"}),
    "labelled pairs": (
        bb.nli.read_pairs,
        {"sentence1": "a", "sentence2": "b", "gold_label": "neutral", "about": "@"},
    ),
}


@pytest.mark.parametrize("value", [*_IN_JSON, '1, "about": 2'])
@pytest.mark.parametrize("kind", _JSON_READERS)
def test_readers_of_json_refuse_it_wherever_it_stands(tmp_path: Path, kind: str, value: str) -> None:
    read, content = _JSON_READERS[kind]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(content))
    read(path)
    path.write_text(json.dumps(content).replace('"@"', value))
    with pytest.raises(BayesBiasError, match=r"hostile\.json"):
        read(path)
