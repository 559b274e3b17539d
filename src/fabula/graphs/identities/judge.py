"""A chat model's yes or no on likely pairs, twenty a call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.graphs.identities.likely import Named
from fabula.graphs.identities.prompts import prompt
from fabula.models import Chat, Prompt
from fabula.models.replies import ask, read_as, shortened

PAIRS_A_CALL = 20
TRIES = 3
REPLY_TOKENS = 60 * PAIRS_A_CALL
TOLD_TOKENS = 60
"""Most of what is told of one, which is about two sentences."""
MOST_NAMES, LONGEST_NAME, LONGEST_WHY = 5, 100, 200


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
    """Two entities as a model is told of them."""

    one: Named
    other: Named

    @property
    def told(self) -> tuple[str, str]:
        """What it is told of each."""
        return _told(self.one), _told(self.other)

    @property
    def digest(self) -> str:
        """16 hex digits of what it is told, whichever of the two comes first."""
        written = json.dumps(sorted(self.told), ensure_ascii=False)
        return hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Judge:
    """Asks a chat model which pairs are one."""

    chat: Chat
    temperature: float

    def ask(self, pairs: Sequence[Pair]) -> list[tuple[bool, str]]:
        """Of each pair whether the two are one, and why. Raises BadReply."""
        asked = Prompt(
            system=prompt("pairs_system"),
            user=prompt("pairs", pairs=_listed(pairs), count=len(pairs)),
            max_tokens=REPLY_TOKENS,
            temperature=self.temperature,
            schema=PairsReply,
            stand_in=lambda: _stand_in(len(pairs)),
        )
        return ask(self.chat, asked, lambda reply: read_pairs(reply, len(pairs)), TRIES)


def read_pairs(reply: str, count: int) -> list[tuple[bool, str]]:
    """What a reply says of each of `count` pairs. Raises BadReply where one is missing."""
    found: dict[int, tuple[bool, str]] = {}
    for one in read_as(reply, PairsReply).pairs:
        if not 1 <= one.number <= count:
            raise BadReply(f"Pair {one.number} is none of the {count}.")
        found.setdefault(one.number, (one.same, " ".join(one.why.split())[:LONGEST_WHY]))
    if missing := [str(number) for number in range(1, count + 1) if number not in found]:
        raise BadReply(f"Nothing is said of the pairs {', '.join(missing)}.")
    return [found[number] for number in range(1, count + 1)]


def _listed(pairs: Sequence[Pair]) -> str:
    blocks = []
    for number, pair in enumerate(pairs, start=1):
        one, other = pair.told
        blocks.append(f"[{number}]\n- {one}\n- {other}")
    return "\n\n".join(blocks)


def _told(one: Named) -> str:
    names = [name[:LONGEST_NAME] for name in one.names if name != one.name][:MOST_NAMES]
    also = f" (also {', '.join(names)})" if names else ""
    said = shortened(" ".join(one.text.split()), TOLD_TOKENS)
    return f"{one.name[:LONGEST_NAME]}{also}, {one.type}, in “{one.book}”: {said}"


def _stand_in(count: int) -> str:
    """Of a model that nothing is known of: all are one."""
    pairs = [{"number": n, "same": True, "why": "the same in both"} for n in range(1, count + 1)]
    return json.dumps({"pairs": pairs})
