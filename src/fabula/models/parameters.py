"""What a model accepts: the parameters that are sent, less those that its endpoint refused."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from fabula.models import Prompt

if TYPE_CHECKING:
    from pydantic import BaseModel

THINKING = 4096
"""Tokens on top for a model that thinks: endpoints count thoughts to the reply's limit."""
TOO_MUCH = re.compile(r"too (?:large|big|high|many)|at most|maximum|exceed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The optional parameters of one model at one endpoint; at first, all of them."""

    limit: Literal["max_tokens", "max_completion_tokens"] | None = "max_tokens"
    format: Literal["json_schema", "json_object"] | None = "json_schema"
    temperature: bool = True
    stream_options: bool = True
    encoding_format: bool = True
    thinks: bool = False

    def chat(self, model: str, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        """The body of a chat completion."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": "system", "content": _sendable(prompt.system)},
                {"role": "user", "content": _sendable(prompt.user + prompt.correction)},
            ],
        }
        if self.limit is not None:
            body[self.limit] = prompt.max_tokens + THINKING * self.thinks
        if self.temperature:
            body["temperature"] = prompt.temperature
        if prompt.schema is not None and self.format is not None:
            body["response_format"] = {"type": self.format}
            if self.format == "json_schema":
                body["response_format"]["json_schema"] = _shape(prompt.schema)
        if stream:
            body["stream"] = True
            if self.stream_options:
                body["stream_options"] = {"include_usage": True}
        return body

    def embeddings(self, model: str, texts: Sequence[str]) -> dict[str, Any]:
        """The body of an embeddings call; base64 is a third of the bytes of decimals."""
        body: dict[str, Any] = {"model": model, "input": [*map(_sendable, texts)]}
        if self.encoding_format:
            body["encoding_format"] = "base64"
        return body

    def alternatives(self, body: Mapping[str, Any], taken: Collection[str]) -> list[Self]:
        """What to try where `body` is refused and nobody says why, those that lose least first.

        Each parameter in turn is left out, but those `taken` before; at last, all of them.
        """
        suspects = [name for name in sent(body) if name not in taken]
        found, bare = [], self
        for name in suspects:
            found += [self.without(name), self.without(name).without(name)]
            bare = bare.without(name).without(name)
        return [one for one in dict.fromkeys([*found, bare]) if one != self]

    def without(self, parameter: str) -> Self:
        """The next thing to try once `parameter` was refused."""
        match parameter:
            case "max_tokens" if self.limit == "max_tokens":
                # Only models that think refuse it.
                return replace(self, limit="max_completion_tokens", thinks=True)
            case "max_tokens" | "max_completion_tokens":
                return replace(self, limit=None)
            case "response_format" if self.format == "json_schema":
                return replace(self, format="json_object")
            case "response_format":
                return replace(self, format=None)
            case "temperature":
                return replace(self, temperature=False)
            case "stream_options":
                return replace(self, stream_options=False)
            case "encoding_format":
                return replace(self, encoding_format=False)
        return self


def _sendable(text: str) -> str:
    """Half a surrogate pair, as from a shell's arguments, can't be sent: it is a '?'."""
    return text.encode("utf-8", "replace").decode("utf-8")


@functools.cache
def _shape(schema: type[BaseModel]) -> dict[str, Any]:
    """Cached: pydantic makes a schema anew in half a millisecond."""
    return {"name": schema.__name__, "strict": True, "schema": schema.model_json_schema()}


OPTIONAL = (
    "response_format",
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "stream_options",
    "encoding_format",
)
"""In the order looked for: a complaint may name, after the one refused, the one to use."""
LIMITS = ("max_tokens", "max_completion_tokens")


def sent(body: Mapping[str, Any]) -> list[str]:
    """The optional parameters of a body."""
    return [name for name in OPTIONAL if name in body]


def refused_parameter(named: str | None, message: str, body: Mapping[str, Any]) -> str | None:
    """Which parameter of `body` an endpoint's complaint names; None where it names none.

    `named` is the error's `param`, where it has one; else it is the first that the message names.
    A limit that is too large is not refused itself.
    """
    names = sent(body)
    if TOO_MUCH.search(message):
        names = [name for name in names if name not in LIMITS]
    if named:
        for name in names:
            if named == name or named.startswith(f"{name}."):
                return name
    places = {name: match.start() for name in names if (match := _named(name, message))}
    return min(places, key=places.__getitem__) if places else None


def _named(name: str, message: str) -> re.Match[str] | None:
    words = name.replace("_", "[_ -]?")
    extra = "s?|json[_ ]schema|json_object" if name == "response_format" else ""
    return re.search(rf"(?<!\w)(?:{words}{extra})(?!\w)", message, re.IGNORECASE)
