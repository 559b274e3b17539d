"""The tests' endpoint as Fabula sees it, and two prompts to ask it."""

from collections.abc import Iterable
from typing import Any

from endpoint import Endpoint as Server
from fabula.graphs.aspects.schemas import DetailsReply
from fabula.models import Prompt, Reply
from fabula.models.cache import ResponseCache
from fabula.models.endpoint.endpoint import Endpoint
from fabula.models.endpoint.openai import OpenAIChat
from fabula.models.limiter import Limiter, RetryPolicy

PASSAGE = "Marley was dead. Scrooge signed the register. The clerk shivered in his cell."
SUMMARY = Prompt("You summarise.", f"<passages>\n{PASSAGE}\n</passages>", 100, 0.5)
DETAILS = Prompt(
    "JSON.", f"Give 2 facts.\n<passage>\n{PASSAGE}\n</passage>", 100, 0.5, DetailsReply
)


opened: list[Endpoint] = []
"""What a test reached; closed after it."""


def reach(
    url: str,
    *,
    key: str | None = "key",
    limit: int = 8,
    memory: ResponseCache | None = None,
    **patience: Any,
) -> Endpoint:
    """An endpoint that is called anew soon, and waited for as long as a busy machine may take."""
    waits = {"timeout": 60.0, "attempts": 4, "first_wait": 0.01, **patience}
    opened.append(Endpoint(url, key, Limiter(limit), RetryPolicy(**waits), memory))
    return opened[-1]


def chat(server: Server, model: str = "m", **how: Any) -> OpenAIChat:
    """A chat model of the tests' endpoint."""
    return OpenAIChat(reach(server.url, **how), model)


def text_of(pieces: Iterable[Reply]) -> str:
    """The text of a streamed reply."""
    return "".join(piece.text for piece in pieces)
