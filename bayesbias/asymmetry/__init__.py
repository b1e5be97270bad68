"""Asymmetry of association: whether one word evokes another more than the reverse.

`evocation`, `static` and `masked_model` are sources of P(b given a), and `lar` compares both directions of pairs with
any of them. `alar`, `cam`, `cam_difference`, `directional_accuracy` and `similarity` summarise pairs, `report` combines
these, `compare_norms` compares norms, `word_similarity` compares a source with people's scores of similarity, and
`study_asymmetry` analyses the words of a study. `context_factors` relates the accuracy of a language model to its
contexts.
"""

from bayesbias.asymmetry.ratios.agreement import cam, directional_accuracy
from bayesbias.asymmetry.ratios.alar import alar
from bayesbias.asymmetry.ratios.asymmetry_report import AsymmetryReport
from bayesbias.asymmetry.ratios.compare_norms import NormsComparison, compare_norms
from bayesbias.asymmetry.ratios.context_factors import context_factors
from bayesbias.asymmetry.ratios.differences import cam_difference
from bayesbias.asymmetry.ratios.report import report
from bayesbias.asymmetry.ratios.similarities import similarity, word_similarity
from bayesbias.asymmetry.ratios.study_asymmetry import StudyAsymmetry, study_asymmetry
from bayesbias.asymmetry.sources.conditional_sources import ConditionalSource, lar
from bayesbias.asymmetry.sources.evocation import Evocation, evocation
from bayesbias.asymmetry.sources.evocation_prior import PowerLawPrior
from bayesbias.asymmetry.sources.masked_model import MaskedModel, masked_model
from bayesbias.asymmetry.sources.norms import read_evocation, read_relations
from bayesbias.asymmetry.sources.relations import with_relations
from bayesbias.asymmetry.sources.static import StaticVectors, static

__all__ = [
    "AsymmetryReport",
    "ConditionalSource",
    "Evocation",
    "MaskedModel",
    "NormsComparison",
    "PowerLawPrior",
    "StaticVectors",
    "StudyAsymmetry",
    "alar",
    "cam",
    "cam_difference",
    "compare_norms",
    "context_factors",
    "directional_accuracy",
    "evocation",
    "lar",
    "masked_model",
    "read_evocation",
    "read_relations",
    "report",
    "similarity",
    "static",
    "study_asymmetry",
    "with_relations",
    "word_similarity",
]
