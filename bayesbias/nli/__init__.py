"""Natural language inference: whether a model that reads sentences treats groups alike.

`test_set` makes pairs of sentences of which neither follows from the other, `score` asks a model about them; `error`,
`distance` and `posterior` say what it answered, and how sure that is. `train` makes such a model from word vectors, and
`compare` asks whether other vectors make it treat groups more alike.
"""

from bayesbias.nli.answers.check import InferenceCheck, check
from bayesbias.nli.answers.compare_answers import compare_answers
from bayesbias.nli.answers.correlations import correlations
from bayesbias.nli.answers.inference_comparison import InferenceComparison
from bayesbias.nli.answers.posterior import InferencePosterior, posterior
from bayesbias.nli.answers.train_and_compare import train_and_compare
from bayesbias.nli.test_sets.accuracy import Accuracy
from bayesbias.nli.test_sets.distances import GroupDistance, distance
from bayesbias.nli.test_sets.generation import list_test_sets, test_set
from bayesbias.nli.test_sets.pairs import read_pairs
from bayesbias.nli.test_sets.scores import error, score
from bayesbias.nli.trained.attention_model import AttentionModel
from bayesbias.nli.trained.hugging_face import SequenceClassifier, pipeline
from bayesbias.nli.trained.model_files import load
from bayesbias.nli.trained.training import train

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
    "compare_answers",
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
