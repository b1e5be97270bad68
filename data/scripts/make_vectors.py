"""Train the bundled vectors: skip-gram on English Wikipedia, five seeds, only the words of the studies.

    python data/scripts/make_vectors.py CORPUS.txt.gz          (about 3 minutes a seed on one core)

CORPUS holds one article a line. The same corpus, seed and gensim give the same vectors. gensim is called as it is, and
so leaves out what an article has beyond 10,000 words (5 of 33,297 articles are longer); `bb.train_embeddings`, which
came later, gives it long documents in pieces.
"""

import argparse
import gzip
from pathlib import Path

import numpy as np
from gensim.models import Word2Vec

import bayesbias as bb
from bayesbias.embeddings import tokenize

FOLDER = Path(__file__).resolve().parents[1] / "vectors"
SEEDS = (1, 2, 3, 4, 5)


def wanted_words() -> set[str]:
    """Return the words of all bundled studies and control lists, lower-cased as the corpus is."""
    return {word.lower() for name in bb.list_studies() for word in bb.load_study(name).words}


def train_skipgram(texts: list[list[str]], seed: int) -> bb.Embedding:
    """Return skip-gram vectors of all words that occur 5 times, trained in one thread."""
    model = Word2Vec(vector_size=100, window=5, sg=1, negative=5, min_count=5, seed=seed, workers=1)
    model.build_vocab(texts)
    model.train(texts, total_examples=len(texts), epochs=5)
    return bb.Embedding(words=tuple(model.wv.index_to_key), vectors=model.wv.vectors)


def keep_wanted(embedding: bb.Embedding) -> dict[str, np.ndarray]:
    """Return the arrays of one file: the wanted words in order of their frequency, and their vectors."""
    wanted = wanted_words()
    rows = [row for row, word in enumerate(embedding.words) if word in wanted]
    return {
        "words": np.array([embedding.words[row] for row in rows]),
        "vectors": embedding.vectors[rows].astype(np.float32),
    }


def main() -> None:
    """Train and write one file a seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="gzipped text, one article a line")
    corpus = parser.parse_args().corpus
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        texts = [tokens for line in lines if (tokens := tokenize(line))]
    for seed in SEEDS:
        arrays = keep_wanted(train_skipgram(texts, seed))
        target = FOLDER / f"wikipedia2018_skipgram_seed{seed}.npz"
        np.savez_compressed(target, **arrays)
        print(f"{target.name}: {len(arrays['words'])} words, {target.stat().st_size / 1024:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
