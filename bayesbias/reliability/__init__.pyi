"""Reliability of bias scores: whether they would be the same with another seed, rule or word."""

from .bias_scores import load_queries as load_queries
from .bias_scores import load_target_words as load_target_words
from .bias_scores import score_array as score_array
from .consistency import inter_rater as inter_rater
from .consistency import internal_consistency as internal_consistency
from .consistency import test_retest as test_retest
from .consistency import word_features as word_features
from .driver_regression import ReliabilityRegression as ReliabilityRegression
from .driver_regression import drivers as drivers
from .driver_rows import load_word_properties as load_word_properties
from .figures import plot_base_pairs as plot_base_pairs
from .figures import plot_reliability as plot_reliability
from .mean_squares import cronbach_alpha as cronbach_alpha
from .mean_squares import icc_2_1 as icc_2_1
from .mean_squares import icc_3_1 as icc_3_1
from .report import ReliabilityReport as ReliabilityReport
from .report import reliability_report as reliability_report
