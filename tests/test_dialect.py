"""What real endpoints say when they refuse a parameter, and what is tried next."""

from typing import Any

import pytest

from fabula.providers import Prompt
from fabula.providers.dialect import Dialect, refused_parameter
from fabula.providers.wire import without_thoughts
from fabula.shapes import DetailsReply

PROMPT = Prompt("Be brief.", "Who?", 100, 0.5, DetailsReply)
BODY: dict[str, Any] = Dialect().chat("m", PROMPT, stream=True)


@pytest.mark.parametrize(
    ("named", "message", "parameter"),
    [
        (
            "max_tokens",
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        (
            None,
            "Unsupported value: 'temperature' does not support 0.5 with this model.",
            "temperature",
        ),
        (
            "response_format",
            "Invalid schema for response_format 'DetailsReply': ...",
            "response_format",
        ),
        ("response_format.type", "Invalid value: 'json_schema'.", "response_format"),
        (None, "This response_format type is unavailable now", "response_format"),
        (None, "This model does not support response format `json_schema`.", "response_format"),
        (None, "'response_format.type' must be 'json_schema' or 'text'", "response_format"),
        (
            None,
            "[{'loc': ['body', 'stream_options'], 'msg': 'Extra inputs are not permitted'}]",
            "stream_options",
        ),
        (None, "`temperature` is deprecated for this model.", "temperature"),
        ("messages", "Invalid 'messages': array too long.", None),
        ("max_tokens", "max_tokens is too large: 4300. It supports at most 4096.", None),
        (None, "The room's temperature was mild.", None),
        (None, "Unknown parameter: 'logit_bias'.", None),
    ],
)
def test_the_parameter_an_endpoint_complains_of_is_found(
    named: str | None, message: str, parameter: str | None
) -> None:
    assert refused_parameter(named, message, BODY) == parameter


def test_every_refusal_changes_the_request_until_only_the_messages_are_left() -> None:
    dialect, sent = Dialect(), set(BODY) - {"model", "messages", "stream"}
    tries = 0
    while sent:
        name = min(sent)
        before, dialect = dialect, dialect.without(name)
        assert dialect != before
        body = dialect.chat("m", PROMPT, stream=True)
        sent = set(body) - {"model", "messages", "stream"}
        tries += 1
    assert tries == 6


def test_thoughts_before_a_reply_are_taken_off() -> None:
    assert without_thoughts("<think>\nHm.\n</think>\n\nMarley.").strip() == "Marley."
    assert without_thoughts("Marley </think> stays.") == "Marley </think> stays."
    assert without_thoughts("<think>Hm, and on and on") == ""
