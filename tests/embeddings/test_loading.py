"""`load_embedding`: every format comes back as it was written, recognised by its content."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import READERS, load_embedding, recognise
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, LostWordsError
from tests.embeddings.files import FILES, VECTORS, WORDS, write_glove, write_google_binary
from tests.refusals import refusals


@pytest.fixture(params=FILES)
def written(request, tmp_path):
    write, form = FILES[request.param]
    path = tmp_path / "small.txt"
    write(path)
    return path, form


def test_a_whole_file_comes_back(written):
    path, form = written
    assert recognise(path) == form
    embedding = load_embedding(path)
    assert embedding.words == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)
    assert embedding.vectors.dtype == np.float32
    assert embedding.name == "small"


def test_only_the_words_wanted_come_back(written):
    path, form = written
    embedding = load_embedding(str(path), words=["man", "child", "Queen"], format=form, name="few")
    assert embedding.words == ("Queen", "man")
    np.testing.assert_array_equal(embedding.vectors, VECTORS[[2, 4]])
    assert embedding.name == "few"


def test_no_word_found_says_so(written):
    with pytest.raises(LostWordsError, match=r"small\.txt .*\('KING', 'child'\).*'exact'"):
        load_embedding(written[0], words=["child", "KING"])


def test_case_rule_decides_what_is_kept(written):
    path, _ = written
    assert load_embedding(path, words=["KING", "Queen"], case="lower").words == ("king",)
    both = load_embedding(path, words=["KING", "Queen"], case=("exact", "lower"))
    assert both.words == ("king", "Queen")
    assert both.lookup(["KING", "Queen"]).matches == {"KING": "king", "Queen": "Queen"}


def test_fasttext_vec_is_another_name_for_text_with_a_header(tmp_path):
    FILES["fasttext vec"][0](tmp_path / "x.vec")
    assert load_embedding(tmp_path / "x.vec", format="fasttext_vec").words == WORDS


def test_content_decides_not_the_name(tmp_path):
    write_glove(tmp_path / "misnamed.bin.gz")
    assert load_embedding(tmp_path / "misnamed.bin.gz").words == WORDS
    assert load_embedding(tmp_path / "misnamed.bin.gz").name == "misnamed"


def test_a_name_keeps_what_is_no_suffix(tmp_path):
    write_glove(tmp_path / "glove.6B.50d.txt")
    assert load_embedding(tmp_path / "glove.6B.50d.txt").name == "glove.6B.50d"


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize(
    "content", [b"", gzip.compress(b"", mtime=0), b"\x1f\x8b", b"\x1f", b"\n", b"\0" * 100, b"\xff" * 100]
)
def test_nothing_useful_inside(tmp_path, form, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    for given in (form, "auto"):
        with pytest.raises((InputFileError, EmbeddingError), match=str(path)):
            load_embedding(path, format=given, allow_pickle=True)


def test_empty_files_are_told_about(tmp_path):
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(InputFileError, match="empty"):
        load_embedding(tmp_path / "x")
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"", mtime=0))
    with pytest.raises(InputFileError, match=r"x\.gz .* empty"):
        load_embedding(tmp_path / "x.gz")


test_refusals = refusals(
    (lambda tmp_path: load_embedding(tmp_path), InputFileError, "folder"),
    (lambda: load_embedding("/dev/zero"), InputFileError, "ordinary"),
    (lambda: load_embedding("a\0b"), InputFileError, "file"),
    (lambda: load_embedding("a" * 5000), InputFileError, r"too long|file"),
    (lambda tmp_path: load_embedding(tmp_path / "x", format="glov"), ArgumentError, r"'glov' .*'glove'"),
    (lambda tmp_path: load_embedding(tmp_path / "x", case="uper"), ArgumentError, r"case='uper'.*'upper'"),
)


def test_a_missing_file_hints_at_its_neighbours(tmp_path):
    (tmp_path / "glove.txt").write_text("a 1\n")
    with pytest.raises(InputFileError, match=r"glov\.txt .*'glove\.txt'"):
        load_embedding(tmp_path / "glov.txt")
    with pytest.raises(InputFileError, match="file"):
        load_embedding(tmp_path / "no" / "where.txt")


def test_unknown_content_lists_the_formats(tmp_path):
    (tmp_path / "x").write_bytes(b"<<body>>Not found")
    with pytest.raises(InputFileError, match=r"b'<<body>>.* word2vec_binary"):
        load_embedding(tmp_path / "x")


@pytest.mark.parametrize(("words", "message"), [("king", "'king'"), ([], "empty"), ([1], "text")])
def test_words_must_be_a_list_of_texts(words, message):
    with pytest.raises(EmbeddingError, match=message):
        load_embedding({"king": [1.0]}, words=words)


def test_damaged_gzip_data_are_told_about(tmp_path):
    write_google_binary(tmp_path / "x")
    whole = gzip.compress((tmp_path / "x").read_bytes(), mtime=0)
    for damaged in (whole[:-1], whole[:-6], whole[:20], whole + b"more", whole[:-5] + b"\0" + whole[-4:]):
        (tmp_path / "x").write_bytes(damaged)
        with pytest.raises(InputFileError, match="damaged"):
            load_embedding(tmp_path / "x", words=["king"])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("row", "fault"), [([0, 0, 0, 0], "is zero"), ([np.nan, 0, 0, 1], "NaN"), ([1, np.inf, 0, 0], "infinity")]
)
def test_faults_of_vectors_name_word_and_place(tmp_path, monkeypatch, name, row, fault):
    vectors = VECTORS.copy()
    vectors[2] = row
    monkeypatch.setattr("tests.embeddings.files.VECTORS", vectors)
    FILES[name][0](tmp_path / "x")
    with pytest.raises(EmbeddingError, match=rf"'Queen' at (line|byte|row) \d+ .*{fault}.*words="):
        load_embedding(tmp_path / "x")
    assert load_embedding(tmp_path / "x", words=["king", "man"]).words == ("king", "man")


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_room_is_light():
    heavy = "{'gensim', 'pandas', 'scipy', 'pymc', 'matplotlib'}"
    assert run(f"import sys, bayesbias.embeddings; print(sorted({heavy} & set(sys.modules)))") == "[]\n"


def test_reading_ordinary_files_never_imports_gensim(tmp_path):
    write_google_binary(tmp_path / "x.bin")
    load = f"from bayesbias.embeddings.loading import load_embedding as load; load({str(tmp_path / 'x.bin')!r})"
    assert run(f"import sys; {load}; print('gensim' in sys.modules)") == "False\n"


@pytest.mark.shared
def test_real_files(shared):
    folder = shared / "data" / "embeddings"
    glove = load_embedding(folder / "glove_6b_50d_10382.txt", words=["King", "queen"], case=("exact", "lower"))
    assert glove.words == ("king", "queen")
    lines = (folder / "glove_6b_50d_10382.txt").read_text(encoding="utf-8").split("\n")
    king = next(line for line in lines if line.startswith("king "))
    np.testing.assert_array_equal(glove["king"], np.array(king.split(" ")[1:], dtype=np.float32))
    assert len(load_embedding(folder / "glove_6b_50d_10382.txt")) == 10_382

    path = folder / "googlenews_word2vec_300d_13784.npz"
    google = load_embedding(path, words=["king", "queen", "man", "woman"])
    assert isinstance(google, Embedding)
    with np.load(path) as arrays:
        whole = dict(zip(arrays["words"].tolist(), arrays["vectors"], strict=True))
    for word in google.words:
        np.testing.assert_array_equal(google[word], whole[word])
    assert load_embedding(path).vectors.shape == (13_784, 300)


def test_words_are_found_in_either_normal_form(tmp_path: Path) -> None:
    composed, decomposed = "m\u00e4nner", "ma\u0308nner"
    vietnamese = "ti\u1ebfng", "tie\u0302\u0301ng", "ti\u00ea\u0301ng"  # the last is composed in part
    for stored, wanted in (
        (composed, decomposed),
        (decomposed, composed),
        *((v, w) for v in vietnamese for w in vietnamese),
    ):
        path = tmp_path / "vectors.txt"
        path.write_text(f"frau 1.0 0.0\n{stored} 0.6 0.8\n", encoding="utf-8")
        for embedding in (
            bb.load_embedding(path), bb.load_embedding(path, words=[wanted]), bb.load_embedding({stored: [0.6, 0.8]})
        ):  # fmt: skip
            assert embedding.lookup([wanted]).matches == {wanted: stored}
            assert embedding[wanted].tolist() == pytest.approx([0.6, 0.8])
    both = bb.load_embedding({composed: [1.0, 0.0], decomposed: [0.0, 1.0]})
    assert (both[composed].tolist(), both[decomposed].tolist()) == ([1, 0], [0, 1])
