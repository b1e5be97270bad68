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

from bayesbias.base.lazy_loading import lazy_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
__all__ = ["__version__", *__all__]
