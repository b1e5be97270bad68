"""Training of embeddings over seeds.

A corpus is read into numbers of words and their co-occurrences (`corpus`), an algorithm trains on it with each seed
(`gensim_trainers`, or `glove` with `glove_sweeps`), and the vectors of each seed are written to a file (`trained`).
`glove_variance` has the covariances of GloVe's vectors, computed or read.
"""

from bayesbias.embeddings.training.corpus import CorpusLike, tokenize
from bayesbias.embeddings.training.glove_variance import VectorVariance, glove_variance, read_glove_variance
from bayesbias.embeddings.training.train import ALGORITHMS, train_embeddings
from bayesbias.embeddings.training.trained import TrainedEmbeddings, read_embeddings

__all__ = [
    "ALGORITHMS", "CorpusLike", "TrainedEmbeddings", "VectorVariance", "glove_variance", "read_embeddings",
    "read_glove_variance", "tokenize", "train_embeddings",
]  # fmt: skip
