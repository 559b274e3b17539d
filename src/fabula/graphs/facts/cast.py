"""The entities of a document by their names: what facts are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabula.graph import Part
from fabula.graphs.entities.border import ENTITY
from fabula.graphs.entities.triples import phrase


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as far as it matters here; `names` counts its printed forms."""

    id: str
    name: str
    names: Mapping[str, int]
    type: str
    text: str = ""


@dataclass(frozen=True)
class Cast:
    """The entities of a document, in the order of their ids."""

    entities: tuple[Named, ...] = ()

    @classmethod
    def of(cls, part: Part) -> Cast:
        """Those of a document's part of the graph of entities."""
        found = []
        for node in part.nodes:
            if node.label == ENTITY:
                told = node.properties
                names = dict(zip(told["names"], told["counts"], strict=True))
                found.append(Named(node.id, told["name"], names, told["type"], told["text"]))
        return cls(tuple(sorted(found, key=lambda one: one.id)))

    @cached_property
    def by_id(self) -> Mapping[str, Named]:
        """Each by its id."""
        return {one.id: one for one in self.entities}

    def called(self, name: str) -> tuple[str, ...]:
        """The ids of all that have just this name, those first that are called so most often."""
        return self._called.get(phrase(name), ())

    @cached_property
    def _called(self) -> Mapping[str, tuple[str, ...]]:
        counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for one in self.entities:
            for form, count in {one.name: 0, **one.names}.items():
                counts[phrase(form)][one.id] += count
        return {
            form: tuple(sorted(found, key=lambda id: (-found[id], id)))
            for form, found in counts.items()
        }
