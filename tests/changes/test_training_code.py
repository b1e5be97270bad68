"""Code that repeats a comparison of seeds; `tests/cli/test_many_questions_seeds.py` runs it."""

import ast
from typing import Any

from bayesbias.changes.training_code import TrainingSources, training_code

FACTS: dict[str, Any] = {"settings": {"draws": 100}, "max_lost": 0.2, "model": "multivariate", "embeddings": {1: "a"}}
FACTS |= {
    "baseline": "associated",
    "level": "all",
    "scope": "population",
    "rope": None,
    "resamples": 0,
    "first": "original",
}


def test_code_of_files_is_python_and_has_every_second_condition() -> None:
    sources = TrainingSources(
        {"s1": "a.npz"}, "weat7", {"case": "upper"}, folders={"later": {"s1": "b/a.npz"}}, methods=("hard",), sets="own"
    )
    code = training_code(FACTS | {"changed": ("later", "hard")}, sources, 0.89, 1)
    ast.parse(code)
    assert code.count("case='upper'") == 3
    assert "method.fit(vectors, sets).transform(vectors)" in code
    assert "changed_paths = {'later': {'s1': 'b/a.npz'}}" in code
    assert "compare_trainings(fits, changed=changed, level='all', random_seed=1)" in code


def test_without_files_the_code_is_an_outline() -> None:
    code = training_code(FACTS | {"changed": ()}, None, 0.89, 1)
    assert "study = STUDY" in code
    assert "changed" not in code
