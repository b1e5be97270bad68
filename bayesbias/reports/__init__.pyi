"""Reports: statements and tables of numbers, computed from a fit or from several embeddings."""

from .axes.projection import Projection as Projection
from .checks.posterior_check import PosteriorCheck as PosteriorCheck
from .checks.prior_check import PriorCheck as PriorCheck
from .covariates.covariate_effect import CovariateEffect as CovariateEffect
from .fit_report import FitReport as FitReport
from .measures.false_positive_rates import FalsePositiveRates as FalsePositiveRates
from .measures.false_positive_rates import false_positive_rates as false_positive_rates
from .measures.mac_shares import MacShares as MacShares
from .measures.mac_shares import mac_shares as mac_shares
from .measures.measure_posterior import MeasurePosterior as MeasurePosterior
from .measures.null_simulation import NullSimulation as NullSimulation
from .measures.null_simulation import null_share as null_share
from .measures.null_simulation import simulate_null as simulate_null
from .plans.frozen_plan import FrozenPlan as FrozenPlan
from .plans.frozen_plan import read_plan as read_plan
from .plans.frozen_plan import write_plan as write_plan
from .plans.registration import registration_text as registration_text
from .posterior.estimate_tables import EstimateTables as EstimateTables
from .posterior.estimate_tables import paper_table as paper_table
from .posterior.factor_effects import FactorEffects as FactorEffects
from .robustness.model_comparison import ModelComparison as ModelComparison
from .robustness.random_list_check import RandomListCheck as RandomListCheck
from .robustness.sensitivity import Sensitivity as Sensitivity
from .robustness.study_size import StudySizes as StudySizes
from .word_check import WordCheck as WordCheck
