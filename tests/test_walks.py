"""The files that a call enters do not grow: what is read together stays together."""

import pytest

from tests.walks import calls, walk

# Lower one when a change makes it smaller; a change that needs more files says why. The last two more are those of lost
# words and of doubts about slopes, which several pages share.
MOST_FILES = {
    "distance_table": 17,
    "fit": 25,
    "contrasts": 11,
    "trend": 39,
    "compare_embeddings": 38,
    "audit": 56,
    "write(fit), quick": 63,
}


@pytest.mark.slow
def test_calls_enter_no_more_files_than_before() -> None:
    entered = {name: walk(call)[0] for name, call in calls().items()}
    assert entered.keys() == MOST_FILES.keys()
    assert {name: files for name, files in entered.items() if files > MOST_FILES[name]} == {}
