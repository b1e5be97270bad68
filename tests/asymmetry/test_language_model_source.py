"""A masked language model as a source: against a plain loop, and against a language whose truth is known."""

import itertools
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.asymmetry.language_model_source import ResponseMean, ratio_sd, response_mean, student_summary
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError
from tests.asymmetry.toy_language import WORDS, Language, trained_bert

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
                place = numbers[0].tolist().index(tokenizer.mask_token_id)
                answers.append(torch.softmax(logits[place].double(), dim=-1)[target].item())
        total += words.count(cue) * float(np.mean(answers))
    return float(np.log(total / cues))


@pytest.mark.extras
def test_probabilities_are_those_of_a_plain_loop(bert: Path, index: bb.embeddings.ContextIndex) -> None:
    source = bb.asymmetry.masked_model(bert, index, device="cpu", random_seed=1, progress=False)
    assert isinstance(source, bb.asymmetry.ConditionalSource)
    assert repr(source).startswith(f"MaskedModel(name={bert.name!r}, corpus='paragraphs'")
    pairs = [("bado", "gile"), ("gile", "bado"), ("gile", "nile"), ("nile", "gile")]
    frame = source.log_conditionals(*map(list, zip(*pairs, strict=True)))
    expected = [plain_conditional(bert, *pair) for pair in pairs[:2]]
    np.testing.assert_allclose(frame["log_probability"][:2], expected, atol=1e-5)
    assert frame["contexts"].tolist() == [3, 3, 1, 1]
    assert frame["cue_count"].tolist() == [7, 7, 7, 4]
    assert frame["left_out"].tolist()[:2] == ["", ""]
    assert "only 1 context of paragraphs" in frame["left_out"][2]


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
    frame = source.log_conditionals(cues, responses)
    name = bert.name
    assert frame["left_out"].tolist() == [
        f"{name} splits 'splitter' into split, ##ter",
        f"{name} lacks 'zebra'",
        f"{name} lacks 'filk'",
        "no context of paragraphs holds both words",
        "no context of paragraphs holds both words",
        "only 1 context of paragraphs holds both words: too few for a standard error",
    ]
    assert frame[["log_probability", "sd"]].isna().all(axis=None)
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
    frame = bb.asymmetry.masked_model(bert, only, random_seed=1).log_conditionals(["bado"], ["gile"])
    assert frame["left_out"][0].startswith("fewer than 2 contexts in which")


@pytest.mark.extras
def test_a_sample_of_contexts_is_the_same_in_both_directions_and_of_the_seed(bert: Path, tmp_path: Path) -> None:
    language = Language.made(2)
    texts = language.sentences(600, np.random.default_rng(4))
    index = bb.embeddings.index_contexts(texts, tmp_path / "many.contexts")

    def sampled_contexts(seed: int) -> tuple[list[int], list[int]]:
        source = bb.asymmetry.masked_model(bert, index, most=5, random_seed=seed, progress=False)
        bb.asymmetry.lar(source, pairs)
        return tuple(source._means[pair][1].tolist() for pair in (pairs[0], pairs[0][::-1]))  # type: ignore[return-value]

    counts = index.pairs(list(itertools.combinations(WORDS, 2)))
    pairs = [tuple(counts.loc[counts["contexts"].idxmax(), ["cue", "response"]])]
    first = sampled_contexts(1)
    assert first[0] == first[1]
    assert len(first[0]) == 5
    assert first == sampled_contexts(1)
    assert first != sampled_contexts(2)


@pytest.mark.extras
@pytest.mark.slow
def test_a_batch_is_faster_than_one_by_one(bert: Path, tmp_path: Path) -> None:
    index = bb.embeddings.index_contexts(
        Language.made(2).sentences(600, np.random.default_rng(4)), tmp_path / "many.contexts"
    )
    pairs = list(itertools.permutations(WORDS, 2))
    times: dict[int, float] = {}
    for batch in (512, 1):  # pieces: 64 sentences, and one
        source = bb.asymmetry.masked_model(bert, index, batch=batch, random_seed=1, progress=False)
        start = time.process_time()
        source.log_conditionals(*map(list, zip(*pairs, strict=True)))
        times[batch] = time.process_time() - start
    assert times[1] > 5 * times[512]


@pytest.mark.extras
@pytest.mark.slow
def test_ratios_of_a_language_are_recovered(tmp_path: Path) -> None:
    """Trained for some ten seconds on a language whose conditional probabilities are known."""
    language = Language.made(1)
    folder = trained_bert(tmp_path / "bert", language, steps=800)
    index = bb.embeddings.index_contexts(language.sentences(3_000, np.random.default_rng(6)), tmp_path / "toy.contexts")
    source = bb.asymmetry.masked_model(folder, index, random_seed=1, progress=False)
    places = list(itertools.combinations(range(len(WORDS)), 2))
    frame = bb.asymmetry.lar(source, [(WORDS[a], WORDS[b]) for a, b in places])
    frame["truth"] = [language.log_conditional(a, b) - language.log_conditional(b, a) for a, b in places]
    frame = frame[frame["left_out"] == ""]
    assert len(frame) > 90
    clear = frame[frame["truth"].abs() > 0.5]
    assert (np.sign(clear["lar"]) == np.sign(clear["truth"])).mean() >= 0.95
    # Intervals of 89 % include the error over contexts, not that a model which was trained so shortly is a little off.
    inside = frame["truth"].between(frame["hdi_low"], frame["hdi_high"])
    assert inside.mean() > 0.75


def test_without_torch_an_error_names_the_extra(
    index: bb.embeddings.ContextIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EmbeddingError, match=r"bayesbias\[contextual\]"):
        bb.asymmetry.masked_model(tmp_path, index)


def test_arguments_are_checked_before_a_model_is_loaded(index: bb.embeddings.ContextIndex, tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"config\.json"):
        bb.asymmetry.masked_model(tmp_path, index)
    with pytest.raises(ArgumentError, match="most=1"):
        bb.asymmetry.masked_model(tmp_path, index, most=1)
    with pytest.raises(ArgumentError, match="random_seed="):
        bb.asymmetry.masked_model(tmp_path, index, random_seed=-1)
    (tmp_path / "other.contexts").write_bytes(b"text")
    with pytest.raises(InputFileError, match="index"):
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
    with pytest.raises(EmbeddingError, match="mask"):
        bb.asymmetry.masked_model(headless, index)
    wrong: dict[str, tuple[bytes, type[Exception], str]] = {
        "config.json": (b"{}", EmbeddingError, "mask"),
        "model.safetensors": (b"text", InputFileError, "cut short"),
        "tokenizer.json": (b"[]", EmbeddingError, "mask"),
    }
    for name, (content, error, message) in wrong.items():
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        for path in bert.iterdir():
            (folder / path.name).write_bytes(content if path.name == name else path.read_bytes())
        with pytest.raises(error, match=message):
            bb.asymmetry.masked_model(folder, index)
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    for path in bert.iterdir():
        if path.suffix != ".safetensors":
            (pickled / path.name).write_bytes(path.read_bytes())
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(EmbeddingError, match=r"\.safetensors"):
        bb.asymmetry.masked_model(pickled, index)
    with pytest.raises(ArgumentError, match="device='no such'"):
        bb.asymmetry.masked_model(bert, index, device="no such")


def test_the_probability_is_that_of_equation_6() -> None:
    probabilities, counts, others = np.array([0.1, 0.5, 0.2]), np.array([1, 3, 2]), np.array([1, 1, 4])
    total = 12
    by_hand = sum(times / total * p for times, p in zip(counts, probabilities, strict=True))
    mean = response_mean(probabilities, counts, others, total=total, contexts=3)
    assert mean.log_probability == pytest.approx(np.log(by_hand))
    # Of ten contexts three were asked: each stands for 10 / 3.
    mean = response_mean(probabilities, counts, others, total=total, contexts=10)
    assert mean.log_probability == pytest.approx(np.log(by_hand * 10 / 3))


def drawn_pair(rng: np.random.Generator, size: int, most: int) -> tuple[ResponseMean, ResponseMean]:
    """Two directions over contexts of a language where the words' probabilities hang together."""
    kind = rng.choice(3, size=size, p=[0.25, 0.45, 0.3])  # both words, the cue alone, the response alone
    cues, responses = 1 + rng.poisson(0.3, size=(2, size))
    both = np.flatnonzero(kind == 0)
    level = rng.normal(size=len(both))
    forward, backward = (np.exp(-2 + 0.5 * level + 0.4 * rng.normal(size=len(both))) for _ in range(2))
    sampled = rng.choice(len(both), most, replace=False) if len(both) > most else np.arange(len(both))

    def mean(probabilities: np.ndarray, counts: np.ndarray, alone: int) -> ResponseMean:
        others = counts[kind == alone]
        total = int(counts[both].sum() + others.sum())
        return response_mean(probabilities[sampled], counts[both][sampled], others, total=total, contexts=len(both))

    return mean(forward, cues, 1), mean(backward, responses, 2)


@pytest.mark.parametrize("most", [1_000, 25])
def test_errors_are_those_of_repeated_corpora(most: int) -> None:
    rng = np.random.default_rng(8)
    runs = [drawn_pair(rng, 400, most) for _ in range(1_500)]
    one = np.array([forward.log_probability for forward, _ in runs])
    ratio = np.array([forward.log_probability - backward.log_probability for forward, backward in runs])
    # The spread of 1,500 numbers is known to 2 %; the delta method and skewness leave some more.
    assert np.sqrt(np.mean([forward.sd**2 for forward, _ in runs])) == pytest.approx(one.std(), rel=0.08)
    assert np.sqrt(np.mean([ratio_sd(*pair) ** 2 for pair in runs])) == pytest.approx(ratio.std(), rel=0.08)
    independent = np.mean([np.hypot(forward.sd, backward.sd) for forward, backward in runs])
    assert independent > 1.15 * ratio.std()


def test_intervals_are_those_of_students_t() -> None:
    summary = student_summary(np.array([1.2, -0.3, 2.0]), np.array([0.5, 0.4, 1.0]), np.array([4.0, 21.0, 1.1]), 0.89)
    for row, (mean, sd, freedom) in enumerate(((1.2, 0.5, 3), (-0.3, 0.4, 20), (2.0, 1.0, 1))):
        low, high = stats.t.interval(0.89, freedom, mean, sd)
        assert (summary["hdi_low"][row], summary["hdi_high"][row]) == pytest.approx((low, high))
        assert summary["probability_of_direction"][row] == pytest.approx(stats.t.cdf(abs(mean) / sd, freedom))


def test_contexts_that_add_alike_count_in_full_and_one_that_adds_all_counts_alone() -> None:
    others = np.ones(4, dtype=int)
    alike = response_mean(np.full(6, 0.1), np.ones(6, dtype=int), others, total=10, contexts=6)
    one = response_mean(np.array([0.5, 1e-9, 1e-9]), np.ones(3, dtype=int), others, total=7, contexts=3)
    assert (alike.effective_contexts, one.effective_contexts) == (pytest.approx(6), pytest.approx(1))
    # Of 10 that were asked of 100, too.
    some = response_mean(np.full(10, 0.1), np.ones(10, dtype=int), others, total=104, contexts=100)
    assert some.effective_contexts == pytest.approx(10)


@pytest.mark.parametrize(("contexts", "spread"), [(20, 0.5), (8, 2.0), (20, 2.0), (60, 2.0)])
def test_intervals_of_ratios_hold_the_truth_where_a_few_contexts_add_nearly_all(contexts: int, spread: float) -> None:
    """Log probabilities whose sd over contexts is that of language models, against a truth that is known."""
    rng = np.random.default_rng(4)
    repeats, held, by_count = 500, 0, 0
    for _ in range(repeats):
        level = rng.normal(size=contexts)
        means = []
        for ahead in (0.5, 0.0):  # the true ratio
            logs = -8 + ahead + spread * (0.6 * level + 0.8 * rng.normal(size=contexts))
            counts, others = (1 + rng.poisson(0.3, size) for size in (contexts, 2 * contexts))
            total = int(counts.sum() + others.sum())
            means.append(response_mean(np.exp(logs), counts, others, total=total, contexts=contexts))
        ratio = np.array([means[0].log_probability - means[1].log_probability])
        sd = np.array([ratio_sd(*means)])
        effective_contexts = min(one.effective_contexts for one in means)
        low, high = (
            student_summary(ratio, sd, np.array([effective_contexts]), 0.89)[end][0] for end in ("hdi_low", "hdi_high")
        )
        held += low < 0.5 < high
        by_count += abs(ratio[0] - 0.5) < stats.t.ppf(0.945, contexts - 1) * sd[0]
    error = np.sqrt(0.89 * 0.11 / repeats)
    assert 0.89 - 0.03 - 3 * error < held / repeats < 0.99
    if spread > 1:
        assert by_count / repeats < 0.84, "the number of contexts would do"
