"""Errors: a message for every interface, and advice that only helps at a command line."""

from __future__ import annotations

import pickle

from fabula.errors import FabulaError, NotFound, Refused
from fabula.library.catalogue import empty_collection_error
from fabula.service.core.errors import describe_problem


def test_the_text_of_an_error_is_its_message_and_its_advice() -> None:
    error = NotFound("There is no key 'x'.", advice="`fabula keys list` shows them.")
    assert str(error) == "There is no key 'x'. `fabula keys list` shows them."
    assert error.message == "There is no key 'x'."
    assert str(FabulaError("It failed.")) == FabulaError("It failed.").message == "It failed."


def test_an_error_from_another_process_has_its_message_and_its_advice() -> None:
    error = NotFound("It is not there.", advice="`fabula list` shows all.")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.message) == (NotFound, str(error), error.message)


def test_a_problem_over_http_has_no_advice_for_a_command_line() -> None:
    for error in (
        empty_collection_error("novels"),
        Refused("This query would write", ": --write allows it"),
    ):
        assert "--" in str(error)
        detail = describe_problem(error)["detail"]
        assert detail == error.message
        assert "--" not in detail
        assert "`fabula" not in detail
        assert detail.endswith(".")
