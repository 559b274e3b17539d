"""Read a whole chat completion: the reply's text, without thoughts, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.models.endpoint.payload import (
    End,
    Json,
    choice,
    describe_reason,
    json_in_call,
    message_text,
    messages,
    object_or_empty,
    odd_reason,
    reasoning_text,
    reply_end,
    text_or_empty,
    tool_calls,
    whole_json,
)
from fabula.models.endpoint.thoughts import split_thoughts

MAX_REPLY_CHARACTERS = 500_000
"""The longest reply that is accepted; no prompt asks for a tenth of that."""
REASONING_TOOK_ALL = (
    "its server took the whole reply for thoughts (reasoning_content). Start the server without "
    "its reasoning parser (llama.cpp: --reasoning-format none; vLLM and SGLang: no "
    "--reasoning-parser), or turn the model's thinking off."
)


@dataclass(frozen=True, slots=True)
class WholeReply:
    """A reply as its endpoint sent it, read.

    Attributes:
        text: The reply without thoughts; calls of tools as JSON.
        raw: The text of the message, with the thoughts that are in it.
        end: How the reply ended.
        has_thoughts: Whether there were thoughts in the text.
        reasoning: The thoughts that the server has put in a field of their own.
        refusal: What the model said instead of a reply.
        reason: Why it ended, if that is none of the usual reasons.
    """

    text: str
    raw: str
    end: End
    has_thoughts: bool
    reasoning: str
    refusal: str
    reason: str

    @property
    def is_thinking(self) -> bool:
        """Whether the model has thought before it replied."""
        return self.has_thoughts or bool(self.reasoning)

    @property
    def is_empty(self) -> bool:
        """Whether the reply has no text, or may have lost its text to its thoughts."""
        return self.is_thinking or not self.text.strip()

    @property
    def is_incomplete(self) -> bool:
        """Whether the reply did not end by itself, so that it is not cached."""
        is_thoughts_alone = not self.text.strip() and self.is_thinking
        return self.end in ("length", "filtered", "stopped") or is_thoughts_alone

    def explain_lack(self, model: str) -> str:
        """Return a sentence on why the reply of a model has no text that can be used."""
        if self.refusal:
            why = " ".join(self.refusal.split())[:300].rstrip(".")
            return f"{model} declined: {why}."
        if self.end == "filtered":
            return f"{model}'s reply was withheld by the endpoint's content filter."
        if self.end == "length":
            return (
                f"{model} used all its tokens for thinking and replied nothing. Let it think less, "
                "or use another model."
            )
        if self.reasoning:
            return f"{model} gave an empty reply: {REASONING_TOOK_ALL}"
        if self.has_thoughts:
            return (
                f"{model} replied with thoughts alone. Turn its thinking off, or use another model."
            )
        why = f" {describe_reason(model, self.reason)}" if self.reason else ""
        return f"{model} gave an empty reply.{why}"


def read_reply(answer: Json, *, is_json: bool, may_call: bool) -> WholeReply:
    """Return the reply of a chat completion.

    Args:
        answer: The completion.
        is_json: Whether JSON was asked for.
        may_call: Whether the model was offered tools.
    """
    first = choice(answer)
    message, end = object_or_empty(first.get("message")), reply_end(first)
    reasoning, raw = reasoning_text(message), message_text(message)
    text, has_thoughts = split_thoughts(raw)
    if may_call:
        calls = (tool_calls(each, MAX_REPLY_CHARACTERS) for each in messages(answer))
        text = next(filter(None, calls), text)
    elif is_json and not text.strip() and end in ("", "whole"):
        text = json_in_call(message)
    if not text.strip() and end in ("", "whole"):
        text = reply_in_thoughts(reasoning, is_json=is_json)
    refusal = text_or_empty(message.get("refusal"))
    if end == "stopped" and text.strip() and (whole_json(text) or not is_json):
        # JSON shows that nothing of it is missing. A text does not, but it is paid for, and the
        # next one would end in the same way.
        end = "whole"
    return WholeReply(text, raw, end, has_thoughts, reasoning, refusal, odd_reason(first))


def reply_in_thoughts(reasoning: str, *, is_json: bool) -> str:
    """Return the reply that a server has put among the thoughts, where that is certain; or ''.

    It is certain if the closing tag stands there, too, or if JSON was asked for and all is JSON.
    """
    text, has_thoughts = split_thoughts(reasoning)
    if has_thoughts:
        return text
    # Some reasoning parsers put a reply there that has no thoughts at all.
    return whole_json(reasoning) if is_json else ""
