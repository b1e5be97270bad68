"""How loops are compiled; what is compiled is tested where it stands."""

import pytest
from numba.core import caching

from bayesbias.base.arrays import compiled


def test_where_no_folder_can_be_written_functions_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    @compiled
    def twice(number):
        return 2 * number

    assert twice(3) == 6
    assert twice.signatures
