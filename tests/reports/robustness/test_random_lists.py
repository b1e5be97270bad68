"""Random lists, against distances of single vectors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.metrics.subspaces.randomisation_nulls import word_rows
from bayesbias.models.data import model_data
from bayesbias.models.multivariate.attribute_sample import attribute_sample
from bayesbias.reports.robustness.random_lists import list_members, list_tests, random_lists, weat_lists
from tests.models.dependent_words import SAMPLE
from tests.reports.random_letters import noise, study


def test_random_tables_are_distance_tables_of_studies_with_other_words() -> None:
    embedding = noise()
    letters = study(embedding)
    data = model_data(bb.distance_table(embedding, letters))
    lists = random_lists(embedding, letters, data, vocabulary=None, match="rank", window=40)
    (drawn, distances), _ = lists.tables(2, np.random.default_rng(1))
    of_controls = np.setdiff1d(np.arange(len(data.attribute_words)), lists.drawn)
    np.testing.assert_array_equal(distances[:, of_controls], lists.distances[:, of_controls])
    # Each drawn column is that of a word of the vocabulary, all different, and none of the study.
    units = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    every = 1 - lists.protected @ units.T
    match = [int(np.argmin(np.abs(every - column[:, None]).sum(axis=0))) for column in distances[:, lists.drawn].T]
    np.testing.assert_allclose(every[:, match], distances[:, lists.drawn], atol=1e-12)
    assert len(set(match)) == 12
    assert not {embedding.words[place] for place in match} & set(letters.words)
    # Nearest in rank to the study's first words, which stand at the top of the embedding.
    assert max(match) < 36 + 40
    np.testing.assert_array_equal(drawn.distance, distances[data.protected, data.attribute])
    np.testing.assert_array_equal(drawn.connection, data.connection)


def test_members_are_the_positions_of_the_words_that_a_table_has() -> None:
    embedding = noise()
    letters = study(embedding)
    data = model_data(bb.distance_table(embedding, letters).query("attribute_word != 'aap'"))
    members = list_members(letters, data)
    for name, words in letters.attributes.items():
        assert data.attribute_words[members[name]].tolist() == [word for word in words if word != "aap"]
    assert sorted(map(len, members.values())) == [5, 6]


def real_words() -> bb.Embedding:
    """The random words of real vectors, with names of letters."""
    return bb.Embedding(words=noise(len(SAMPLE)).words, vectors=SAMPLE, vocabulary_sample=SAMPLE, name="real")


def topical(embedding: bb.Embedding, size: int = 8) -> bb.Study:
    """A study of two topics and of random protected words."""
    letters, units = study(embedding, controls=0, words_per_list=size), embedding.vectors
    nearest = [np.argsort(-(units @ units[head]))[:size] for head in (400, 700)]
    lists = {f"a{place}": [embedding.words[row] for row in rows] for place, rows in enumerate(nearest)}
    return replace(letters, attributes=lists)


@pytest.mark.parametrize("match", ["rank", "coherence"])
def test_drawn_lists_are_worth_what_tables_of_their_words_say(match: str) -> None:
    embedding = real_words()
    letters = topical(embedding)
    table = bb.distance_table(embedding, letters)
    data = model_data(table)
    lists = random_lists(embedding, letters, data, vocabulary=None, match=match, window=900)
    every, effects = 1 - lists.protected @ embedding.vectors.T, []
    for drawn, distances in lists.tables(6, np.random.default_rng(1)):
        rows = [int(np.argmin(np.abs(every - column[:, None]).sum(axis=0))) for column in distances.T]
        words = {str(word): embedding.words[row] for word, row in zip(data.attribute_words, rows, strict=True)}
        other = {name: [words[word] for word in members] for name, members in letters.attributes.items()}
        made = attribute_sample(model_data(bb.distance_table(embedding, replace(letters, attributes=other))))
        sample = attribute_sample(drawn)
        np.testing.assert_allclose(sample.list_effects, made.list_effects, atol=1e-3)
        effects.append(sample.list_effects)
    assert np.ptp(effects) > 0


def test_drawn_topics_are_as_coherent_as_the_lists_of_the_study() -> None:
    embedding = real_words()
    letters = topical(embedding)
    data = model_data(bb.distance_table(embedding, letters))
    lists = random_lists(embedding, letters, data, vocabulary=None, match="coherence", window=900)
    every, cosines = 1 - lists.protected @ embedding.vectors.T, []
    for _, distances in lists.tables(40, np.random.default_rng(1)):
        rows = np.array([int(np.argmin(np.abs(every - column[:, None]).sum(axis=0))) for column in distances.T])
        assert len(set(rows)) == len(rows)
        of_lists = [embedding.vectors[rows[members]] for members in lists.members]
        cosines.append([(vectors @ vectors.T)[np.triu_indices(8, 1)].mean() for vectors in of_lists])
    study_cosines = [
        (embedding.vectors[word_rows(embedding, words)] @ embedding.vectors[word_rows(embedding, words)].T)[
            np.triu_indices(8, 1)
        ].mean()
        for words in letters.attributes.values()
    ]
    np.testing.assert_allclose(np.mean(cosines, axis=0), study_cosines, atol=0.06)
    by_rank = random_lists(embedding, letters, data, vocabulary=None, match="rank", window=900)
    (_, distances) = next(by_rank.tables(1, np.random.default_rng(1)))
    rows = [int(np.argmin(np.abs(every - column[:, None]).sum(axis=0))) for column in distances.T]
    assert embedding.vectors[rows].mean(axis=0) @ embedding.vectors[rows].mean(axis=0) < min(study_cosines)


def test_each_sample_has_the_numbers_of_its_own_table() -> None:
    embedding = noise()
    letters = study(embedding)
    data = model_data(bb.distance_table(embedding, letters))
    lists = random_lists(embedding, letters, data, vocabulary=None, match=None, window=1000)
    tables = list(lists.tables(3, np.random.default_rng(1)))
    weat = weat_lists(letters, data)
    assert weat is not None
    frames = list_tests(np.stack([distances for _, distances in tables]), lists, weat, seed=1)
    by_method = {frame["method"].iloc[0]: frame for frame in frames}
    assert list(by_method) == ["weat", "t_test_preaveraged", "t_test_raw", "mac_t_test"]
    for sample, (table, distances) in enumerate(tables):
        near, far = (
            table.distance[table.connection == table.connections.index(name)] for name in ("associated", "different")
        )
        raw = by_method["t_test_raw"].iloc[sample]
        assert raw["value"] == pytest.approx(near.mean() - far.mean())
        assert raw["p_value"] == pytest.approx(stats.ttest_ind(near, far, equal_var=False).pvalue)
        averages = [distances[:, members].mean(axis=1) for members in lists.members]
        mac = by_method["mac_t_test"].iloc[sample]
        assert mac["value"] == pytest.approx(np.mean(averages) - 1)
        assert mac["p_value"] == pytest.approx(stats.ttest_1samp(np.concatenate(averages), 1).pvalue)
        similarity = 1 - distances
        s_x, s_y = (
            similarity[group][:, weat.a].mean(axis=1) - similarity[group][:, weat.b].mean(axis=1)
            for group in (weat.x, weat.y)
        )
        effect = (s_x.mean() - s_y.mean()) / np.concatenate([s_x, s_y]).std(ddof=1)
        assert by_method["weat"].iloc[sample]["value"] == pytest.approx(effect)
    for frame in frames:
        assert (frame["claims"] == (frame["p_value"] < 0.05)).all()


def test_weat_needs_two_groups_with_a_list_of_their_own() -> None:
    embedding = noise()
    letters = study(embedding)
    data = model_data(bb.distance_table(embedding, letters))
    assert weat_lists(letters, data) is not None
    shared = replace(letters, associated=[("x0", "a0"), ("x1", "a0")], neutral="none")
    assert weat_lists(shared, data) is None
    three = study(embedding, groups=3)
    assert weat_lists(three, model_data(bb.distance_table(embedding, three))) is None
