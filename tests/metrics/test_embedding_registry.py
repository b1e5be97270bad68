"""Every score by its name: its entry is true of its function, and what is missing or unknown is an error."""

from inspect import isfunction, signature
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import MeasureError
from bayesbias.metrics import EMBEDDING_MEASURES, EmbeddingScore

PATH = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz")
FILES = {
    "sembias": "he:she art:poetry math:science doctor:nurse\nman:woman art:science poetry:math doctor:dance\n",
    "word_similarity": "she he 9\nnurse doctor 5\nman woman 8\nart music 4\n",
    "analogies": "he she man woman\nman woman he she\nboy girl man woman\n",
}
OPTIONS = {
    "clustering": {"words_in_all": 100},
    "recoverability": {"words_in_all": 100, "splits": 2, "classifiers": ["rbf_svm"]},
    "gipe": {"neighbours": 20},
}


@pytest.mark.filterwarnings("ignore::bayesbias.errors.LostWordsWarning")
@pytest.mark.parametrize("name", EMBEDDING_MEASURES)
def test_every_score_has_one_signature_and_one_result(name: str, tmp_path: Path) -> None:
    entry = EMBEDDING_MEASURES[name]
    parameters = list(signature(entry.function).parameters.values())
    assert [parameter.name for parameter in parameters[:2]] == ["embedding", entry.data]
    assert entry.required == (parameters[1].default is parameters[1].empty)
    assert {"random_seed", "hdi_prob"} <= {parameter.name for parameter in parameters}
    data: object = (["woman", "girl", "mother"], ["man", "boy", "father"]) if entry.data == "names" else None
    if entry.data == "path":
        data = tmp_path / "file.txt"
        (tmp_path / "file.txt").write_text(FILES[name])
    settings = OPTIONS.get(name, {}) | {"random_seed": 1, "progress": False}
    score = bb.metrics.score_embedding(name, PATH, data, reference=PATH, **settings)
    assert score.measure == name
    low, high = score.interval
    assert low <= high
    again = bb.metrics.score_embedding(name, PATH, data, reference=PATH, **settings)
    assert score.estimates.equals(again.estimates)
    other = bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed2.npz")
    change = bb.metrics.paired_change(
        score, bb.metrics.score_embedding(name, other, data, reference=PATH, **settings), random_seed=1
    )
    assert list(change["quantity"]) == list(score.estimates["quantity"])


def test_every_public_score_is_registered() -> None:
    names = [name for name in bb.metrics.__all__ if isfunction(getattr(bb.metrics, name))]
    scores = {name for name in names if signature(getattr(bb.metrics, name)).return_annotation is EmbeddingScore}
    assert scores - {"score_embedding"} == {entry.function.__name__ for entry in EMBEDDING_MEASURES.values()}
    for name, entry in EMBEDDING_MEASURES.items():
        assert (entry.name, entry.function.__name__) == (name, name)
        assert entry.about in ("bias", "quality")
        assert entry.better in ("lower", "higher", "nearer to 0")


def test_what_is_missing_or_unknown_is_an_error() -> None:
    with pytest.raises(MeasureError, match=r"'SemBiass'.*'sembias'"):
        bb.metrics.score_embedding("SemBiass", PATH)
    with pytest.raises(MeasureError, match=r"sembias .* data"):
        bb.metrics.score_embedding("sembias", PATH)
    with pytest.raises(MeasureError, match=r"'neighbors'.*'neighbours'"):
        bb.metrics.score_embedding("gipe", PATH, neighbors=5)
