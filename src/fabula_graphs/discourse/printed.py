"""Check events against the text: whether the window that a model read prints what it says.

A slot is checked by its words and not letter by letter, as a model puts names in the place of
pronouns and words in their base forms. Who acts and where are checked most: everything that joins
events to people and places rests on them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabula.graph import Part
from fabula.graph.extraction import TextWindow
from fabula.graphs.entities.labels import ENTITY, FROM_CHUNK
from fabula.graphs.entities.names import has_capital
from fabula.graphs.entities.words import all_words
from fabula.text.document import Chunk
from fabula.text.folding import fold
from fabula.text.stems import stemmer_of, words
from fabula_graphs.discourse.normal import normal, normal_forms, split_list, stems_of

MIN_SHARE = 0.5
"""The share of a value's words that the text has to print, beside all those with a capital."""
MIN_PREFIX, MAX_ENDING = 4, 2
"""A stem is also printed if a word begins with all but its last two letters, four at least: rules
for stems do not find the forms of every name."""


@dataclass(frozen=True)
class EntityPlaces:
    """In which chunks a document's entities are, by the normal forms of all their names."""

    by_form: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, part: Part | None, language: str) -> EntityPlaces:
        """Return those of a document's part of the graph of entities; none without one."""
        if part is None:
            return cls()
        chunks: dict[str, set[str]] = {}
        for edge in part.edges:
            if edge.type == FROM_CHUNK:
                chunks.setdefault(edge.start, set()).add(edge.end)
        by_form: dict[str, set[str]] = {}
        for node in part.nodes:
            if node.label == ENTITY:
                for name in node.properties["names"]:
                    for form in normal_forms(name, language):
                        by_form.setdefault(form, set()).update(chunks.get(node.id, ()))
        return cls({form: frozenset(ids) for form, ids in by_form.items()})


@dataclass(frozen=True)
class WindowText:
    """A window as the values of its events are compared with it."""

    window: TextWindow
    language: str
    places: EntityPlaces = EntityPlaces()

    def prints(self, value: str) -> bool:
        """Return whether the window prints a value, or has the entity that it is a name of."""
        return any(map(self._has_entity, split_list(value))) or self._prints_words(value)

    def holds(self, value: str, chunk: Chunk) -> int:
        """Return how many content words of a value a chunk prints."""
        return sum(map(self._by_chunk[chunk.id].has, stemmer_of(self.language).content(value)))

    def _has_entity(self, name: str) -> bool:
        ids = set(self.window.ids)
        forms = normal_forms(name, self.language)
        return any(not ids.isdisjoint(self.places.by_form.get(form, ())) for form in forms)

    def _prints_words(self, value: str) -> bool:
        found = total = 0
        for place, part in enumerate(parts := value.split()):
            if all(word in all_words().titles for word in words(part)):
                continue
            stems = normal(part, self.language).split()
            printed = sum(map(self._stems.has, stems))
            # A name that the text does not have is invented, whatever else is printed. The first of
            # several words may have a capital without being one.
            is_name = has_capital(part) and (place > 0 or len(parts) == 1)
            if is_name and printed < len(stems):
                return False
            found, total = found + printed, total + len(stems)
        return found >= MIN_SHARE * total

    @cached_property
    def _by_chunk(self) -> Mapping[str, _Stems]:
        return {chunk.id: _Stems.of(chunk.text, self.language) for chunk in self.window.chunks}

    @cached_property
    def _stems(self) -> _Stems:
        texts = (chunk.text for chunk in self.window.chunks)
        return _Stems.of("\n".join((self.window.before, *texts)), self.language)


@dataclass(frozen=True)
class _Stems:
    """The stems of a text, and its words in order of letters."""

    stems: frozenset[str]
    ordered: tuple[str, ...]

    @classmethod
    def of(cls, text: str, language: str) -> _Stems:
        ordered = sorted({fold(word) for word in words(text)})
        # Values of one letter are possible in scripts without spaces, where stems are pairs.
        stems = {*stems_of(text, language), *words(text)}
        return cls(frozenset(stems), tuple(ordered))

    def has(self, stem: str) -> bool:
        if stem in self.stems:
            return True
        prefix = fold(stem)[: max(MIN_PREFIX, len(stem) - MAX_ENDING)]
        if len(prefix) < MIN_PREFIX:
            return False
        place = bisect_left(self.ordered, prefix)
        return place < len(self.ordered) and self.ordered[place].startswith(prefix)
