"""Add random words of the vocabulary to the bundled vectors, which hold the words of the studies only.

    python data/scripts/make_vocabulary_sample.py CORPUS.txt.gz          (about 3 minutes on one core)

The bundled vectors were trained with gensim on another machine, whose arithmetic gives other numbers. So the vectors
are trained once more with the same corpus and settings, and random words of this training are turned onto each bundled
file by the rotation that brings the shared words nearest to each other (orthogonal Procrustes). A rotation keeps all
cosines of the random words: what chance resemblance is in vectors of this kind. `distance_table` needs nothing else.
"""

import argparse
import gzip
from pathlib import Path

import numpy as np
from make_vectors import FOLDER, train_skipgram
from scipy.linalg import orthogonal_procrustes

import bayesbias as bb
from bayesbias.base.arrays import unit_rows
from bayesbias.embeddings import tokenize
from bayesbias.embeddings.vocabulary_sample import FEWEST

FILES = (
    *(f"wikipedia2018_skipgram_seed{seed}.npz" for seed in range(1, 6)),
    *(f"planted_drift/{y}.npz" for y in range(1950, 2000, 10)),
)


def rotated_sample(trained: bb.Embedding, path: Path) -> np.ndarray:
    """Return unit vectors of random words of a training, turned onto the vectors of a file."""
    with np.load(path) as arrays:
        words, vectors = arrays["words"].tolist(), arrays["vectors"].astype(float)
    shared = [row for row, word in enumerate(words) if word.lower() in trained]
    rotation, _ = orthogonal_procrustes(
        unit_rows(trained.matrix([words[row].lower() for row in shared])), unit_rows(vectors[shared])
    )
    assert trained.reference is not None
    return (trained.reference[:FEWEST] @ rotation).astype(np.float16)


def main() -> None:
    """Train, and write the sample into each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="gzipped text, one article a line")
    corpus = parser.parse_args().corpus
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        texts = [tokens for line in lines if (tokens := tokenize(line))]
    trained = train_skipgram(texts, 1)
    for name in FILES:
        path = FOLDER / name
        with np.load(path) as arrays:
            stored = {key: arrays[key] for key in arrays.files if key != "vocabulary_sample"}
        np.savez_compressed(path, **stored, vocabulary_sample=rotated_sample(trained, path))
        print(f"{name}: {path.stat().st_size / 1024:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
