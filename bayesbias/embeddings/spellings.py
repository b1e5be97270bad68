"""Why a vocabulary lacks a word: another case, accents, form, script, or spaces; and the words that are spelt alike."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice

from bayesbias.embeddings.case_rules import FORMS

# Near spellings are sought, and scripts counted, among the words that come first, which are usually the most frequent.
MOST_ALIKE = 100_000
_MOST_SCRIPTS = 10_000
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
# Writing systems that use several scripts.
_SAME_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def scripts(text: str) -> set[str]:
    """Return the scripts of the letters of a text.

    >>> scripts("Männer"), scripts("2-3")
    ({'LATIN'}, set())
    """
    names = {unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in text if letter.isalpha()}
    return {_SAME_SCRIPT.get(name, name) for name in names if name}


def other_spellings(word: str) -> Iterable[tuple[str, str]]:
    """Yield (reason, spelling) of a word, the likeliest first."""
    for name in ("lower", "title", "upper"):
        yield "case", FORMS[name](word)
    yield "normal form", unicodedata.normalize("NFKC", word)
    for spelling in (FORMS["unaccented"](word), word.translate(_TRANSCRIBED)):
        yield "accents", spelling
        yield "accents and case", spelling.lower()
        yield "accents and case", spelling.title()
    for joint in ("_", "-", ""):
        joined = joint.join(word.split())
        yield "spaces", joined
        yield "spaces and case", joined.lower()


class Spellings:
    """A vocabulary in which the reasons for lost words can be sought.

    Parameters
    ----------
    vocabulary
        Words in normal form, the most frequent first, with their places from 1.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.vocabulary = vocabulary
        counts = Counter(script for word in islice(vocabulary, _MOST_SCRIPTS) for script in scripts(word))
        self.scripts = {script for script, count in counts.items() if 1000 * count >= counts.total()}
        self._alike: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in islice(vocabulary, MOST_ALIKE):
            self._alike[word[:1].casefold(), len(word)].append(word)

    def reason(self, word: str) -> tuple[str, tuple[str, ...]]:
        """Return why a word is lost, and at most three spellings that the vocabulary has.

        >>> Spellings({"Männer": 1, "frau": 2}).reason("männer")
        ('case', ('Männer',))
        """
        for reason, spelling in other_spellings(word):
            if spelling != word and spelling in self.vocabulary:
                return reason, (spelling,)
        letters = scripts(word)
        if len(letters) > 1:
            return f"mixed scripts ({', '.join(sorted(letters))})", ()
        if letters and self.scripts and not letters & self.scripts:
            return f"script ({', '.join(letters)}; the vocabulary is {', '.join(sorted(self.scripts))})", ()
        alike = [
            near
            for length in range(len(word) - 2, len(word) + 3)
            for near in self._alike.get((word[:1].casefold(), length), ())
        ]
        near = tuple(get_close_matches(word, alike, n=3, cutoff=0.75))
        return ("several words" if " " in word else "absent"), near
