"""Measures that give one number for a study in an embedding, each with its conventions.

All measures take their first arguments alike:

embedding
    An `Embedding`, or what stands for one (`bayesbias.embeddings.EmbeddingLike`).
study
    A `Study`, the name of a bundled one, the path of a TOML file, or lists by name: X, Y, A, B, of which X and Y
    are protected, A and B attributes, A is associated with X, and B with Y (`bayesbias.studies.study.StudyLike`). Some
    measures take more or fewer lists by name, and say so.
targets, attributes
    Names of the protected groups X and Y that are compared, which may be left out where the study has exactly two; and
    of the attribute groups (or the control lists ``"human"`` and ``"neutral"``) that they are compared on.
max_lost
    The share of a list's words that the embedding may lack, from 0 to 1; a list that lost more is a `LostWordsError`.

Scores of a whole embedding (`EMBEDDING_MEASURES`) take an embedding and words or a file, and no `max_lost`: what the
embedding lacks of many items stands in the score (`lost`, `coverage`).

All of them warn with a `LostWordsWarning` if the embedding lacks some words, with a `DuplicatesWarning` if several
words of a list match the same vector, and raise a `MeasureError` or an `ArgumentError` if an argument is not usable.
"""

# Loaded at once, not when first used: several functions bear the name of their file, and Python would
# otherwise put the file in the function's place. The files are light; what is heavy is imported inside functions.
from bayesbias.metrics.associations.mac import mac
from bayesbias.metrics.associations.mean_vectors import ect, rnd
from bayesbias.metrics.associations.rnsb import rnsb
from bayesbias.metrics.associations.semaxis import semaxis
from bayesbias.metrics.associations.single_category import normalized_association_score, sc_weat
from bayesbias.metrics.associations.weat import weat
from bayesbias.metrics.directions.direct_bias import GENDER_PAIRS, Direction, direct_bias, gender_direction
from bayesbias.metrics.directions.neighbours import nearest_neighbours
from bayesbias.metrics.directions.word_scores import load_base_pairs, word_scores
from bayesbias.metrics.embedding_registry import EMBEDDING_MEASURES, EmbeddingMeasure, score_embedding
from bayesbias.metrics.embedding_scores.paired_change import paired_change
from bayesbias.metrics.embedding_scores.result import EmbeddingScore
from bayesbias.metrics.embedding_scores.statistics import Quantity
from bayesbias.metrics.intrinsic.biased_words import neutral_words
from bayesbias.metrics.intrinsic.clustering import clustering
from bayesbias.metrics.intrinsic.proximity import gipe, indirect_bias
from bayesbias.metrics.intrinsic.recoverability import CLASSIFIERS, recoverability
from bayesbias.metrics.intrinsic.sembias import sembias
from bayesbias.metrics.intrinsic.vocabulary import midb, vocabulary_direct_bias
from bayesbias.metrics.look_up import FoundLists
from bayesbias.metrics.quality.analogies import analogies
from bayesbias.metrics.quality.benchmark_files import read_analogies, read_sembias, read_similarity
from bayesbias.metrics.quality.similarity import word_similarity
from bayesbias.metrics.registry import MEASURES, Measure, measure
from bayesbias.metrics.result import MeasureResult
from bayesbias.metrics.significance.permutation_test import PermutationTest
from bayesbias.metrics.significance.t_tests import TTest, mac_t_tests, t_tests
from bayesbias.metrics.similarities import Similarities, SimilarityMeasure
from bayesbias.metrics.subspaces.canonical_subspace import canonical_subspace, congruences, subspace_similarity
from bayesbias.metrics.subspaces.consistency import index_of_inconsistency, subset_consistency
from bayesbias.metrics.subspaces.kindel_comparison import kindel_comparison
from bayesbias.metrics.subspaces.lattice import Lattice, lattice
from bayesbias.metrics.subspaces.leave_one_word_out import leave_one_word_out
from bayesbias.metrics.subspaces.mean_cosine import weat_score
from bayesbias.metrics.subspaces.randomisation_nulls import RandomisationNulls, randomisation_nulls, study_nulls

__all__ = [
    "CLASSIFIERS",
    "EMBEDDING_MEASURES",
    "GENDER_PAIRS",
    "MEASURES",
    "Direction",
    "EmbeddingMeasure",
    "EmbeddingScore",
    "FoundLists",
    "Lattice",
    "Measure",
    "MeasureResult",
    "PermutationTest",
    "Quantity",
    "RandomisationNulls",
    "Similarities",
    "SimilarityMeasure",
    "TTest",
    "analogies",
    "canonical_subspace",
    "clustering",
    "congruences",
    "direct_bias",
    "ect",
    "gender_direction",
    "gipe",
    "index_of_inconsistency",
    "indirect_bias",
    "kindel_comparison",
    "lattice",
    "leave_one_word_out",
    "load_base_pairs",
    "mac",
    "mac_t_tests",
    "measure",
    "midb",
    "nearest_neighbours",
    "neutral_words",
    "normalized_association_score",
    "paired_change",
    "randomisation_nulls",
    "read_analogies",
    "read_sembias",
    "read_similarity",
    "recoverability",
    "rnd",
    "rnsb",
    "sc_weat",
    "score_embedding",
    "semaxis",
    "sembias",
    "study_nulls",
    "subset_consistency",
    "subspace_similarity",
    "t_tests",
    "vocabulary_direct_bias",
    "weat",
    "weat_score",
    "word_scores",
    "word_similarity",
]
