"""Measures of a study in an embedding, and scores of a whole embedding, each with its conventions.

Measures of a study compare word lists of protected groups (X, Y, ...) with attribute lists (A, B, ...). A study given
as a mapping lists X, Y, A, B in this order: A is associated with X, and B with Y. Attribute lists may be the control
lists ``"human"`` and ``"neutral"``. A list that lost more than the share `max_lost` of its words raises a
`LostWordsError`.

Scores of a whole embedding (`EMBEDDING_MEASURES`) use words or the items of a file. They have no `max_lost`: the items
that the embedding lacks are listed in the score (`lost`, `coverage`).

All of them give a `LostWordsWarning` if the embedding lacks some words and a `DuplicatesWarning` if several words of a
list match the same vector, and raise a `MeasureError` or an `ArgumentError` if an argument is not usable.
"""

# Imported eagerly: several functions have the name of their module, which a lazy import would return instead of the
# function. The modules are light; heavy dependencies are imported inside functions.
from bayesbias.metrics.associations.mac import mac
from bayesbias.metrics.associations.mean_vectors import ect, rnd
from bayesbias.metrics.associations.rnsb import rnsb
from bayesbias.metrics.associations.semaxis import semaxis
from bayesbias.metrics.associations.single_category import normalized_association_score, sc_weat
from bayesbias.metrics.associations.weat import weat
from bayesbias.metrics.directions.direct_bias import direct_bias
from bayesbias.metrics.directions.direction import GENDER_PAIRS, Direction, gender_direction
from bayesbias.metrics.directions.direction_posterior import DirectionPosterior, direction_posterior
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
    "DirectionPosterior",
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
    "direction_posterior",
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
