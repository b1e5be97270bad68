"""`encode`: what it asks of an encoder, what it makes of the vectors, and what it does when calls fail."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.encoders.folders import FolderEncoder
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.errors import ArgumentError, EmbeddingError, LostWordsError, LostWordsWarning, NotEnoughMemoryError

WORDS = ["king", "queen", "duke"]


def vector(text):
    """A vector that depends on the text alone."""
    rng = np.random.default_rng(list(text.encode()))
    return rng.standard_normal(4)


class Recorder:
    """An encoder that remembers its calls, and fails at those that are listed."""

    def __init__(self, failing=()):
        self.calls, self.failing = [], set(failing)

    def __call__(self, texts):
        self.calls.append(list(texts))
        if len(self.calls) in self.failing:
            raise ConnectionError("no answer")
        return np.stack([vector(text) for text in texts])

    @property
    def texts(self):
        return [text for call in self.calls for text in call]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)


def test_a_function_has_its_own_precision():
    with pytest.raises(ArgumentError, match="precision"):
        bb.encode(Recorder(), WORDS, name="toy", precision="float32")


def test_words_alone_have_the_vectors_of_the_encoder():
    embedding = bb.encode(Recorder(), WORDS, name="toy")
    assert type(embedding) is bb.Embedding
    assert embedding.name == "toy"
    np.testing.assert_array_equal(embedding.matrix(WORDS), np.stack([vector(word) for word in WORDS]))


def test_a_vector_is_the_mean_over_templates_and_its_error_that_of_a_mean():
    templates = ["The WORD.", "A WORD is here.", "WORD", "Here is WORD."]
    embedding = bb.encode(Recorder(), WORDS, templates, name="toy")
    assert isinstance(embedding, ContextualEmbedding)
    assert embedding.paired
    vectors = np.stack([vector(text.replace("WORD", "king")) for text in templates])
    np.testing.assert_allclose(embedding["king"], vectors.mean(axis=0), rtol=1e-6)
    variances = (embedding.deviations[0].astype(float) ** 2).sum(axis=0)
    np.testing.assert_allclose(variances, vectors.var(axis=0, ddof=1) / 4, rtol=1e-5)


def test_words_with_their_own_sentences_are_not_paired():
    templates = {
        "king": ["The WORD.", "A WORD."],
        "queen": ["She is WORD.", "WORD sleeps."],
        "duke": ["O WORD.", "WORD"],
    }
    assert not bb.encode(Recorder(), WORDS, templates, name="toy").paired


def test_templates_of_parts_of_speech_are_shared_by_the_words_that_have_them():
    nouns, verbs = ["A WORD.", "The WORD."], ["They WORD.", "I WORD.", "We WORD."]
    templates = {"king": nouns, "queen": nouns, "rule": verbs, "reign": verbs}
    embedding = bb.encode(Recorder(), list(templates), templates, name="toy")
    assert embedding.paired
    used = (embedding.deviations != 0).any(axis=2)
    assert used.sum(axis=1).tolist() == [2, 2, 3, 3]
    assert not (used[0] & used[2]).any()
    for row, (word, sentences) in enumerate(templates.items()):
        vectors = np.stack([vector(text.replace("WORD", word)) for text in sentences])
        variances = (embedding.deviations[row].astype(float) ** 2).sum(axis=0)
        np.testing.assert_allclose(variances, vectors.var(axis=0, ddof=1) / len(sentences), rtol=1e-5)


def test_a_text_is_encoded_once(tmp_path):
    encoder = Recorder()
    templates = {
        "king": ["WORD", "A king and WORD."],
        "queen": ["WORD", "king"[:0] + "WORD!"],
        "duke": ["WORD", "My WORD"],
    }
    for _ in range(2):
        bb.encode(encoder, [*WORDS, "king"], templates, cache=tmp_path / "c.sqlite", name="toy", batch=2)
    # Beside the first time, texts are encoded only to compare: of the first batch, at the end, and from the cache.
    assert list(map(len, encoder.calls)) == [2, 2, 2, 2, 6, 6]
    assert len(set(encoder.texts)) == 6


def test_the_cache_gives_the_same_vectors(tmp_path):
    settings = {"cache": tmp_path / "c.sqlite", "name": "toy"}
    first, again = (bb.encode(Recorder(), WORDS, "any", **settings) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    np.testing.assert_array_equal(first.deviations, again.deviations)


def test_an_interrupted_run_continues(tmp_path):
    settings = {"cache": tmp_path / "c.sqlite", "name": "toy", "batch": 1, "attempts": 2}
    with pytest.raises(EmbeddingError, match="texts 2 to 2 in 2 attempts: ConnectionError"):
        bb.encode(Recorder(failing={3, 4}), WORDS, **settings)
    encoder = Recorder()
    bb.encode(encoder, WORDS, **settings)
    assert encoder.calls == [
        ["queen"],
        ["king"],
        ["duke"],
        ["king", "duke"],
    ]  # the cached one again, two new, and again


@pytest.mark.parametrize(("batch", "advice"), [(8, "batch=2"), (4, "shorter texts")])
def test_an_encoder_without_memory_is_not_asked_again(batch, advice):
    class OutOfMemoryError(RuntimeError):
        """As PyTorch raises it for a GPU."""

    calls = []

    def encoder(texts):
        calls.append(texts)
        raise OutOfMemoryError("CUDA out of memory")

    with pytest.raises(NotEnoughMemoryError, match=f"{batch} texts at once. Give .*{advice}"):
        bb.encode(encoder, [f"word{number}" for number in range(9)], batch=batch, attempts=3)
    assert len(calls) == 1


KILLED = """
import os, sys
import bayesbias as bb
calls = []
def encoder(texts):
    calls.append(texts)
    if len(calls) == 4:
        os._exit(9)
    return [[len(text), ord(text[0])] for text in texts]
bb.encode(encoder, list("abcdefghij"), cache=sys.argv[1], name="toy", batch=2, progress=False)
"""


@pytest.mark.slow
def test_a_killed_run_keeps_every_batch_before(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "c.sqlite")]
    assert subprocess.run(command, check=False, timeout=120).returncode == 9
    calls = []

    def encoder(texts):
        calls.extend(texts)
        return [[len(text), ord(text[0])] for text in texts]

    embedding = bb.encode(encoder, list("abcdefghij"), cache=tmp_path / "c.sqlite", name="toy", batch=2)
    assert calls[:4] == list("abcd"), "those of the cache, to compare"
    assert set(calls[4:]) == set("efghij")
    np.testing.assert_array_equal(embedding.vectors[:, 1], [ord(letter) for letter in "abcdefghij"])


def test_a_failing_batch_is_tried_again():
    encoder = Recorder(failing={1, 2})
    embedding = bb.encode(encoder, WORDS, name="toy")
    assert len(encoder.calls) == 4  # and one to compare
    np.testing.assert_array_equal(embedding["king"], vector("king"))


@pytest.mark.parametrize(
    ("returned", "fact"),
    [
        (np.ones((2, 4)), "2 vectors for 3"),
        (np.full((3, 4), np.nan), "NaN"),
        (np.ones(3), r"\(3,\)"),
        ([[1.0], [1.0, 2.0], [3.0]], "numbers"),
        (["a", "b", "c"], "<U1"),
    ],
)
def test_wrong_answers_of_an_encoder_are_refused(returned, fact):
    with pytest.raises(EmbeddingError, match=fact):
        bb.encode(lambda texts: returned, WORDS, name="toy")


def test_an_encoder_whose_dimensions_change_is_refused(tmp_path):
    bb.encode(Recorder(), ["king"], cache=tmp_path / "c.sqlite", name="toy")
    with pytest.raises(EmbeddingError, match="2 and 4 dimensions"):
        bb.encode(lambda texts: np.ones((len(texts), 2)), WORDS, cache=tmp_path / "c.sqlite", name="toy")


def test_zero_vectors_are_lost_words():
    with pytest.warns(LostWordsWarning, match="'queen'"):
        embedding = bb.encode(lambda texts: [[ord(text[0]) * (text != "queen")] for text in texts], WORDS, name="toy")
    assert embedding.words == ("king", "duke")
    with pytest.raises(LostWordsError, match="toy"):
        bb.encode(lambda texts: np.zeros((len(texts), 2)), WORDS, name="toy")


@pytest.mark.parametrize(
    ("words", "unknown", "refused"),
    [
        (["king", "queen"], {"king", "queen"}, True),
        (["king", "queen", "duke", "earl", "lady"], {"king", "queen", "duke"}, True),
        (["king", "queen", "duke", "earl"], {"king", "queen"}, False),  # an encoder may not know some words
        (["Müller", "müller", "Muller"], {"Müller", "müller", "Muller"}, False),  # it ignores case and accents
        (["king"], {"king"}, False),
    ],
)
@pytest.mark.parametrize("templates", [None, ["A WORD.", "The WORD."]])
def test_an_encoder_that_gives_most_words_the_same_vector_is_refused(words, unknown, refused, templates):
    def encoder(texts):
        known = [next((word for word in words if word in text and word not in unknown), "unknown") for text in texts]
        return np.stack([vector(f"{word} {len(text.split())}") for word, text in zip(known, texts, strict=True)])

    if refused:
        with pytest.raises(EmbeddingError, match=f"{len(unknown)} of {len(words)} words: 'king', 'queen'"):
            bb.encode(encoder, words, templates, name="toy")
    else:
        assert bb.encode(encoder, words, templates, name="toy").words == tuple(words)


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"encoder": 3}, "encoder=3"),
        ({"cache": "c.sqlite", "name": None}, "name"),
        ({"batch": 0}, "batch"),
        ({"attempts": 0}, "attempts"),
        ({"words": "weat7"}, "words"),
    ],
)
def test_wrong_arguments_are_refused(change, fact):
    settings = {"encoder": Recorder(), "words": WORDS, "name": "toy"} | change
    with pytest.raises((ArgumentError, EmbeddingError), match=fact):
        bb.encode(settings.pop("encoder"), settings.pop("words"), **settings)


def test_a_study_gives_its_words():
    study = bb.Study(
        name="pets", protected={"cats": ["cat"], "dogs": ["dog"]}, attributes={"quiet": ["purr"], "loud": ["bark"]},
        associated=[("cats", "quiet"), ("dogs", "loud")], human="none", neutral="none",
    )  # fmt: skip
    assert set(bb.encode(Recorder(), study, name="toy").words) == {"cat", "dog", "purr", "bark"}


def test_numbers_of_two_bytes_and_frames_are_taken():
    import pandas as pd

    for convert in (np.float16, pd.DataFrame):
        embedding = bb.encode(lambda texts, convert=convert: convert(np.stack([vector(text) for text in texts])), WORDS)
        np.testing.assert_allclose(embedding["queen"], vector("queen"), rtol=1e-3)


class _Tokenizer:
    """One of transformers, which knows words of ASCII."""

    unk_token_id = 7

    def __call__(self, texts, add_special_tokens):
        assert not add_special_tokens
        return {"input_ids": [[1, 7] if not text.isascii() else [1] for text in texts]}


class _Static:
    """One of the package tokenizers, as static encoders have."""

    model = SimpleNamespace(unk_token="[UNK]")

    def token_to_id(self, piece):
        return {"[UNK]": 7}[piece]

    def encode_batch(self, texts, add_special_tokens):
        return [SimpleNamespace(ids=[1, 7] if not text.isascii() else [1]) for text in texts]


def encoder_of_a_folder(tokenizer, folder, monkeypatch):
    """Make the encoder of a folder one with a tokenizer, which gives any vector to any text."""

    class Folder(FolderEncoder):
        def load(self):
            return SimpleNamespace(tokenizer=tokenizer)

        def __call__(self, texts):
            return np.stack([4 + vector(text) for text in texts])  # sentences of a word have something in common

    encoder = Folder("toy", "1", "sentence-transformers", folder, {})
    monkeypatch.setattr("bayesbias.embeddings.encoders.encoding.folder_encoder", lambda *_: encoder)


@pytest.mark.parametrize("tokenizer", [_Tokenizer(), _Static()])
@pytest.mark.parametrize("templates", [None, ["WORD", "A WORD.", "No WORD."]])
def test_words_that_a_tokenizer_does_not_know_are_named(tokenizer, templates, tmp_path, monkeypatch):
    """In the run that encodes them and in one from the cache alone; whatever vector the encoder gives them."""
    encoder_of_a_folder(tokenizer, tmp_path, monkeypatch)
    words = ["king", "\u738b", "queen", "lady", "duke", "earl", "lord", "dame"]
    lists = {name: words[2 * place : 2 * place + 2] for place, name in enumerate("XYAB")}
    for _ in range(2):
        with pytest.warns(LostWordsWarning, match="toy does not know '\u738b': left out"):
            embedding = bb.encode(tmp_path, words, templates, cache=tmp_path / "kept.sqlite", progress=False)
        assert embedding.words == ("king", *words[2:])
        assert embedding.left_out == (("\u738b", "toy does not know it"),)
        with pytest.warns(LostWordsWarning):
            table = bb.distance_table(embedding, lists, max_lost=0.5)
        assert bb.lost_words(table)["reason"].tolist() == ["toy does not know it"]


def test_a_reference_word_that_a_tokenizer_does_not_know_has_no_vector_in_the_cache_either(tmp_path, monkeypatch):
    encoder_of_a_folder(_Tokenizer(), tmp_path, monkeypatch)
    settings = {"cache": tmp_path / "kept.sqlite", "progress": False}
    reference = [*(f"word{number}" for number in range(1000)), "\u738b"]
    embedding = bb.encode(tmp_path, ["king", "queen"], reference=reference, **settings)
    assert len(embedding.reference) == 1000
    with pytest.warns(LostWordsWarning, match="toy does not know '\u738b': left out"):
        bb.encode(tmp_path, ["king", "\u738b"], **settings)
    with pytest.raises(ArgumentError, match="reference has 999 words with a vector"):
        bb.encode(tmp_path, ["king"], reference=reference[1:], **settings)
