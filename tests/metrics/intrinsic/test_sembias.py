"""SemBias against a plain loop over the definition; what is lost."""

from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import LostWordsWarning, MeasureError

RANDOM = np.random.default_rng(9)
DEFINITIONS = [f"king{n}:queen{n}" for n in range(6)]
STEREOTYPES = [f"doctor{n}:nurse{n}" for n in range(5)]
LINES = [f"{d}\tcup:lid\tpen{i}:pencil\t{s}" for i, d in enumerate(DEFINITIONS) for s in STEREOTYPES]
WORDS = sorted({word for line in LINES for pair in line.split() for word in pair.split(":")} | {"he", "she"})
VECTORS = dict(zip(WORDS, RANDOM.normal(size=(len(WORDS), 4)), strict=True))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sembias.txt"
    file.write_text("\n".join(LINES))
    return file


@pytest.mark.parametrize("normalize", [False, True])
def test_the_shares_are_those_of_a_plain_loop(normalize: bool, path: Path) -> None:
    vectors = {word: v / np.linalg.norm(v) for word, v in VECTORS.items()} if normalize else VECTORS
    counts = dict.fromkeys(("definition", "none", "stereotype"), 0)
    for line in LINES:
        best, chosen = -2.0, ""
        for kind, pair in zip(("definition", "none", "none", "stereotype"), line.split(), strict=True):
            a, b = (vectors[word] for word in pair.split(":"))
            target = vectors["he"] - vectors["she"]
            cosine = target @ (a - b) / np.linalg.norm(target) / np.linalg.norm(a - b)
            if cosine > best:
                best, chosen = cosine, kind
        counts[chosen] += 1
    score = bb.metrics.sembias(VECTORS, path, normalize=normalize, random_seed=1)
    values = score.estimates.set_index("quantity")["value"]
    assert {name: round(float(values[name]) * len(LINES)) for name in counts} == counts
    assert 0 < values["definition"] < 1
    assert (score.estimates["hdi_low"] <= score.estimates["value"] + 0.02).all()


def test_intervals_are_about_definitions_and_stereotypes(path: Path) -> None:
    """One answer a definition: 6 definitions say less than 30 tuples."""
    vectors = VECTORS | {word: VECTORS["he"] for word in VECTORS if word.startswith("king")}
    for n in range(6):
        vectors[f"queen{n}"] = VECTORS["she"] if n < 3 else 2 * VECTORS["he"] - VECTORS["she"]
    low, high = bb.metrics.sembias(vectors, path, random_seed=1).interval
    assert high - low > 2 * 1.6 * np.sqrt(0.25 / 30) * 1.5


def test_a_subset_is_reported_on_its_own_and_lost_tuples_are_named(path: Path) -> None:
    fewer = {word: vector for word, vector in VECTORS.items() if word != "queen0"}
    with pytest.warns(LostWordsWarning, match="5 .* 30 "):
        score = bb.metrics.sembias(fewer, path, subset=10, random_seed=1)
    items = score.estimates.set_index("quantity")["items"]
    assert (items["definition"], items["definition_of_subset"]) == (25, 10)
    assert score.lost_words["tuples"] == tuple(line.replace("\t", " ") for line in LINES[:5])
    last = score.scores["definition"].to_numpy()[-10:]
    assert score.estimates.set_index("quantity").loc["definition_of_subset", "value"] == last.mean()


@pytest.mark.parametrize(
    ("line", "message"),
    [("he:she a:b c:d", "line 1"), ("he:she a:b c:d e", "line 1"), ("", " 0 ")],
)
def test_a_damaged_file_is_an_error(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "sembias.txt"
    file.write_text(line)
    with pytest.raises(MeasureError, match=message):
        bb.metrics.read_sembias(file)


def test_bad_input_says_what_to_give(path: Path) -> None:
    without = {word: vector for word, vector in VECTORS.items() if word != "he"}
    with pytest.raises(MeasureError, match="lacks he"):
        bb.metrics.sembias(without, path)
    with pytest.raises(MeasureError, match=r" 0 .* 30 "):
        bb.metrics.sembias({"he": [1.0, 0.0], "she": [0.0, 1.0]}, path)
    with pytest.raises(MeasureError, match="'he' and 'she'"):
        bb.metrics.sembias(VECTORS | {"she": VECTORS["he"]}, path)


@pytest.mark.shared
def test_the_authors_file_is_read_and_google_news_here_has_hardly_any_of_it(shared: Path) -> None:
    file = shared / "data" / "wordlists" / "SemBias.txt"
    tuples = bb.metrics.read_sembias(file)
    assert len(tuples) == 440
    assert (len({four[0] for four in tuples}), len({four[3] for four in tuples})) == (22, 20)
    with pytest.warns(LostWordsWarning, match="438 .* 440 "):
        score = bb.metrics.sembias(
            shared / "data" / "embeddings" / "googlenews_word2vec_300d_13784.npz", file, random_seed=1
        )
    assert score.coverage == pytest.approx(2 / 440)


def test_words_that_differ_by_rounding_have_no_direction(path: Path) -> None:
    """Also of vectors as stored, whose lengths are large."""
    he = 1e3 * VECTORS["he"]
    vectors = VECTORS | {"he": he, "she": he * (1 + 1e-7)}
    for normalize in (False, True):
        with pytest.raises(MeasureError, match="'he' and 'she'"):
            bb.metrics.sembias(vectors, path, normalize=normalize, random_seed=1)
