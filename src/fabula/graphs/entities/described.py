"""What is said of an entity or a relation, chunk by chunk, becomes its description.

A few statements are joined; many are merged by a model, in blocks where they are too many for one
call, as LightRAG does it (Guo et al. 2024; `merge_nodes_then_upsert` of its code). Unlike there,
one call merges those of several subjects, where they fit: half of what Microsoft's GraphRAG asks of
a novel are such calls, one a subject.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.graphs.entities.extract import PROMPTS
from fabula.graphs.entities.stand_ins import StandIns
from fabula.graphs.entities.values import Mention, Tie
from fabula.models import Chat, Prompt
from fabula.models.offline.extracts import salience
from fabula.models.prompted import WORDS
from fabula.models.prompts import filled
from fabula.models.replies import ask, read_as, read_summary, shortened
from fabula.text import tokens
from fabula.text.stems import Stemmer

FEWEST_MERGED, MOST_JOINED = 8, 1200
"""From so many statements on, or so many tokens of them, a call merges them."""
BLOCK = 8000
"""Most tokens of the statements of one call; a description has at most half of it."""
SUBJECTS = 10
"""Most subjects of one call, whose statements are a block together."""
TRIES = 3
ROOM, ROOM_TOGETHER = 3, 4 / 3
"""A reply may take so many times its limit: cut by us at a sentence, not by the endpoint. One about
several subjects stays within 4,096 tokens, which is all that some endpoints write."""


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


class DescribedShape(BaseModel):
    """The description of the subject with that number."""

    model_config = ConfigDict(extra="ignore")

    number: int
    description: str


class DescriptionsReply(BaseModel):
    """The descriptions of several subjects."""

    model_config = ConfigDict(extra="forbid")

    descriptions: list[DescribedShape]


@dataclass(frozen=True, slots=True)
class Describer:
    """Has a chat model merge statements into descriptions of at most `limit` tokens each."""

    chat: Chat
    limit: int
    temperature: float
    stand_ins: StandIns

    def merge(self, some: Sequence[Statements]) -> list[str | BadReply]:
        """A description of each subject of a call, or why there is none.

        Where no reply tells of all of them, each is asked about alone.
        """
        if len(some) > 1:
            try:
                return [*self._together(some)]
            except BadReply:
                pass
        return [self._alone(one) for one in some]

    def _alone(self, statements: Statements) -> str | BadReply:
        texts: Sequence[str] = statements.texts
        try:
            while len(some := blocks(texts, BLOCK)) > 1:
                texts = [self._merge(statements.subject, block) for block in some]
            return self._merge(statements.subject, texts)
        except BadReply as error:
            return error

    def _together(self, some: Sequence[Statements]) -> list[str]:
        listed = "\n\n".join(
            f"[{number}] {one.subject}\n{one.joined}" for number, one in enumerate(some, 1)
        )
        asked = Prompt(
            system=filled(PROMPTS / "describe_many_system.txt"),
            user=filled(
                PROMPTS / "describe_many.txt",
                statements=listed,
                count=len(some),
                tokens=self.limit,
                words=round(WORDS * self.limit),
            ),
            max_tokens=round(ROOM_TOGETHER * self.limit * len(some)),
            temperature=self.temperature,
            schema=DescriptionsReply,
            stand_in=lambda: self.stand_ins.described_together([one.joined for one in some]),
        )
        found = ask(self.chat, asked, lambda reply: read_descriptions(reply, len(some)), TRIES)
        return [shortened(text, self.limit) for text in found]

    def _merge(self, subject: str, texts: Sequence[str]) -> str:
        joined = "\n".join(texts)
        asked = Prompt(
            system=filled(PROMPTS / "describe_system.txt"),
            user=filled(
                PROMPTS / "describe.txt",
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


def read_descriptions(reply: str, count: int) -> list[str]:
    """The description of each of `count` subjects. Raises BadReply where one is missing."""
    told: dict[int, str] = {}
    for one in read_as(reply, DescriptionsReply).descriptions:
        if one.description.strip():
            told.setdefault(one.number, read_summary(one.description))
    if missing := [str(number) for number in range(1, count + 1) if number not in told]:
        raise BadReply(f"There is no description of the subjects {', '.join(missing)}.")
    return [told[number] for number in range(1, count + 1)]


def portions(some: Sequence[Statements]) -> list[list[Statements]]:
    """What one call merges: subjects whose statements fit a block together, in order of names.

    One with more statements than that is alone.
    """
    found: list[list[Statements]] = []
    room = 0
    for one in sorted(some, key=lambda one: (one.subject, one.digest)):
        length = tokens.count(one.joined)
        if not found or length > room or len(found[-1]) == SUBJECTS:
            found.append([])
            room = BLOCK
        found[-1].append(one)
        room -= length
    return found


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
