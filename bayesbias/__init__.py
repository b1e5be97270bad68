"""Associations in word embeddings with honest uncertainty.

From word lists and vectors to a posterior::

    import bayesbias as bb

    study = bb.load_study("religion")
    embedding = bb.load_embedding("vectors.txt", words=study.words)
    table = bb.distance_table(embedding, study)
    fit = bb.fit(table, random_seed=1)
    bb.summary(fit)
    bb.contrasts(fit)
    bb.plot_words(fit)

Names are loaded when they are first used, so that the import is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesbias import debias as debias
    from bayesbias import errors as errors
    from bayesbias import geometry as geometry
    from bayesbias import metrics as metrics
    from bayesbias.cosine_regression.linear_model import LinearPrior as LinearPrior
    from bayesbias.cosine_regression.regression import cosine_regression as cosine_regression
    from bayesbias.embeddings import Embedding as Embedding
    from bayesbias.embeddings import load_embedding as load_embedding
    from bayesbias.embeddings.training import train_skipgram as train_skipgram
    from bayesbias.embeddings.writing import write_embedding as write_embedding
    from bayesbias.files import bundled as bundled
    from bayesbias.models.fit_source import fitted_table as fitted_table
    from bayesbias.models.fits import fit_fact as fit_fact
    from bayesbias.models.fits import read_fit as read_fit
    from bayesbias.models.fits import write_fit as write_fit
    from bayesbias.models.sampling import fit as fit
    from bayesbias.models.simulate import simulate_table as simulate_table
    from bayesbias.models.spec import ModelSpec as ModelSpec
    from bayesbias.models.spec import list_models as list_models
    from bayesbias.models.spec import load_model as load_model
    from bayesbias.page import write_report as write_report
    from bayesbias.plots.checks import plot_check as plot_check
    from bayesbias.plots.checks import plot_prior_check as plot_prior_check
    from bayesbias.plots.congruences import plot_components as plot_components
    from bayesbias.plots.congruences import plot_congruences as plot_congruences
    from bayesbias.plots.distances import plot_distances as plot_distances
    from bayesbias.plots.embeddings import plot_embeddings as plot_embeddings
    from bayesbias.plots.lattices import plot_consistency as plot_consistency
    from bayesbias.plots.lattices import plot_lattice_spread as plot_lattice_spread
    from bayesbias.plots.lattices import plot_lattices as plot_lattices
    from bayesbias.plots.measures import plot_measure as plot_measure
    from bayesbias.plots.measures import plot_measure_words as plot_measure_words
    from bayesbias.plots.nulls import plot_false_claims as plot_false_claims
    from bayesbias.plots.nulls import plot_null as plot_null
    from bayesbias.plots.word_scores import plot_word_scores as plot_word_scores
    from bayesbias.plots.words import plot_connections as plot_connections
    from bayesbias.plots.words import plot_words as plot_words
    from bayesbias.reports.checks.posterior_check import check_posterior as check_posterior
    from bayesbias.reports.checks.prior_check import check_prior as check_prior
    from bayesbias.reports.embeddings.comparison import compare_embeddings as compare_embeddings
    from bayesbias.reports.measures.false_claims import false_claims as false_claims
    from bayesbias.reports.measures.measure_posterior import measure_posterior as measure_posterior
    from bayesbias.reports.measures.null_simulation import null_share as null_share
    from bayesbias.reports.measures.null_simulation import simulate_null as simulate_null
    from bayesbias.reports.posterior.conclusions import conclusions as conclusions
    from bayesbias.reports.posterior.contrasts import contrasts as contrasts
    from bayesbias.reports.posterior.summary import summary as summary
    from bayesbias.reports.robustness.model_comparison import compare_models as compare_models
    from bayesbias.reports.robustness.sensitivity import sensitivity as sensitivity
    from bayesbias.reports.robustness.study_size import StudySizes as StudySizes
    from bayesbias.reports.robustness.study_size import required_words as required_words
    from bayesbias.reports.similarity_shares import similarity_shares as similarity_shares
    from bayesbias.studies import Study as Study
    from bayesbias.studies import list_studies as list_studies
    from bayesbias.studies import load_study as load_study
    from bayesbias.studies import write_study_template as write_study_template
    from bayesbias.tables.build import distance_table as distance_table
    from bayesbias.tables.files import read_table as read_table
    from bayesbias.tables.files import write_table as write_table
    from bayesbias.tables.schema import lost_words as lost_words

__version__ = "0.1.0"

# Public name -> the module that holds it.
_HOMES = {
    "Study": "studies",
    "list_studies": "studies",
    "load_study": "studies",
    "write_study_template": "studies",
    "Embedding": "embeddings",
    "load_embedding": "embeddings",
    "train_skipgram": "embeddings.training",
    "write_embedding": "embeddings.writing",
    "distance_table": "tables.build",
    "lost_words": "tables.schema",
    "read_table": "tables.files",
    "write_table": "tables.files",
    "ModelSpec": "models.spec",
    "list_models": "models.spec",
    "load_model": "models.spec",
    "fit": "models.sampling",
    "fit_fact": "models.fits",
    "fitted_table": "models.fit_source",
    "read_fit": "models.fits",
    "write_fit": "models.fits",
    "summary": "reports.posterior.summary",
    "contrasts": "reports.posterior.contrasts",
    "conclusions": "reports.posterior.conclusions",
    "compare_models": "reports.robustness.model_comparison",
    "sensitivity": "reports.robustness.sensitivity",
    "required_words": "reports.robustness.study_size",
    "StudySizes": "reports.robustness.study_size",
    "simulate_table": "models.simulate",
    "cosine_regression": "cosine_regression.regression",
    "LinearPrior": "cosine_regression.linear_model",
    "plot_words": "plots.words",
    "plot_connections": "plots.words",
    "check_posterior": "reports.checks.posterior_check",
    "check_prior": "reports.checks.prior_check",
    "similarity_shares": "reports.similarity_shares",
    "compare_embeddings": "reports.embeddings.comparison",
    "simulate_null": "reports.measures.null_simulation",
    "null_share": "reports.measures.null_simulation",
    "false_claims": "reports.measures.false_claims",
    "plot_check": "plots.checks",
    "plot_prior_check": "plots.checks",
    "plot_distances": "plots.distances",
    "plot_embeddings": "plots.embeddings",
    "measure_posterior": "reports.measures.measure_posterior",
    "plot_measure": "plots.measures",
    "plot_measure_words": "plots.measures",
    "plot_lattices": "plots.lattices",
    "plot_lattice_spread": "plots.lattices",
    "plot_consistency": "plots.lattices",
    "plot_congruences": "plots.congruences",
    "plot_components": "plots.congruences",
    "plot_word_scores": "plots.word_scores",
    "plot_null": "plots.nulls",
    "plot_false_claims": "plots.nulls",
    "write_report": "page",
    "bundled": "files",
}

# Rooms that are used by their own name: bb.metrics.weat(...).
_ROOMS = ("debias", "errors", "geometry", "metrics")

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
