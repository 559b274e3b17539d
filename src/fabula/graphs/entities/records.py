"""Records of replies about entities, relations and facts: their schemas, and how they are read."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import WithJsonSchema, create_model

from fabula.models.replies import shorten
from fabula.models.schemas import ReplyShape

EXTRACTION, TRIPLES, NAMES, DESCRIPTIONS = "extraction", "triples", "names", "descriptions"
"""The steps in which a chat model is asked, and in which there may be gaps."""
MAX_ALIASES, MAX_KEYWORDS, MAX_KEYWORD_CHARACTERS = 8, 5, 60
MAX_DESCRIPTION_TOKENS = 120
"""Of a record; 60 words are asked for."""
MAX_STRENGTH = 10
_AROUND = ' \t\n"“”„«»'


class EntityShape(ReplyShape):
    """Someone or something that passages are about."""

    name: str
    type: str
    aliases: list[str]
    description: str
    parts: list[int]


class RelationShape(ReplyShape):
    """What passages say of two entities."""

    source: str
    target: str
    description: str
    keywords: list[str]
    strength: int
    parts: list[int]


class ExtractionReply(ReplyShape):
    """Entities and relations of some passages."""

    entities: list[EntityShape]
    relations: list[RelationShape]


class TripleShape(ReplyShape):
    """A fact of three parts."""

    subject: str
    predicate: str
    object: str
    parts: list[int]


class TriplesReply(ReplyShape):
    """Facts of some passages."""

    triples: list[TripleShape]


@functools.cache
def extraction_reply(types: tuple[str, ...]) -> type[ExtractionReply]:
    """Return ExtractionReply with the closed list of types in its schema."""
    closed = Annotated[str, WithJsonSchema({"type": "string", "enum": list(types)})]
    shape = create_model("EntityShape", __base__=EntityShape, type=(closed, ...))
    return create_model("ExtractionReply", __base__=ExtractionReply, entities=(list[shape], ...))


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity as it was read; `parts` are whatever numbers it has."""

    name: str
    type: str
    aliases: tuple[str, ...]
    description: str
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A relation as it was read; `strength` is 1 to 10, and 0 where there is none."""

    source: str
    target: str
    description: str
    keywords: tuple[str, ...]
    strength: int
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TripleRecord:
    """A fact as it was read; `parts` are whatever numbers it has."""

    subject: str
    predicate: str
    object: str
    parts: tuple[int, ...]

    @property
    def words(self) -> tuple[str, str, str]:
        """Subject, predicate and object."""
        return (self.subject, self.predicate, self.object)

    @property
    def ends(self) -> tuple[str, str]:
        """Subject and object."""
        return (self.subject, self.object)


def read_entity(given: Any) -> EntityRecord | None:
    """Return the record of an entity; None if its name has no letter or digit."""
    if not isinstance(given, dict) or not (name := read_name(given.get("name"))):
        return None
    aliases = filter(None, map(read_name, read_list(given.get("aliases"))))
    return EntityRecord(
        name,
        read_line(given.get("type")),
        tuple(dict.fromkeys(aliases))[:MAX_ALIASES],
        _statement(given.get("description")),
        read_numbers(given.get("parts")),
    )


def read_relation(given: Any) -> RelationRecord | None:
    """Return the record of a relation; None if it does not name two ends."""
    if not isinstance(given, dict):
        return None
    source, target = read_name(given.get("source")), read_name(given.get("target"))
    if not source or not target:
        return None
    keywords = (
        read_line(item).lower()[:MAX_KEYWORD_CHARACTERS]
        for item in read_list(given.get("keywords"))
    )
    strength = next(iter(read_numbers(given.get("strength"))), 0)
    return RelationRecord(
        source,
        target,
        _statement(given.get("description")),
        tuple(dict.fromkeys(filter(None, keywords)))[:MAX_KEYWORDS],
        max(0, min(MAX_STRENGTH, strength)),
        read_numbers(given.get("parts")),
    )


def read_triple(given: Any) -> TripleRecord | None:
    """Return the record of a fact; None if one of its three parts is missing."""
    if not isinstance(given, dict):
        return None
    subject, object = read_name(given.get("subject")), read_name(given.get("object"))
    predicate = read_line(given.get("predicate"))
    if not (subject and object and re.search(r"\w", predicate)):
        return None
    return TripleRecord(subject, predicate, object, read_numbers(given.get("parts")))


def read_list(given: Any) -> list[Any]:
    """Return a list; anything else becomes a list of one."""
    return given if isinstance(given, list) else [given]


def read_line(given: Any) -> str:
    """Return a text on one line; '' if it is no text."""
    return " ".join(given.split()) if isinstance(given, str) else ""


def read_name(given: Any) -> str:
    """Return a text on one line without quotes around it; '' if it has no letter or digit."""
    name = read_line(given).strip(_AROUND)
    return name if re.search(r"\w", name) else ""


def _statement(given: Any) -> str:
    return shorten(read_line(given), MAX_DESCRIPTION_TOKENS)


def read_numbers(given: Any) -> tuple[int, ...]:
    """Return whole numbers, also those written as texts, such as [2] or "[2]"."""

    def read() -> Iterator[int]:
        for item in read_list(given):
            if isinstance(item, int) and not isinstance(item, bool):
                yield item
            elif isinstance(item, str | float) and (digits := re.search(r"-?\d{1,9}", str(item))):
                yield int(digits[0])

    return tuple(dict.fromkeys(read()))
