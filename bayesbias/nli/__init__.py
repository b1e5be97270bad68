"""Natural language inference: whether a model that reads sentences treats groups alike.

`test_set` generates pairs of sentences, neither of which follows from the other, and `score` asks a model about them.
`error`, `distance` and `posterior` summarise the answers, with their uncertainty. `train` trains such a model on word
vectors, and `compare` estimates whether other vectors make it treat groups more alike.
"""

from bayesbias.nli.accuracy import Accuracy
from bayesbias.nli.attention_model import AttentionModel
from bayesbias.nli.check import InferenceCheck, check
from bayesbias.nli.compare import compare
from bayesbias.nli.compare_runs import compare_runs
from bayesbias.nli.comparison import InferenceComparison
from bayesbias.nli.correlations import correlations
from bayesbias.nli.distances import GroupDistance, distance
from bayesbias.nli.generation import list_test_sets, test_set
from bayesbias.nli.hugging_face import SequenceClassifier, pipeline
from bayesbias.nli.model_files import load
from bayesbias.nli.pairs import read_pairs
from bayesbias.nli.posterior import InferencePosterior, posterior
from bayesbias.nli.scores import error, score
from bayesbias.nli.training import train

__all__ = [
    "Accuracy",
    "AttentionModel",
    "GroupDistance",
    "InferenceCheck",
    "InferenceComparison",
    "InferencePosterior",
    "SequenceClassifier",
    "check",
    "compare",
    "compare_runs",
    "correlations",
    "distance",
    "error",
    "list_test_sets",
    "load",
    "pipeline",
    "posterior",
    "read_pairs",
    "score",
    "test_set",
    "train",
]
