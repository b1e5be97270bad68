"""What frames and facts of answers may hold, and hashes of contents."""

import json
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest

from bayesbias.workers.cells import content_digest, has_texts, has_types, package_version


@pytest.mark.parametrize(
    ("column", "is_text", "is_number"),
    [
        (["a", ""], True, False),
        ([1, 2.5], False, True),
        ([True, np.nan], False, True),
        ([np.nan, np.nan], True, True),
        ([10**400, True, None], False, False),
        (["a", np.nan], True, False),
        (["a", 1], False, False),
        ([b"a"], False, False),
        ([[1]], False, False),
        (["\ud800"], False, False),
    ],
)
def test_columns_hold_texts_or_numbers(column: list[object], is_text: bool, is_number: bool) -> None:
    frame = pd.DataFrame({"x": pd.Series(column, dtype=object), "y": 1.0})
    assert has_types(frame, ["x"]) == is_text
    assert has_types(frame, []) == is_number


def test_facts_are_texts_by_name() -> None:
    assert has_texts({})
    assert has_texts({"a": "b"})
    for wrong in (None, ["a"], {"a": 1}, {1: "a"}, {"a": None}):
        assert not has_texts(wrong)


def test_digests_differ_where_contents_differ_and_repeat_in_another_process() -> None:
    contents = [{"a": 1}, {"a": "1"}, {"a": [1]}, {"a": 1.5}, {"a": 1, "b": None}, [["a", 1]], "a"]
    digests = [content_digest(content) for content in contents]
    assert len(set(digests)) == len(contents)
    code = f"import json\nfrom bayesbias.workers.cells import content_digest as d\n[print(d(c)) for c in {contents!r}]"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other.split() == digests
    assert json.loads(json.dumps(digests)) == digests


def test_the_version_is_that_of_the_installed_package() -> None:
    assert package_version() == version("bayesbias")
