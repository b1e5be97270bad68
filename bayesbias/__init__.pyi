"""Associations in word embeddings with honest uncertainty."""

# Rooms that are used by their own name: bb.metrics.weat(...).
from . import asymmetry as asymmetry
from . import audits as audits
from . import changes as changes
from . import cosine_regressions as cosine_regressions
from . import debias as debias
from . import embeddings as embeddings
from . import errors as errors
from . import estimates as estimates
from . import geometry as geometry
from . import metrics as metrics
from . import models as models
from . import nli as nli
from . import reliability as reliability
from . import reports as reports
from . import studies as studies

# Many questions at once.
from .audits.audit import audit as audit
from .audits.debias_report import debias_report as debias_report

# Checks.
from .audits.gate import gate as gate

# Word lists, embeddings, tables.
from .base import results as results
from .base.files.inputs import bundled as bundled
from .changes.compare import compare_embeddings as compare_embeddings
from .changes.trainings import compare_trainings as compare_trainings
from .changes.trend import trend as trend

# Delivery.
from .delivery import plots as plots
from .delivery import write as write
from .embeddings.embedding import Embedding as Embedding
from .embeddings.embedding import EmbeddingLike as EmbeddingLike
from .embeddings.embedding_files import write_embedding as write_embedding
from .embeddings.encoders import encode as encode
from .embeddings.loading import load_embedding as load_embedding

# Models.
from .models.fits import read_fit as read_fit
from .models.fits import write_fit as write_fit
from .models.pymc_form import pymc_model as pymc_model
from .models.sampling import fit as fit
from .models.spec import ModelSpec as ModelSpec
from .models.spec import list_models as list_models
from .models.spec import load_model as load_model
from .models.user_fits import as_fit as as_fit
from .reports.axes.project import project as project
from .reports.checks.posterior_check import check_posterior as check_posterior
from .reports.checks.prior_check import check_prior as check_prior
from .reports.covariates.covariate_effect import covariate_effect as covariate_effect

# What a fit shows.
from .reports.fit_report import report as report
from .reports.measures.measure_posterior import measure_posterior as measure_posterior
from .reports.methods import methods as methods
from .reports.posterior.conclusions import conclusions as conclusions
from .reports.posterior.contrasts import contrast_draws as contrast_draws
from .reports.posterior.contrasts import contrasts as contrasts
from .reports.posterior.effective_words import effective_words as effective_words
from .reports.posterior.factor_effects import factor_effects as factor_effects
from .reports.posterior.questions import planned_contrasts as planned_contrasts
from .reports.posterior.summary import summary as summary
from .reports.robustness.model_comparison import compare_models as compare_models
from .reports.robustness.random_list_check import check_random_lists as check_random_lists
from .reports.robustness.sensitivity import sensitivity as sensitivity
from .reports.robustness.study_size import required_words as required_words
from .reports.word_check import check_words as check_words
from .studies.study import Study as Study
from .studies.study import StudyLike as StudyLike
from .studies.study import list_studies as list_studies
from .studies.study import load_study as load_study
from .tables.build import distance_table as distance_table
from .tables.schema import lost_words as lost_words
from .tables.score_table import score_table as score_table
from .tables.surprisal_table import surprisal_table as surprisal_table
from .tables.table_files import read_table as read_table
from .tables.table_files import write_table as write_table

__version__: str
