"""What the entity graph is made of: what chunks say of people, places and things, and who they are.

An extraction, by a model or by rules, gives mentions and ties, chunk by chunk; the merge makes
entities and relations of them. Both keep all that was said where it was said, so that the graph
gives back what an unchanged chunk told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mention:
    """What one chunk says of one entity.

    `chunk` is the chunk's id and `place` where that begins, in characters of the document's text.
    `name` is the fullest form that the extraction gave; `names` are the forms printed in this
    chunk, each with the characters of the document's text at which it begins; empty where the
    chunk speaks of it by pronouns alone. `said` is a sentence in the extraction's words.
    """

    chunk: str
    place: int
    name: str
    names: Mapping[str, tuple[int, ...]]
    type: str
    said: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tie:
    """What one chunk says of two entities, which are named as mentions of this chunk name them.

    `strength` is 1 to 10 as a model judged it, 0 where none did.
    """

    chunk: str
    place: int
    source: str
    target: str
    said: str = ""
    keywords: tuple[str, ...] = ()
    strength: int = 0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in a text, or in some of its chunks, and how many records were not borne out.

    `dropped` counts records by the reason for which they were left out.
    """

    mentions: tuple[Mention, ...] = ()
    ties: tuple[Tie, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something, with all its names.

    `key` is its name as names are compared; `name` its most frequent full form. `names` counts
    all printed forms. `merged_by` says of each form but the first how it came to be taken for this
    entity: exact, alias, title, family, first, spelling, inflection or person.
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
    """What a text says of two entities, `source` being the smaller of the two ids.

    `forward` says of each tie whether it goes from source to target.
    """

    id: str
    source: str
    target: str
    ties: tuple[Tie, ...]
    forward: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """Who and what a text is about, and what ties them, each by its id."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
