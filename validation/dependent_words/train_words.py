"""Train skip-gram vectors with the settings of the bundled ones, for the cells of `dependent_words.py` that have them.

    python validation/dependent_words/train_words.py CORPUS.txt.gz OUTPUT.npz          (about 3 minutes on one core)

CORPUS holds one article a line. The 20,000 most frequent words are kept; the bundled vectors have those of studies.
"""

import argparse
import gzip
import sys
from pathlib import Path

import bayesbias as bb
from bayesbias.embeddings import tokenize

sys.path.append(str(Path(__file__).resolve().parents[2] / "data" / "scripts"))

from make_vectors import train_skipgram

WORDS = 20_000


def main() -> None:
    """Write the vectors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="gzipped text, one article a line")
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    with gzip.open(given.corpus, "rt", encoding="utf-8") as lines:
        texts = [tokens for line in lines if (tokens := tokenize(line))]
    trained = train_skipgram(texts, 1)
    bb.write_embedding(bb.Embedding(trained.words[:WORDS], trained.vectors[:WORDS]), given.output, overwrite=True)


if __name__ == "__main__":
    main()
