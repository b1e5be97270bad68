"""The files that a call enters do not grow: what is read together stays together."""

import pytest

from tests.walks import calls, walk

# Lower one when a change makes it smaller; a change that needs more files says why. The last two or three more are
# those of what a table measures, of the pairs of a study, and of the unit of a model (surprisals and scores).
# Conclusions ask how many of the named words are wrong, which is a rule of its own.
# Sentences on slopes and the code that repeats changes left files of 600 lines for files of their own.
# A page asks whether the groups of its study have factors. Its methods end with reporting guidelines, and what differs
# from a bundled study is named by the code that names it beside a frozen plan. Audits ask tables beside vectors.
# What a change is called stands in one file, and what each word contributes to an audit's ranks in another.
MOST_FILES = {
    "distance_table": 19,
    "fit": 28,
    "contrasts": 13,
    "trend": 46,
    "compare_embeddings": 43,
    "audit": 63,
    "write(fit), quick": 68,
}


@pytest.mark.slow
def test_calls_enter_no_more_files_than_before() -> None:
    entered = {name: walk(call)[0] for name, call in calls().items()}
    assert entered.keys() == MOST_FILES.keys()
    assert {name: files for name, files in entered.items() if files > MOST_FILES[name]} == {}
