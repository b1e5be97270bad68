"""What `validation/language_models` keeps: the text shows the tables, the truths are exact, and the script runs."""

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from bayesbias.base.checks import HDI_PROB
from tests.validation.numbers import binomial_error, prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

KEPT = VALIDATION / "language_models"
PLANTED, SHARED = (pd.read_csv(KEPT / f"{name}.csv") for name in ("planted", "shared"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("language_models", "surprisal_trial")


def share(cells: pd.DataFrame, method: str, level: str = "population") -> pd.Series:
    return cells.loc[(cells["method"] == method) & (cells["level"] == level), "coverage"]


def test_the_text_shows_the_tables(script: ModuleType) -> None:
    text = (KEPT / "README.md").read_text(encoding="utf-8")
    for cells in (PLANTED, SHARED):
        assert script.markdown(script.over_cells(cells)) in text
        assert script.markdown(script.by_cell(cells)) in text


def mean(cells: pd.DataFrame, method: str, level: str = "population") -> str:
    return f"{share(cells, method, level).mean():.2f}"


def span(cells: pd.DataFrame, method: str) -> str:
    shares = share(cells, method)
    return f"{shares.min():.2f} to {shares.max():.2f}"


def by_words(cells: pd.DataFrame, method: str) -> list[str]:
    return [mean(cells[cells["words"] == words], method) for words in (4, 8)]


def numbers_of_planted(script: ModuleType) -> Iterator[str]:
    associations = " or ".join(f"{planted:g}" for planted in script.PLANTED)
    yield f"likelier by {associations} nats"
    ngram = load_script("language_models", "ngram")
    yield f"an sd of {ngram.WORD} nats of their own, attribute words by {ngram.ATTRIBUTE}, pairs by {ngram.PAIR}"
    yield f"templates by {ngram.TEMPLATE}."
    whole = f"contrast in {mean(PLANTED, 'default')}**, {span(PLANTED, 'default')} by cell"
    yield f"{whole}, where the nominal share is {HDI_PROB}"
    yield "{} with four words a list and {} with eight".format(*by_words(PLANTED, "default"))
    yield ", ".join(mean(PLANTED, "default", level) for level in ("these_words", "protected_group")) + (
        f" and {mean(PLANTED, 'default', 'word')}"
    )
    without = [mean(PLANTED, "without templates", level) for level in ("population", "these_words")]
    yield "it is {}, and {} for these words".format(*without)
    yield f"holds the truth in {mean(PLANTED, 'mixed model')}, because"
    yield f"one template in {mean(PLANTED, 'one template')}, items in {mean(PLANTED, 't over items')}. Where"
    nothing = PLANTED[(PLANTED["kind"] == 0) & (PLANTED["level"] == "population")].groupby("method")["claims"].mean()
    methods = ("default", "mixed model", "one template", "t over items")
    yield (
        "claims an association in {:.2f} of the tables, the mixed model in {:.2f}, one template in {:.2f}, items in "
        "{:.2f}."
    ).format(*nothing[list(methods)])
    yield "to 1e-9"


def numbers_of_shared(script: ModuleType) -> Iterator[str]:
    with np.load(KEPT / "surprisals.npz") as stored:
        step, places = stored["step"].item(), {name: stored[name].shape for name in script.questions()}
    templates, protected, attributes = next(iter(places.values()))
    yield f"in all {templates} templates"
    yield f"There are {protected // 2} words in each list of occupations"
    yield f"and {attributes // 2} in each list of first names"
    yield "Tables draw {} or {} words".format(*(words for words, _ in script.SIZES))
    yield f"rounded to {step} nats"
    yield f"hold the truth in {mean(SHARED, 'default')} ({span(SHARED, 'default')} by cell)"
    ratio = script.over_cells(SHARED).set_index(["method", "level"]).loc[("default", "population"), "sd_over_error"]
    yield f"{ratio:.2f} times the error"
    levels = ("word", "protected_group", "these_words")
    yield "For single words it is {}, for groups {}, for these words {}".format(
        *(mean(SHARED, "default", level) for level in levels)
    )
    yield f"any level is below {SHARED.loc[SHARED['method'] == 'default', 'coverage'].min():.2f}"
    most = max(words for words, _ in script.SIZES)
    left = np.sqrt(1 - 2 * most / protected)
    yield f"drawing {most} of {protected // 2} words leaves an error that is {left:.2f} times"
    yield f"holds the truth in {mean(SHARED, 'one template')} ({span(SHARED, 'one template')})"
    yield f"items in {mean(SHARED, 't over items')} ({span(SHARED, 't over items')})"
    yield f"the mixed model in {mean(SHARED, 'mixed model')} ({span(SHARED, 'mixed model')})"
    yield "{} with four words a list and {} with eight".format(*by_words(SHARED, "mixed model"))


def test_the_text_says_the_numbers_of_the_tables_and_no_others(script: ModuleType) -> None:
    tables = {*PLANTED["tables"], *SHARED["tables"]}
    (count,) = tables
    of_cells = [f"a cell of {count} tables; a coverage of a cell has an error of {binomial_error(HDI_PROB, count):.2f}"]
    computed = [*numbers_of_planted(script), *numbers_of_shared(script), *of_cells]
    assert unexplained(prose(KEPT / "README.md"), computed) == []


def test_intervals_with_the_error_over_templates_hold_the_truth() -> None:
    """No cell has an upper 95 % limit below 0.80; other methods have planted cells that do."""
    for cells in (PLANTED, SHARED):
        default = cells[cells["method"] == "default"]
        limit = default["coverage"] + 1.96 * np.sqrt(
            default["coverage"] * (1 - default["coverage"]) / default["tables"]
        )
        assert (limit >= 0.8).all()
    assert (share(PLANTED, "mixed model") < 0.8).all()


def test_the_table_is_the_enumeration_of_all_sentences(script: ModuleType) -> None:
    rng = np.random.default_rng(1)
    model = load_script("language_models", "ngram").NGram.planted(0.8, 3, 4, rng)
    sample = next(script.planted_samples(0.8, 3, 4, np.random.default_rng(1)))
    every = np.array(
        [
            [[-model.enumerated(text, word, other) for other in model.attributes] for word in model.protected]
            for text in model.templates
        ]
    )
    table = sample.table()
    np.testing.assert_allclose(table["surprisal"], every.mean(axis=0).ravel(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(table["surprisal_sd"], every.std(axis=0, ddof=1).ravel() / 2, rtol=0, atol=1e-9)
    chances = np.exp(model.following).sum(axis=2), np.exp(model.ending).sum(axis=1)
    for sums in chances:
        np.testing.assert_allclose(sums, 1)


def test_the_planted_contrast_is_the_mean_over_many_words(script: ModuleType) -> None:
    samples = script.planted_samples(0.8, 8, 8, np.random.default_rng(2))
    means = np.array([script.item_contrasts(next(samples).numbers).mean() for _ in range(200)])
    assert means.mean() == pytest.approx(-0.8, abs=4 * means.std() / np.sqrt(200))


def restricted_likelihood(logs: np.ndarray, numbers: np.ndarray, terms: list[np.ndarray], fixed: np.ndarray) -> float:
    """Return minus the restricted log likelihood of a mixed model, from its covariance matrix."""
    covariance = sum(np.exp(2 * log) * (term[:, None] == term) for log, term in zip(logs, terms, strict=True))
    inverse = np.linalg.inv(covariance)
    information = fixed.T @ inverse @ fixed
    residual = numbers - fixed @ np.linalg.solve(information, fixed.T @ inverse @ numbers)
    logdets = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
    return float(logdets + residual @ inverse @ residual) / 2


@pytest.mark.parametrize("spread", [1.0, 0.0])
def test_the_mixed_model_is_that_of_restricted_likelihood(script: ModuleType, spread: float) -> None:
    """An independent maximisation over the four variances of lmer's formula, also where that of words is 0."""
    rng = np.random.default_rng(3)
    words, count, templates = 3, 3, 4
    numbers = rng.normal(size=(templates, 2 * words, 2 * count)) + rng.normal(size=(templates, 1, 1))
    numbers[..., :count] += spread * rng.normal(size=(2 * words, 1)) + rng.normal(size=(templates, 1, 1))
    if not spread:
        numbers -= numbers.mean(axis=(0, 2), keepdims=True)
    ratios = numbers[..., :count] - numbers[..., count:]
    if not spread:
        ratios = ratios - ratios.mean(axis=(0, 2), keepdims=True)
        numbers = np.concatenate([ratios, np.zeros_like(ratios)], axis=2)
    text, word, pair = (axis.ravel() for axis in np.indices(ratios.shape))
    fixed = np.column_stack([np.ones(ratios.size), word < words])
    terms = [text, word, pair, np.arange(ratios.size)]
    start = optimize.minimize(
        restricted_likelihood, np.zeros(4), (ratios.ravel(), terms, fixed), "L-BFGS-B", bounds=[(-9, 3)] * 4
    )
    covariance = sum(np.exp(2 * log) * (term[:, None] == term) for log, term in zip(start.x, terms, strict=True))
    errors = np.linalg.inv(fixed.T @ np.linalg.inv(covariance) @ fixed)
    mean, error, freedom = script.mixed_model(numbers)
    assert error == pytest.approx(np.sqrt(errors[1, 1]) / 2, rel=1e-3)
    assert mean == pytest.approx((ratios[:, :words].mean() - ratios[:, words:].mean()) / 2)
    assert freedom == 2 * words - 2 if spread else freedom > 2 * words - 2


def test_lists_are_large_beside_what_is_drawn(script: ModuleType) -> None:
    most = max(words for words, _ in script.SIZES)
    with np.load(KEPT / "surprisals.npz") as stored:
        for question in script.questions():
            templates, protected, attributes = stored[question].shape
            assert templates == 40
            assert min(protected, attributes) / 2 >= 5 * most


@pytest.mark.slow
def test_script_in_short(script: ModuleType) -> None:
    question = script.questions()[0]
    rng = np.random.default_rng(4)
    cells = script.cell(script.shared_samples(question, 4, 4, rng), 12, rng).set_index(["method", "level"])
    assert {level for _, level in cells.index} == {"population", "these_words", "protected_group", "word"}
    # Of 12 tables, with a margin of four standard errors.
    assert cells.loc[("default", "population"), "coverage"] >= HDI_PROB - 4 * binomial_error(HDI_PROB, 12)
    kept = SHARED[(SHARED["kind"] == question) & (SHARED["words"] == 4)].set_index(["method", "level"])
    assert cells.loc[("default", "word"), "sd"] == pytest.approx(kept.loc[("default", "word"), "sd"], rel=0.5)
