"""Natural language inference: whether a model that reads sentences treats groups alike.

`test_set` makes pairs of sentences of which neither follows from the other, `score` asks a model about them; `error`,
`distance` and `posterior` say what it answered, and how sure that is.
"""

from bayesbias.nli.check import InferenceCheck, check
from bayesbias.nli.compare_runs import compare_runs
from bayesbias.nli.comparison import InferenceComparison
from bayesbias.nli.correlations import correlations
from bayesbias.nli.distances import GroupDistance, distance
from bayesbias.nli.generation import list_test_sets, test_set
from bayesbias.nli.posterior import InferencePosterior, posterior
from bayesbias.nli.scores import error, score

__all__ = [
    "GroupDistance",
    "InferenceCheck",
    "InferenceComparison",
    "InferencePosterior",
    "check",
    "compare_runs",
    "correlations",
    "distance",
    "error",
    "list_test_sets",
    "posterior",
    "score",
    "test_set",
]
