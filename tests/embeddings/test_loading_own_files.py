"""Files as people have them: packed, with other separators, with junk, and files that hold no vectors."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import (
    BayesBiasError,
    EmbeddingError,
    InputFileError,
    LostWordsError,
    LostWordsWarning,
)
from tests.cli.running import in_process

WORDS = [f"w{number}" for number in range(40)]
VECTORS = np.random.default_rng(3).normal(size=(40, 12)).round(4)


def lines(separator: str = " ", *, quote: str = "", words: list[str] = WORDS, numbers: np.ndarray = VECTORS) -> str:
    rows = zip(words, numbers, strict=True)
    return "".join(separator.join([f"{quote}{word}{quote}", *(f"{x:g}" for x in row)]) + "\n" for word, row in rows)


def written(tmp_path: Path, content: str | bytes, name: str = "own.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def zipped(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


names = ",".join(f"V{number}" for number in range(1, 13))
LAYOUTS = {
    "tabs": lines("\t"),
    "tab after the word": "".join(line.replace(" ", "\t", 1) for line in lines().splitlines(keepends=True)),
    "double spaces": lines("  "),
    "right-aligned": "".join(
        f"{word} {' '.join(f'{x:8.4f}' for x in row)}\n" for word, row in zip(WORDS, VECTORS, strict=True)
    ),
    "header, blank line, tabs": "40 12\n\n" + lines("\t"),
    "csv": lines(","),
    "write.csv of R": '"",' + ",".join(f'"V{number}"' for number in range(1, 13)) + "\n" + lines(",", quote='"'),
    "write.table of R": " ".join(f'"V{number}"' for number in range(1, 13)) + "\n" + lines(quote='"'),
    "to_csv of pandas": "," + ",".join(map(str, range(12))) + "\n" + lines(","),
    "to_csv with row numbers": f",word,{names}\n"
    + "".join(f"{place},{line}" for place, line in enumerate(lines(",").splitlines(keepends=True))),
    "semicolons and decimal commas": lines(";").replace(".", ","),
    "decimal commas": lines().replace(".", ","),
    "row numbers": "".join(f"{place} {line}" for place, line in enumerate(lines().splitlines(keepends=True), 1)),
    "byte order mark and CRLF": "\ufeff" + lines("\t").replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_are_read(name: str, tmp_path: Path) -> None:
    for words in (None, WORDS[:9]):
        embedding = bb.load_embedding(written(tmp_path, LAYOUTS[name]), words=words)
        assert list(embedding.words) == WORDS[: len(embedding)]
        np.testing.assert_allclose(embedding.vectors, VECTORS[: len(embedding)], rtol=1e-6)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_read(pack, tmp_path: Path) -> None:
    assert len(bb.load_embedding(written(tmp_path, pack(lines().encode()), "own.txt.x"))) == 40


def test_a_zip_has_one_table_or_the_path_names_it(tmp_path: Path) -> None:
    one = zipped(tmp_path / "one.zip", **{"own.50d.txt": lines(), "__MACOSX/._own.50d.txt": "x"})
    assert len(bb.load_embedding(one)) == 40
    two = zipped(tmp_path / "two.zip", **{"a.txt": lines(), "b.txt": "40 12\n" + lines()})
    with pytest.raises(InputFileError, match=r"2 files: a\.txt, b\.txt\. Name one, such as .*two\.zip:a\.txt"):
        bb.load_embedding(two)
    named = bb.load_embedding(f"{two}:b.txt")
    assert (len(named), named.name) == (40, "b")
    with pytest.raises(InputFileError, match=r"no file 'c\.txt'"):
        bb.load_embedding(f"{two}:c.txt")


def tarred(path: Path, entries: dict[str, str | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for name, content in entries.items():
            entry = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            data = b"" if isinstance(content, tarfile.TarInfo) else content.encode()
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def test_a_tar_has_one_table_or_the_path_names_it(tmp_path: Path, monkeypatch) -> None:
    link = tarfile.TarInfo("vectors/latest.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    one = tarred(tmp_path / "one.tar.gz", {"vectors/own.txt": lines(), "vectors/._own.txt": "x", "link": link})
    embedding = bb.load_embedding(one, words=WORDS[:9])
    assert (len(embedding), embedding.name) == (9, "one")
    two = tarred(tmp_path / "two.tgz", {"a.txt": lines(), "b.txt": "40 12\n" + lines()})
    with pytest.raises(
        InputFileError, match=r"tar file of 2 files: a\.txt, b\.txt\. Name one, such as .*two\.tgz:a\.txt"
    ):
        bb.load_embedding(two)
    assert bb.load_embedding(f"{two}:b.txt").name == "b"
    plain = tarred(tmp_path / "plain.tar", {"a.txt": lines()})
    assert len(bb.load_embedding(plain)) == 40
    plain.write_bytes(plain.read_bytes()[:2000])
    with pytest.raises(BayesBiasError, match=r"cut short"):
        bb.load_embedding(plain)


@pytest.mark.parametrize("word", ["#", "%", "//", "#tag"])
@pytest.mark.parametrize("separator", [" ", "\t", ","])
def test_a_first_word_that_looks_like_a_comment_is_a_word(word: str, separator: str, tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text(lines().replace(WORDS[0], word, 1).replace(" ", separator))
    assert bb.load_embedding(path).words == (word, *WORDS[1:])


HDF5 = b"\x89HDF\r\n\x1a\n" + bytes(500)
FOREIGN = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS.*git lfs pull"),
    "html": (b"\n<!DOCTYPE html>\n<html></html>\n", "web page"),
    "utf-16": (lines().encode("utf-16"), "UTF-16.*iconv"),
    "json": (json.dumps({"king": [0.1, 0.2]}).encode(), "JSON"),
    "hdf5": (HDF5, "HDF5.*np.savez"),
    "parquet": (b"PAR1" + bytes(100), "Parquet.*read_parquet"),
    "rds": (gzip.compress(b"X\n\0\0\0\3\0\4\1\0" + bytes(100)), r"object of R .*write\.csv"),
    "pickle": (pickle.dumps({"king": [0.1, 0.2]}), "pickle of Python objects.*give the mapping"),
    "tar": (bytes(257) + b"ustar" + bytes(300), "tar archive.*tar -xf"),
}


UNUSUAL = {
    "brackets": ("".join(f"{word} {row.tolist()}\n" for word, row in zip(WORDS, VECTORS, strict=True)), "in brackets"),
    "words last": ("".join(" ".join(line.split()[::-1]) + "\n" for line in lines().splitlines()), "word after"),
    "comment": ("# made by us\n" + lines(), "begins with a comment"),
    "line ends of old Macintoshes": (lines().replace("\n", "\r"), "old Macintoshes"),
    "a column a word": (
        ",".join(WORDS) + "\n" + "".join(",".join(f"{x:.4f}" for x in row) + "\n" for row in VECTORS.T), "transpose it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_texts_are_named(name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    content, message = UNUSUAL[name]
    path = written(tmp_path, content)
    with pytest.raises(InputFileError, match=message):
        bb.load_embedding(path, words=WORDS)
    assert in_process("weat", path, "--study", "weat7", monkeypatch=monkeypatch) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("name", FOREIGN)
def test_other_files_are_named(name: str, tmp_path: Path) -> None:
    content, message = FOREIGN[name]
    with pytest.raises(BayesBiasError, match=rf"own\.vec is .*{message}"):
        bb.load_embedding(written(tmp_path, content, "own.vec"))


def test_workbooks_and_files_of_pytorch_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"Excel workbook\. Save its sheet as CSV"):
        bb.load_embedding(zipped(tmp_path / "own.xlsx", **{"[Content_Types].xml": "", "xl/workbook.xml": ""}))
    with pytest.raises(InputFileError, match="PyTorch, which is a pickle"):
        bb.load_embedding(zipped(tmp_path / "own.pt", **{"own/data.pkl": "", "own/data/0": ""}))


COLUMNS = {
    "a count": (np.column_stack([5000 // np.arange(1, 41), VECTORS]), "dimension 1 holds whole numbers"),
    "an index": (np.column_stack([np.arange(40), VECTORS]), "dimension 1 holds whole numbers"),
    "a sense": (np.column_stack([np.arange(40) % 3 + 1, VECTORS]), "dimension 1 holds whole numbers"),
    "a count at the end": (np.column_stack([VECTORS, np.arange(40)]), "dimension 13 holds whole numbers"),
    "a count in the middle": (
        np.insert(VECTORS, 5, 5000 // np.arange(1, 41), axis=1),
        "dimension 6 holds whole numbers",
    ),
    "a sense and a count": (
        np.column_stack([np.arange(40) % 3 + 1, VECTORS, 5000 // np.arange(1, 41)]),
        "dimension 1 holds whole numbers .*, as dimension 14 does",
    ),
    "a frequency in the middle": (np.insert(VECTORS, 7, 1000.5 / np.arange(1, 41) + 900, axis=1), "dimension 8 .* 99%"),
    "a frequency": (np.column_stack([1000.5 / np.arange(1, 41) + 900, VECTORS]), "carries over 99%"),
    "bytes without a scale": (np.rint(VECTORS.repeat(2, axis=1) * 40), "quantised vectors"),
    "bits": ((VECTORS.repeat(2, axis=1) > 0) * 2 - 1, "quantised vectors"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_are_no_dimensions_are_refused(name: str, tmp_path: Path) -> None:
    numbers, message = COLUMNS[name]
    with pytest.raises(EmbeddingError, match=message):
        bb.load_embedding(written(tmp_path, lines(numbers=numbers)), words=WORDS[:9])
    with pytest.raises(EmbeddingError, match=message):
        bb.load_embedding((WORDS, numbers.astype(float)))


def test_columns_that_may_be_dimensions_are_kept(tmp_path: Path) -> None:
    """Mostly 0, as of sparse vectors; or carrying the length of an array, as of a language model."""
    sparse = np.insert(VECTORS, 5, np.arange(40) == 3, axis=1)
    assert bb.load_embedding(written(tmp_path, lines(numbers=sparse))).dimensions == 13
    rogue = np.insert(VECTORS, 5, 900 + VECTORS[:, 0], axis=1)
    np.savez(tmp_path / "model.npz", words=np.array(WORDS), vectors=rogue)
    assert bb.load_embedding(tmp_path / "model.npz").dimensions == 13
    with pytest.raises(EmbeddingError, match="carries over 99%"):
        bb.load_embedding(written(tmp_path, lines(numbers=rogue)))


def test_numbers_of_one_byte_are_refused() -> None:
    for dtype in (np.int8, np.uint8):
        with pytest.raises(EmbeddingError, match="quantised"):
            bb.load_embedding((WORDS, np.ones((40, 3), dtype=dtype)))


def test_a_column_after_a_header_of_less_is_refused(tmp_path: Path) -> None:
    counts = np.column_stack([np.arange(40), VECTORS])
    with pytest.raises(EmbeddingError, match="13 fields after its word where its header promises 12"):
        bb.load_embedding(written(tmp_path, "40 12\n" + lines(numbers=counts)))


def test_words_may_end_in_a_number(tmp_path: Path) -> None:
    words = [*WORDS[:39], "world war 2"]
    assert bb.load_embedding(written(tmp_path, "40 12\n" + lines(words=words))).words[-1] == "world war 2"


def test_a_space_in_a_word_of_binary_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for trial in range(60):
        dimensions, place = int(rng.choice([12, 50])), int(rng.integers(40))
        words = [*WORDS]
        words[place] = f"{'spaced' * (trial % 3 > 0)} {'x' * int(rng.integers(1, 9))}"
        vectors = rng.normal(scale=rng.choice([0.01, 1]), size=(40, dimensions)).astype("<f4")
        end = b"\n" * (trial % 2)
        rows = (word.encode() + b" " + row.tobytes() + end for word, row in zip(words, vectors, strict=True))
        path = written(tmp_path, f"40 {dimensions}\n".encode() + b"".join(rows), "own.bin")
        with pytest.raises(EmbeddingError, match=rf"begins with '{words[place]}'"):
            bb.load_embedding(path)


JUNK = {
    "zero": lines() + "<pad>" + 12 * " 0" + "\n",
    "NaN": lines() + "<pad>" + 12 * " nan" + "\n",
    "twice": lines() + "<pad>" + 12 * " 1" + "\n<pad>" + 12 * " 2" + "\n",
}


@pytest.mark.parametrize("name", JUNK)
def test_junk_is_left_out_by_name(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, JUNK[name])
    with pytest.warns(LostWordsWarning, match=r"left out 1 word .*'<pad>'"):
        assert list(bb.load_embedding(path).words) == WORDS
    assert len(bb.load_embedding(path, words=WORDS)) == 40


def test_words_that_are_not_utf8_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, lines().encode() + b"caf\xe9" + 12 * b" 1" + b"\n")
    with pytest.warns(LostWordsWarning, match=r"Left out a row.*b'caf\\xe9' at line 41 is not UTF-8"):
        assert len(bb.load_embedding(path)) == 40


LISTS = {"X": WORDS[:8], "Y": WORDS[8:16], "A": WORDS[16:24], "B": WORDS[24:32]}


def test_table_and_words_agree_on_a_word_without_a_vector(tmp_path: Path) -> None:
    numbers = VECTORS.copy()
    numbers[3] = 0
    path = written(tmp_path, lines(numbers=numbers))
    with pytest.warns(LostWordsWarning):
        check = bb.check_words(path, LISTS)
    with pytest.warns(LostWordsWarning):
        table = bb.distance_table(path, LISTS)
    assert check.words.loc[check.words["form"] == "", ["word", "left_out"]].values.tolist() == [
        ["w3", "no usable vector"]
    ]
    (lost,) = bb.lost_words(table).to_dict("records")
    assert (lost["word"], lost["reason"]) == ("w3", "its vector at line 4 is zero")


def test_words_of_one_vector_count_once(tmp_path: Path) -> None:
    numbers = VECTORS.copy()
    numbers[1] = numbers[0]
    with pytest.warns(LostWordsWarning, match=r"'w1': its vector is that of 'w0'"):
        table = bb.distance_table((WORDS, numbers), LISTS)
    assert "w1" not in set(table["protected_word"])
    with pytest.warns(LostWordsWarning, match=r"'w1': its vector is that of 'w0'"):
        result = bb.metrics.weat((WORDS, numbers), LISTS, random_seed=1)
    without = {name: [word for word in words if word != "w1"] for name, words in LISTS.items()}
    assert result.effect_size == bb.metrics.weat((WORDS, numbers), without, random_seed=1).effect_size
    assert "w1" in set(bb.distance_table((WORDS, numbers), LISTS, duplicates="keep")["protected_word"])


def test_unknown_words_of_one_vector_are_refused(tmp_path: Path) -> None:
    numbers = VECTORS.copy()
    numbers[[1, 2, 9, 17, 25]] = numbers[0]
    for answer in (bb.distance_table, bb.metrics.weat):
        with pytest.raises(LostWordsError, match=r"3 of the 8 of 'X' \(w0, w1, w2\)"):
            answer((WORDS, numbers), LISTS)


DECORATED = {
    ("/c/en/", ""): {"prefix": "/c/en/"},
    ("ENTITY/", ""): {"prefix": "ENTITY/"},
    ("", "_NOUN"): {"suffix": "_NOUN"},
    ('"', '"'): {"prefix": '"', "suffix": '"'},
}


@pytest.mark.parametrize("around", DECORATED)
def test_decorated_words_are_found_by_options(around: tuple[str, str], tmp_path: Path, monkeypatch, capsys) -> None:
    path = written(tmp_path, lines(words=[f"{around[0]}{word}{around[1]}" for word in WORDS]))
    options = DECORATED[around]
    shown = " ".join(f"{name}={text!r}" for name, text in options.items())
    with pytest.raises(LostWordsError) as caught:
        bb.distance_table(path, LISTS)
    assert f"Look the words up with {shown}." in str(caught.value)
    assert repr(f"{around[0]}w0{around[1]}") in str(caught.value)
    table = bb.distance_table(bb.load_embedding(path, words=WORDS, **options), LISTS)
    assert table.attrs["bayesbias"]["embedding"]["case"] == f"{around[0]}{{exact}}{around[1]}"
    study = written(
        tmp_path, "X,Y,A,B\n" + "".join(",".join(row) + "\n" for row in zip(*LISTS.values(), strict=True)), "own.csv"
    )
    given = [part for name, text in options.items() for part in (f"--{name}", text)]
    assert in_process("weat", path, "--study", study, *given, monkeypatch=monkeypatch) == 0
    assert in_process("weat", path, "--study", study, monkeypatch=monkeypatch) == 2
    error = capsys.readouterr().err
    assert all(f"--{name}" in error for name in options)
    assert "case=(" not in error


def test_plans_and_their_commands_look_words_up_with_a_prefix(tmp_path: Path, monkeypatch, capsys) -> None:
    written(tmp_path, lines(words=[f"/c/en/{word}" for word in WORDS]))
    rows = "".join(",".join(row) + "\n" for row in zip(*LISTS.values(), strict=True))
    written(tmp_path, f"X,Y,A,B\n{rows}", "lists.csv")
    plan = (
        'studies = ["lists.csv"]\nmeasures = ["weat"]\nmodel = "none"\nrope = 0.02\n{}[embeddings]\nOwn = "own.txt"\n'
    )
    written(tmp_path, plan.format(""), "plain.toml")
    written(tmp_path, plan.format('prefix = "/c/en/"\n'), "plan.toml")
    written(tmp_path, plan.format('prefix = "x"\n').replace('model = "none"\n', ""), "other.toml")
    expected = bb.metrics.weat((WORDS, VECTORS), LISTS, random_seed=1).effect_size
    found = bb.audit({"Own": tmp_path / "own.txt"}, tmp_path / "lists.csv", ["weat"], model=None, prefix="/c/en/")
    assert found.loc[found["quantity"] == "effect_size", "observed"].tolist() == [pytest.approx(expected)]
    for given in (["plan.toml"], ["plain.toml", "--prefix", "/c/en/"], ["other.toml", "--prefix", "/c/en/"]):
        assert in_process("audit", tmp_path / given[0], *given[1:], "--json", monkeypatch=monkeypatch) == 0
        answers = json.loads(capsys.readouterr().out)["audit"]
        effect = next(row["observed"] for row in answers if row["quantity"] == "effect_size")
        assert effect == pytest.approx(expected)
    assert in_process("gate", tmp_path / "other.toml", "--prefix", "/c/en/", monkeypatch=monkeypatch) in (0, 3, 4, 6)
    assert in_process("audit", tmp_path / "plain.toml", monkeypatch=monkeypatch) == 5


def test_capitals_are_found_by_case(tmp_path: Path) -> None:
    path = written(tmp_path, lines(words=[word.upper() for word in WORDS]))
    with pytest.raises(LostWordsError, match=r"Look the words up with case='upper'\."):
        bb.distance_table(path, LISTS)
    assert "case='upper'" in str(bb.check_words(path, LISTS))


def test_a_folder_of_an_early_model2vec_is_named(tmp_path: Path) -> None:
    written(tmp_path, '{"model_type": "model2vec", "normalize": true}', "config.json")
    with pytest.raises(EmbeddingError, match=r"model2vec without modules\.json.*save_pretrained"):
        bb.load_embedding(tmp_path, words=WORDS)
