"""What real endpoints say when they refuse a parameter, and what is tried next."""

import json
from pathlib import Path
from typing import Any

from cases import for_each
from endpoint import Endpoint as Server
from fabula.graphs.aspects.schemas import DetailsReply
from fabula.models import Prompt
from fabula.models.endpoint.parameters import Parameters, refused_parameter
from fabula.models.endpoint.thoughts import without_thoughts
from reach import DETAILS, chat, text_of

PROMPT = Prompt("Be brief.", "Who?", 100, 0.5, DetailsReply)
COMPLAINTS = json.loads((Path(__file__).parents[2] / "data" / "complaints.json").read_text())
"""What servers answered, and where that was found."""
BODY: dict[str, Any] = Parameters().chat("m", PROMPT, stream=True)


@for_each(
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
        (None, "Unknown parameter: 'logit_bias'.", None),
    ],
)
def test_the_parameter_an_endpoint_complains_of_is_found(
    named: str | None, message: str, parameter: str | None
) -> None:
    assert refused_parameter(named, message, BODY) == parameter


def test_every_refusal_changes_the_request_until_only_the_messages_are_left() -> None:
    parameters, sent = Parameters(), set(BODY) - {"model", "messages", "stream"}
    tries = 0
    while sent:
        name = min(sent)
        before, parameters = parameters, parameters.without(name)
        assert parameters != before
        body = parameters.chat("m", PROMPT, stream=True)
        sent = set(body) - {"model", "messages", "stream"}
        tries += 1
    assert tries == 7


def test_thoughts_before_a_reply_are_taken_off() -> None:
    assert without_thoughts("<think>\nHm.\n</think>\n\nMarley.").strip() == "Marley."
    assert without_thoughts("Hm.\n</think>\n\nMarley.").strip() == "Marley."
    assert without_thoughts("<think>Hm, and on and on") == ""


@for_each("refusal", COMPLAINTS, ids=lambda refusal: refusal["server"])
@for_each("streamed", [False, True], ids=["whole", "streamed"])
def test_what_a_real_server_refused_is_left_out_and_remembered(
    refusal: dict[str, Any], streamed: bool
) -> None:
    complaint = (refusal["status"], refusal["body"])
    # What a server without json_object says is asked for only where json_schema is refused, too.
    others = {"response_format=json_schema"} if refusal["refuses"].endswith("object") else set()
    with Server(complaints={refusal["refuses"]: complaint}, refuses=others) as server:
        model = chat(server)
        for _ in range(2):
            calls = server.calls
            if streamed:
                assert "Marley" in text_of(model.stream(DETAILS))
            else:
                assert "Marley" in model.complete(DETAILS).text
    name, _, value = refusal["refuses"].partition("=")
    last = server.bodies[-1]
    assert server.calls == calls + 1, "it is remembered"
    assert (last.get(name) or {}).get("type") != value if value else name not in last
    if streamed or name != "stream_options":
        lost = {"temperature", "max_tokens", "response_format"} - last.keys() - {name}
        assert not lost - {"response_format" if others else ""}, "nothing else is left out"
