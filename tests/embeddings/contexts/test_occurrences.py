"""Occurrences of words and phrases, against loops."""

import numpy as np

from bayesbias.embeddings.contexts.occurrences import Occurrences, shared_contexts


def test_the_nearest_places_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(4)

    def drawn() -> Occurrences:
        keys = np.unique(rng.integers(0, 300, size=50))
        return Occurrences(keys // 20, keys % 20, 1)

    for _ in range(20):
        cue, response = drawn(), drawn()
        shared = shared_contexts(cue, response)
        assert shared.contexts.tolist() == sorted(set(cue.contexts.tolist()) & set(response.contexts.tolist()))
        for context, one, other in zip(shared.contexts, shared.cue_words, shared.response_words, strict=True):
            mine, theirs = (occurrences.words[occurrences.contexts == context] for occurrences in (cue, response))
            assert one in mine
            assert other in theirs
            assert abs(one - other) == abs(mine[:, None] - theirs).min()


def test_phrases_are_those_of_the_text() -> None:
    """Against a plain search in contexts of letters, of phrases of one to three words."""
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("abc"), size=rng.integers(1, 30))) for _ in range(40)]
    places = {
        letter: np.array([(c, w) for c, text in enumerate(texts) for w, found in enumerate(text) if found == letter])
        for letter in "abc"
    }
    for phrase in ("a", "ab", "ba", "aa", "abc", "cba", "aaa"):
        parts = [Occurrences(*places[letter].T, 1) for letter in phrase]
        occurrences = Occurrences.following(parts)
        expected = [(c, w) for c, text in enumerate(texts) for w in range(len(text)) if text.startswith(phrase, w)]
        assert list(zip(occurrences.contexts.tolist(), occurrences.words.tolist(), strict=True)) == expected
        assert occurrences.length == len(phrase)
        assert occurrences.distinct.tolist() == sorted({context for context, _ in expected})
        inside = occurrences.inside(np.array([3, 17, 90]))
        assert set(inside.contexts.tolist()) == {context for context, _ in expected} & {3, 17}


def test_a_phrase_does_not_cross_contexts() -> None:
    first, second = Occurrences(np.array([0]), np.array([4]), 1), Occurrences(np.array([1]), np.array([5]), 1)
    assert len(Occurrences.following([first, second])) == 0
    assert len(Occurrences.following([])) == 0
    assert len(shared_contexts(first, second).contexts) == 0
