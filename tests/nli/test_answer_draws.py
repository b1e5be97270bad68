"""The posterior of words and groups: against the t interval, and whether its intervals contain the truth."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.base.arrays import Floats
from bayesbias.nli.answer_draws import Premises, draw, group_difference_draws, group_draws

GROUP = np.repeat([0, 1], 4)
SIDES = GROUP == 0, GROUP == 1
VERBS, OBJECTS = (codes.ravel() for codes in np.indices((10, 12)))
PREMISES = Premises.from_codes(VERBS, OBJECTS)
CENTRES = np.array([0.6, 0.45])
SDS = {"word": 0.1, "verb": 0.06, "object": 0.05, "premise": 0.05, "own_verb": 0.04, "own_object": 0.03, "own": 0.06}


def made(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores under the model, and the words' true means."""
    draws = {name: sd * rng.normal(size=(8, 120)) for name, sd in SDS.items()}
    words = CENTRES[GROUP] + draws["word"][:, 0]
    shared = draws["verb"][0, VERBS] + draws["object"][0, OBJECTS] + draws["premise"][0]
    specific = draws["own_verb"][:, VERBS] + draws["own_object"][:, OBJECTS] + draws["own"]
    return words[:, None] + shared + specific, words


def holds(draws: Floats, truth: float) -> bool:
    low, high = np.quantile(draws, [0.055, 0.945])
    return bool(low <= truth <= high)


def bounded(linear: Floats) -> Floats:
    """From 0 to the square root of 2, and skewed."""
    return np.sqrt(2) / (1 + np.exp(5.5 - 8 * linear))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "bounded and skewed"])
def test_intervals_contain_the_truth_as_often_as_they_say(kind: str) -> None:
    samples, rng = 200, np.random.default_rng(11)
    link = bounded if kind != "normal" else np.asarray
    normal = rng.normal(size=20_000)
    inner = np.sqrt(sum(sd**2 for name, sd in SDS.items() if name != "word"))
    like_these = [link(centre + np.hypot(inner, SDS["word"]) * normal).mean() for centre in CENTRES]
    held: dict[str, list[float]] = {"contrast": [], "these": [], "group": [], "these, group": [], "words": []}
    for _ in range(samples):
        linear, words = made(rng)
        scores = link(linear)
        drawn = draw(scores, GROUP, PREMISES, 800, rng)
        of_these, like = group_difference_draws(drawn, scores, SIDES, (0, 1), PREMISES, rng)
        of_groups, like_groups = group_draws(drawn, scores, GROUP, PREMISES, rng)
        assert like is not None
        assert like_groups is not None
        means = [link(word + inner * normal).mean() for word in words]
        held["contrast"].append(holds(like, like_these[0] - like_these[1]))
        held["these"].append(holds(of_these, np.mean(means[:4]) - np.mean(means[4:])))
        held["group"].append(holds(like_groups[:, 0], like_these[0]))
        held["these, group"].append(holds(of_groups[:, 0], np.mean(means[:4])))
        held["words"].append(np.mean([holds(drawn.words[:, word], mean) for word, mean in enumerate(means)]))
    error = np.sqrt(0.89 * 0.11 / samples)
    # Bounded scores do not follow the model: words near a bound vary less than others.
    allowed = 3.5 * error + (0 if kind == "normal" else 0.05)
    for name, hits in held.items():
        assert abs(np.mean(hits) - 0.89) < allowed, name


def test_groups_that_premises_move_have_wider_intervals() -> None:
    """The premises of each group are a random sample of Normal values: the t interval of their means is right."""
    rng = np.random.default_rng(5)
    verbs = Premises.from_codes(*np.divmod(np.arange(64), 8))
    moved = 0.1 * rng.standard_normal((2, 64))
    scores = 0.5 + moved[GROUP] + 0.001 * rng.standard_normal((8, 64))
    drawn = draw(scores, GROUP, verbs, 20_000, rng)
    these, like = group_draws(drawn, scores, GROUP, verbs, rng)
    assert like is not None
    for code in (0, 1):
        row = scores[code == GROUP].mean(axis=0)
        least = row.std(ddof=1) / 8  # verbs and objects could add to it
        by_words = drawn.words[:, code == GROUP].mean(axis=1)
        half, of_like, without = (
            np.subtract(*np.quantile(draws, [0.945, 0.055])) / 2 / stats.norm.ppf(0.945)
            for draws in (these[:, code], like[:, code], by_words)
        )
        assert least * 0.97 < half < least * 2
        assert of_like > half * 0.97
        assert without < 0.9 * half, "effects on single words would do"


def test_the_contrast_is_that_of_a_t_interval() -> None:
    rng = np.random.default_rng(2)
    scores = made(rng)[0]
    drawn = draw(scores, GROUP, PREMISES, 100_000, rng)
    assert drawn.groups is not None
    means = scores.mean(axis=1)
    expected = stats.ttest_ind(means[:4], means[4:]).confidence_interval(0.89)
    interval = np.quantile(drawn.groups[:, 0] - drawn.groups[:, 1], [0.055, 0.945])
    width = expected.high - expected.low
    assert interval == pytest.approx([expected.low, expected.high], abs=0.01 * width)


def test_words_that_are_one_a_group_stand_for_themselves_alone() -> None:
    rng = np.random.default_rng(3)
    scores = made(rng)[0][[0, 4]]
    drawn = draw(scores, np.array([0, 1]), PREMISES, 1000, rng)
    assert drawn.groups is None
    sides = np.array([True, False]), np.array([False, True])
    these, like = group_difference_draws(drawn, scores, sides, (0, 1), PREMISES, rng)
    assert like is None
    assert these.mean() == pytest.approx(scores[0].mean() - scores[1].mean(), abs=4 * these.std() / np.sqrt(1000))


def test_answers_that_never_vary() -> None:
    rng = np.random.default_rng(4)
    drawn = draw(np.full((8, 120), 0.3), GROUP, PREMISES, 50, rng)
    assert np.isfinite(drawn.words).all()
    assert drawn.words == pytest.approx(0.3, abs=1e-9)
