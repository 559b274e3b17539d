"""Asks a chat model whether candidates are one, twenty pairs a call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.graphs.identities.candidates import ComparedEntity
from fabula.graphs.identities.prompts import prompt
from fabula.models import Chat, Prompt
from fabula.models.prompts import escape_marks
from fabula.models.replies import ask, read_as, shorten

PAIRS_A_CALL = 20
TRIES = 3
REPLY_TOKENS = 60 * PAIRS_A_CALL
MAX_DESCRIPTION_TOKENS = 60
"""Tokens of an entity's description in the prompt, which are about two sentences."""
MAX_NAMES, MAX_NAME_CHARACTERS = 5, 100
"""How many other names of an entity the prompt has, and how much of each name."""
MAX_WHY_CHARACTERS = 200
"""How much is kept of a model's reason."""


class PairShape(BaseModel):
    """Whether the two of the pair with that number are one."""

    model_config = ConfigDict(extra="ignore")

    number: int
    same: bool
    why: str = ""


class PairsReply(BaseModel):
    """What is said of each pair."""

    model_config = ConfigDict(extra="forbid")

    pairs: list[PairShape]


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
        written = json.dumps(sorted(self.texts), ensure_ascii=False)
        return hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Confirmer:
    """Asks a chat model which pairs are one."""

    chat: Chat
    temperature: float

    def ask(self, pairs: Sequence[Pair]) -> list[tuple[bool, str]]:
        """Ask a model about pairs: a paid call.

        Returns:
            Whether the two of each pair are one, and why.

        Raises:
            BadReply: No reply says something of each pair.
        """
        request = Prompt(
            system=prompt("pairs_system"),
            user=prompt("pairs", pairs=_list_pairs(pairs), count=len(pairs)),
            max_tokens=REPLY_TOKENS,
            temperature=self.temperature,
            schema=PairsReply,
            placeholder=lambda: _placeholder(len(pairs)),
        )
        return ask(self.chat, request, lambda reply: read_pairs(reply, len(pairs)), TRIES)


def read_pairs(reply: str, count: int) -> list[tuple[bool, str]]:
    """Read what a reply says of each of `count` pairs.

    Raises:
        BadReply: The reply is not of this shape, or a pair is missing.
    """
    verdicts: dict[int, tuple[bool, str]] = {}
    for pair in read_as(reply, PairsReply).pairs:
        if not 1 <= pair.number <= count:
            raise BadReply(f"Pair {pair.number} is none of the {count}.")
        why = " ".join(pair.why.split())[:MAX_WHY_CHARACTERS]
        verdicts.setdefault(pair.number, (pair.same, why))
    if missing := [str(number) for number in range(1, count + 1) if number not in verdicts]:
        raise BadReply(f"Nothing is said of the pairs {', '.join(missing)}.")
    return [verdicts[number] for number in range(1, count + 1)]


def _list_pairs(pairs: Sequence[Pair]) -> str:
    blocks = []
    for number, pair in enumerate(pairs, start=1):
        first, second = map(escape_marks, pair.texts)
        blocks.append(f"[{number}]\n- {first}\n- {second}")
    return "\n\n".join(blocks)


def _describe(entity: ComparedEntity) -> str:
    others = [name[:MAX_NAME_CHARACTERS] for name in entity.names if name != entity.name]
    also = f" (also {', '.join(others[:MAX_NAMES])})" if others else ""
    text = shorten(" ".join(entity.text.split()), MAX_DESCRIPTION_TOKENS)
    name = entity.name[:MAX_NAME_CHARACTERS]
    return f"{name}{also}, {entity.type}, in “{entity.book}”: {text}"


def _placeholder(count: int) -> str:
    """The reply that a dry run assumes: all pairs are one."""
    pairs = [{"number": n, "same": True, "why": "the same in both"} for n in range(1, count + 1)]
    return json.dumps({"pairs": pairs})
