"""Tables of surprisals: numbers, templates, baselines and what is refused; models in the tests marked extras."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.base.files.vector_cache import vector_cache, vector_key
from bayesbias.embeddings.language_models.prompts import Prompt
from bayesbias.embeddings.surprisals import FunctionSource, function_source, log_probabilities
from bayesbias.errors import ArgumentError, EmbeddingError, InputFileError, LostWordsError, QuestionWarning
from tests.embeddings.language_models.toy_models import save_causal, save_masked

TEMPLATES = ["The PROTECTED said that ATTRIBUTE was tired.", "As a PROTECTED, ATTRIBUTE worked in the city."]
STUDY = bb.Study(
    name="occupations",
    protected={"male": ["engineer", "hero"], "female": ["nurse"]},
    attributes={"he": ["he", "man"], "she": ["she"]},
    associated=[("male", "he"), ("female", "she")],
    human="none",
    neutral="none",
)
# An n-gram model with exact probabilities: of a word given the text before it, in each template.
SHARES = {"engineer": [0.5, 0.2, 0.1], "hero": [0.4, 0.3, 0.15], "nurse": [0.12, 0.1, 0.6]}
LATER = 0.8  # in the second template
WORDS = ["he", "man", "she"]


def n_gram(prompts: list[Prompt]) -> list[list[float]]:
    answers = []
    for prompt in prompts:
        (known,) = [word for word in SHARES if word in prompt.before] or ["engineer"]
        factor = LATER if prompt.before.startswith("As") else 1.0
        answers.append([float(np.log(factor * SHARES[known][WORDS.index(word)])) for word in prompt.words])
    return answers


def test_control_words_are_left_out_unless_asked_for() -> None:
    def even(prompts: list[Prompt]) -> list[list[float]]:
        return [[-1.0] * len(prompt.words) for prompt in prompts]

    study = replace(STUDY, human=["person"], neutral=["table"])
    assert set(bb.surprisal_table(even, study, TEMPLATES)["connection"]) == {"associated", "different"}
    whole = bb.surprisal_table(even, study, TEMPLATES, controls=True)
    assert set(whole["connection"]) == {"associated", "different", "human", "neutral"}


def test_the_table_is_the_enumeration() -> None:
    table = bb.surprisal_table(n_gram, STUDY, TEMPLATES, name="n-grams")
    for row in table.itertuples():
        share = SHARES[str(row.protected_word)][WORDS.index(str(row.attribute_word))]
        numbers = -np.log([share, LATER * share])
        assert row.surprisal == pytest.approx(numbers.mean(), abs=1e-9)
        assert row.surprisal_sd == pytest.approx(numbers.std(ddof=1) / np.sqrt(2), abs=1e-9)
    facts = table.attrs["bayesbias"]
    assert facts["measure"]["unit"] == "nats"
    assert facts["templates"] == TEMPLATES
    # Both templates have the same contrasts: they have no error.
    assert {round(entry["sd"], 9) for entry in facts["context_errors"]} == {0.0}
    assert {entry["level"] for entry in facts["context_errors"]} == {"overall", "protected_group", "word"}


def test_one_row_a_template_on_request() -> None:
    long = bb.surprisal_table(n_gram, STUDY, TEMPLATES, by_template=True)
    assert len(long) == 2 * 9
    assert long["template"].unique().tolist() == TEMPLATES
    table = bb.surprisal_table(n_gram, STUDY, TEMPLATES)
    mean = long.groupby(["protected_word", "attribute_word"], sort=False)["surprisal"].mean()
    np.testing.assert_allclose(mean, table["surprisal"])


def test_neutral_subjects_are_subtracted() -> None:
    plain, relative = (
        bb.surprisal_table(n_gram, STUDY, TEMPLATES, baseline=subjects)["surprisal"] for subjects in (None, ["nurse"])
    )
    of_nurse = -np.log([0.12, 0.1, 0.6]) - np.log(LATER) / 2
    np.testing.assert_allclose(plain.to_numpy().reshape(3, 3) - relative.to_numpy().reshape(3, 3), [of_nurse] * 3)


def test_the_table_is_fitted_and_read_back(tmp_path: Path) -> None:
    table = bb.surprisal_table(n_gram, STUDY, TEMPLATES, name="n-grams")
    read = bb.read_table(bb.write_table(table, tmp_path / "table.csv"))
    assert read.equals(table)
    assert read.attrs == table.attrs
    fit = bb.fit(read, "hierarchical", draws=500, random_seed=1, progress=False)
    row = bb.contrasts(fit).iloc[0]
    plain = -np.log(SHARES["engineer"]), -np.log(SHARES["hero"]), -np.log(SHARES["nurse"])
    contrasts = [
        plain[0][:2].mean() - plain[0][2],
        plain[1][:2].mean() - plain[1][2],
        plain[2][2] - plain[2][:2].mean(),
    ]
    assert row["observed"] == pytest.approx((np.mean(contrasts[:2]) + contrasts[2]) / 2)


def test_answers_are_kept_and_a_changed_model_is_refused(tmp_path: Path) -> None:
    asked: list[int] = []

    def counting(prompts: list[Prompt]) -> list[list[float]]:
        asked.append(len(prompts))
        return n_gram(prompts)

    cache = tmp_path / "answers.db"
    first = bb.surprisal_table(counting, STUDY, TEMPLATES, cache=cache, name="n-grams")
    assert sum(asked) == 6 + 1
    second = bb.surprisal_table(counting, STUDY, TEMPLATES, cache=cache, name="n-grams")
    assert sum(asked) == 7 + 1
    np.testing.assert_allclose(second["surprisal"], first["surprisal"], rtol=1e-6)
    with pytest.raises(EmbeddingError, match="in the cache"):
        bb.surprisal_table(
            lambda prompts: [[2 * value for value in row] for row in n_gram(prompts)], STUDY, TEMPLATES, cache=cache,
            name="n-grams",
        )  # fmt: skip


@pytest.mark.parametrize("numbers", [[0.5], [-1.0, -2.0]])
def test_a_cache_with_other_numbers_than_log_probabilities_is_refused(numbers: list[float], tmp_path: Path) -> None:
    cache = tmp_path / "answers.db"
    prompts = [Prompt("The engineer said that ", " was tired.", ("he",))]
    with vector_cache(cache) as opened:
        assert opened is not None
        key = vector_key("n-grams", "log probability", prompts[0].before, prompts[0].after, "he")
        opened.write([key], [np.array(numbers, dtype=np.float32)])
    source = function_source(n_gram, batch=None, attempts=1, timeout=None, name="n-grams", version=None, cached=True)
    with pytest.raises(InputFileError, match="other numbers than log probabilities"):
        log_probabilities(source, prompts, cache=cache, progress=False)


def test_words_are_known_in_every_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FunctionSource, "unknown", lambda _, prompt: [word for word in prompt.words if word == "She"])
    with pytest.raises(LostWordsError, match="'she'"):
        bb.surprisal_table(n_gram, STUDY, [TEMPLATES[0], "The PROTECTED left. ATTRIBUTE was late."])
    with pytest.raises(ArgumentError, match=r"baseline: .* does not know 'She'"):
        bb.surprisal_table(n_gram, STUDY, TEMPLATES, baseline=["She"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda prompts: [[-1.0]] * len(prompts), "or not one number for each word"),
        (lambda prompts: [[0.5] * len(prompt.words) for prompt in prompts], "the log probability 0.5"),
        (lambda prompts: [[-np.inf] * len(prompt.words) for prompt in prompts], "the log probability -inf"),
        (lambda prompts: 3, "no lists of numbers"),
    ],
)
def test_answers_that_are_no_log_probabilities_are_refused(answer: Any, message: str) -> None:
    with pytest.raises(EmbeddingError, match=message):
        bb.surprisal_table(answer, STUDY, TEMPLATES)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"context": "left"}, "context='left' is not for this model"),
        ({"device": "cpu"}, "device='cpu' is not for this model"),
        ({"baseline": "mask"}, "needs a masked model"),
        ({"baseline": "none"}, "give 'mask', or a list"),
        ({"baseline": [" "]}, "give neutral words"),
        ({"cache": "answers.db"}, "cache needs a name"),
        ({"version": " "}, "version=' '"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        bb.surprisal_table(n_gram, STUDY, TEMPLATES, **settings)


def test_a_single_template_is_warned_of() -> None:
    with pytest.warns(QuestionWarning, match="a single template"):
        table = bb.surprisal_table(n_gram, STUDY, TEMPLATES[:1])
    assert "surprisal_sd" not in table
    assert "context_errors" not in table.attrs["bayesbias"]


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"no config\.json"):
        bb.surprisal_table(tmp_path, STUDY, TEMPLATES)
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    with pytest.raises(InputFileError, match=r"predicts words \('BertModel'\)"):
        bb.surprisal_table(tmp_path, STUDY, TEMPLATES)


@pytest.mark.extras
def test_masked_and_causal_models_give_tables(tmp_path: Path) -> None:
    masked = bb.surprisal_table(save_masked(tmp_path / "masked"), STUDY, TEMPLATES, progress=False)
    assert "masked language model" in masked.attrs["bayesbias"]["embedding"]["kind"]
    relative = bb.surprisal_table(tmp_path / "masked", STUDY, TEMPLATES, baseline="mask", progress=False)
    # The same is subtracted from all protected words.
    differences = (masked["surprisal"] - relative["surprisal"]).to_numpy().reshape(3, 3)
    np.testing.assert_allclose(differences, differences[:1].repeat(3, axis=0), atol=1e-5)
    folder = save_causal(tmp_path / "causal")
    left = bb.surprisal_table(folder, STUDY, TEMPLATES, progress=False)
    assert "on the left" in left.attrs["bayesbias"]["embedding"]["kind"]
    whole = bb.surprisal_table(
        folder, STUDY, [TEMPLATES[0], "The ATTRIBUTE met a PROTECTED."], context="sentence", by_template=True,
        progress=False,
    )  # fmt: skip
    sums = whole.groupby(["template", "protected_word"])["surprisal"].apply(lambda values: np.exp(-values).sum())
    np.testing.assert_allclose(sums, 1.0)
    with pytest.raises(ArgumentError, match="ATTRIBUTE comes before PROTECTED"):
        bb.surprisal_table(folder, STUDY, ["The ATTRIBUTE met a PROTECTED."])
    with pytest.raises(ArgumentError, match="context='both'"):
        bb.surprisal_table(folder, STUDY, TEMPLATES, context="both")
    unknown = bb.Study(
        name="unknown", protected={"x": ["\u3042"], "y": ["nurse"]}, attributes={"a": ["he"], "b": ["she"]},
        associated=[("x", "a"), ("y", "b")], human="none", neutral="none",
    )  # fmt: skip
    with pytest.raises(LostWordsError, match="protected group 'x'"):
        bb.surprisal_table(tmp_path / "masked", unknown, TEMPLATES)


@pytest.mark.extras
@pytest.mark.shared
def test_the_shared_masked_model_has_known_answers() -> None:
    """The README of the models: she .45, he .32 for a nurse, and he .57, she .04 for an engineer."""
    folder = Path(__file__).parents[2] / ".." / "shared" / "data" / "language_models" / "masked"
    study = bb.Study(
        name="two", protected={"n": ["nurse"], "e": ["engineer"]}, attributes={"he": ["he"], "she": ["she"]},
        associated=[("e", "he"), ("n", "she")], human="none", neutral="none",
    )  # fmt: skip
    sentence = ["the PROTECTED said that ATTRIBUTE was tired ."]
    table = bb.surprisal_table(folder, study, sentence, by_template=True, progress=False)
    shares = np.exp(-table["surprisal"]).round(2).tolist()
    assert shares == pytest.approx([0.32, 0.45, 0.57, 0.04], abs=0.01)
