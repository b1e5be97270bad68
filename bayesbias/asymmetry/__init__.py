"""Asymmetry of association: whether one word evokes another more than the reverse.

`evocation`, `static` and `masked_model` are sources of P(b given a), and `lar` compares both directions of pairs with
any of them. `alar`, `cam`, `cam_difference`, `directional_accuracy` and `similarity` summarise pairs, `report` combines
these, `compare_norms` compares norms, `similarity_to_people` compares a source with people's scores of similarity, and
`study_asymmetry` analyses the words of a study. `accuracy_by_context` relates the accuracy of a language model to its
contexts.
"""

from bayesbias.base.lazy_loading import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
