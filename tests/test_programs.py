"""What a program is given: names, types, and errors that say what is meant."""

from __future__ import annotations

import inspect
from dataclasses import fields
from importlib.metadata import version

import pytest

import fabula
from fabula import App, Fabula, FabulaError, Query, Settings, errors
from fabula.search import Asked


def test_all_errors_and_the_version_are_public() -> None:
    every = {
        name
        for name, one in inspect.getmembers(errors, inspect.isclass)
        if one.__module__ == errors.__name__
    }
    assert every <= set(fabula.__all__)
    for name in fabula.__all__:
        assert getattr(fabula, name) is not None
    assert issubclass(fabula.TooLarge, FabulaError)
    assert fabula.__version__ == version("fabula")


@pytest.mark.parametrize("of", [Fabula, App])
def test_a_setting_that_there_is_not_is_a_type_error(of: type[App | Fabula]) -> None:
    with pytest.raises(TypeError, match=r"no setting 'colection'. Did you mean collection\?"):
        of(colection="novels")


def test_what_may_be_given_with_a_question_are_the_fields_of_a_query() -> None:
    assert Asked.__annotations__.keys() == {one.name for one in fields(Query)} - {"question"}


def test_one_aspect_or_kind_needs_no_list() -> None:
    query = Query.of("Who?", Settings(), aspects="character", kinds="summary")
    assert (query.aspects, query.kinds) == (("character",), ("summary",))
