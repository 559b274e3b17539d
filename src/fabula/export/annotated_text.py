"""A document with all that is marked in it, as the formats of annotations write it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fabula.graph.annotations import (
    ENTITY,
    EVENT,
    QUOTATION,
    Annotation,
    LayerRecord,
    PlacedAnnotation,
)
from fabula.graph.findings import Findings
from fabula.text.anchoring import quote_at
from fabula.text.document import Document

ENTITIES, QUOTATIONS, EVENTS = "entities", "quotations", "events"
FOUND = (ENTITIES, QUOTATIONS, EVENTS)
"""What the graphs of a document found; besides there are its layers of annotations."""


@dataclass(frozen=True, slots=True)
class PlacedLayer:
    """A layer of annotations with their places in the document's present text."""

    record: LayerRecord
    items: tuple[PlacedAnnotation, ...]

    @property
    def orphaned(self) -> int:
        """How many annotations have no place: their words are not in the text."""
        return sum(item.anchor is None for item in self.items)

    @property
    def moved(self) -> int:
        """How many stand elsewhere than when they were imported."""
        return sum(
            item.anchor is not None and item.anchor.start != item.annotation.start
            for item in self.items
        )


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A document and what is marked in it.

    Attributes:
        document: The document; of a reader with a place, the text up to that.
        findings: What its graphs found.
        layers: The annotations that were imported, and notes.
        built: The names of its graphs.
    """

    document: Document
    findings: Findings = field(default_factory=Findings)
    layers: tuple[PlacedLayer, ...] = ()
    built: frozenset[str] = frozenset()

    def annotations(self, what: Iterable[str] = ()) -> list[Annotation]:
        """Return what is marked as annotations, in text order; orphaned ones are last.

        Args:
            what: ENTITIES, QUOTATIONS, EVENTS and names of layers; all if there are none.
        """
        wanted = set(what) or {*FOUND, *(layer.record.name for layer in self.layers)}
        makers: dict[str, Callable[[], Iterator[Annotation]]] = {
            ENTITIES: self._mentions,
            QUOTATIONS: self._quotations,
            EVENTS: self._events,
        }
        made = [a for name, make in makers.items() if name in wanted for a in make()]
        lost: list[Annotation] = []
        for layer in self.layers:
            if layer.record.name in wanted:
                for annotation, anchor in layer.items:
                    if anchor is None:
                        lost.append(annotation)
                    else:
                        made.append(self._at(annotation, anchor.start, anchor.end))
        made.sort(key=lambda a: (a.start, -a.end, a.kind, a.id))
        return made + lost

    def names(self) -> dict[str, str]:
        """Return the names of the entities by their ids."""
        return {entity.id: entity.name for entity in self.findings.entities}

    def _at(self, annotation: Annotation, start: int, end: int) -> Annotation:
        values = {name: getattr(annotation, name) for name in Annotation.__slots__}
        return Annotation(**{**values, "quote": quote_at(self.document.text, start, end)})

    def _mentions(self) -> Iterator[Annotation]:
        for entity in self.findings.entities:
            for name, starts in entity.places.items():
                for start in starts:
                    yield Annotation(
                        quote_at(self.document.text, start, start + len(name)),
                        ENTITY,
                        entity.name,
                        id=f"{entity.id}-{start}",
                        group=entity.id,
                        properties={"type": entity.type},
                    )

    def _quotations(self) -> Iterator[Annotation]:
        names = self.names()
        for found in self.findings.quotations:
            speaker = "" if found.is_doubtful else found.speaker
            yield Annotation(
                quote_at(self.document.text, found.start, found.end),
                QUOTATION,
                names.get(speaker, ""),
                id=f"quotation-{found.start}-{found.end}",
                group=speaker,
            )

    def _events(self) -> Iterator[Annotation]:
        for event in self.findings.events:
            for start, end in event.words:
                yield Annotation(
                    quote_at(self.document.text, start, end),
                    EVENT,
                    event.predicate,
                    id=f"event-{start}-{end}",
                )


def merge_findings(found: Sequence[Findings]) -> Findings:
    """Return the findings of several graphs as one."""
    return Findings(
        tuple(entity for findings in found for entity in findings.entities),
        tuple(pair for findings in found for pair in findings.scenes),
        tuple(quotation for findings in found for quotation in findings.quotations),
        tuple(event for findings in found for event in findings.events),
    )
