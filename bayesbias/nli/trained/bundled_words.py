"""The words of the bundled test sets."""

import re

from bayesbias.base.files.inputs import bundled
from bayesbias.nli.test_sets.definition import read_definition
from bayesbias.nli.test_sets.generation import list_test_sets
from bayesbias.nli.trained.sentences import words_of


def bundled_words() -> set[str]:
    """Return the words of the bundled test sets."""
    words = set()
    for name in list_test_sets():
        definition = read_definition(bundled("data", "nli", f"{name}.toml"))
        texts = [re.sub(r"\{\w*\}", " ", template) for template in (definition.premise, definition.hypothesis)]
        # A sentence may begin with these, and then with a capital.
        first = [*map(definition.articles.put, definition.subjects), *(text for _, text, _ in definition.words)]
        texts += [*definition.subjects, *first, *(text[:1].upper() + text[1:] for text in first)]
        texts += [f"{verb} {thing}" for verb, _, thing in definition.pairs]
        words |= {word for text in texts for word in words_of(text)}
    return words
