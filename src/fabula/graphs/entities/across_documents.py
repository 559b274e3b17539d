"""Which entities of different documents are read as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fabula.graphs.entities.resolve import person_or_place


class DocumentEntity(NamedTuple):
    """An entity of one document: its id, its key and its type, as they are in Neo4j."""

    id: str
    key: str
    type: str


def group_across_documents(
    entities: Sequence[DocumentEntity], identities: Mapping[str, str]
) -> list[list[int]]:
    """Group entities that are one and the same.

    Entities of one identity are one. An entity of which nothing is decided, as its document came
    later, belongs to the identity that has its key, if there is just one that may be of its kind.
    All others are one where their keys are equal, but a person and a place of one key are two:
    what is of neither kind is then apart from both.

    Args:
        entities: All entities of a collection, or of some of its documents.
        identities: The id of the identity of each entity of which it is decided, by its id. It may
            have ids of entities that are not there any more.

    Returns:
        The positions of the entities of each group, in the order of `entities`; so are the groups,
        by their first entities.
    """
    kinds: dict[str, set[str]] = defaultdict(set)
    kinds_of_identities: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for entity in entities:
        of_kind = {person_or_place(entity.type)} - {""}
        kinds[entity.key] |= of_kind
        if identity := identities.get(entity.id):
            kinds_of_identities[entity.key].setdefault(identity, set()).update(of_kind)
    groups: dict[tuple[str, ...], list[int]] = {}
    for position, entity in enumerate(entities):
        of_kind = {person_or_place(entity.type)} - {""}
        candidates = [
            identity
            for identity, its_kinds in kinds_of_identities[entity.key].items()
            if len(of_kind | its_kinds) < 2
        ]
        label: tuple[str, ...]
        if entity.id in identities:
            label = ("identity", identities[entity.id])
        elif len(candidates) == 1:
            label = ("identity", candidates[0])
        else:
            label = ("key", entity.key, *(of_kind if len(kinds[entity.key]) > 1 else ()))
        groups.setdefault(label, []).append(position)
    return list(groups.values())
