"""Natural language inference: whether a model that reads sentences treats groups alike.

`test_set` generates pairs of sentences, neither of which follows from the other, and `score` asks a model about them.
`neutral_error`, `distance` and `posterior` summarise the answers, with their uncertainty. `train` trains such a model
on word vectors, and `train_and_compare` estimates whether other vectors make it treat groups more alike.
"""

from bayesbias.nli.answers.check import InferenceCheck, check
from bayesbias.nli.answers.compare_answers import compare_answers
from bayesbias.nli.answers.correlations import correlations
from bayesbias.nli.answers.debias_and_compare import debias_and_compare
from bayesbias.nli.answers.inference_comparison import InferenceComparison
from bayesbias.nli.answers.posterior import InferencePosterior, posterior
from bayesbias.nli.answers.train_and_compare import train_and_compare
from bayesbias.nli.test_sets.accuracy import Accuracy
from bayesbias.nli.test_sets.distances import GroupDistance, distance
from bayesbias.nli.test_sets.generation import list_test_sets, test_set
from bayesbias.nli.test_sets.pairs import read_pairs
from bayesbias.nli.test_sets.scores import neutral_error, score
from bayesbias.nli.trained.attention_model import AttentionModel
from bayesbias.nli.trained.hugging_face import SequenceClassifier, pipeline, pipelines
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
    "compare_answers",
    "correlations",
    "debias_and_compare",
    "distance",
    "list_test_sets",
    "load",
    "neutral_error",
    "pipeline",
    "pipelines",
    "posterior",
    "read_pairs",
    "score",
    "test_set",
    "train",
    "train_and_compare",
]
