"""What WEFE and the authors' own code gave on the bundled vectors (`validation/debiasing`), beside ours."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.debias import INLP, RAN, BiasAlignment, DebiasWords, DoubleHardDebias, HalfSibling, OSCaR
from bayesbias.debias.by_word.gender_preserving import (
    Adam,
    encoded,
    first_weights,
    joint_loss,
    reconstruction,
    through_encoder,
)
from tests.validation.numbers import prose, unexplained
from tests.validation.scripts import VALIDATION, load_script

FOLDER = VALIDATION / "debiasing"
WEFE, AUTHORS, TORCH = (
    json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in ("wefe", "authors", "torch")
)
README = prose(FOLDER / "README.md")
VECTORS = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")

pytestmark = pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")


def embedding() -> bb.Embedding:
    return bb.load_embedding(VECTORS)


def unit(rows: Any) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float64)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_the_vectors_are_those_that_they_had() -> None:
    digest = hashlib.sha256(VECTORS.read_bytes()).hexdigest()
    assert WEFE["sha256"] == AUTHORS["sha256"] == TORCH["sha256"] == digest


def test_half_sibling_regression_of_wefe() -> None:
    kept = WEFE["half_sibling"]
    words = DebiasWords("gender", WEFE["pairs"], specific=kept["known"])
    after = HalfSibling(penalty=kept["alpha"]).fit(embedding(), words).transform(embedding())
    np.testing.assert_allclose(after.matrix(WEFE["shown"]), kept["vectors"], atol=1e-5)


def test_the_parts_of_double_hard_debiasing_of_wefe() -> None:
    kept, vectors = WEFE["double_hard"], embedding()
    words = DebiasWords("gender", WEFE["pairs"], specific=WEFE["specific"])
    fitted = DoubleHardDebias(candidates=len(kept["components"]), words=kept["n_words"]).fit(vectors, words)
    np.testing.assert_allclose(fitted.mean, kept["mean"], atol=1e-5)
    component = np.array(kept["components"][kept["chosen"] - 1])
    # WEFE's principal components come from a randomized decomposition, and its k-means starts at random.
    same = DoubleHardDebias(candidates=1, words=kept["n_words"]).fit(vectors, words).component
    assert abs(same @ np.array(kept["components"][0])) == pytest.approx(1, abs=1e-5)
    # Its words, from its own direction and component: without the mean, the component and the direction.
    direction = np.array(kept["direction"])
    before = vectors.matrix(kept["words"]).astype(np.float64)
    left = before - fitted.mean - np.outer(before @ component, component)
    left -= np.outer(left @ direction, direction)
    np.testing.assert_allclose(left, kept["vectors"], atol=1e-5)
    # It changes the words that it judges by, and no other.
    assert kept["changed"] == len(kept["targets"]) == 2 * kept["n_words"]


def test_the_first_classifier_of_inlp() -> None:
    kept, vectors = AUTHORS["inlp"], embedding()
    sets = DebiasWords("gender", AUTHORS["pairs"], specific=bb.debias.load_debias_words("gender_bolukbasi").specific)
    after = INLP(iterations=1).fit(vectors, sets).transform(vectors)
    np.testing.assert_allclose(after.matrix(AUTHORS["shown"]), kept["vectors"], atol=1e-5)


def test_the_turn_of_oscar_is_that_of_the_complementary_angle() -> None:
    kept, vectors = AUTHORS["oscar"], embedding()
    fitted = OSCaR().fit(vectors, bb.debias.load_debias_words("gender_bolukbasi"))
    assert np.degrees(fitted.angle) == pytest.approx(kept["degrees_before"], abs=1e-4)
    swapped = bb.debias.FittedOSCaR(fitted.sets, fitted.plane, np.pi / 2 - fitted.angle).transform(vectors)
    np.testing.assert_allclose(swapped.matrix(AUTHORS["shown"]) @ fitted.plane.T, kept["coordinates"], atol=1e-5)
    assert "not aligned" in kept["error"]


def distances_of_bam() -> tuple[float, float]:
    """Return the distance of the first words of the pairs from the second, before and after our rotation."""
    vectors = embedding()
    fitted = BiasAlignment().fit(vectors, AUTHORS["pairs"])
    first, second = (unit(vectors.matrix([pair[side] for pair in AUTHORS["pairs"]])) for side in (0, 1))
    after = first @ (2 * fitted.matrix - np.eye(100)) - second
    return float(np.linalg.norm(first - second)), float(np.linalg.norm(after))


def test_the_rotation_of_bam() -> None:
    kept, (before, ours) = AUTHORS["bam"], distances_of_bam()
    assert before == pytest.approx(kept["distance_before"], abs=1e-5)
    assert ours < kept["distance_before"] < kept["distance_after"]


def moved(method: RAN) -> np.ndarray:
    """Return where a method takes the words that are kept."""
    vectors = embedding()
    after = method.fit(vectors, TORCH["pairs"]).transform(vectors, target=TORCH["shown"], progress=False)
    return after.matrix(TORCH["shown"])


def test_ran_of_its_authors_weighs_neutralization_as_attraction() -> None:
    kept = np.array([TORCH["ran"]["vectors"][word] for word in TORCH["shown"]])
    assert TORCH["ran"]["attracted"] == {word: [word] for word in TORCH["shown"]}
    # 200 of its neighbours, itself among them.
    published = moved(RAN(neutralization=6 / 8, neighbours=199))
    np.testing.assert_allclose(published, kept, atol=1e-5)


def test_the_training_of_gender_preserving_debiasing() -> None:
    """From the same first weights, nothing dropped, all words in one batch, words of each kind in the same order."""
    kept, vectors = TORCH["gender_preserving"], embedding()
    units = unit(vectors.vectors).astype(np.float32)
    shown = units[[vectors.words.index(word) for word in TORCH["shown"]]]
    weights, adam, rows = first_weights(100, np.random.default_rng(1)), Adam(2e-4), units[kept["rows_left_out"] :]
    for _ in range(kept["epochs"]):
        _, hidden, slope, slopes = reconstruction(rows, rows, weights)
        adam.update(weights, slopes | through_encoder(rows, hidden, slope))
    np.testing.assert_allclose(encoded(shown, weights), kept["autoencoder"], atol=1e-5)
    quads = np.array([[units[vectors.words.index(word)] for word in quad] for quad in kept["quads"]])
    for _ in range(5):
        means = encoded(quads, weights).mean(axis=0)
        for quad in quads:
            for part, slope in joint_loss(quad, quad, means[1] - means[0], weights)[1].items():
                weights[part] -= np.float32(0.1) * slope
    np.testing.assert_allclose(encoded(shown, weights), kept["joint"], atol=1e-5)
    np.testing.assert_allclose(weights["first"], kept["classifier"], atol=1e-6)


def numbers_of_authors() -> Iterator[str]:
    dimensions = embedding().dimensions
    bam, oscar = AUTHORS["bam"], AUTHORS["oscar"]
    pairs = len(AUTHORS["pairs"])
    assert pairs == 7
    yield f"WEFE changes {WEFE['double_hard']['changed']} of the {len(embedding())} words"
    yield f"(by default {2 * DoubleHardDebias().words:,})"
    yield f"from {oscar['degrees_before']:.1f} to {oscar['degrees_after']:.1f} degrees, not to 90"
    yield (
        f"goes from {bam['distance_before']:.2f} to {bam['distance_after']:.2f}; the paper's rotation to "
        f"{distances_of_bam()[1]:.2f}"
    )
    yield f"undetermined in {dimensions - pairs} of {dimensions} dimensions"


def numbers_of_ran() -> Iterator[str]:
    direction = RAN().fit(embedding(), TORCH["pairs"]).direction
    kept = np.array([TORCH["ran"]["vectors"][word] for word in TORCH["shown"]])
    paper = moved(RAN())
    cosines = (unit(paper) * unit(kept)).sum(axis=1)
    ours, theirs, before = (
        f"{np.abs(unit(vectors) @ direction).mean():.4f}"
        for vectors in (paper, kept, embedding().matrix(TORCH["shown"]))
    )
    yield (
        f"cosines of {cosines.min():.3f} to {cosines.max():.3f} with them and a mean absolute projection on the "
        f"direction of {ours} (theirs: {theirs}; before debiasing: {before})"
    )
    assert (RAN().attraction, RAN().neutralization) == (6 / 8, 1 / 8)
    yield "the weight of attraction (6/8 in the settings file) and not its own (1/8)"
    yield f"among 200 neighbours, where the paper has {RAN().neighbours}."
    yield f"three weights and {RAN().neighbours} neighbours"


def numbers_of_inlp() -> Iterator[str]:
    table = pd.read_csv(FOLDER / "inlp.csv").set_index(["when", "vectors"])
    after = table.loc["after"]
    intervals = [
        f"{after.loc[name, 'hdi_low']:.3f} to {after.loc[name, 'hdi_high']:.3f}"
        for name in ("google_news", "glove", "bundled")
    ]
    yield f"({', '.join(intervals)}; chance is {after['chance'].unique().item():.3f})"
    yield "skip-gram of seeds 1 and 3 and in GloVe of seeds 3 and 5"


def test_the_text_says_the_numbers_of_the_files_and_no_others() -> None:
    training = bb.debias.GenderPreserving()
    computed = [
        *numbers_of_authors(),
        *numbers_of_ran(),
        *numbers_of_inlp(),
        f"results of WEFE {WEFE['versions']['wefe']} on",
        "with them to 1e-5",
        f"({training.epochs - 1} for the autoencoder, {training.classifier_epochs - 1} for the classifiers)",
        "0.33 each by default",  # from reading the code, as the text says
    ]
    assert unexplained(README, computed) == []


def test_the_page_from_wefe_says_how_many_words_double_hard_debiasing_changes() -> None:
    page = prose(VALIDATION.parent / "docs" / "from_wefe.md")
    kept = WEFE["double_hard"]
    assert f"({kept['changed']} of {len(embedding())} with" in page
    assert f"`n_words={kept['n_words']}`" in page


def test_a_new_classifier_of_the_bundled_vectors_is_that_of_the_table() -> None:
    table = load_script("debiasing", "inlp_at_chance").held_out("bundled", VECTORS)
    stored = pd.read_csv(FOLDER / "inlp.csv").query("vectors == 'bundled'")
    for name in ("accuracy", "hdi_low", "hdi_high", "words"):
        assert table[name].tolist() == pytest.approx(stored[name].tolist(), abs=1e-3)
