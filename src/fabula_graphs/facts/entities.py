"""The entities of a document by their names: what facts are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabula.graph import Part
from fabula.graphs.entities.labels import ENTITY
from fabula.graphs.entities.triples import phrase_key


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity as far as facts need it; `names` counts its printed forms."""

    id: str
    name: str
    names: Mapping[str, int]
    type: str
    text: str = ""


@dataclass(frozen=True)
class NamedEntities:
    """The entities of a document, in the order of their ids."""

    entities: tuple[NamedEntity, ...] = ()

    @classmethod
    def of(cls, part: Part) -> NamedEntities:
        """Return those of a document's part of the graph of entities."""
        entities = []
        for node in part.nodes:
            if node.label == ENTITY:
                values = node.properties
                names = dict(zip(values["names"], values["counts"], strict=True))
                entities.append(
                    NamedEntity(node.id, values["name"], names, values["type"], values["text"])
                )
        return cls(tuple(sorted(entities, key=lambda entity: entity.id)))

    @cached_property
    def by_id(self) -> Mapping[str, NamedEntity]:
        """Each by its id."""
        return {entity.id: entity for entity in self.entities}

    def find(self, name: str) -> tuple[str, ...]:
        """Return the ids of all that have exactly this name, those that have it most often first.

        Names are compared as phrases: by their words, in any case.
        """
        return self._by_phrase.get(phrase_key(name), ())

    @cached_property
    def _by_phrase(self) -> Mapping[str, tuple[str, ...]]:
        counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for entity in self.entities:
            for form, count in {entity.name: 0, **entity.names}.items():
                counts[phrase_key(form)][entity.id] += count
        return {
            form: tuple(sorted(by_id, key=lambda id: (-by_id[id], id)))
            for form, by_id in counts.items()
        }
