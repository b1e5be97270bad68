"""The same contrast under several conditions."""

from .result import Changes as Changes
from .trainings import TrainingComparison as TrainingComparison
