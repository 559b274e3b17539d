"""Ask a chat model whether candidates are one, twenty pairs a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.graph.builds import Build, ChatStep
from fabula.graphs.entities.pairs import (
    REPLY_TOKENS,
    PairsReply,
    digest_pair,
    list_pairs,
    placeholder,
    read_pairs,
)
from fabula.models import Prompt
from fabula.models.prompts import fill_template
from fabula.models.replies import shorten
from fabula_graphs.identities import PROMPTS
from fabula_graphs.identities.candidates import ComparedEntity

STEP = "identities"
PRIORITY, TRIES = 1, 3
MAX_DESCRIPTION_TOKENS = 60
"""Tokens of an entity's description in the prompt, which are about two sentences."""
MAX_NAMES, MAX_NAME_CHARACTERS = 5, 100
"""How many other names of an entity the prompt has, and how much of each name."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities about which a model is asked."""

    first: ComparedEntity
    second: ComparedEntity

    @property
    def texts(self) -> tuple[str, str]:
        """What the prompt says of each."""
        return _describe(self.first), _describe(self.second)

    @property
    def digest(self) -> str:
        """16 hex digits of both texts, whichever of the two entities is the first."""
        return digest_pair(self.texts)


def ask_about(pairs: Sequence[Pair], temperature: float) -> Build[list[tuple[bool, str]]]:
    """Ask a model about pairs.

    Returns:
        Whether the two of each pair are one, and why.

    Raises:
        BadReply: No reply says something of each pair.
    """
    request = Prompt(
        system=fill_template(PROMPTS / "pairs_system.txt"),
        user=fill_template(
            PROMPTS / "pairs.txt",
            pairs=list_pairs([pair.texts for pair in pairs]),
            count=len(pairs),
        ),
        max_tokens=REPLY_TOKENS,
        temperature=temperature,
        schema=PairsReply,
        placeholder=lambda: placeholder(len(pairs)),
    )
    chat = ChatStep("model", STEP, PRIORITY)
    return chat.ask(request, lambda reply: read_pairs(reply, len(pairs)), TRIES)


def _describe(entity: ComparedEntity) -> str:
    others = [name[:MAX_NAME_CHARACTERS] for name in entity.names if name != entity.name]
    also = f" (also {', '.join(others[:MAX_NAMES])})" if others else ""
    text = shorten(" ".join(entity.text.split()), MAX_DESCRIPTION_TOKENS)
    name = entity.name[:MAX_NAME_CHARACTERS]
    return f"{name}{also}, {entity.type}, in “{entity.book}”: {text}"
