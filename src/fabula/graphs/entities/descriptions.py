"""Describes entities and relations: what chunks say of one becomes one description.

A few statements are joined. Many are merged by a model, in blocks where they are too many for one
call, as LightRAG does it (Guo et al. 2024; `merge_nodes_then_upsert` of its code). Unlike there,
one call merges the statements of several subjects, where they fit: such calls, one for each
subject, are half of what Microsoft's GraphRAG asks of a novel.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from fabula.errors import BadReply
from fabula.graph.builds import Build, ChatStep
from fabula.graphs.entities.extract import PROMPTS
from fabula.graphs.entities.placeholders import EntityPlaceholders
from fabula.graphs.entities.values import Mention, RelationMention
from fabula.models import Prompt
from fabula.models.offline.extracts import salience
from fabula.models.prompted import WORDS_PER_TOKEN
from fabula.models.prompts import fill_template, number_texts
from fabula.models.replies import read_as, read_summary, shorten
from fabula.models.schemas import Filled, ReplyShape
from fabula.text import tokens
from fabula.text.stems import Stemmer

MIN_MERGED_STATEMENTS, MIN_MERGED_TOKENS = 8, 1200
"""A call merges statements if there are at least this many, or this many tokens of them."""
BLOCK = 8000
"""The most tokens of the statements of one call; a description has at most half of it."""
MAX_SUBJECTS = 10
"""The most subjects of one call, whose statements are a block together."""
TRIES = 3
ROOM, ROOM_TOGETHER = 3, 4 / 3
"""How many times its limit a reply may take, so that we cut it at a sentence and not the endpoint
anywhere. One about several subjects stays within 4,096 tokens: some endpoints write no more."""


@dataclass(frozen=True, slots=True)
class Statements:
    """What chunks say of one subject: each statement once, in the order of the text.

    `chunks` are the ids of all chunks that mention the subject.
    """

    subject: str
    texts: tuple[str, ...]
    chunks: tuple[str, ...]

    @classmethod
    def of(cls, subject: str, records: Sequence[Mention | RelationMention]) -> Statements:
        """Collect the statements of mentions, which are in text order."""
        texts = dict.fromkeys(record.statement for record in records if record.statement)
        chunks = dict.fromkeys(record.chunk for record in records)
        return cls(subject, tuple(texts), tuple(chunks))

    @property
    def digest(self) -> str:
        """16 hex digits of the statements, which are kept in Neo4j; '' where there are none."""
        if not self.texts:
            return ""
        written = json.dumps(self.texts, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(written, digest_size=8).hexdigest()

    @property
    def joined(self) -> str:
        """The statements, each on a line."""
        return "\n".join(self.texts)

    @property
    def are_many(self) -> bool:
        """Whether a call is to merge them."""
        return (
            len(self.texts) >= MIN_MERGED_STATEMENTS
            or tokens.count(self.joined) >= MIN_MERGED_TOKENS
        )


class DescribedShape(BaseModel):
    """The description of the subject with that number."""

    model_config = ConfigDict(extra="ignore")

    number: int
    description: str


class DescriptionsReply(ReplyShape):
    """The descriptions of several subjects."""

    descriptions: Filled[DescribedShape]


@dataclass(frozen=True, slots=True)
class Describer:
    """Asks a chat model to merge statements into descriptions of at most `limit` tokens each.

    `text` is what the statements are of, as "a narrative text".
    """

    chat: ChatStep
    limit: int
    temperature: float
    placeholders: EntityPlaceholders
    text: str

    def merge(self, subjects: Sequence[Statements]) -> Build[list[str | BadReply]]:
        """Describe each subject of one portion: one paid call, or several.

        Where no reply describes all of them, each is asked about alone.

        Returns:
            The description of each subject, or the error for which it has none.
        """
        if len(subjects) > 1:
            try:
                return [*(yield from self._merge_together(subjects))]
            except BadReply:
                pass
        alone: list[str | BadReply] = yield [*map(self._merge_alone, subjects)]
        return alone

    def _merge_alone(self, statements: Statements) -> Build[str | BadReply]:
        texts: Sequence[str] = statements.texts
        try:
            while len(parts := blocks(texts, BLOCK)) > 1:
                texts = yield [self._merge(statements.subject, block) for block in parts]
            return (yield from self._merge(statements.subject, texts))
        except BadReply as error:
            return error

    def _merge_together(self, subjects: Sequence[Statements]) -> Build[list[str]]:
        joined = [statements.joined for statements in subjects]
        numbered = number_texts(
            f"{statements.subject}\n{statements.joined}" for statements in subjects
        )
        request = Prompt(
            system=fill_template(PROMPTS / "describe_many_system.txt", text=self.text),
            user=fill_template(
                PROMPTS / "describe_many.txt",
                statements="\n\n".join(numbered),
                count=len(subjects),
                tokens=self.limit,
                words=round(WORDS_PER_TOKEN * self.limit),
            ),
            max_tokens=round(ROOM_TOGETHER * self.limit * len(subjects)),
            temperature=self.temperature,
            schema=DescriptionsReply,
            placeholder=lambda: self.placeholders.descriptions(joined),
        )
        descriptions = yield from self.chat.ask(
            request, lambda reply: read_descriptions(reply, len(subjects)), TRIES
        )
        return [shorten(text, self.limit) for text in descriptions]

    def _merge(self, subject: str, texts: Sequence[str]) -> Build[str]:
        joined = "\n".join(texts)
        request = Prompt(
            system=fill_template(PROMPTS / "describe_system.txt", text=self.text),
            user=fill_template(
                PROMPTS / "describe.txt",
                subject=subject,
                statements=joined,
                tokens=self.limit,
                words=round(WORDS_PER_TOKEN * self.limit),
            ),
            max_tokens=ROOM * self.limit,
            temperature=self.temperature,
            placeholder=lambda: self.placeholders.description(joined),
        )
        description = yield from self.chat.ask(request, read_summary, TRIES)
        return shorten(description, self.limit)


def read_descriptions(reply: str, count: int) -> list[str]:
    """Read the descriptions of `count` subjects.

    Raises:
        BadReply: The reply is not of this shape, or a description is missing.
    """
    descriptions: dict[int, str] = {}
    for described in read_as(reply, DescriptionsReply).descriptions:
        if described.description.strip():
            descriptions.setdefault(described.number, read_summary(described.description))
    if missing := [str(number) for number in range(1, count + 1) if number not in descriptions]:
        raise BadReply(f"There is no description of the subjects {', '.join(missing)}.")
    return [descriptions[number] for number in range(1, count + 1)]


def portions(subjects: Sequence[Statements]) -> list[list[Statements]]:
    """Divide subjects into what one call merges each, in the order of their names.

    The statements of a portion fit a block together. A subject with more is alone.
    """
    in_order = sorted(subjects, key=lambda statements: (statements.subject, statements.digest))
    divided: list[list[Statements]] = []
    room = 0
    for statements in in_order:
        length = tokens.count(statements.joined)
        if not divided or length > room or len(divided[-1]) == MAX_SUBJECTS:
            divided.append([])
            room = BLOCK
        divided[-1].append(statements)
        room -= length
    return divided


def blocks(texts: Sequence[str], limit: int) -> list[list[str]]:
    """Divide texts into runs of at most `limit` tokens, in order; a longer text is alone."""
    divided: list[list[str]] = []
    room = 0
    for text in texts:
        length = tokens.count(text)
        if not divided or length > room:
            divided.append([])
            room = limit
        divided[-1].append(text)
        room -= length
    return divided


def first_statements(statements: Statements, limit: int) -> str:
    """Return the first statements that fit a limit of tokens, or the beginning of the first."""
    [first, *_] = blocks(statements.texts, limit)
    return shorten("\n".join(first), limit)


def salient_statements(
    statements: Statements, limit: int, stemmer: Stemmer, weights: Mapping[str, float]
) -> str:
    """Return the statements with most of what is particular to all of them, in text order.

    Args:
        statements: The statements.
        limit: The most tokens.
        stemmer: The stemmer of the text's language.
        weights: How rare each stem is in the text (inverse document frequency).
    """
    if tokens.count(statements.joined) <= limit:
        return statements.joined
    scores = salience([stemmer.stems(text) for text in statements.texts], weights)
    room, chosen = limit, []
    for row in sorted(range(len(scores)), key=lambda row: (-scores[row], row)):
        length = tokens.count(statements.texts[row]) + 1
        if length <= room:
            chosen.append(row)
            room -= length
    if not chosen:
        return first_statements(statements, limit)
    return "\n".join(statements.texts[row] for row in sorted(chosen))
