"""Choose the bundled common words: random words among the frequent ones of English Wikipedia.

    python data/scripts/make_common_words.py CORPUS.txt.gz

CORPUS holds one article a line. Encoders have no vocabulary: what random words have in common in their vectors is
measured on these.
"""

import argparse
import gzip
from collections import Counter
from pathlib import Path

import numpy as np

from bayesbias.embeddings import tokenize

TARGET = Path(__file__).resolve().parents[1] / "common_words.toml"
FREQUENT, SKIPPED, WORDS, SEED = 8_000, 100, 1_200, 1


def common_words(corpus: Path) -> list[str]:
    """Return random words among the frequent ones, without the most frequent, which carry grammar and not meaning."""
    counts: Counter[str] = Counter()
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for line in lines:
            counts.update(tokenize(line))
    words = [word for word, _ in counts.most_common() if word.isalpha() and word.isascii() and len(word) > 2]
    chosen = np.random.default_rng(SEED).choice(words[SKIPPED:FREQUENT], WORDS, replace=False)
    return sorted(map(str, chosen))


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="gzipped text, one article a line")
    words = common_words(parser.parse_args().corpus)
    lines = [
        "# Random words among the 8,000 most frequent ones of 33,297 articles of the English Wikipedia of 2018",
        "# (data/scripts/make_common_words.py). Encoders have no vocabulary: these stand for it.",
        'language = "en"',
        'source = "English Wikipedia, 2018"',
        "words = [",
        *[f'    "{word}",' for word in words],
        "]",
    ]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(words):,} words")


if __name__ == "__main__":
    main()
