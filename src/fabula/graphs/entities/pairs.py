"""The reply about numbered pairs: whether the two of each are one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.models.prompts import escape_marks
from fabula.models.replies import read_as
from fabula.models.schemas import Filled, ReplyShape

PAIRS_A_CALL = 20
REPLY_TOKENS = 60 * PAIRS_A_CALL
MAX_WHY_CHARACTERS = 200
"""How much is kept of a model's reason."""


class PairShape(BaseModel):
    """Whether the two of the pair with that number are one."""

    model_config = ConfigDict(extra="ignore")

    number: int
    same: bool
    why: str = ""


class PairsReply(ReplyShape):
    """What is said of each pair."""

    pairs: Filled[PairShape]


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


def digest_pair(texts: tuple[str, str]) -> str:
    """Return 16 hex digits of the texts of a pair, whichever of the two is the first."""
    written = json.dumps(sorted(texts), ensure_ascii=False)
    return hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def list_pairs(texts: Sequence[tuple[str, str]]) -> str:
    """Return pairs as a prompt has them, numbered from 1, by the texts of the two of each."""
    blocks = []
    for number, pair in enumerate(texts, start=1):
        first, second = map(escape_marks, pair)
        blocks.append(f"[{number}]\n- {first}\n- {second}")
    return "\n\n".join(blocks)


def placeholder(count: int) -> str:
    """Return the reply that a dry run assumes: all pairs are one."""
    pairs = [{"number": n, "same": True, "why": "the same in both"} for n in range(1, count + 1)]
    return json.dumps({"pairs": pairs})
