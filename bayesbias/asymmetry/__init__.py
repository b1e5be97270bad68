"""Asymmetry of association: whether one word evokes another more than the reverse.

`evocation`, `static` and `masked_model` are sources of P(b given a), and `lar` compares both directions of pairs with
any of them. `alar`, `cam`, `directional_accuracy` and `similarity` summarise pairs, `report` combines these, and
`study_asymmetry` analyses the words of a study. `context_factors` relates the accuracy of a language model to its
contexts.
"""

from bayesbias.asymmetry.agreement import cam, directional_accuracy, similarity
from bayesbias.asymmetry.alar import alar
from bayesbias.asymmetry.context_factors import context_factors
from bayesbias.asymmetry.evocation import Evocation, evocation
from bayesbias.asymmetry.evocation_prior import PowerLawPrior
from bayesbias.asymmetry.masked_model import MaskedModel, masked_model
from bayesbias.asymmetry.norms import read_evocation, read_relations
from bayesbias.asymmetry.relations import with_relations
from bayesbias.asymmetry.report import AsymmetryReport, report
from bayesbias.asymmetry.sources import ConditionalSource, lar
from bayesbias.asymmetry.static import StaticVectors, static
from bayesbias.asymmetry.study_asymmetry import StudyAsymmetry, study_asymmetry

__all__ = [
    "AsymmetryReport",
    "ConditionalSource",
    "Evocation",
    "MaskedModel",
    "PowerLawPrior",
    "StaticVectors",
    "StudyAsymmetry",
    "alar",
    "cam",
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
]
