"""A masked language model as a source: against a plain loop, and against a language whose truth is known."""

import itertools
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings.contextual import language_model
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError
from tests.asymmetry.toy_language import WORDS, Language, tiny_bert, trained_bert

TEXTS = [
    "North: bado saw gile.",
    "Gile and bado saw bado and gile.",
    "South: BADO saw GILE and Gile.",
    "East: bado saw nile.",
    "West: gile saw nile, and nile saw gile.",
    "North: the splitter saw bado and kado.",
    "North: the splitter saw bado.",
    "North: nile saw zebra.",
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model with weights that nothing trained, far from 0."""
    folder = tmp_path_factory.mktemp("untrained")
    model, _ = tiny_bert(folder, initializer_range=0.5)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> bb.embeddings.ContextIndex:
    return bb.embeddings.index_contexts(TEXTS, tmp_path_factory.mktemp("index") / "toy.contexts")


def plain_conditional(folder: Path, cue: str, response: str) -> float:
    """Return log P(response given cue) as nested loops over the texts find it, one sentence at a time."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model, tokenizer = AutoModelForMaskedLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    target = tokenizer.convert_tokens_to_ids(response)
    total, cues = 0.0, 0
    for text in TEXTS:
        words = re.findall(r"\w+|[^\w\s]", text.lower())
        cues += words.count(cue)
        if not words.count(cue) or not words.count(response):
            continue
        answers = []
        for place, word in enumerate(words):
            if word == response:
                masked = [*words[:place], "[MASK]", *words[place + 1 :]]
                numbers = tokenizer(" ".join(masked), return_tensors="pt")["input_ids"]
                with torch.no_grad():
                    logits = model(input_ids=numbers).logits[0]
                at = numbers[0].tolist().index(tokenizer.mask_token_id)
                answers.append(torch.softmax(logits[at].double(), dim=-1)[target].item())
        total += words.count(cue) * float(np.mean(answers))
    return float(np.log(total / cues))


@pytest.mark.extras
def test_probabilities_are_those_of_a_plain_loop(bert: Path, index: bb.embeddings.ContextIndex) -> None:
    source = bb.asymmetry.masked_model(bert, index, device="cpu", random_seed=1, progress=False)
    assert isinstance(source, bb.asymmetry.ConditionalSource)
    assert repr(source).startswith(f"MaskedModel(name={bert.name!r}, corpus='paragraphs'")
    pairs = [("bado", "gile"), ("gile", "bado"), ("gile", "nile"), ("nile", "gile")]
    found = source.log_conditionals(*map(list, zip(*pairs, strict=True)))
    expected = [plain_conditional(bert, *pair) for pair in pairs[:2]]
    np.testing.assert_allclose(found["log_probability"][:2], expected, atol=1e-5)
    assert found["contexts"].tolist() == [3, 3, 1, 1]
    assert found["cue_count"].tolist() == [7, 7, 7, 4]
    assert found["left_out"].tolist()[:2] == ["", ""]
    assert "only 1 context of paragraphs" in found["left_out"][2]


@pytest.mark.extras
def test_a_batch_gives_the_numbers_of_one_by_one(bert: Path, index: bb.embeddings.ContextIndex) -> None:
    pairs = (["bado", "gile", "splitter"], ["gile", "bado", "bado"])
    one, many = (
        bb.asymmetry.masked_model(bert, index, batch=batch, random_seed=1, progress=False).log_conditionals(*pairs)
        for batch in (1, 16)
    )
    np.testing.assert_allclose(one["log_probability"], many["log_probability"], atol=5e-5)
    np.testing.assert_allclose(one["sd"], many["sd"], atol=5e-5)


@pytest.mark.extras
def test_what_is_left_out_says_why(bert: Path, index: bb.embeddings.ContextIndex) -> None:
    source = bb.asymmetry.masked_model(bert, index, random_seed=1, progress=False)
    cues = ["bado", "bado", "bado", "kado", "nile", "bado"]
    responses = ["splitter", "zebra", "filk", "nile", "kado", "kado"]
    found = source.log_conditionals(cues, responses)
    name = bert.name
    assert found["left_out"].tolist() == [
        f"{name} splits 'splitter' into split, ##ter",
        f"{name} lacks 'zebra'",
        f"{name} lacks 'filk'",
        "no context of paragraphs holds both words",
        "no context of paragraphs holds both words",
        "only 1 context of paragraphs holds both words: its error is not known",
    ]
    assert found[["log_probability", "sd"]].isna().all(axis=None)
    ratios = bb.asymmetry.lar(source, [("bado", "splitter"), ("bado", "gile")])
    assert (ratios["left_out"] != "").tolist() == [True, False]


@pytest.mark.extras
def test_contexts_that_are_too_long_for_the_model_are_left_out(bert: Path, tmp_path: Path) -> None:
    long = f"Bado saw {'a ' * 80} gile."
    index = bb.embeddings.index_contexts([*TEXTS, long], tmp_path / "long.contexts")
    source = bb.asymmetry.masked_model(bert, index, random_seed=1, progress=False)
    (row,) = source.log_conditionals(["bado"], ["gile"]).itertuples()
    assert (row.contexts, row.asked) == (4, 3)
    only = bb.embeddings.index_contexts([long, long], tmp_path / "only.contexts")
    found = bb.asymmetry.masked_model(bert, only, random_seed=1).log_conditionals(["bado"], ["gile"])
    assert found["left_out"][0].startswith("fewer than 2 contexts in which")


@pytest.mark.extras
def test_a_sample_of_contexts_is_the_same_in_both_directions_and_of_the_seed(bert: Path, tmp_path: Path) -> None:
    language = Language.made(2)
    texts = language.sentences(600, np.random.default_rng(4))
    index = bb.embeddings.index_contexts(texts, tmp_path / "many.contexts")

    def asked(seed: int) -> tuple[list[int], list[int]]:
        source = bb.asymmetry.masked_model(bert, index, most=5, random_seed=seed, progress=False)
        bb.asymmetry.lar(source, pairs)
        return tuple(source._means[each][1].tolist() for each in (pairs[0], pairs[0][::-1]))  # type: ignore[return-value]

    counts = index.pairs(list(itertools.combinations(WORDS, 2)))
    pairs = [tuple(counts.loc[counts["contexts"].idxmax(), ["cue", "response"]])]
    first = asked(1)
    assert first[0] == first[1]
    assert len(first[0]) == 5
    assert first == asked(1)
    assert first != asked(2)


@pytest.mark.extras
@pytest.mark.slow
def test_a_batch_is_faster_than_one_by_one(bert: Path, tmp_path: Path) -> None:
    index = bb.embeddings.index_contexts(
        Language.made(2).sentences(600, np.random.default_rng(4)), tmp_path / "many.contexts"
    )
    pairs = list(itertools.permutations(WORDS, 2))
    times: dict[int, float] = {}
    for batch in (64, 1):
        source = bb.asymmetry.masked_model(bert, index, batch=batch, random_seed=1, progress=False)
        start = time.process_time()
        source.log_conditionals(*map(list, zip(*pairs, strict=True)))
        times[batch] = time.process_time() - start
    assert times[1] > 5 * times[64]


@pytest.mark.extras
@pytest.mark.slow
def test_ratios_of_a_language_are_recovered(tmp_path: Path) -> None:
    """Trained for some ten seconds on a language whose conditional probabilities are known."""
    language = Language.made(1)
    folder = trained_bert(tmp_path / "bert", language, steps=800)
    index = bb.embeddings.index_contexts(language.sentences(3_000, np.random.default_rng(6)), tmp_path / "toy.contexts")
    source = bb.asymmetry.masked_model(folder, index, random_seed=1, progress=False)
    places = list(itertools.combinations(range(len(WORDS)), 2))
    found = bb.asymmetry.lar(source, [(WORDS[a], WORDS[b]) for a, b in places])
    found["truth"] = [language.log_conditional(a, b) - language.log_conditional(b, a) for a, b in places]
    found = found[found["left_out"] == ""]
    assert len(found) > 90
    clear = found[found["truth"].abs() > 0.5]
    assert (np.sign(clear["lar"]) == np.sign(clear["truth"])).mean() >= 0.95
    # Intervals of 89 % heed the contexts, not that a model which was trained so shortly is a little off.
    inside = found["truth"].between(found["hdi_low"], found["hdi_high"])
    assert inside.mean() > 0.75


def test_without_torch_an_error_names_the_extra(
    index: bb.embeddings.ContextIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(language_model, "find_spec", lambda name: None)
    with pytest.raises(EmbeddingError, match=r"bayesbias\[contextual\]"):
        bb.asymmetry.masked_model(tmp_path, index)


def test_arguments_are_checked_before_a_model_is_loaded(index: bb.embeddings.ContextIndex, tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"holds no config\.json"):
        bb.asymmetry.masked_model(tmp_path, index)
    with pytest.raises(ArgumentError, match="most=1"):
        bb.asymmetry.masked_model(tmp_path, index, most=1)
    with pytest.raises(ArgumentError, match="random_seed="):
        bb.asymmetry.masked_model(tmp_path, index, random_seed=-1)
    (tmp_path / "other.contexts").write_bytes(b"text")
    with pytest.raises(InputFileError, match="no index of contexts"):
        bb.asymmetry.masked_model(tmp_path, tmp_path / "other.contexts")


@pytest.mark.extras
def test_folders_that_are_no_masked_model_are_errors(
    bert: Path, index: bb.embeddings.ContextIndex, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, headless = AutoTokenizer.from_pretrained(bert), tmp_path / "headless"
    AutoModel.from_pretrained(bert).save_pretrained(headless)
    tokenizer.save_pretrained(headless)
    with pytest.raises(EmbeddingError, match="has no masked head"):
        bb.asymmetry.masked_model(headless, index)
    wrong: dict[str, Any] = {"config.json": b"{}", "model.safetensors": b"text", "tokenizer.json": b"[]"}
    for name, content in wrong.items():
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        for path in bert.iterdir():
            (folder / path.name).write_bytes(content if path.name == name else path.read_bytes())
        with pytest.raises(EmbeddingError, match="cannot be loaded as a model that predicts masked words"):
            bb.asymmetry.masked_model(folder, index)
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    for path in bert.iterdir():
        if path.suffix != ".safetensors":
            (pickled / path.name).write_bytes(path.read_bytes())
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(EmbeddingError, match=r"must be \.safetensors files"):
        bb.asymmetry.masked_model(pickled, index)
    with pytest.raises(ArgumentError, match="device='no such'"):
        bb.asymmetry.masked_model(bert, index, device="no such")
