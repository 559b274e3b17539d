"""What is said of an entity or a relation, chunk by chunk, becomes its description.

A few statements are joined; many are merged by a model, in blocks where they are too many for one
call, as LightRAG does it (Guo et al. 2024; `merge_nodes_then_upsert` of its code).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabula import tokens
from fabula.graphs.entities.prompts import prompt
from fabula.graphs.entities.stand_ins import StandIns
from fabula.graphs.entities.values import Mention, Tie
from fabula.providers import Chat, Prompt
from fabula.providers.offline.extracts import salience
from fabula.providers.prompted import WORDS
from fabula.providers.stems import Stemmer
from fabula.replies import ask, read_summary, shortened

FEWEST_MERGED, MOST_JOINED = 8, 1200
"""From so many statements on, or so many tokens of them, a call merges them."""
BLOCK = 4000
"""Most tokens of the statements of one call; a description has at most half of it."""
TRIES = 3
ROOM = 3
"""A reply may take so many times its limit: cut by us at a sentence, not by the endpoint."""


@dataclass(frozen=True, slots=True)
class Statements:
    """What is said of one thing: each statement once, in the order of the text.

    `chunks` are the ids of those that say anything of it.
    """

    subject: str
    texts: tuple[str, ...]
    chunks: tuple[str, ...]

    @classmethod
    def of(cls, subject: str, records: Sequence[Mention | Tie]) -> Statements:
        """Out of what each chunk says, in their order."""
        texts = dict.fromkeys(one.said for one in records if one.said)
        return cls(subject, tuple(texts), tuple(dict.fromkeys(one.chunk for one in records)))

    @property
    def digest(self) -> str:
        """16 hex digits; another list of statements has another. '' for none."""
        if not self.texts:
            return ""
        written = json.dumps(self.texts, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(written, digest_size=8).hexdigest()

    @property
    def joined(self) -> str:
        """One a line."""
        return "\n".join(self.texts)

    @property
    def are_many(self) -> bool:
        """Whether a call is to merge them."""
        return len(self.texts) >= FEWEST_MERGED or tokens.count(self.joined) >= MOST_JOINED


@dataclass(frozen=True, slots=True)
class Describer:
    """Has a chat model merge statements into a description of at most `limit` tokens."""

    chat: Chat
    limit: int
    temperature: float
    stand_ins: StandIns

    def merge(self, statements: Statements) -> str:
        """One description of them all. Raises BadReply."""
        texts: Sequence[str] = statements.texts
        while len(some := blocks(texts, BLOCK)) > 1:
            texts = [self._merge(statements.subject, block) for block in some]
        return self._merge(statements.subject, texts)

    def _merge(self, subject: str, texts: Sequence[str]) -> str:
        joined = "\n".join(texts)
        asked = Prompt(
            system=prompt("describe_system"),
            user=prompt(
                "describe",
                subject=subject,
                statements=joined,
                tokens=self.limit,
                words=round(WORDS * self.limit),
            ),
            max_tokens=ROOM * self.limit,
            temperature=self.temperature,
            stand_in=lambda: self.stand_ins.described(joined),
        )
        return shortened(ask(self.chat, asked, read_summary, TRIES), self.limit)


def blocks(texts: Sequence[str], limit: int) -> list[list[str]]:
    """Runs of texts of at most `limit` tokens together, in order; a longer one is alone."""
    found: list[list[str]] = []
    room = 0
    for text in texts:
        length = tokens.count(text)
        if not found or length > room:
            found.append([])
            room = limit
        found[-1].append(text)
        room -= length
    return found


def first_ones(statements: Statements, limit: int) -> str:
    """The first of them that fit the limit together, at least how the first one begins."""
    [first, *_] = blocks(statements.texts, limit)
    return shortened("\n".join(first), limit)


def most_salient(
    statements: Statements, limit: int, stemmer: Stemmer, weights: Mapping[str, float]
) -> str:
    """Those that hold most of what is particular to them all, within the limit, in text order."""
    if tokens.count(statements.joined) <= limit:
        return statements.joined
    scores = salience([stemmer.stems(text) for text in statements.texts], weights)
    room, kept = limit, []
    for row in sorted(range(len(scores)), key=lambda row: (-scores[row], row)):
        length = tokens.count(statements.texts[row]) + 1
        if length <= room:
            kept.append(row)
            room -= length
    return "\n".join(statements.texts[row] for row in sorted(kept)) or first_ones(statements, limit)
