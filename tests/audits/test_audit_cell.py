"""Cells of an audit: their hashes stand for all that enters an answer, and their answers hold nothing else."""

import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.audits import audit_cell
from bayesbias.audits.audit_cell import AuditCell, interval_includes, make_cells, words_hash
from bayesbias.embeddings.language_models.vector_spread import ContextualEmbedding
from bayesbias.errors import BayesBiasWarning
from bayesbias.reports.plans.record import Region
from tests import third_group
from tests.audits import pets


def cell(**changes: object) -> AuditCell:
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
        {"region": Region(-0.02, 0.02)},
        {"region": Region(-0.02, 0.020000000000000004)},
        {"region": Region(-0.02, 0.02, standardised=True)},
        {"region": Region(-0.02, 0.02, unit="nats")},
        {"measures": ("mac", "ripa")},
    ]
    unchanged = {"embedding", "keep_fit"}  # names enter no answer, and fits are not kept
    changed = {name for change in changes for name in change} | {"vectors", "random_seed"}
    assert {field.name for field in fields(AuditCell)} - unchanged <= changed
    digests = [cell(**change).digest for change in changes]
    with monkeypatch.context() as patch:
        patch.setattr("bayesbias.audits.audit_cell.package_version", lambda: "99")
        digests.append(cell().digest)
    assert len(set(digests)) == len(digests)
    assert cell().digest == digests[0]
    # Of settings that change no draw, draws keep their order.
    one, same, other = (a.shuffled(np.arange(99)).tolist() for a in (cell(), cell(hdi_prob=0.5), cell(seed=2)))
    assert sorted(one) == list(range(99))
    assert one == same != other


def test_other_words_of_an_embedding_and_its_name_change_nothing() -> None:
    here = pets.embedding(1)
    words, vectors = [*here.words, "fish"], np.vstack([here.vectors, np.ones(5)])
    more = pets.bb.Embedding(words=words, vectors=vectors, name="more")
    assert cell(embedding=more).digest == cell().digest
    assert cell(embedding=more, measures=("nbm",)).digest != cell(measures=("nbm",)).digest
    rows = [
        audit_cell.answer(source).frames["rows"]
        for source, audit_cell in ((more, cell(embedding=more)), (here, cell()))
    ]
    pd.testing.assert_frame_equal(*rows, check_exact=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        upper = pets.bb.Embedding(words=[word.upper() for word in pets.WORDS], vectors=here.vectors, case="upper")
        assert cell(embedding=upper).digest != cell().digest  # other forms of the words


def over_contexts(**changes: object) -> ContextualEmbedding:
    here = pets.embedding(1)
    count = len(here)
    arrays = {
        "deviations": np.full((count, 2, 5), 0.01, dtype=np.float32),
        "contexts": np.full(count, 4),
        "pieces": np.full(count, 1),
        "paired": False,
    }
    return ContextualEmbedding(words=here.words, vectors=here.vectors, **(arrays | changes))


def test_what_intervals_are_made_of_enters_the_hash_of_a_cell() -> None:
    """Random words of a vocabulary and errors over contexts widen intervals: kept answers must not outlive them."""
    here, rng = pets.embedding(1), np.random.default_rng(1)
    samples = [rng.normal(size=(1200, 5)) for _ in range(2)]
    sampled = [bb.Embedding(words=here.words, vectors=here.vectors, vocabulary_sample=sample) for sample in samples]
    spreads = [
        over_contexts(),
        over_contexts(deviations=np.full((len(here), 2, 5), 0.02, dtype=np.float32)),
        over_contexts(paired=True),
        over_contexts(contexts=np.full(len(here), 5)),
    ]
    embeddings = [here, *sampled, *spreads]
    for measures in (("contrast",), ("nbm",)):
        assert len({cell(embedding=source, measures=measures).digest for source in embeddings}) == len(embeddings)
    assert cell(embedding=sampled[0]).digest == cell(embedding=bb.Embedding(**vars_of(sampled[0]))).digest
    assert [interval_includes(source) for source in (here, sampled[0], spreads[0])] == [
        "",
        "dependence of words",
        "choice of sentences",
    ]


def vars_of(source: bb.Embedding) -> dict[str, object]:
    return {"words": source.words, "vectors": source.vectors, "vocabulary_sample": source.vocabulary_sample}


def test_standardised_contrasts_stay_where_all_vectors_get_a_common_part():
    source = bb.load_embedding(bb.bundled("data", "vectors", "wikipedia2018_skipgram_seed1.npz"))
    shifted = bb.Embedding(source.words, source.vectors + 2 * source.vectors.std(), "shifted")
    contrast, spread = [], []
    for embedding in (source, shifted):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bb.errors.LostWordsWarning)
            table = bb.distance_table(embedding, "gender", max_lost=0.5)
        lists = ["connection", "protected_group", "attribute_group"]
        means = (
            table.groupby(lists, observed=True)["cosine_distance"].mean().groupby("connection", observed=True).mean()
        )
        contrast.append(means["associated"] - means["different"])
        spread.append(audit_cell._control_sd(table))
    assert contrast[0] / contrast[1] > 4
    assert contrast[0] / spread[0] == pytest.approx(contrast[1] / spread[1], rel=0.1)


def test_the_spread_of_control_pairs_is_that_without_the_means_of_words():
    rng = np.random.default_rng(1)
    rows, columns, single = rng.normal(size=(12, 1)), rng.normal(size=(1, 60)), 0.1 * rng.normal(size=(12, 60))
    distances = 1 + 0.1 * (rows + columns + single)
    pairs = [(f"p{row}", f"a{column}", "neutral", distances[row, column]) for row in range(12) for column in range(60)]
    table = pd.DataFrame(pairs, columns=["protected_word", "attribute_word", "connection", "cosine_distance"])
    # Of 649 degrees of freedom, the deviation is known to 2.8 %.
    assert audit_cell._control_sd(table) == pytest.approx(0.01, rel=0.11)
    assert np.isnan(audit_cell._control_sd(table.assign(connection="associated")))
    assert np.isnan(audit_cell._control_sd(table[table["protected_word"] == "p0"]))


def test_a_contrast_that_no_word_measures_is_left_out_and_the_gate_has_no_answer():
    """One group has associated words only, the other words of the other side only: differences are between groups."""
    rng = np.random.default_rng(1)
    lists = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3"], "x": [f"x{n}" for n in range(6)]}
    words = [word for of_list in lists.values() for word in of_list] + ["h1", "h2", "n1", "n2"]
    vectors = bb.Embedding(tuple(words), rng.normal(size=(len(words), 20)), name="e")
    study = bb.Study(
        name="one side",
        protected={"a": lists["a"], "b": lists["b"]},
        attributes={"x": lists["x"]},
        associated=[("a", "x")],
        human=["h1", "h2"],
        neutral=["n1", "n2"],
    )
    settings = {"model": "hierarchical", "draws": 200, "random_seed": 1, "progress": False}
    with pytest.warns(BayesBiasWarning, match="no protected word has both associated and different"):
        audit = bb.audit([vectors], [study], ["contrast", "mac"], **settings)
    assert audit["measure"].unique().tolist() == ["mac"]
    (question,) = bb.gate(audit, rope=0.5).questions.to_dict("records")
    assert question["outcome"] == "unanswered"
    assert "no protected word has both" in question["reason"]


def test_a_group_without_a_side_is_named_as_left_out_and_moves_nothing() -> None:
    source, audits = third_group.vectors(), []
    settings = {"measures": ["contrast"], "draws": 200, "random_seed": 1, "progress": False}
    for third in ("", "none", "both"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesBiasWarning)
            audits.append(bb.audit(source, [third_group.study(third)], model="hierarchical", **settings))
    without, *beside = audits
    for third, audit in zip(("none", "both"), beside, strict=True):
        np.testing.assert_allclose(audit["observed"], without["observed"])
        assert audit["protected_group"].tolist() == without["protected_group"].tolist()
        ((key, reason),) = audit.record.left_out.items()
        assert key[-1] == "contrast of people"
        assert third_group.LACKING[third]["people"] in reason


def test_the_hash_of_words_follows_their_forms_and_vectors() -> None:
    whole = pets.embedding(1)
    first = words_hash(whole, pets.study())
    upper = bb.Embedding(words=[word.upper() for word in whole.words], vectors=whole.vectors, case="upper")
    assert words_hash(upper, pets.study()) != first
    vectors = np.array(whole.vectors)
    vectors[whole.words.index("tom")] *= 2
    assert words_hash(bb.Embedding(words=whole.words, vectors=vectors), pets.study()) == first
    vectors[whole.words.index("tom")] = vectors[whole.words.index("cat")]
    assert words_hash(bb.Embedding(words=whole.words, vectors=vectors), pets.study()) != first


def test_the_hash_of_words_follows_their_sentences() -> None:
    """Templates with the same vectors and the same errors are another question all the same."""
    vectors = dict(zip(pets.embedding(1).words, pets.embedding(1).vectors, strict=True))

    def hash_in(*templates: str, words: list[str] | None = None) -> str:
        def encoder(texts: list[str]) -> list[np.ndarray]:
            return [vectors[text.split()[-1]] for text in texts]

        return words_hash(bb.encode(encoder, words or list(vectors), templates, name="toy"), pets.study())

    assert hash_in("A WORD") == hash_in("A WORD", words=[*vectors][::-1]) != hash_in("The WORD")
    assert hash_in("A WORD", "The WORD") != hash_in("A WORD", "One WORD")
    assert hash_in("WORD") == words_hash(pets.embedding(1), pets.study())
