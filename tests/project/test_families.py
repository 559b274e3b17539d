"""A family of cases that is one test names each case that fails, and what is wrong with it."""

from __future__ import annotations

import inspect

import pytest

from cases import for_each


def test_every_case_runs_and_each_that_fails_is_named() -> None:
    seen = []

    @for_each(("number", "root"), [(4, 2), (9, 4), (16, 4), (25, "five")])
    def square(number: int, root: int, base: str) -> None:
        seen.append((number, base))
        assert root * root == number, f"not the root in {base}"

    assert [*inspect.signature(square).parameters] == ["base"], "what pytest has to give"
    with pytest.raises(AssertionError) as caught:
        square(base="ten")
    assert seen == [(4, "ten"), (9, "ten"), (16, "ten"), (25, "ten")]
    message = str(caught.value)
    assert message.startswith("2 of 4 cases fail:\n")
    assert "number=9, root=4: not the root in ten" in message
    assert "number=25, root='five': TypeError: " in message
    assert "number=16" not in message


def test_a_case_that_fails_by_pytest_is_a_failure_and_a_family_without_cases_is_refused() -> None:
    @for_each("name", ["a", "b"], ids=str.upper)
    def quiet(name: str) -> None:
        with pytest.raises(ValueError):
            int("1" if name == "a" else name)

    with pytest.raises(AssertionError, match="1 of 2 cases fail:\nA: Failed: DID NOT RAISE"):
        quiet()
    with pytest.raises(AssertionError, match="without cases"):
        for_each("name", [])
