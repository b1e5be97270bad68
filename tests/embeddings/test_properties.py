"""Whatever bytes a file holds, a reader gives a sound embedding or an error of ours."""

import io
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import READERS, load_embedding
from bayesbias.errors import BayesBiasError, EmbeddingError, InputFileError
from tests.embeddings.files import FILES, WORDS, write_fasttext_bin

# A changed pickle could do anything at all once it is loaded, so pickles are only cut (test_gensim_files).
FORMATS = ["auto", *(form for form in READERS if form != "gensim")]
SAMPLES = FILES | {"fasttext bin": (write_fasttext_bin, "fasttext_bin")}

few = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@cache
def sample(name: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        SAMPLES[name][0](path)
        return path.read_bytes()


def attempt(path, content: bytes, **options) -> Embedding | None:
    """Load bytes as a file; return the embedding if it is sound, None if an error of ours was raised."""
    path.write_bytes(content)
    try:
        embedding = load_embedding(path, **options)
    except (EmbeddingError, InputFileError) as error:
        return _say(error, path)
    norms = np.linalg.norm(embedding.vectors.astype(np.float64), axis=1)
    assert np.isfinite(norms).all()
    assert (norms > 0).all()
    assert len(set(embedding.words)) == len(embedding)
    return embedding


def _say(error: BayesBiasError, path) -> None:
    """Check that an error tells which file it is about."""
    assert str(path) in str(error)


wanted = st.sampled_from([None, ["king"], list(WORDS)])


@pytest.mark.parametrize("form", FORMATS)
@few
@given(content=st.binary(max_size=300), words=wanted)
def test_random_bytes(tmp_path, form, content, words):
    attempt(tmp_path / "x", content, format=form, words=words)


@pytest.mark.parametrize("form", ["auto", "word2vec_text", "word2vec_binary", "glove"])
@few
@given(
    words=wanted,
    content=st.lists(st.sampled_from([b" ", b"\n", b"\r\n", b"1", b"2", b"-0.5", b"nan", b"king", b"\xff", b"\0"])).map(
        b"".join
    ),
    header=st.sampled_from([b"", b"1 1\n", b"2 2\n", b"3 1\r\n"]),
)
def test_random_pieces_of_text(tmp_path, form, header, content, words):
    attempt(tmp_path / "x", header + content, format=form, words=words)


@pytest.mark.parametrize("name", SAMPLES)
@few
@given(data=st.data())
def test_random_damage(tmp_path, name, data):
    content = bytearray(sample(name))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        length = data.draw(st.integers(0, 4))
        content[at : at + length] = data.draw(st.binary(max_size=4))
    form = data.draw(st.sampled_from(["auto", SAMPLES[name][1]]))
    attempt(tmp_path / "x", bytes(content), format=form, words=data.draw(wanted))


@pytest.mark.parametrize("name", SAMPLES)
@few
@given(data=st.data())
def test_random_cuts(tmp_path, name, data):
    whole = sample(name)
    part = whole[: data.draw(st.integers(0, len(whole) - 1))]
    embedding = attempt(tmp_path / "x", part)
    if embedding is not None:
        assert name == "glove"
        assert embedding.words == WORDS[: len(embedding)]
        assert part.endswith(b"\n")


@few
@given(data=st.data(), member=st.sampled_from(["words.npy", "vectors.npy"]))
def test_random_damage_inside_an_archive_whose_checksums_are_right(tmp_path, data, member):
    with zipfile.ZipFile(io.BytesIO(sample("npz"))) as archive:
        members = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(members[member]) - 1))
        members[member][at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, bytes(content))
    attempt(tmp_path / "x", changed.getvalue(), words=data.draw(wanted))


@few
@example(["\t0"], 1, 0, "word2vec_text")
@example(["cat\t-1e3", "dog"], 2, 0, "glove")
@example(["\t0", "a\tb"], 1, 0, "word2vec_binary")
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters=" \r\n\0"), min_size=1), min_size=1, unique=True),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["word2vec_text", "word2vec_binary", "glove"]),
)
def test_any_words_come_back(tmp_path, words, dimensions, seed, form):
    vectors = np.random.default_rng(seed).standard_normal((len(words), dimensions), dtype=np.float32)
    header = b"" if form == "glove" else f"{len(words)} {dimensions}\n".encode()
    if form == "word2vec_binary":
        rows = [word.encode() + b" " + vector.tobytes() for word, vector in zip(words, vectors, strict=True)]
    else:
        rows = [
            f"{word} {' '.join(map(repr, vector.tolist()))}\n".encode()
            for word, vector in zip(words, vectors, strict=True)
        ]
    (tmp_path / "x").write_bytes(header + b"".join(rows))
    if form != "word2vec_binary" and any(_ends_in_a_tab_and_a_number(word) for word in words):
        with pytest.raises(EmbeddingError, match="tab"):
            load_embedding(tmp_path / "x", format=form)
        return
    embedding = load_embedding(tmp_path / "x", format=form)
    assert embedding.words == tuple(words)
    np.testing.assert_array_equal(embedding.vectors, vectors)


def _ends_in_a_tab_and_a_number(word: str) -> bool:
    """Whether a row of text with this word may as well be one whose columns are separated by tabs."""
    _, tab, end = word.rpartition("\t")
    try:
        float(end)
    except ValueError:
        return False
    return bool(tab) and "_" not in end


def test_errors_of_ours_have_one_base():
    assert issubclass(EmbeddingError, BayesBiasError)
    assert issubclass(InputFileError, BayesBiasError)
