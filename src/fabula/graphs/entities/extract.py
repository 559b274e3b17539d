"""What a chat model says of people, places and things, as far as the text bears it out.

One call a window, and more in which the model is asked what it missed (gleaning: Edge et al. 2024,
arXiv 2404.16130, section 3.1.2). A record is kept where its name is printed in the window, and
rests on chunks, not on windows: these may be cut in another way after an edit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from fabula.errors import BadReply
from fabula.graphs.entities.printed import Printed, find_printed, plain
from fabula.graphs.entities.prompts import prompt
from fabula.graphs.entities.records import (
    EntityRecord,
    RelationRecord,
    extraction_reply,
    read_entity,
    read_relation,
)
from fabula.graphs.entities.stand_ins import StandIns
from fabula.graphs.entities.types import EntityType
from fabula.graphs.entities.values import Extraction, Mention, Tie
from fabula.graphs.entities.windows import Window
from fabula.models import Chat, Prompt
from fabula.models.replies import ask, read_lists

TRIES = 3
"""For a reply that can be used: the first, and two more that are told what was wrong."""
REPLY_TOKENS = 6000
"""Room for all the records that a reply may have."""
MOST_ENTITIES, MOST_RECORDS = 40, 100
"""Of one reply, as LightRAG has them; what is beyond is left out."""
LONGEST_NAME = 256
"""Characters."""

UNPRINTED, UNLISTED, ITSELF = "unprinted", "unlisted", "itself"
MALFORMED, OVERLONG, SURPLUS = "malformed", "overlong", "surplus"
"""Why a record is left out."""

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Records:
    """What replies listed, and how many records of them could not be read, by the reason."""

    entities: tuple[EntityRecord, ...] = ()
    relations: tuple[RelationRecord, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entities or self.relations)

    def __add__(self, other: Records) -> Records:
        return Records(
            self.entities + other.entities,
            self.relations + other.relations,
            Counter(self.dropped) + Counter(other.dropped),
        )

    def new(self, more: Records) -> Records:
        """What `more` has that is not here word by word."""
        return replace(
            more,
            entities=tuple(one for one in more.entities if one not in self.entities),
            relations=tuple(one for one in more.relations if one not in self.relations),
        )

    def told(self) -> str:
        """As a reply would have them, for the prompt that asks what is missing."""
        entities = [_as_asked(asdict(one)) for one in self.entities]
        relations = [_as_asked(asdict(one)) for one in self.relations]
        return json.dumps({"entities": entities, "relations": relations}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Extractor:
    """Asks a chat model about one window after the other."""

    chat: Chat
    types: tuple[EntityType, ...]
    gleanings: int
    temperature: float
    stand_ins: StandIns

    def ask(self, window: Window) -> tuple[Records, Records, BadReply | None]:
        """What the model lists of a window, and that with what it lists when asked what it missed.

        It is asked so no more once that brings nothing new. Raises BadReply where the first reply
        can't be used; where a later one can't, that is the last of the three, and there is what
        was listed before.
        """
        asked = self._asked(window)
        first = ask(self.chat, asked, read_records, TRIES)
        said = first
        for turn in range(self.gleanings if first else 0):
            question = prompt("glean", reply=said.told(), count=len(window.chunks))
            again = replace(
                asked,
                user=f"{asked.user}\n\n{question}",
                stand_in=partial(self.stand_ins.gleaned, window, turn),
            )
            try:
                more = said.new(ask(self.chat, again, read_records, TRIES))
            except BadReply as error:
                return first, said, error
            if not more:
                break
            said += more
        return first, said, None

    def _asked(self, window: Window) -> Prompt:
        listed = "\n".join(f"- {one.name}: {one.description}" for one in self.types)
        user = prompt("extract", types=listed, passages=window.passages, count=len(window.chunks))
        return Prompt(
            system=prompt("extract_system"),
            user=user,
            max_tokens=REPLY_TOKENS,
            temperature=self.temperature,
            schema=extraction_reply(tuple(one.name for one in self.types)),
            stand_in=lambda: self.stand_ins.extracted(window, self.types),
        )


def _as_asked(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record by the names of its fields as a model is asked for them."""
    return {{"said": "description"}.get(name, name): value for name, value in record.items()}


def read_records(reply: str) -> Records:
    """The records of a reply, at most as many as it may have. Raises BadReply where it is none.

    One that is none is left out, and so is one with a name that no name is as long as.
    """
    lists = read_lists(reply, ("entities", "relations"))
    dropped: Counter[str] = Counter()
    entities = _read(lists["entities"], MOST_ENTITIES, read_entity, dropped)
    relations = _read(lists["relations"], MOST_RECORDS - len(entities), read_relation, dropped)
    fit = [one for one in entities if len(one.name) <= LONGEST_NAME]
    tied = [one for one in relations if max(len(one.source), len(one.target)) <= LONGEST_NAME]
    dropped[OVERLONG] += len(entities) - len(fit) + len(relations) - len(tied)
    fit = [
        replace(one, aliases=tuple(alias for alias in one.aliases if len(alias) <= LONGEST_NAME))
        for one in fit
    ]
    return Records(tuple(fit), tuple(tied), +dropped)


def _read(
    given: Sequence[Any], most: int, read: Callable[[Any], Record | None], dropped: Counter[str]
) -> list[Record]:
    found = [read(one) for one in given[:most]]
    dropped[MALFORMED] += found.count(None)
    dropped[SURPLUS] += len(given[most:])
    return [one for one in found if one is not None]


def attribute(window: Window, said: Records, types: Sequence[str]) -> tuple[Extraction, int]:
    """What a window's records say chunk by chunk, and how many had a type that is not listed.

    Those that the text does not bear out are left out, and counted. The order of records does not
    matter, but for two of the same name, which are one record.
    """
    entities, dropped, retyped = _borne_out(window, said.entities, types)
    by_name: dict[str, _Entity] = {}
    for one in entities:
        by_name.setdefault(plain(one.name), one)
    for one in entities:
        for alias in one.aliases:
            by_name.setdefault(plain(alias), one)
    ties: list[Tie] = []
    for relation in said.relations:
        source, target = by_name.get(plain(relation.source)), by_name.get(plain(relation.target))
        if source is None or target is None:
            dropped[UNLISTED] += 1
        elif source is target:
            dropped[ITSELF] += 1
        else:
            rows = _rows(relation.parts, window) or (
                source.rows & target.rows or source.rows | target.rows
            )
            ties += [_tie(window, row, relation, source, target) for row in sorted(rows)]
            source.tied |= rows
            target.tied |= rows
    mentions = [one.mention(window, row) for one in entities for row in sorted(one.all_rows)]
    counts = Counter(said.dropped) + dropped
    return Extraction(tuple(mentions), tuple(ties), dict(sorted(counts.items()))), retyped


@dataclass(slots=True)
class _Entity:
    """An entity of a window, while its records are put together.

    `rows` are the chunks of the window that it is said to be in, and `tied` those of relations.
    """

    name: str
    type: str
    aliases: list[str]
    said: list[str]
    rows: set[int]
    printed: Printed
    tied: set[int] = field(default_factory=set)

    @property
    def all_rows(self) -> set[int]:
        return self.rows | self.tied

    def mention(self, window: Window, row: int) -> Mention:
        chunk = window.chunks[row]
        forms = {form: tuple(starts) for form, starts in sorted(self.printed[row].items())}
        said = " ".join(self.said) if row in self.rows else ""
        return Mention(
            chunk.id, chunk.start, self.name, forms, self.type, said, tuple(self.aliases)
        )


def _borne_out(
    window: Window, records: Sequence[EntityRecord], types: Sequence[str]
) -> tuple[list[_Entity], Counter[str], int]:
    """The entities that are printed in the window, each with all that records say of it."""
    known = {plain(one): one for one in types}
    printed = find_printed([form for one in records for form in _forms(one)], window.chunks)
    dropped: Counter[str] = Counter()
    retyped = 0
    found: dict[str, _Entity] = {}
    owners = {plain(one.name): plain(one.name) for one in records if plain(one.name) in printed}
    for one in records:
        forms = [form for form in _forms(one) if plain(form) in printed]
        if not forms:
            dropped[UNPRINTED] += 1
            continue
        name, *aliases = forms
        retyped += plain(one.type) not in known
        own = found.setdefault(
            plain(name),
            _Entity(
                name,
                known.get(plain(one.type), types[-1]),
                [],
                [],
                set(),
                [{} for _ in window.chunks],
            ),
        )
        own.aliases += [alias for alias in aliases if alias not in own.aliases]
        own.said += [one.said] if one.said and one.said not in own.said else []
        mine = [
            form for form in forms if owners.setdefault(plain(form), plain(name)) == plain(name)
        ]
        holding: set[int] = set()
        for form in forms:
            for row, places in enumerate(printed[plain(form)]):
                holding |= {row} if places else set()
                if form in mine:
                    own.printed[row] |= places
        listed = _rows(one.parts, window)
        own.rows |= listed if listed & holding else holding
    return list(found.values()), dropped, retyped


def _forms(record: EntityRecord) -> tuple[str, ...]:
    return tuple(dict.fromkeys((record.name, *record.aliases)))


def _rows(parts: Iterable[int], window: Window) -> set[int]:
    """The chunks of a window by the numbers that its prompt gave them."""
    return {number - 1 for number in parts if 1 <= number <= len(window.chunks)}


def _tie(
    window: Window, row: int, relation: RelationRecord, source: _Entity, target: _Entity
) -> Tie:
    chunk = window.chunks[row]
    return Tie(
        chunk.id,
        chunk.start,
        source.name,
        target.name,
        relation.said,
        relation.keywords,
        relation.strength,
    )
