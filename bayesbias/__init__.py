"""Associations in word embeddings with honest uncertainty.

From word lists and vectors to a posterior::

    import bayesbias as bb

    study = bb.load_study("religion")
    embedding = bb.load_embedding("vectors.txt", words=study.words)
    table = bb.distance_table(embedding, study)
    fit = bb.fit(table, random_seed=1)
    bb.summary(fit)
    bb.contrasts(fit)
    bb.plots.plot_words(fit)

Names are loaded when they are first used, so that the import is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesbias import asymmetry as asymmetry
    from bayesbias import debias as debias
    from bayesbias import errors as errors
    from bayesbias import geometry as geometry
    from bayesbias import metrics as metrics
    from bayesbias import nli as nli
    from bayesbias import reliability as reliability
    from bayesbias.base.files import bundled as bundled
    from bayesbias.base.statements import Conclusions as Conclusions
    from bayesbias.base.statements import Statement as Statement
    from bayesbias.base.statements import StatementList as StatementList
    from bayesbias.cluster.debias_report import debias_report as debias_report
    from bayesbias.cluster.run import run_study as run_study
    from bayesbias.cosine_regressions.linear_model import LinearPrior as LinearPrior
    from bayesbias.cosine_regressions.regression import CosineRegression as CosineRegression
    from bayesbias.cosine_regressions.regression import cosine_regression as cosine_regression
    from bayesbias.delivery.page import write_asymmetry_page as write_asymmetry_page
    from bayesbias.delivery.page import write_audit_page as write_audit_page
    from bayesbias.delivery.page import write_debias_page as write_debias_page
    from bayesbias.delivery.page import write_inference_page as write_inference_page
    from bayesbias.delivery.page import write_report as write_report
    from bayesbias.delivery.page import write_seeds_page as write_seeds_page
    from bayesbias.delivery.plots.embeddings.asymmetry import plot_asymmetry as plot_asymmetry
    from bayesbias.delivery.plots.embeddings.audits import plot_audit as plot_audit
    from bayesbias.delivery.plots.embeddings.audits import plot_ranks as plot_ranks
    from bayesbias.delivery.plots.embeddings.comparison import plot_embeddings as plot_embeddings
    from bayesbias.delivery.plots.embeddings.context_factors import plot_context_factors as plot_context_factors
    from bayesbias.delivery.plots.embeddings.debiasing import plot_debias_report as plot_debias_report
    from bayesbias.delivery.plots.embeddings.inference import plot_inference as plot_inference
    from bayesbias.delivery.plots.embeddings.relations import plot_relations as plot_relations
    from bayesbias.delivery.plots.embeddings.seeds import plot_seeds as plot_seeds
    from bayesbias.delivery.plots.measures.congruences import plot_components as plot_components
    from bayesbias.delivery.plots.measures.congruences import plot_congruences as plot_congruences
    from bayesbias.delivery.plots.measures.lattices import plot_consistency as plot_consistency
    from bayesbias.delivery.plots.measures.lattices import plot_lattice_spread as plot_lattice_spread
    from bayesbias.delivery.plots.measures.lattices import plot_lattices as plot_lattices
    from bayesbias.delivery.plots.measures.measures import plot_measure as plot_measure
    from bayesbias.delivery.plots.measures.measures import plot_measure_words as plot_measure_words
    from bayesbias.delivery.plots.measures.nulls import plot_false_positive_rates as plot_false_positive_rates
    from bayesbias.delivery.plots.measures.nulls import plot_null as plot_null
    from bayesbias.delivery.plots.measures.reliability import plot_base_pairs as plot_base_pairs
    from bayesbias.delivery.plots.measures.reliability import plot_reliability as plot_reliability
    from bayesbias.delivery.plots.measures.word_scores import plot_word_scores as plot_word_scores
    from bayesbias.delivery.plots.posterior.checks import plot_check as plot_check
    from bayesbias.delivery.plots.posterior.checks import plot_prior_check as plot_prior_check
    from bayesbias.delivery.plots.posterior.contrasts import plot_contrasts as plot_contrasts
    from bayesbias.delivery.plots.posterior.distances import plot_distances as plot_distances
    from bayesbias.delivery.plots.posterior.words import plot_connections as plot_connections
    from bayesbias.delivery.plots.posterior.words import plot_words as plot_words
    from bayesbias.embeddings.contexts import ContextIndex as ContextIndex
    from bayesbias.embeddings.contexts import TextsLike as TextsLike
    from bayesbias.embeddings.contexts import index_contexts as index_contexts
    from bayesbias.embeddings.contexts import read_contexts as read_contexts
    from bayesbias.embeddings.contextual import ContextsLike as ContextsLike
    from bayesbias.embeddings.contextual import ContextualEmbedding as ContextualEmbedding
    from bayesbias.embeddings.contextual import contextual_embedding as contextual_embedding
    from bayesbias.embeddings.embedding import Embedding as Embedding
    from bayesbias.embeddings.embedding import EmbeddingLike as EmbeddingLike
    from bayesbias.embeddings.embedding import Lookup as Lookup
    from bayesbias.embeddings.loading import load_embedding as load_embedding
    from bayesbias.embeddings.training import CorpusLike as CorpusLike
    from bayesbias.embeddings.training import TrainedEmbeddings as TrainedEmbeddings
    from bayesbias.embeddings.training import read_embeddings as read_embeddings
    from bayesbias.embeddings.training import train_embeddings as train_embeddings
    from bayesbias.embeddings.writing import write_embedding as write_embedding
    from bayesbias.estimates.correlations import correlation_interval as correlation_interval
    from bayesbias.metrics.directions.direction_posterior import DirectionPosterior as DirectionPosterior
    from bayesbias.metrics.directions.direction_posterior import direction_posterior as direction_posterior
    from bayesbias.metrics.embedding_scores.paired_change import paired_change as paired_change
    from bayesbias.metrics.quality.analogies import analogies as analogies
    from bayesbias.metrics.quality.similarity import word_similarity as word_similarity
    from bayesbias.models.fitted.arviz_groups import add_groups as extend
    from bayesbias.models.fitted.fit_source import fitted_table as fitted_table
    from bayesbias.models.fitted.fits import fit_attribute as fit_attribute
    from bayesbias.models.fitted.fits import read_fit as read_fit
    from bayesbias.models.fitted.fits import write_fit as write_fit
    from bayesbias.models.pymc_form import pymc_model as pymc_model
    from bayesbias.models.sampling import fit as fit
    from bayesbias.models.simulate import simulate_table as simulate_table
    from bayesbias.models.spec import ModelSpec as ModelSpec
    from bayesbias.models.spec import list_models as list_models
    from bayesbias.models.spec import load_model as load_model
    from bayesbias.reliability.scores import score_array as score_array
    from bayesbias.reports.audits.audit import audit as audit
    from bayesbias.reports.audits.audit_frame import AuditFrame as AuditFrame
    from bayesbias.reports.audits.audit_frame import AuditRecord as AuditRecord
    from bayesbias.reports.audits.ranks import Ranks as Ranks
    from bayesbias.reports.audits.ranks import rank as rank
    from bayesbias.reports.checks.posterior_check import PosteriorCheck as PosteriorCheck
    from bayesbias.reports.checks.posterior_check import check_posterior as check_posterior
    from bayesbias.reports.checks.prior_check import PriorCheck as PriorCheck
    from bayesbias.reports.checks.prior_check import check_prior as check_prior
    from bayesbias.reports.debiasing.report import DebiasReport as DebiasReport
    from bayesbias.reports.debiasing.report import measure_correlations as measure_correlations
    from bayesbias.reports.embeddings.comparison import EmbeddingComparison as EmbeddingComparison
    from bayesbias.reports.embeddings.comparison import compare_embeddings as compare_embeddings
    from bayesbias.reports.embeddings.comparison_conclusions import ComparisonConclusions as ComparisonConclusions
    from bayesbias.reports.embeddings.seeds import SeedComparison as SeedComparison
    from bayesbias.reports.embeddings.seeds import compare_seeds as compare_seeds
    from bayesbias.reports.measures.false_positive_rates import false_positive_rates as false_positive_rates
    from bayesbias.reports.measures.mac_shares import mac_shares as mac_shares
    from bayesbias.reports.measures.measure_posterior import MeasurePosterior as MeasurePosterior
    from bayesbias.reports.measures.measure_posterior import measure_posterior as measure_posterior
    from bayesbias.reports.measures.null_simulation import null_share as null_share
    from bayesbias.reports.measures.null_simulation import simulate_null as simulate_null
    from bayesbias.reports.posterior.conclusions import conclusions as conclusions
    from bayesbias.reports.posterior.contrasts import contrasts as contrasts
    from bayesbias.reports.posterior.questions import planned_contrasts as contrast
    from bayesbias.reports.posterior.summary import summary as summary
    from bayesbias.reports.robustness.model_comparison import compare_models as compare_models
    from bayesbias.reports.robustness.random_list_check import RandomListCheck as RandomListCheck
    from bayesbias.reports.robustness.random_list_check import check_random_lists as check_random_lists
    from bayesbias.reports.robustness.sensitivity import sensitivity as sensitivity
    from bayesbias.reports.robustness.study_size import StudySizes as StudySizes
    from bayesbias.reports.robustness.study_size import required_words as required_words
    from bayesbias.studies.study import Study as Study
    from bayesbias.studies.study import StudyLike as StudyLike
    from bayesbias.studies.study import list_studies as list_studies
    from bayesbias.studies.study import list_word_lists as list_word_lists
    from bayesbias.studies.study import load_study as load_study
    from bayesbias.studies.study import load_word_lists as load_word_lists
    from bayesbias.studies.study import write_study_template as write_study_template
    from bayesbias.tables.build import distance_table as distance_table
    from bayesbias.tables.schema import lost_words as lost_words
    from bayesbias.tables.table_files import read_table as read_table
    from bayesbias.tables.table_files import write_table as write_table

__version__ = "0.1.0"

# The public names by the module that holds each; the imports above say the same to type checkers.
_NAMES = {
    "cluster.debias_report": ("debias_report",),
    "cluster.run": ("run_study",),
    "correlations": ("correlation_interval",),
    "cosine_regressions.linear_model": ("LinearPrior",),
    "cosine_regressions.regression": ("CosineRegression", "cosine_regression"),
    "embeddings": ("Embedding", "EmbeddingLike", "Lookup", "load_embedding"),
    "embeddings.contexts": ("ContextIndex", "TextsLike", "index_contexts", "read_contexts"),
    "embeddings.contextual": ("ContextsLike", "ContextualEmbedding", "contextual_embedding"),
    "embeddings.training": ("CorpusLike", "TrainedEmbeddings", "read_embeddings", "train_embeddings"),
    "embeddings.writing": ("write_embedding",),
    "files": ("bundled",),
    "metrics.direction_posterior": ("DirectionPosterior", "direction_posterior"),
    "metrics.embedding_scores.paired_change": ("paired_change",),
    "metrics.quality.analogies": ("analogies",),
    "metrics.quality.similarity": ("word_similarity",),
    "models.add_groups": ("extend",),
    "models.fit_source": ("fitted_table",),
    "models.fits": ("fit_attribute", "read_fit", "write_fit"),
    "models.pymc_model": ("pymc_model",),
    "models.sampling": ("fit",),
    "models.simulate": ("simulate_table",),
    "models.spec": ("ModelSpec", "list_models", "load_model"),
    "page": (
        "write_asymmetry_page",
        "write_audit_page",
        "write_debias_page",
        "write_inference_page",
        "write_report",
        "write_seeds_page",
    ),
    "plots.asymmetry": ("plot_asymmetry",),
    "plots.audits": ("plot_audit", "plot_ranks"),
    "plots.checks": ("plot_check", "plot_prior_check"),
    "plots.congruences": ("plot_components", "plot_congruences"),
    "plots.context_factors": ("plot_context_factors",),
    "plots.contrasts": ("plot_contrasts",),
    "plots.debias_report": ("plot_debias_report",),
    "plots.inference": ("plot_inference",),
    "plots.distances": ("plot_distances",),
    "plots.embeddings": ("plot_embeddings",),
    "plots.lattices": ("plot_consistency", "plot_lattice_spread", "plot_lattices"),
    "plots.measures": ("plot_measure", "plot_measure_words"),
    "plots.nulls": ("plot_false_positive_rates", "plot_null"),
    "plots.relations": ("plot_relations",),
    "plots.reliability": ("plot_base_pairs", "plot_reliability"),
    "plots.seeds": ("plot_seeds",),
    "plots.word_scores": ("plot_word_scores",),
    "plots.words": ("plot_connections", "plot_words"),
    "reliability.scores": ("score_array",),
    "reports.audits.audit": ("audit",),
    "reports.audits.audit_frame": ("AuditFrame", "AuditRecord"),
    "reports.audits.ranks": ("Ranks", "rank"),
    "reports.checks.posterior_check": ("PosteriorCheck", "check_posterior"),
    "reports.checks.prior_check": ("PriorCheck", "check_prior"),
    "reports.debiasing.report": ("DebiasReport", "measure_correlations"),
    "reports.embeddings.comparison": ("EmbeddingComparison", "compare_embeddings"),
    "reports.embeddings.seeds": ("SeedComparison", "compare_seeds"),
    "reports.embeddings.comparison_conclusions": ("ComparisonConclusions",),
    "reports.measures.false_positive_rates": ("false_claims",),
    "reports.measures.measure_posterior": ("MeasurePosterior", "measure_posterior"),
    "reports.measures.null_simulation": ("null_share", "simulate_null"),
    "reports.posterior.conclusions": ("conclusions",),
    "reports.posterior.contrasts": ("contrasts",),
    "reports.posterior.questions": ("contrast",),
    "reports.posterior.summary": ("summary",),
    "reports.robustness.claims_check": ("RandomListCheck", "check_random_lists"),
    "reports.robustness.model_comparison": ("compare_models",),
    "reports.robustness.sensitivity": ("sensitivity",),
    "reports.robustness.study_size": ("StudySizes", "required_words"),
    "reports.mac_shares": ("mac_shares",),
    "statements": ("Conclusions", "Part", "Statement"),
    "studies": (
        "Study",
        "StudyLike",
        "list_studies",
        "list_word_lists",
        "load_study",
        "load_word_lists",
        "write_study_template",
    ),
    "tables.build": ("distance_table",),
    "tables.files": ("read_table", "write_table"),
    "tables.schema": ("lost_words",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

# Rooms that are used by their own name: bb.metrics.weat(...).
_ROOMS = ("asymmetry", "debias", "errors", "geometry", "metrics", "nli", "reliability")

__all__ = ["__version__", *_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"bayesbias.{name}")
    if name not in _HOMES:
        from bayesbias.errors import did_you_mean

        raise AttributeError(f"module 'bayesbias' has no attribute {name!r}{did_you_mean(name, __all__)}")
    value = getattr(import_module(f"bayesbias.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
