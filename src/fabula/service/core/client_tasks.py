"""Recognise what clients ask of a model for themselves: titles, tags, follow-up questions.

Chat programs send such requests to the same address as people's questions. They can only be told by
what they say, so three things must come together near the beginning of the last message, or of the
instruction before it: the chat, what is wanted of it, and how it is to be written. The prompts of
known clients are in `tests/service/clients/`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TASK = "### Task:"
"""How Open WebUI begins all of its requests."""
MAX_BEGINNING = 700
"""Characters of a message that say what is wanted; the chat itself comes after them."""
_CHAT = re.compile(
    r"\b(?:(?:this|the|our|your|a|given|following|entire) (?:chat|conversation|discussion|session)"
    r"|(?:chat|conversation) history|conversation summarizer)\b"
    r"(?! (?:between|of|with|in|at|on|about|where|when) )",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"\b(?:titles?|tags|name|topic|follow-?ups?|search quer(?:y|ies)|emoji|future context)\b",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"\b(?:concise|short|brief|words?|characters|json|punctuation|quotes|no additional text)\b",
    re.IGNORECASE,
)


def is_client_task(messages: Sequence[str]) -> bool:
    """Return whether the last of some messages is a client's request for itself.

    Args:
        messages: The texts of a request in order. A first one may be the instruction to the last.
    """
    beginnings = [messages[-1]] if len(messages) > 2 else messages
    return any(map(_asks_for_chat, beginnings))


def _asks_for_chat(message: str) -> bool:
    beginning = message.lstrip()[:MAX_BEGINNING]
    return beginning.startswith(TASK) or all(
        each.search(beginning) for each in (_CHAT, _WANTED, _FORM)
    )
