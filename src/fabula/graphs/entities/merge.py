"""What chunks say one by one becomes a cast: entities with all their names, and their relations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from fabula.graphs.entities import ids
from fabula.graphs.entities.decisions import Decisions
from fabula.graphs.entities.names import key, lower_name, title, titled
from fabula.graphs.entities.resolve import (
    PERSON,
    PLACE,
    UNKNOWN,
    Form,
    Group,
    Resolution,
    is_inflected,
    kind,
    resolve,
)
from fabula.graphs.entities.values import Cast, Entity, Extraction, Mention, Relation, Tie
from fabula.graphs.entities.words import all_words

FAMILY = "group"
"""The type of a family: a family name with the ending of the plural."""
MOST_CHUNKS_OF_ERROR = 2
"""A name that is of a person, and of a place, in more chunks each, is of both."""
NEAR = 4_000
"""Characters, about 1,000 tokens: whom a family name is given to, of several, is named so near."""


def merge(
    document: str,
    extraction: Extraction,
    *,
    language: str,
    decisions: Decisions,
    ordinary: Collection[str],
) -> Cast:
    """The cast of a document; the same records give the same in any order.

    `ordinary` are the words that the text has in lower case: they are never taken for a name that
    is spelt otherwise.

    Entities are ordered by id, and so are relations; mentions and ties by where they are in the
    text. Each mention is one that was extracted, so that an entity may have several of a chunk.
    """
    parted = (part for one in extraction.mentions for part in _part(one, decisions.keep_apart))
    mentions = sorted(parted, key=_mention_order)
    mentions = [one for at, one in enumerate(mentions) if not at or one != mentions[at - 1]]
    forms = _forms(mentions)
    found = resolve(frozenset(forms), language=language, decisions=decisions, ordinary=ordinary)
    entities = _entities(document, language, found.groups, _shared_out(mentions, forms, found))
    return Cast(entities, _relations(document, entities, extraction.ties))


def _part(mention: Mention, keep_apart: Iterable[tuple[str, str]]) -> Iterator[Mention]:
    """A mention, without those of its printed names that a person keeps apart, and one of these."""
    names = dict(mention.names)
    for pair in ({titled(one), titled(other)} for one, other in keep_apart):
        if len(pair) == 2 and pair <= {titled(form) for form in (mention.name, *names)}:
            leaving = max(pair - {titled(mention.name)})
            gone = {form: names.pop(form) for form in [*names] if titled(form) == leaving}
            yield Mention(mention.chunk, mention.place, min(gone), gone, mention.type)
    yield replace(mention, names=names)


def _forms(mentions: Sequence[Mention]) -> list[Form]:
    """The form of each mention: its name, as a person's or a place's where it is of both."""
    chunks: dict[tuple[str, str], set[str]] = defaultdict(set)
    for mention in mentions:
        chunks[key(mention.name), kind(mention.type)].add(mention.chunk)

    def side(mention: Mention) -> str:
        people, places = (len(chunks[key(mention.name), one]) for one in (PERSON, PLACE))
        if min(people, places) <= MOST_CHUNKS_OF_ERROR:
            return ""
        return kind(mention.type) or (PERSON if people >= places else PLACE)

    sides = [(mention.name, side(mention)) for mention in mentions]
    types: dict[tuple[str, str], list[str]] = defaultdict(list)
    counts: Counter[tuple[str, str]] = Counter()
    aliases: dict[tuple[str, str], set[str]] = defaultdict(set)
    for mention, (name, one) in zip(mentions, sides, strict=True):
        types[key(name), one].append(mention.type)
        counts[name, one] += max(1, sum(map(len, mention.names.values())))
        aliases[name, one].update((*mention.aliases, *mention.names))
    made = {
        (name, one): Form(
            name,
            _most_frequent(types[key(name), one]),
            counts[name, one],
            frozenset(alias for alias in aliases[name, one] if key(alias) != key(name)),
        )
        for name, one in counts
    }
    return [made[one] for one in sides]


def _shared_out(
    mentions: Sequence[Mention], forms: Sequence[Form], found: Resolution
) -> list[list[Mention]]:
    """The mentions of each group, in its order.

    A family name that several bear goes to the one who is named most often nearby, and is a
    name of its own where none is.
    """
    group_of = {form: at for at, group in enumerate(found.groups) for form in group.forms}
    places: dict[int, list[int]] = defaultdict(list)
    for mention, form in zip(mentions, forms, strict=True):
        places[group_of[form]] += _places(mention)
    for some in places.values():
        some.sort()

    def bearer(mention: Mention, form: Form) -> int:
        near = [
            (-_count_near(places[at], _places(mention)[0]), -len(places[at]), at)
            for at in sorted({group_of[one] for one in found.shared.get(form, ())})
        ]
        best = min(near, default=(0, 0, 0))
        return best[2] if best[0] else group_of[form]

    shared: list[list[Mention]] = [[] for _ in found.groups]
    for mention, form in zip(mentions, forms, strict=True):
        shared[bearer(mention, form)].append(mention)
    return shared


def _places(mention: Mention) -> list[int]:
    return sorted(start for starts in mention.names.values() for start in starts) or [mention.place]


def _count_near(places: Sequence[int], place: int) -> int:
    return bisect_right(places, place + NEAR) - bisect_left(places, place - NEAR)


def _entities(
    document: str, language: str, groups: Sequence[Group], mentions: Sequence[Sequence[Mention]]
) -> tuple[Entity, ...]:
    """An entity for each group that has mentions; those of equal keys get longer ones."""
    pairs = [(group, of) for group, of in zip(groups, mentions, strict=True) if of]
    taken: set[str] = set()
    entities = []
    for group, of in sorted(pairs, key=lambda pair: (-len(pair[1]), _mention_order(pair[1][0]))):
        counts = _counts(of)
        name = _full_name(group, of, counts)
        type = FAMILY if _is_family(name, groups) else _most_frequent([one.type for one in of])
        keys = (key(name), lower_name(name), f"{key(name)} ({type})")
        numbered = (f"{key(name)} ({number})" for number in count(2))
        identity = next(one for one in chain(keys, numbered) if one not in taken)
        taken.add(identity)
        entities.append(
            Entity(
                ids.entity_id(document, identity),
                identity,
                name,
                type,
                dict(sorted(counts.items(), key=lambda one: (one[0] != name, -one[1], one[0]))),
                _explain(group, name, counts, language),
                tuple(of),
            )
        )
    return tuple(sorted(entities, key=lambda entity: entity.id))


def _counts(mentions: Iterable[Mention]) -> Counter[str]:
    """How often each form is printed, and, with 0, a name that is given and printed in no form."""
    counts: Counter[str] = Counter()
    for mention in mentions:
        for form, starts in mention.names.items():
            counts[form] += len(starts)
    keys = {key(form) for form in counts}
    for mention in mentions:
        if key(mention.name) not in keys:
            counts.setdefault(mention.name, 0)
    return counts


def _full_name(group: Group, mentions: Sequence[Mention], counts: Mapping[str, int]) -> str:
    """The most frequent of the forms that stand for no fuller one; else the longest, the first."""
    full = {key(form.name) for form in group.forms - group.short}
    first: dict[str, int] = {}
    for mention in mentions:
        for form in (mention.name, *mention.names):
            first.setdefault(form, min(mention.names.get(form, (mention.place,))))
    named = [form for form in counts if key(form) in full] or list(counts)

    def rank(form: str) -> tuple[object, ...]:
        return (-counts[form], form.isupper(), bool(title(form)), -len(form), first[form], form)

    return min(named, key=rank)


def _is_family(name: str, groups: Iterable[Group]) -> bool:
    """Whether it is an article and the plural of a person's last name: the Cratchits."""
    words = lower_name(name).split()
    if len(words) != 2 or words[0] not in all_words().articles or not words[1].endswith("s"):
        return False
    return any(
        kind(form.type) == PERSON and key(form.name).split()[-1:] == [words[1][:-1]]
        for group in groups
        for form in group.forms
    )


def _explain(group: Group, name: str, printed: Iterable[str], language: str) -> dict[str, str]:
    """By what each form but `name` came to be taken for this entity."""
    neighbours: dict[Form, list[tuple[Form, str]]] = defaultdict(list)
    for one, other, why in group.joined:
        neighbours[one].append((other, why))
        neighbours[other].append((one, why))
    reached = {form: "exact" for form in group.forms if key(form.name) == key(name)}
    waiting = sorted(reached, key=lambda form: form.name)
    for form in waiting:
        for other, why in neighbours[form]:
            if other not in reached:
                reached[other] = why
                waiting.append(other)
    whys = {form.name: why for form, why in reached.items()}
    by_key = {key(form.name): reached[form] for form in reversed(waiting)}

    def why_of(form: str) -> str:
        own = key(form)
        if own == key(name):
            return "exact" if title(form) == title(name) else "title"
        if found := whys.get(form) or by_key.get(own):
            return found
        if own == key(name).split()[-1]:
            return "family"
        return "inflection" if any(is_inflected(own, one, language) for one in by_key) else "alias"

    return {form: why_of(form) for form in printed if form != name}


def _relations(
    document: str, entities: Sequence[Entity], ties: Iterable[Tie]
) -> tuple[Relation, ...]:
    """Ties by the two entities that they are of; what ties one to itself is none."""
    whose: dict[tuple[str, str], str] = {}
    owned = [(mention, entity.id) for entity in entities for mention in entity.mentions]
    for mention, id in owned:
        whose.setdefault((mention.chunk, mention.name), id)
    for mention, id in owned:
        for form in (*mention.names, *mention.aliases):
            whose.setdefault((mention.chunk, form), id)
    pairs: dict[tuple[str, str], list[tuple[Tie, bool]]] = defaultdict(list)
    for tie in sorted(set(ties), key=_tie_order):
        source = whose.get((tie.chunk, tie.source), "")
        target = whose.get((tie.chunk, tie.target), "")
        if source and target and source != target:
            pairs[min(source, target), max(source, target)].append((tie, source < target))
    relations = [
        Relation(
            ids.relation_id(document, first, second),
            first,
            second,
            tuple(tie for tie, _ in found),
            tuple(forward for _, forward in found),
        )
        for (first, second), found in pairs.items()
    ]
    return tuple(sorted(relations, key=lambda relation: relation.id))


def _most_frequent(types: Iterable[str]) -> str:
    """The type given most often; UNKNOWN only where no other was."""
    counts = Counter(types)
    return min(counts, key=lambda type: (type == UNKNOWN, -counts[type], type))


def _mention_order(mention: Mention) -> tuple[object, ...]:
    names = tuple(sorted(mention.names.items()))
    told = (mention.name, mention.type, mention.said, mention.aliases)
    return (mention.place, mention.chunk, names, *told)


def _tie_order(tie: Tie) -> tuple[object, ...]:
    named = (tie.source, tie.target)
    return (tie.place, tie.chunk, *named, tie.said, tie.keywords, tie.strength)
