"""Asymmetry: what one word evokes of another, and the other way round.

`evocation`, `static` and `masked_model` are sources of P(b given a); `lar` asks any of them both ways. `alar`, `cam`,
`directional_accuracy` and `similarity` say what pairs show together, `report` all of it, and
`study_asymmetry` what the words of a study do. `context_factors` says what the contexts of a language model have to do
with how often it is right.
"""

from bayesbias.asymmetry.ratios.agreement import cam, directional_accuracy, similarity
from bayesbias.asymmetry.ratios.alar import alar
from bayesbias.asymmetry.ratios.context_factors import context_factors
from bayesbias.asymmetry.ratios.report import AsymmetryReport, report
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
