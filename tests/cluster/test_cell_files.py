"""Answers of cells come back from their files as they were, or not at all."""

import json
import warnings
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesbias.base.files import SEAL_SIZE, sealed
from bayesbias.cluster.cell_files import read_answer, write_answer
from bayesbias.metrics import vocabulary_direct_bias
from bayesbias.metrics.embedding_scores.result import embedding_score
from bayesbias.metrics.embedding_scores.statistics import Quantity
from bayesbias.reports.audits.audit import answer_cell
from bayesbias.reports.audits.cells import Answer, Cell, make_cells
from tests.cluster import pets

DIGEST = "0123456789abcdef"
ANSWER = Answer(
    rows=[{"measure": "mac", "observed": np.float64(0.1) + 0.2, "hdi_low": None, "p_value": float("nan"), "lost": 3}],
    draws={"mac": np.random.default_rng(1).normal(size=50)},
    left_out={"weat": "The study 'Zoë' has 3 groups."},
    warned=[("SamplerWarning", "Sampling with nutpie.")],
)
VECTORS = {
    "she": [1.0, 0.1],
    "he": [-1.0, 0.2],
    "her": [0.9, 0.3],
    "his": [-0.8, 0.4],
    "Zoë": [0.6, 0.7],
    "cat": [0.1, 1.0],
}
SCORE = vocabulary_direct_bias(VECTORS, random_seed=1)
DRAWN = vocabulary_direct_bias(VECTORS, pairs=[("she", "he"), ("her", "his")], random_seed=1)
SHARES = embedding_score(
    "analogies",
    "toy",
    pd.DataFrame({"item": ["a", "b", "c"], "part": "p", "right": [True, False, True], "pair": ["x", "x", "y"]}),
    [Quantity("accuracy", "share", ("right",), parts=("p",), crossed=("pair",))],
    conventions="none",
    random_seed=1,
    lost={"questions": ["d"]},
)


def test_an_answer_comes_back(tmp_path: Path) -> None:
    write_answer(tmp_path, DIGEST, ANSWER)
    back = read_answer(tmp_path, DIGEST)
    assert back is not None
    assert repr(back.rows) == repr([dict(ANSWER.rows[0]) | {"observed": 0.30000000000000004}])
    assert (back.left_out, back.warned) == (ANSWER.left_out, ANSWER.warned)
    assert back.draws.keys() == {"mac"}
    assert np.array_equal(back.draws["mac"], ANSWER.draws["mac"])
    assert [path.name for path in tmp_path.iterdir()] == [f"{DIGEST}.npz"]


def test_what_others_are_compared_with_comes_back(tmp_path: Path) -> None:
    gaps = pd.DataFrame({"contrast": ["associated - human"], "protected_word": "", "mean": 0.1 + 0.2})
    scores = {"vocabulary_direct_bias": SCORE, "analogies (toy)": SHARES, "of drawn directions": DRAWN}
    write_answer(tmp_path, DIGEST, replace(ANSWER, gaps={"Zoë": gaps}, scores=scores))
    back = read_answer(tmp_path, DIGEST)
    assert back is not None
    pd.testing.assert_frame_equal(back.gaps["Zoë"], gaps, check_exact=True)
    for label, score in scores.items():
        again = back.scores[label]
        for name, value in vars(score).items():
            if isinstance(value, pd.DataFrame):
                pd.testing.assert_frame_equal(getattr(again, name), value, check_exact=True)
            elif name == "along" and value is not None:
                for each, array in vars(value).items():
                    np.testing.assert_array_equal(getattr(again.along, each), array, strict=True)
            else:
                assert getattr(again, name) == value
        assert again.to_dict() == score.to_dict()


def test_a_file_that_is_damaged_cut_short_or_of_another_cell_is_no_answer(tmp_path: Path) -> None:
    assert read_answer(tmp_path, DIGEST) is None
    write_answer(tmp_path, DIGEST, ANSWER)
    path = tmp_path / f"{DIGEST}.npz"
    whole = path.read_bytes()
    for place in range(0, len(whole), 37):
        path.write_bytes(whole[:place])
        assert read_answer(tmp_path, DIGEST) is None
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert read_answer(tmp_path, DIGEST) is None
    (tmp_path / "fedcba.npz").write_bytes(whole)
    assert read_answer(tmp_path, "fedcba") is None


@pytest.mark.parametrize("odd", [5, None, "x", [5], {"a": 1}, [["a", 5]]])
@pytest.mark.parametrize("name", ["rows", "draws", "left_out", "warned", "digest", "gaps", "scores"])
def test_a_file_of_a_stranger_whose_checksum_is_right_is_no_answer(name: str, odd: object, tmp_path: Path) -> None:
    write_answer(tmp_path, DIGEST, ANSWER)
    path = tmp_path / f"{DIGEST}.npz"
    with np.load(BytesIO(path.read_bytes()[:-SEAL_SIZE])) as arrays:
        parts = dict(arrays)
    facts = json.loads(parts["facts"].tobytes())
    for lie in ({**facts, name: odd}, {each: value for each, value in facts.items() if each != name}, [facts]):
        content = BytesIO()
        np.savez(content, **{**parts, "facts": np.frombuffer(json.dumps(lie).encode(), dtype=np.uint8)})
        path.write_bytes(sealed(content.getvalue()))
        assert read_answer(tmp_path, DIGEST) is None
    for content in (b"", b"junk", b"PK"):
        path.write_bytes(sealed(content))
        assert read_answer(tmp_path, DIGEST) is None


def cell(**changes: object) -> Cell:
    settings = {"measures": ("mac",), "max_lost": 0.2, "hdi_prob": 0.89, "draws": 25, "tune": 50, "chains": 4}
    given = {"embedding": pets.embedding(1), "study": pets.study(), "model": None, "seed": 1} | settings | changes
    one = [[given.pop(name)] for name in ("embedding", "study", "model", "seed")]
    return make_cells(*one, **given)[0]  # type: ignore[arg-type]


def test_the_hash_of_a_cell_changes_with_all_that_enters_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesbias.models.spec import load_model

    other = pets.embedding(1).vectors.copy()
    other[0, 0] += 1e-9
    changes: list[dict[str, object]] = [
        {},
        {"embedding": pets.embedding(2)},
        {"embedding": pets.bb.Embedding(words=pets.WORDS, vectors=other)},
        {"study": pets.study("others")},
        {"study": pets.study(protected={"cats": pets.WORDS[:2], "dogs": pets.WORDS[2:6]})},
        {"model": load_model("hierarchical")},
        {"model": load_model("hierarchical", priors={"sigma": "HalfNormal(0.2)"})},
        {"seed": 2},
        {"measures": ("mac", "weat")},
        {"max_lost": 0.1},
        {"hdi_prob": 0.5},
        {"draws": 26},
        {"tune": 51},
        {"chains": 3},
    ]
    digests = [cell(**change).digest for change in changes]
    with monkeypatch.context() as patch:
        patch.setattr("bayesbias.reports.audits.cells.package_version", lambda: "99")
        digests.append(cell().digest)
    assert len(set(digests)) == len(digests)
    assert cell().digest == digests[0]
    # Of settings that change no draw, the draws are the same.
    assert cell(hdi_prob=0.5, measures=("weat",)).fit_seed == cell().fit_seed != cell(seed=2).fit_seed


def test_other_words_of_an_embedding_and_its_name_change_nothing() -> None:
    here = pets.embedding(1)
    words, vectors = [*here.words, "fish"], np.vstack([here.vectors, np.ones(5)])
    more = pets.bb.Embedding(words=words, vectors=vectors, name="more")
    assert cell(embedding=more).digest == cell().digest
    assert cell(embedding=more, measures=("nbm",)).digest != cell(measures=("nbm",)).digest
    assert answer_cell(more, cell(embedding=more)).rows == answer_cell(here, cell()).rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        upper = pets.bb.Embedding(words=[word.upper() for word in pets.WORDS], vectors=here.vectors, case="upper")
        assert cell(embedding=upper).digest != cell().digest  # other forms of the words
