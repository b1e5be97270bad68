"""Bad calls and the errors that they raise: one table, and so one test, of a module."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

Refusal = tuple[Callable[..., object], type[BaseException], str]


def refusals(*rows: Refusal) -> Callable[..., None]:
    """Return a test that each call raises its error with a message that matches, whose pattern names the case.

    A call's parameters are fixtures; those with a default are values of the case.
    """

    @pytest.mark.parametrize(("call", "error", "message"), rows, ids=[message for *_, message in rows])
    def test(call: Callable[..., object], error: type[BaseException], message: str, request: Any) -> None:
        parameters = inspect.signature(call).parameters.values()
        fixtures = {one.name: request.getfixturevalue(one.name) for one in parameters if one.default is one.empty}
        with pytest.raises(error, match=message):
            call(**fixtures)

    return test
