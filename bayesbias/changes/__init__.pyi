"""The same gap under several conditions."""

from .result import Changes as Changes
from .trainings import TrainingComparison as TrainingComparison
