"""Natural language inference: whether a model that reads sentences treats groups alike.

`test_set` generates pairs of sentences, neither of which follows from the other, and `score` asks a model about them.
`neutral_error`, `distance` and `posterior` summarise the answers, with their uncertainty. `train` trains such a model
on word vectors, and `train_and_compare` estimates whether other vectors make it treat groups more alike.
"""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
