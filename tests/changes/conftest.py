"""What the tests of changes share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def short_start() -> Iterator[None]:
    """Let chains of covariances start nearer to their first draw: tests/models/periods has them at full length."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayesbias.models.periods.panel._TUNE", 50)
        yield
