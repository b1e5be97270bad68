"""Asymmetry of association: whether one word evokes another more than the reverse."""

from .ratios.agreement import cam as cam
from .ratios.agreement import directional_accuracy as directional_accuracy
from .ratios.alar import alar as alar
from .ratios.asymmetry_report import AsymmetryReport as AsymmetryReport
from .ratios.compare_norms import NormsComparison as NormsComparison
from .ratios.compare_norms import compare_norms as compare_norms
from .ratios.context_factors import context_factors as context_factors
from .ratios.differences import cam_difference as cam_difference
from .ratios.report import report as report
from .ratios.similarities import similarity as similarity
from .ratios.similarities import word_similarity as word_similarity
from .ratios.study_asymmetry import StudyAsymmetry as StudyAsymmetry
from .ratios.study_asymmetry import study_asymmetry as study_asymmetry
from .sources.conditional_sources import ConditionalSource as ConditionalSource
from .sources.conditional_sources import lar as lar
from .sources.evocation import Evocation as Evocation
from .sources.evocation import evocation as evocation
from .sources.evocation_prior import PowerLawPrior as PowerLawPrior
from .sources.masked_model import MaskedModel as MaskedModel
from .sources.masked_model import masked_model as masked_model
from .sources.norms import read_evocation as read_evocation
from .sources.norms import read_relations as read_relations
from .sources.relations import with_relations as with_relations
from .sources.static import StaticVectors as StaticVectors
from .sources.static import static as static
