"""Norms that several files read."""

from pathlib import Path

import pytest

import bayesbias as bb


@pytest.fixture(scope="session")
def south_florida(shared: Path) -> bb.asymmetry.Evocation:
    """Return the norms of South Florida, whose prior takes a second to estimate."""
    return bb.asymmetry.evocation(
        bb.asymmetry.read_evocation(shared / "data" / "evocation" / "usf_free_association.csv.gz")
    )
