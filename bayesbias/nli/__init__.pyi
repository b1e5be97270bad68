"""Natural language inference: whether a model that reads sentences treats groups alike."""

from .answers.check import InferenceCheck as InferenceCheck
from .answers.check import check as check
from .answers.compare_answers import compare_answers as compare_answers
from .answers.correlations import correlations as correlations
from .answers.debias_and_compare import debias_and_compare as debias_and_compare
from .answers.inference_comparison import InferenceComparison as InferenceComparison
from .answers.posterior import InferencePosterior as InferencePosterior
from .answers.posterior import posterior as posterior
from .answers.train_and_compare import train_and_compare as train_and_compare
from .test_sets.accuracy import Accuracy as Accuracy
from .test_sets.distances import GroupDistance as GroupDistance
from .test_sets.distances import distance as distance
from .test_sets.generation import list_test_sets as list_test_sets
from .test_sets.generation import test_set as test_set
from .test_sets.pairs import read_pairs as read_pairs
from .test_sets.scores import neutral_error as neutral_error
from .test_sets.scores import score as score
from .trained.attention_model import AttentionModel as AttentionModel
from .trained.hugging_face import SequenceClassifier as SequenceClassifier
from .trained.hugging_face import pipeline as pipeline
from .trained.hugging_face import pipelines as pipelines
from .trained.model_files import load as load
from .trained.training import train as train
