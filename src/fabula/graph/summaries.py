"""What graphs share that have a chat model write summaries of a limited length."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from fabula.errors import BadReply
from fabula.graph.builds import Build, ChatStep
from fabula.models import Prompt
from fabula.models.prompted import WORDS_PER_TOKEN
from fabula.models.replies import read_summary, shorten
from fabula.text import tokens

REPLY_ROOM = 3
"""The endpoint's limit is this multiple of the wanted length: a longer reply is cut at the end of a
sentence here, and not in the middle of one by the endpoint."""
MAX_OVERRUN = 1.5
"""A summary longer than this multiple of its limit is asked for again."""


def summary_size(limit: int) -> dict[str, int]:
    """Return a limit in tokens and in words, as prompts name it."""
    return {"tokens": limit, "words": round(WORDS_PER_TOKEN * limit)}


def is_much_too_long(summary: str, limit: int) -> bool:
    """Return whether a summary has more than 1.5 times its limit of tokens."""
    return tokens.count(summary) > MAX_OVERRUN * limit


def ask_summary(
    chat: ChatStep,
    request: Prompt,
    limit: int,
    shorter: Callable[[str], str],
    read: Callable[[str], str] = read_summary,
) -> Build[str]:
    """Ask for a summary and return whole sentences of it, at most `limit` tokens.

    A summary that is much too long is asked for once more, shorter; then it is cut.

    Args:
        chat: The model that is asked.
        request: What is asked.
        limit: The most tokens of the summary.
        shorter: The text that asks for a shorter summary in place of a reply.
        read: Makes a summary of a reply. Raises BadReply for one that can't be used.

    Raises:
        ModelError: No usable reply could be had.
    """
    summary = yield from chat.ask(request, read)
    if is_much_too_long(summary, limit):
        again = replace(request, user=f"{request.user}\n\n{shorter(summary)}")
        # Without a usable second reply, the first one is cut.
        with suppress(BadReply):
            summary = yield from chat.ask(again, read)
    return shorten(summary, limit)
