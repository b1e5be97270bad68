"""Natural language inference: whether a model that reads sentences treats groups alike."""

from .answer_check import InferenceCheck as InferenceCheck
from .answer_check import check as check
from .answer_posterior import InferencePosterior as InferencePosterior
from .answer_posterior import posterior as posterior
from .attention_model import AttentionModel as AttentionModel
from .comparisons import compare_answers as compare_answers
from .comparisons import debias_and_compare as debias_and_compare
from .comparisons import train_and_compare as train_and_compare
from .figures import plot_inference as plot_inference
from .hugging_face import SequenceClassifier as SequenceClassifier
from .hugging_face import pipeline as pipeline
from .hugging_face import pipelines as pipelines
from .inference_comparison import InferenceComparison as InferenceComparison
from .inference_comparison import correlations as correlations
from .model_files import load as load
from .model_scores import Accuracy as Accuracy
from .model_scores import GroupDistance as GroupDistance
from .model_scores import distance as distance
from .model_scores import neutral_error as neutral_error
from .model_scores import score as score
from .sentence_pairs import list_test_sets as list_test_sets
from .sentence_pairs import read_pairs as read_pairs
from .sentence_pairs import test_set as test_set
from .training import train as train
