"""The values of the entity graph: mentions by chunks, entities and relations of a text.

An extraction, by a model or by rules, gives mentions of entities and of relations, chunk by chunk;
the merge makes entities and relations of them, which have all their mentions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mention:
    """What one chunk says of one entity.

    Attributes:
        chunk: The id of the chunk.
        place: The character of the document at which the chunk begins.
        name: The fullest form that the extraction gave.
        names: The forms printed in this chunk, each with the characters of the document at which it
            begins; empty where the chunk has only pronouns for it.
        type: The type that the extraction gave.
        statement: A statement about the entity, in the words of the extraction.
        aliases: Its other names, as the extraction gave them.
    """

    chunk: str
    place: int
    name: str
    names: Mapping[str, tuple[int, ...]]
    type: str
    statement: str = ""
    aliases: tuple[str, ...] = ()


def mention_order(mention: Mention) -> tuple[object, ...]:
    """Return by what mentions are sorted: their places in the text first."""
    names = tuple(sorted(mention.names.items()))
    rest = (mention.name, mention.type, mention.statement, mention.aliases)
    return (mention.place, mention.chunk, names, *rest)


@dataclass(frozen=True, slots=True)
class RelationMention:
    """What one chunk says of two entities.

    Attributes:
        chunk: The id of the chunk.
        place: The character of the document at which the chunk begins.
        source: The first entity, by the name of its mention in this chunk.
        target: The second entity, likewise.
        statement: A statement about both, in the words of the extraction.
        keywords: The themes of the relation.
        strength: From 1 to 10 as a model judged it; 0 where no model did.
    """

    chunk: str
    place: int
    source: str
    target: str
    statement: str = ""
    keywords: tuple[str, ...] = ()
    strength: int = 0


@dataclass(frozen=True, slots=True)
class Extraction:
    """The mentions of entities and of relations in a text, or in some of its chunks.

    `dropped` counts the records of a model that were left out, by the reason.
    """

    mentions: tuple[Mention, ...] = ()
    relation_mentions: tuple[RelationMention, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, a place or a thing, with all its names.

    Attributes:
        id: A digest of the document's id and the key, as it is without corrections by people.
        key: Its full name as `names.name_key` has it; longer where another entity has the same.
        name: The form that is printed most often, or what a person decided.
        type: The type that most mentions have.
        names: All printed forms and how often each is printed: `name`, then its full name.
        merged_by: Why each form except `name` was taken for this entity: exact, alias, title,
            family, first, nickname, inflection, model or person.
        mentions: Its mentions, in text order.
    """

    id: str
    key: str
    name: str
    type: str
    names: Mapping[str, int]
    merged_by: Mapping[str, str]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """What a text says of two entities.

    Attributes:
        id: A digest of the ids of both entities.
        source: The smaller of the two ids.
        target: The larger one.
        mentions: What chunks say, in text order.
        forward: Of each mention, whether it goes from source to target.
    """

    id: str
    source: str
    target: str
    mentions: tuple[RelationMention, ...]
    forward: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities and relations of a text, each ordered by ids.

    `effects` says what became of each correction by a person, by its number.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    effects: Mapping[int, str] = field(default_factory=dict)
