"""The parameters of a request: those the model accepts, without those its endpoint refused."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from fabula.models import OfferedTool, Prompt, TextKind

if TYPE_CHECKING:
    from pydantic import BaseModel

THINKING_TOKENS = 4096
"""Tokens added to a thinking model's limit: endpoints count its thoughts as part of the reply."""
SYSTEM_ROLE = "system role"
"""What `without` calls it: a model whose template knows no system message gets the instructions at
the beginning of the user's message."""
REFUSED_SYSTEM_ROLE = re.compile(
    r"system[\W_]{0,3}(?:role|message|prompt|instruction)|developer (?:instruction|role|message)"
    r"|role\b.{0,40}\bsystem\b|\bsystem\b.{0,40}\brole"
    r"|messages?\W{0,5}0\W{0,5}role|roles?\b.{0,20} must alternate|valid roles?\W{1,3}user\b"
    r"|only.{0,12}user.{0,5}(?:and|or|,|/).{0,5}(?:assistant|model)"
    r"|(?:should|must) be .{0,5}user.{0,5}(?:and|or|,|/).{0,5}(?:assistant|model)"
    r"|(?:with|be|is) (?:a |the )?user(?: role| message|\W*role)",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say that they know no system message, or a template of theirs."""
STREAMED, NOT_STREAMED = "a stream", "a reply without a stream"
"""What `without` calls the two ways of a reply."""
WAYS = frozenset({STREAMED, NOT_STREAMED})
NEEDS_STREAM = re.compile(
    r"only supports? (?:the )?stream|enable the stream parameter|\bnon-streaming calls"
    r"|must (?:have|set|use|be) (?:a )?\W?stream(?:ing)?\b"
    r"|\bstream\W{0,4}(?:must|has to|needs to) be"
    r"|when \W?stream\W{0,3}false|\bstream(?:ing)? (?:mode )?is required"
    r"|非流式",
    re.IGNORECASE,
)
"""How servers say that a model replies in streams alone: DashScope of models that think, Fireworks
of long replies."""
NO_STREAM = re.compile(
    r"verified to stream|\bstream(?:ing)?\W{0,3} (?:mode )?(?:is not|isn't|does not|not)\b"
    r"|not support \W?stream(?!\w*[_ -]?options)",
    re.IGNORECASE,
)
"""How servers say that a model does not reply in streams, as OpenAI to accounts not verified."""
NO_INPUT_TYPE = "embeddings without an input_type"
"""What `without` calls a request that does not say whether its texts are questions or passages."""
NEEDS_INPUT_TYPE = re.compile(
    r"\binput_type\b.{0,30}\b(?:required|missing|must be)\b"
    r"|\b(?:requires?|missing|provide|specify)\b.{0,30}\binput_type\b",
    re.IGNORECASE | re.DOTALL,
)
"""How servers ask for it, as NVIDIA's NIM does for models that embed questions otherwise."""
TOO_LARGE = re.compile(r"too (?:large|big|high|many)|at most|maximum|exceed", re.IGNORECASE)


FLAGS = {
    **{name: name for name in ("temperature", "stream_options", "encoding_format", "tools")},
    SYSTEM_ROLE: "system_role",
}
"""Parameters that are sent or left out, and the fields that say so."""
ReplyFormat = Literal["json_schema", "json_object_schema", "json_object"]
"""How JSON of a schema is asked for: as OpenAI does; as llama.cpp, llama-cpp-python, Together and
Fireworks do, {"type": "json_object", "schema": ...}; or any JSON, without a schema."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The optional parameters that one model at one endpoint accepts; at first, all of them."""

    limit: Literal["max_tokens", "max_completion_tokens"] | None = "max_tokens"
    format: ReplyFormat | None = "json_schema"
    temperature: bool = True
    stream_options: bool = True
    encoding_format: bool = True
    thinks: bool = False
    system_role: bool = True
    tools: bool = True
    input_type: bool = False
    """Whether a call for vectors says what its texts are; few servers know the field."""
    stream: Literal["asked", "always", "never"] = "asked"
    """Whether a reply comes as a stream. The other way is put together, or shown when it is whole,
    by the transport."""

    def chat(self, model: str, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        """Return the body of a chat completion."""
        by_json = prompt.offer is not None and not self.tools
        added = f"\n\n{prompt.offer.instructions}" if prompt.offer and by_json else ""
        body: dict[str, Any] = {
            "model": model,
            "messages": self._messages(
                _sendable(prompt.system), _sendable(prompt.user + added + prompt.correction)
            ),
        }
        if self.limit is not None:
            body[self.limit] = self.most_tokens(prompt)
        if self.temperature:
            body["temperature"] = prompt.temperature
        if prompt.offer is not None and self.tools:
            # Not with a form of the reply as well: many servers take one of the two.
            body["tools"] = [_tool_form(tool) for tool in prompt.offer.tools]
        elif prompt.schema is not None and self.format is not None:
            body["response_format"] = self._response_format(prompt.schema)
        if self.stream == "always" or (stream and self.stream != "never"):
            body["stream"] = True
            if self.stream_options:
                body["stream_options"] = {"include_usage": True}
        return body

    def _response_format(self, schema: type[BaseModel]) -> dict[str, Any]:
        form = _schema_form(schema)
        if self.format == "json_schema":
            return {"type": "json_schema", "json_schema": form}
        if self.format == "json_object_schema":
            return {"type": "json_object", "schema": form["schema"]}
        return {"type": "json_object"}

    def most_tokens(self, prompt: Prompt) -> int | None:
        """Return the limit of a reply's tokens that is sent; None if none is."""
        if self.limit is None:
            return None
        return prompt.max_tokens + THINKING_TOKENS * self.thinks

    def _messages(self, system: str, user: str) -> list[dict[str, str]]:
        if self.system_role:
            return [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return [{"role": "user", "content": f"{system}\n\n{user}" if system else user}]

    def embeddings(
        self, model: str, texts: Sequence[str], kind: TextKind = "passage"
    ) -> dict[str, Any]:
        """Return the body of an embeddings call."""
        body: dict[str, Any] = {"model": model, "input": [*map(_sendable, texts)]}
        if self.encoding_format:
            # A third of the bytes of decimal numbers.
            body["encoding_format"] = "base64"
        if self.input_type:
            body["input_type"] = kind
        return body

    def key_kind(self, kind: TextKind) -> str:
        """Return what the cache's key of a text has of its kind; see `cache.embedding_key`."""
        # A passage is found under the key that it has where nothing was learned yet.
        return kind if self.input_type and kind == "query" else ""

    def alternatives(self, body: Mapping[str, Any], accepted: Collection[str]) -> list[Self]:
        """Return what to try where `body` is refused without naming a parameter.

        Each parameter is left out in turn, and at last all of them. Those that lose least come
        first.

        Args:
            body: The body that was refused.
            accepted: Parameters that the model has accepted before, which are not to blame.
        """
        suspects = [name for name in optional_parameters(body) if name not in accepted]
        candidates, bare = [], self
        for name in suspects:
            # A parameter has up to three forms; the last one is to leave it out.
            fewer, further = self, bare
            for _ in range(FORMS):
                fewer, further = fewer.without(name), further.without(name)
                candidates.append(fewer)
            bare = further
        return [fewer for fewer in dict.fromkeys([*candidates, bare]) if fewer != self]

    def without(self, parameter: str) -> Self:
        """Return the parameters to try next after `parameter` was refused."""
        if parameter in FLAGS:
            refused: dict[str, Any] = {FLAGS[parameter]: False}
            return replace(self, **refused)
        match parameter:
            case _ if parameter == STREAMED:
                return replace(self, stream="never")
            case _ if parameter == NOT_STREAMED:
                return replace(self, stream="always")
            case _ if parameter == NO_INPUT_TYPE:
                return replace(self, input_type=True)
            case "max_tokens" if self.limit == "max_tokens":
                # Only thinking models refuse it.
                return replace(self, limit="max_completion_tokens", thinks=True)
            case "max_tokens" | "max_completion_tokens":
                return replace(self, limit=None)
            case "response_format" if self.format == "json_schema":
                return replace(self, format="json_object_schema")
            case "response_format" if self.format == "json_object_schema":
                return replace(self, format="json_object")
            case "response_format":
                return replace(self, format=None)
        return self


def _sendable(text: str) -> str:
    """The text with '?' for lone surrogates, as in a shell's arguments, which can't be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")


@functools.cache
def _schema_form(schema: type[BaseModel]) -> dict[str, Any]:
    """A schema as endpoints want it; remembered, as pydantic takes half a millisecond for it."""
    return {"name": schema.__name__, "strict": True, "schema": schema.model_json_schema()}


@functools.cache
def _tool_form(tool: OfferedTool) -> dict[str, Any]:
    """A tool as endpoints want it."""
    function = {
        "name": tool.name,
        "description": tool.about,
        "parameters": tool.arguments.model_json_schema(),
    }
    return {"type": "function", "function": function}


OPTIONAL = (
    "tools",
    "response_format",
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "stream_options",
    "encoding_format",
)
"""In the order of the search: a message may name the refused one, then the one to use instead."""
FORMS = 3
"""The most forms of one parameter: JSON is asked for in three ways."""
LIMITS = ("max_tokens", "max_completion_tokens")


def optional_parameters(body: Mapping[str, Any]) -> list[str]:
    """Return the names of the optional parameters in a request's body, the system role last."""
    names = [name for name in OPTIONAL if name in body]
    return [*names, SYSTEM_ROLE] if _has_system_role(body) else names


def lost_parameters(body: Mapping[str, Any], smaller: Mapping[str, Any]) -> list[str]:
    """Return the optional parameters of a body that another one lacks, or has otherwise."""
    lost = [name for name in OPTIONAL if name in body and body[name] != smaller.get(name)]
    is_folded = _has_system_role(body) and not _has_system_role(smaller)
    return [*lost, SYSTEM_ROLE] if is_folded else lost


def _has_system_role(body: Mapping[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body.get("messages", ()))


def refused_parameter(parameter: str | None, message: str, body: Mapping[str, Any]) -> str | None:
    """Return the parameter of `body` that an endpoint's error is about; None if it names none.

    A limit that is too large is not a parameter that is refused.

    Args:
        parameter: The error's own field `param`, if it has one.
        message: The error's message; the first parameter that it names counts.
        body: The body of the refused request.
    """
    # First, as the reason that is given may name another parameter: the length of the reply.
    if way := _refused_way(parameter, message, body):
        return way
    names = [name for name in OPTIONAL if name in body]
    if TOO_LARGE.search(message):
        names = [name for name in names if name not in LIMITS]
    if parameter:
        for name in names:
            if parameter == name or parameter.startswith(f"{name}."):
                return name
    positions = {name: match.start() for name in names if (match := _find_name(name, message))}
    if _has_system_role(body):
        if parameter and re.search(r"messages?\W{0,3}0\W{0,3}role", parameter):
            return SYSTEM_ROLE
        if match := REFUSED_SYSTEM_ROLE.search(message):
            positions[SYSTEM_ROLE] = match.start()
    return min(positions, key=positions.__getitem__) if positions else None


def _refused_way(parameter: str | None, message: str, body: Mapping[str, Any]) -> str | None:
    """A stream, a reply without one, or texts of no stated kind, if that is what is refused."""
    if "messages" not in body:
        is_unstated = "input" in body and "input_type" not in body
        needs = parameter == "input_type" or NEEDS_INPUT_TYPE.search(message)
        return NO_INPUT_TYPE if is_unstated and needs else None
    if not body.get("stream"):
        return NOT_STREAMED if NEEDS_STREAM.search(message) else None
    return STREAMED if NO_STREAM.search(message) or parameter == "stream" else None


def _find_name(name: str, message: str) -> re.Match[str] | None:
    words = name.replace("_", "[_ -]?")
    extra = {
        "response_format": "s?|json[_ ]schema|json_object",
        "tools": "|tool|(?:tool|function)[_ -]?(?:choice|use|call(?:s|ing)?)|functions",
    }.get(name, "")
    return re.search(rf"(?<!\w)(?:{words}{extra})(?!\w)", message, re.IGNORECASE)
