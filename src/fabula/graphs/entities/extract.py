"""What a chat model says of people, places and things, as far as the text bears it out.

A record is used if its name is printed in the window, and its description if the window has a third
of its words. A relation rests on chunks that print one of its ends. All rests on chunks and not on
windows, which may be cut in another way after an edit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from fabula.graph.demonstrations import Demonstrations
from fabula.graph.extraction import (
    MAX_NAME_CHARACTERS,
    OVERLONG,
    UNPRINTED,
    UNSUPPORTED,
    ModelQuestion,
    Records,
    TextWindow,
    is_supported,
    read_records,
)
from fabula.graphs.entities.placeholders import EntityPlaceholders
from fabula.graphs.entities.printed_forms import Printed, find_printed, printed_key
from fabula.graphs.entities.records import (
    EXTRACTION,
    EntityRecord,
    ExtractionReply,
    RelationRecord,
    TripleRecord,
    extraction_reply,
    read_entity,
    read_relation,
)
from fabula.graphs.entities.types import EntityType
from fabula.graphs.entities.values import Extraction, Mention, RelationMention
from fabula.models.prompts import fill_template
from fabula.models.replies import read_lists
from fabula.text.document import Chunk

PROMPTS = Path(__file__).parent / "prompts"
REPLY_TOKENS = 6000
"""Room for all the records that a reply may have."""
MAX_ENTITIES, MAX_RECORDS = 40, 100
"""Records of one reply, as in LightRAG; what is beyond is left out."""
UNLISTED, ITSELF = "unlisted", "itself"
"""Why a relation is left out besides: an end is no listed entity, or both ends are the same one."""

TYPES_OF_EXAMPLES = "The examples may have other types; use those that you are given."

Stated = TypeVar("Stated", bound=TripleRecord)


def say_purpose(domain: str, questions: Sequence[str]) -> str:
    """Return what a prompt says of the texts and of questions to come, as Fast GraphRAG's does."""
    parts = [f"What the texts are about: {domain}"] if domain.strip() else []
    if questions:
        listed = "\n".join(f"- {question}" for question in questions)
        parts.append(f"Questions like these will be asked about them:\n{listed}")
    return "\n\n".join(["", *parts])


@dataclass(frozen=True)
class ExtractedRecords(Records[EntityRecord | RelationRecord]):
    """Entities and relations that replies list."""

    @property
    def entities(self) -> tuple[EntityRecord, ...]:
        """Those of entities."""
        return tuple(record for record in self.records if isinstance(record, EntityRecord))

    @property
    def relations(self) -> tuple[RelationRecord, ...]:
        """Those of relations."""
        return tuple(record for record in self.records if isinstance(record, RelationRecord))

    def new(self, more: Self) -> Self:
        """Return what `more` adds; if it has no new record, not even what was left out of it."""
        return super().new(more) or replace(more, records=(), dropped={})

    def as_json(self) -> str:
        """Return the records as a reply has them, for the prompt that asks what is missing."""
        lists = {
            "entities": [asdict(record) for record in self.entities],
            "relations": [asdict(record) for record in self.relations],
        }
        return json.dumps(lists, ensure_ascii=False)


def ask_entities(
    types: Sequence[EntityType],
    gleanings: int,
    placeholders: EntityPlaceholders,
    demonstrations: Demonstrations,
    purpose: str = "",
) -> ModelQuestion[TextWindow, ExtractedRecords]:
    """Return the question which entities and relations a window is about."""
    listed = "\n".join(f"- {type.name}: {type.description}" for type in types)
    return ModelQuestion(
        step=EXTRACTION,
        prompt=PROMPTS / "extract",
        values=lambda window: window.values(types=listed),
        system_values={
            "text": demonstrations.text,
            "whole": demonstrations.whole,
            "purpose": purpose,
            **demonstrations.values("entities", ExtractionReply, TYPES_OF_EXAMPLES),
        },
        schema=extraction_reply(tuple(type.name for type in types)),
        max_tokens=REPLY_TOKENS,
        read=lambda reply, _: read_extracted(reply),
        placeholder=lambda window, turn: (
            placeholders.follow_up(window, turn - 1)
            if turn
            else placeholders.extraction(window, types)
        ),
        follow_up=lambda window, records: fill_template(
            PROMPTS / "glean.txt", reply=records.as_json(), count=len(window.chunks)
        ),
        follow_ups=gleanings,
    )


def read_extracted(reply: str) -> ExtractedRecords:
    """Return the records of a reply, at most as many as it may have.

    Raises:
        BadReply: It has neither of the two lists.
    """
    lists = read_lists(reply, ("entities", "relations"))
    dropped: Counter[str] = Counter()
    entities = read_records(
        lists["entities"], read_entity, MAX_ENTITIES, dropped, lambda record: [record.name]
    )
    relations = read_records(
        lists["relations"],
        read_relation,
        MAX_RECORDS - len(entities) - dropped[OVERLONG],
        dropped,
        lambda record: [record.source, record.target],
    )
    return ExtractedRecords((*map(_without_long_aliases, entities), *relations), +dropped)


def _without_long_aliases(record: EntityRecord) -> EntityRecord:
    aliases = (alias for alias in record.aliases if len(alias) <= MAX_NAME_CHARACTERS)
    return replace(record, aliases=tuple(aliases))


def attribute(
    window: TextWindow, records: ExtractedRecords, types: Sequence[str], language: str = ""
) -> tuple[Extraction, int]:
    """Return what the records of a window say of each chunk.

    Those that the text does not bear out are left out, and counted. The order of records does not
    matter, except that two of the same name are one record.

    Args:
        window: The chunks that the records are about.
        records: Those of all replies about it.
        types: The names of types that may be given; the last is that of what has no other.
        language: The language of the text; '' if it is not known.

    Returns:
        Mentions and ties, and how many entities had a type that is not listed.
    """
    content = window.content(language)
    unsupported = {
        record.description
        for record in records.records
        if not is_supported(record.description, content, language)
    }
    entities, dropped, retyped = _borne_out(window, records.entities, types, unsupported)
    by_name: dict[str, _Entity] = {}
    for entity in entities:
        by_name.setdefault(printed_key(entity.name), entity)
    for entity in entities:
        for alias in entity.aliases:
            by_name.setdefault(printed_key(alias), entity)
    ties: list[RelationMention] = []
    for relation in records.relations:
        source, target = (
            by_name.get(printed_key(relation.source)),
            by_name.get(printed_key(relation.target)),
        )
        if source is None or target is None:
            dropped[UNLISTED] += 1
        elif source is target:
            dropped[ITSELF] += 1
        else:
            # A chunk that prints neither end says nothing of the two, whatever the reply says.
            printed = source.held | target.held
            rows = window.rows(relation.parts) & printed or (
                source.rows & target.rows or source.rows | target.rows
            )
            if relation.description in unsupported:
                dropped[UNSUPPORTED] += 1
            text = "" if relation.description in unsupported else relation.description
            told = replace(relation, description=text)
            ties += [_tie(window, row, told, source, target) for row in sorted(rows)]
            source.tied |= rows
            target.tied |= rows
    mentions = [
        entity.mention(window, row) for entity in entities for row in sorted(entity.all_rows)
    ]
    counts = Counter(records.dropped) + dropped
    return Extraction(tuple(mentions), tuple(ties), dict(sorted(counts.items()))), retyped


@dataclass(slots=True)
class _Entity:
    """An entity of a window, while its records are put together.

    `rows` are the chunks of the window that it is said to be in, `held` those that print one of its
    forms, and `tied` those of relations.
    """

    name: str
    type: str
    printed: Printed
    aliases: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    tied: set[int] = field(default_factory=set)

    @property
    def all_rows(self) -> set[int]:
        return self.rows | self.tied

    def mention(self, window: TextWindow, row: int) -> Mention:
        chunk = window.chunks[row]
        forms = {form: tuple(starts) for form, starts in sorted(self.printed[row].items())}
        text = " ".join(self.statements) if row in self.rows else ""
        return Mention(
            chunk.id, chunk.start, self.name, forms, self.type, text, tuple(self.aliases)
        )


def _borne_out(
    window: TextWindow,
    records: Sequence[EntityRecord],
    types: Sequence[str],
    unsupported: Collection[str],
) -> tuple[list[_Entity], Counter[str], int]:
    """The entities printed in the window, with what records say; `unsupported` is left out."""
    known = {printed_key(type): type for type in types}
    forms = [form for record in records for form in _forms(record)]
    printed = find_printed(forms, window.chunks)
    dropped: Counter[str] = Counter()
    retyped = 0
    entities: dict[str, _Entity] = {}
    # A form belongs to the entity that it is the name of; as an alias, to the first that has it.
    names = (printed_key(record.name) for record in records)
    owners = {name: name for name in names if name in printed}
    for record in records:
        forms = [form for form in _forms(record) if printed_key(form) in printed]
        if not forms:
            dropped[UNPRINTED] += 1
            continue
        name, *aliases = forms
        retyped += printed_key(record.type) not in known
        type = known.get(printed_key(record.type), types[-1])
        entity = entities.setdefault(
            printed_key(name), _Entity(name, type, [{} for _ in window.chunks])
        )
        entity.aliases += [alias for alias in aliases if alias not in entity.aliases]
        if record.description in unsupported:
            dropped[UNSUPPORTED] += 1
        elif record.description and record.description not in entity.statements:
            entity.statements.append(record.description)
        owned = [
            form
            for form in forms
            if owners.setdefault(printed_key(form), printed_key(name)) == printed_key(name)
        ]
        holding: set[int] = set()
        for form in forms:
            for row, places in enumerate(printed[printed_key(form)]):
                holding |= {row} if places else set()
                if form in owned:
                    entity.printed[row] |= places
        listed = window.rows(record.parts)
        entity.rows |= listed if listed & holding else holding
        entity.held |= holding
    return list(entities.values()), dropped, retyped


def _forms(record: EntityRecord) -> tuple[str, ...]:
    return tuple(dict.fromkeys((record.name, *record.aliases)))


def _tie(
    window: TextWindow, row: int, relation: RelationRecord, source: _Entity, target: _Entity
) -> RelationMention:
    chunk = window.chunks[row]
    return RelationMention(
        chunk.id,
        chunk.start,
        source.name,
        target.name,
        relation.description,
        relation.keywords,
        relation.strength,
    )


def read_stated(
    reply: str, window: TextWindow, read: Callable[[Any], Stated | None]
) -> tuple[list[tuple[Stated, Chunk]], Counter[str]]:
    """Return the facts of a reply whose ends are both printed in the window.

    Args:
        reply: The reply.
        window: The chunks that it is about.
        read: Makes a record of an item of its list; None if it is none.

    Returns:
        Each fact once for each chunk that states it, and how many were left out.

    Raises:
        BadReply: It has no list of facts.
    """
    items = read_lists(reply, ("triples",))["triples"]
    dropped: Counter[str] = Counter()
    records = read_records(items, read, MAX_RECORDS, dropped, lambda record: record.words)
    printed = find_printed([end for record in records for end in record.ends], window.chunks)
    stated: list[tuple[Stated, Chunk]] = []
    for record in records:
        rows = _rows_of_fact(record, window, printed)
        if not rows:
            dropped[UNPRINTED] += 1
        stated += [(record, window.chunks[row]) for row in rows]
    return stated, +dropped


def _rows_of_fact(
    record: TripleRecord, window: TextWindow, printed: Mapping[str, Printed]
) -> list[int]:
    """The chunks that state a fact; none if an end is printed nowhere."""
    subject, object = (printed.get(printed_key(end)) for end in record.ends)
    if not subject or not object:
        return []
    either = [row for row in range(len(window.chunks)) if subject[row] or object[row]]
    both = [row for row in either if subject[row] and object[row]]
    # Those that the record names and that print an end; else those with both ends, or with one.
    return sorted(window.rows(record.parts).intersection(either)) or both or either
