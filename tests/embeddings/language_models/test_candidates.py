"""Log probabilities of candidates, beside sentences that are read one at a time."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayesbias.embeddings.language_models.candidates import (
    causal_candidates,
    continuing_pieces,
    masked_candidates,
    masked_rows,
    prompt_ids,
    unknown_words,
    word_vectors,
)
from bayesbias.embeddings.language_models.language_model import LanguageModel, load_language_model
from bayesbias.embeddings.language_models.prompts import Prompt
from bayesbias.errors import EmbeddingError
from tests.embeddings.language_models.toy_models import save_causal, save_masked

pytestmark = pytest.mark.extras

WORDS = ("he", "she", "hero", "heroine", "cityward")
PROMPTS = [
    Prompt("The nurse said that ", " was tired.", WORDS),
    Prompt("An old engineer met the ", ".", WORDS),
    Prompt("In the city, (", ") left.", WORDS[:2]),
]


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = save_masked(tmp_path_factory.mktemp("toy") / "masked")
    return load_language_model(folder, predicts="masked", device="cpu", batch=64)


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    return load_language_model(save_causal(tmp_path_factory.mktemp("toy") / "causal"), predicts="next", device="cpu")


def log_softmax(model: LanguageModel, ids: list[int]) -> Any:
    import torch

    with torch.no_grad():
        return model.model(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(dim=-1)


def one_masked(model: LanguageModel, prompt: Prompt, word: str) -> float:
    """Return the log probability of a word, from one sentence for each of its pieces."""
    encoded = model.tokenizer(prompt.before + word + prompt.after, return_offsets_mapping=True)
    start, end = len(prompt.before), len(prompt.before) + len(word)
    places = [place for place, (low, high) in enumerate(encoded["offset_mapping"]) if low < end and high > start]
    total = 0.0
    for step, place in enumerate(places):
        ids = list(encoded["input_ids"])
        for later in places[step:]:
            ids[later] = model.tokenizer.mask_token_id
        total += float(log_softmax(model, ids)[place, encoded["input_ids"][place]])
    return total


def test_masked_words_of_any_number_of_pieces_are_those_of_single_sentences(masked: LanguageModel) -> None:
    ids = prompt_ids(masked, PROMPTS)
    assert {len(word) for word in ids[0].words} == {1, 2}
    steps: list[int] = []
    answers = masked_candidates(masked, ids, masked_rows(ids), steps.append)
    for prompt, values in zip(PROMPTS, answers, strict=True):
        np.testing.assert_allclose(values, [one_masked(masked, prompt, word) for word in prompt.words], atol=1e-5)
    assert sum(steps) == len(masked_rows(ids))
    # All candidates of one piece come from one text.
    assert len(masked_rows(prompt_ids(masked, [Prompt("The ", " left.", ("he", "she", "nurse"))]))) == 1


def test_a_causal_model_gives_the_word_and_its_end_after_whole_words(causal: LanguageModel) -> None:
    continuing = continuing_pieces(causal)
    tokenizer = causal.tokenizer
    words = {tokenizer.convert_ids_to_tokens(int(number)) for number in np.flatnonzero(continuing)}
    assert "n" in words
    assert not words & {"\u0120he", ".", ",", "<|endoftext|>"}
    for prompt, values in zip(PROMPTS, causal_candidates(causal, prompt_ids(causal, PROMPTS), "left"), strict=True):
        for word, value in zip(prompt.words, values, strict=True):
            before = tokenizer(prompt.before.rstrip())["input_ids"]
            ids = [tokenizer.bos_token_id, *tokenizer(prompt.before + word)["input_ids"]]
            table = log_softmax(causal, ids)
            expected = sum(float(table[place - 1, ids[place]]) for place in range(len(before) + 1, len(ids)))
            after = 1 - float(table[-1].exp()[continuing].sum())
            # After an opening bracket, the word has no space: there is nothing to condition on.
            spaced = prompt.before.endswith(" ")
            ended = 1 - float(table[len(before)].exp()[continuing].sum()) if spaced else 1.0
            assert value == pytest.approx(expected + np.log(after) - np.log(ended), abs=1e-5)


def test_words_of_a_causal_model_have_probabilities_that_add_up(causal: LanguageModel) -> None:
    """All words of one piece after "the": with their ends, they take less than the whole, and "he" is not "hero"."""
    pieces = causal.tokenizer.convert_ids_to_tokens(list(range(len(causal.tokenizer))))
    words = tuple(piece[1:] for piece in pieces if piece.startswith("\u0120") and piece[1:].isalpha())
    (ids,) = prompt_ids(causal, [Prompt("As a nurse, the ", " left.", words)])
    (values,) = causal_candidates(causal, [ids], "left")
    assert 0 < np.exp(values).sum() < 1
    (plain,) = causal_candidates(causal, [ids], "sentence")
    assert (plain < values).all()


def test_a_whole_sentence_is_the_sum_of_its_pieces(causal: LanguageModel) -> None:
    for prompt, values in zip(PROMPTS, causal_candidates(causal, prompt_ids(causal, PROMPTS), "sentence"), strict=True):
        before = len(causal.tokenizer(prompt.before.rstrip())["input_ids"]) + 1
        for word, value in zip(prompt.words, values, strict=True):
            text = prompt.before + word + prompt.after
            ids = [causal.tokenizer.bos_token_id, *causal.tokenizer(text)["input_ids"]]
            table = log_softmax(causal, ids)
            expected = sum(float(table[place - 1, ids[place]]) for place in range(before, len(ids)))
            assert value == pytest.approx(expected, abs=1e-5)


def test_words_without_known_pieces_are_named(masked: LanguageModel) -> None:
    prompt = Prompt("The ", " left.", ("he", "\u3042"))
    assert unknown_words(masked, prompt) == ["\u3042"]


def test_special_pieces_are_no_words(masked: LanguageModel, causal: LanguageModel) -> None:
    assert unknown_words(masked, Prompt("The ", " left.", ("he", "[MASK]"))) == ["[MASK]"]
    assert unknown_words(causal, Prompt("The ", " left.", ("he", "<|endoftext|>"))) == ["<|endoftext|>"]


def test_ids_without_a_piece_continue_no_word(causal: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = continuing_pieces(causal)
    whole = causal.tokenizer.convert_ids_to_tokens
    kind = type(causal.tokenizer)
    monkeypatch.setattr(
        kind, "convert_ids_to_tokens", lambda _, ids: [None if number == 300 else whole(number) for number in ids]
    )
    monkeypatch.setattr(kind, "all_special_ids", [0, 4_000_000_000])
    continuing = continuing_pieces(replace(causal))
    assert not continuing[300]
    assert np.delete(continuing, 300).tolist() == np.delete(expected, 300).tolist()


def test_a_sentence_that_is_too_long_is_refused(masked: LanguageModel, causal: LanguageModel) -> None:
    prompt = Prompt("the " * 80, " left.", ("he",))
    ids = prompt_ids(masked, [prompt])
    with pytest.raises(EmbeddingError, match="reads at most 64"):
        masked_candidates(masked, ids, masked_rows(ids))
    with pytest.raises(EmbeddingError, match="reads at most 64"):
        causal_candidates(causal, prompt_ids(causal, [prompt]), "left")


def test_a_small_vocabulary_has_no_sample_of_words(masked: LanguageModel) -> None:
    assert word_vectors(masked, ["he", "she"]) is None
