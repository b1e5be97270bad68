"""Random lists, against distances of single vectors."""

import numpy as np

import bayesbias as bb
from bayesbias.models.data import model_data
from bayesbias.reports.robustness.random_lists import list_members, random_lists
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
