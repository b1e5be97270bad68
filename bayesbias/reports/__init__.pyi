"""Reports: statements and tables of numbers, computed from a fit or from several embeddings."""

from .audits.audit_frame import AuditFrame as AuditFrame
from .audits.audit_frame import AuditRecord as AuditRecord
from .audits.audit_report import AuditReport as AuditReport
from .audits.gate import GateResult as GateResult
from .audits.ranks import Ranks as Ranks
from .audits.ranks import rank as rank
from .axes.projection import Projection as Projection
from .changes.result import Changes as Changes
from .checks.posterior_check import PosteriorCheck as PosteriorCheck
from .checks.prior_check import PriorCheck as PriorCheck
from .covariates.covariate_effect import CovariateEffect as CovariateEffect
from .debiasing.report import DebiasReport as DebiasReport
from .debiasing.report import measure_correlations as measure_correlations
from .embeddings.trainings import TrainingComparison as TrainingComparison
from .embeddings.word_check import WordCheck as WordCheck
from .fit_report import FitReport as FitReport
from .measures.false_positive_rates import false_positive_rates as false_positive_rates
from .measures.mac_shares import mac_shares as mac_shares
from .measures.measure_posterior import MeasurePosterior as MeasurePosterior
from .measures.null_simulation import null_share as null_share
from .measures.null_simulation import simulate_null as simulate_null
from .robustness.model_comparison import ModelComparison as ModelComparison
from .robustness.random_list_check import RandomListCheck as RandomListCheck
from .robustness.sensitivity import Sensitivity as Sensitivity
from .robustness.study_size import StudySizes as StudySizes
