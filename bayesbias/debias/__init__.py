"""Debiasing methods, to compare an embedding before and after."""

from bayesbias.debias.by_word.double_hard import DoubleHardDebias, FittedDoubleHardDebias
from bayesbias.debias.by_word.gender_preserving import FittedGenderPreserving, GenderPreserving
from bayesbias.debias.by_word.gn_glove import FittedGNGloVe, GNGloVe
from bayesbias.debias.by_word.hard import FittedHardDebias, HardDebias
from bayesbias.debias.by_word.oscar import FittedOSCaR, OSCaR
from bayesbias.debias.by_word.ran import RAN, FittedRAN
from bayesbias.debias.chain import Chain, FittedChain
from bayesbias.debias.debias_words import DebiasWords, list_debias_words, load_debias_words
from bayesbias.debias.linear.bias_alignment import BiasAlignment
from bayesbias.debias.linear.half_sibling import HalfSibling
from bayesbias.debias.linear.inlp import INLP, FittedINLP
from bayesbias.debias.linear.linear_map import FittedLinearMap
from bayesbias.debias.linear.linear_projection import LinearProjection
from bayesbias.debias.linear.misp import MHD, MISP
from bayesbias.debias.linear.soft import FittedSoftDebias, SoftDebias
from bayesbias.debias.pairings import pairing_check
from bayesbias.debias.registry import METHODS, method_requirements, methods_from_names
from bayesbias.debias.subspace import Subspace, bias_subspace, name_subspace
from bayesbias.embeddings.names import names_in

__all__ = [
    "INLP",
    "METHODS",
    "MHD",
    "MISP",
    "RAN",
    "BiasAlignment",
    "Chain",
    "DebiasWords",
    "DoubleHardDebias",
    "FittedChain",
    "FittedDoubleHardDebias",
    "FittedGNGloVe",
    "FittedGenderPreserving",
    "FittedHardDebias",
    "FittedINLP",
    "FittedLinearMap",
    "FittedOSCaR",
    "FittedRAN",
    "FittedSoftDebias",
    "GNGloVe",
    "GenderPreserving",
    "HalfSibling",
    "HardDebias",
    "LinearProjection",
    "OSCaR",
    "SoftDebias",
    "Subspace",
    "bias_subspace",
    "list_debias_words",
    "load_debias_words",
    "method_requirements",
    "methods_from_names",
    "name_subspace",
    "names_in",
    "pairing_check",
]
