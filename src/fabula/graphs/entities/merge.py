"""What chunks say one by one becomes a cast: entities with all their names, and their relations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from fabula import ids
from fabula.graphs.entities.decisions import Decisions, key
from fabula.graphs.entities.values import Cast, Entity, Extraction, Mention, Relation, Tie


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
    is spelt otherwise. Entities are ordered by id, and so are relations; mentions and ties by
    where they are in the text. An entity has a mention for each record that was found of it, so
    that one chunk may have several.
    """
    mentions = sorted(set_of(extraction.mentions), key=_mention_order)
    groups: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        groups[key(mention.name)].append(mention)
    entities = sorted(
        (_entity(document, group) for group in groups.values()), key=lambda entity: entity.id
    )
    return Cast(tuple(entities), tuple(_relations(document, entities, extraction.ties)))


def set_of(mentions: Sequence[Mention]) -> list[Mention]:
    """Each mention once; a mention holds a mapping, so that it has no hash."""
    return list({_mention_order(mention): mention for mention in mentions}.values())


def _entity(document: str, mentions: Sequence[Mention]) -> Entity:
    counts: Counter[str] = Counter()
    for mention in mentions:
        for form, starts in mention.names.items():
            counts[form] += len(starts)
        counts.setdefault(mention.name, 0)
    name = min(counts, key=lambda form: (-counts[form], -len(form), form))
    types = Counter(mention.type for mention in mentions)
    identity = key(name)
    return Entity(
        ids.entity_id(document, identity),
        identity,
        name,
        min(types, key=lambda type: (-types[type], type)),
        dict(sorted(counts.items(), key=lambda item: (item[0] != name, -item[1], item[0]))),
        {form: "exact" for form in counts if form != name},
        tuple(mentions),
    )


def _relations(document: str, entities: Sequence[Entity], ties: Collection[Tie]) -> list[Relation]:
    whose = {
        (mention.chunk, form): entity.id
        for entity in entities
        for mention in entity.mentions
        for form in (*mention.aliases, *mention.names, mention.name)
    }
    pairs: dict[tuple[str, str], list[tuple[Tie, bool]]] = defaultdict(list)
    for tie in sorted(set(ties), key=_tie_order):
        source = whose.get((tie.chunk, tie.source))
        target = whose.get((tie.chunk, tie.target))
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
    return sorted(relations, key=lambda relation: relation.id)


def _mention_order(mention: Mention) -> tuple[object, ...]:
    names = tuple(sorted(mention.names.items()))
    return (mention.place, mention.chunk, mention.name, mention.type, names, mention.said,
            mention.aliases)  # fmt: skip


def _tie_order(tie: Tie) -> tuple[object, ...]:
    return (tie.place, tie.chunk, tie.source, tie.target, tie.said, tie.keywords, tie.strength)
