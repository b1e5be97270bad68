"""The tests that stand beside a model, on the distances of many lists of attribute words at once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.metrics.associations.weat import association, effect_size
from bayesbias.metrics.significance.permutation_test import p_value
from bayesbias.metrics.significance.t_tests import t_test
from bayesbias.models.data import ModelData
from bayesbias.reports.robustness.random_lists import RandomLists, list_members
from bayesbias.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd

CONTRAST = "associated - different"
LEVEL = 0.05
METHODS = ("weat", "t_test_preaveraged", "t_test_raw", "mac_t_test")
_PERMUTATIONS = 10_000


@dataclass(frozen=True, eq=False)
class WeatLists:
    """The positions of two groups of protected words and of the attribute list of each, in a table."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray

    def associations(self, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return s(w, A, B) of both groups, from distances of shape (..., protected, attribute words)."""
        found = []
        for group in (self.x, self.y):
            similarity = 1.0 - distances[..., group, :]
            found.append(association(similarity[..., self.a], similarity[..., self.b]))
        return found[0], found[1]

    def effect_size(self, distances: np.ndarray) -> np.ndarray:
        """Return WEAT's effect size."""
        return effect_size(*self.associations(distances))


def weat_lists(study: Study, data: ModelData) -> WeatLists | None:
    """Return the lists of WEAT, or None: it needs two groups, of two words each, and a list of its own for each.

    >>> from bayesbias.models.data import model_data
    >>> lists = weat_lists(bb.load_study("weat7"), model_data(table))
    >>> len(lists.x), len(lists.a)
    (8, 8)
    """
    groups, pairs = tuple(study.protected), dict(study.associated)
    own = [pairs.get(group) for group in groups]
    if len(groups) != 2 or len(study.associated) != 2 or None in own or own[0] == own[1]:
        return None
    of_group = [np.flatnonzero(data.protected_groups == group) for group in groups]
    members = list_members(study, data)
    of_list = [members[str(name)] for name in own]
    if min(map(len, of_group)) < 2:
        return None
    return WeatLists(*of_group, *of_list)


def list_tests(distances: np.ndarray, lists: RandomLists, weat: WeatLists | None, seed: int) -> list["pd.DataFrame"]:
    """Return the rows of each test that a study allows, of distances of shape (samples, protected, attribute words)."""
    data, found = lists.data, []
    if weat is not None:
        s_x, s_y = weat.associations(distances)
        test = p_value(s_x, s_y, samples=_PERMUTATIONS, random_seed=seed)
        found.append(_test_rows("weat", "effect size", weat.effect_size(distances), test.p_value))
    pairs = [data.connection == data.connections.index(name) for name in CONTRAST.split(" - ")]
    raw = [distances[:, data.protected[mask], data.attribute[mask]] for mask in pairs]
    means = [_word_means(values, data.protected[mask]) for values, mask in zip(raw, pairs, strict=True)]
    for method, (x, y) in (("t_test_preaveraged", means), ("t_test_raw", raw)):
        if min(x.shape[1], y.shape[1]) > 1:
            test_of = t_test(x, y)
            found.append(_test_rows(method, "difference of means", test_of.difference, test_of.p_value))
    of_mac = np.concatenate([distances[..., members].mean(axis=-1) for members in lists.members], axis=1)
    if of_mac.shape[1] > 1:
        against_one = t_test(of_mac, against=1.0)
        found.append(_test_rows("mac_t_test", "MAC - 1", against_one.difference, against_one.p_value))
    return found


def _word_means(values: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return the mean of each protected word, shape (samples, words), of values (samples, pairs)."""
    words, of_pair = np.unique(word, return_inverse=True)
    member = of_pair[:, None] == np.arange(len(words))
    return np.asarray(values @ (member / member.sum(axis=0)))


def _test_rows(method: str, quantity: str, value: np.ndarray, p: np.ndarray) -> "pd.DataFrame":
    import pandas as pd

    columns = {"method": method, "quantity": quantity, "value": value, "claims": p < LEVEL, "p_value": p}
    return pd.DataFrame({"sample": np.arange(len(p)), **columns})
