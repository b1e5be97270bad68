"""A small study, and its file."""

from typing import Any

from bayesbias.studies.study import Study


def make(**changes: Any) -> Study:
    """Return a sound study, with some fields changed."""
    fields: dict[str, Any] = {
        "name": "weather",
        "protected": {"summer": ["july", "august"], "winter": ["january"]},
        "attributes": {"warm": ["hot", "sunny"], "cold": ["snow", "ice"]},
        "associated": [("summer", "warm"), ("winter", "cold")],
    }
    return Study(**fields | changes)


GOOD_TOML = """
associated = [["summer", "warm"], ["winter", "cold"]]
[protected]
summer = ["july", "august"]
winter = ["january"]
[attributes]
warm = ["hot", "sunny"]
cold = ["snow", "ice"]
"""
