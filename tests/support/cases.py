"""One test for a family of cases, which names every case that fails and what is wrong with it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pytest

SHOWN = 120
"""Characters of a value in the name of its case."""

Test: TypeAlias = Callable[..., None]


def for_each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], str] | Iterable[str] | None = None,
) -> Callable[[Test], Test]:
    """Run a test once for each of `cases`, as one item that lists what failed.

    It is called as `pytest.mark.parametrize` is. Hundreds of cheap cases as items of their own cost
    more for their fixtures and reports than for what they check. The cases share the fixtures: a
    test that changes one needs items of its own.
    """
    words = names.replace(",", " ").split() if isinstance(names, str) else [*names]
    rows = [(case,) if len(words) == 1 else tuple(case) for case in cases]
    assert rows, "a family without cases tests nothing"
    labels = [*_labels(words, rows, ids)]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run_all(**fixtures: Any) -> None:
            problems = []
            for label, row in zip(labels, rows, strict=True):
                try:
                    test(**fixtures, **dict(zip(words, row, strict=True)))
                except (Exception, pytest.fail.Exception) as problem:  # noqa: BLE001  all are listed
                    problems.append((label, problem))
            if problems:
                lines = [f"{label}: {_describe(problem)}" for label, problem in problems]
                count = f"{len(problems)} of {len(rows)} cases fail:"
                raise AssertionError("\n".join([count, *lines])) from problems[0][1]

        signature = inspect.signature(test)
        kept = [
            parameter for parameter in signature.parameters.values() if parameter.name not in words
        ]
        # From this pytest reads which fixtures to give.
        run_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run_all

    return decorate


def _labels(
    words: list[str],
    rows: list[tuple[Any, ...]],
    ids: Callable[[Any], str] | Iterable[str] | None,
) -> Iterator[str]:
    if callable(ids):
        for row in rows:
            yield "-".join(str(ids(value)) for value in row)
    elif ids is not None:
        yield from map(str, ids)
    else:
        for row in rows:
            values = (_shorten(repr(value)) for value in row)
            yield ", ".join(f"{word}={value}" for word, value in zip(words, values, strict=True))


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _describe(problem: BaseException) -> str:
    text = str(problem)[:1000]
    return text if isinstance(problem, AssertionError) else f"{type(problem).__name__}: {text}"
