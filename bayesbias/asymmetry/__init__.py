"""Asymmetry: what one word evokes of another, and the other way round.

`evocation`, `static` and others are sources of P(b given a); `lar` asks any of them both ways. `alar`, `cam`,
`directional_accuracy` and `similarity` say what pairs show together, `report` all of it, and
`study_asymmetry` what the words of a study do.
"""

from bayesbias.asymmetry.agreement import cam, directional_accuracy, similarity
from bayesbias.asymmetry.alar import alar
from bayesbias.asymmetry.evocation import Evocation, evocation
from bayesbias.asymmetry.evocation_prior import PowerLawPrior
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
    "PowerLawPrior",
    "StaticVectors",
    "StudyAsymmetry",
    "alar",
    "cam",
    "directional_accuracy",
    "evocation",
    "lar",
    "read_evocation",
    "read_relations",
    "report",
    "similarity",
    "static",
    "study_asymmetry",
    "with_relations",
]
