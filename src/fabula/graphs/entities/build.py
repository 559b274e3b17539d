"""The method: what chunks say of people, places and things becomes a cast, tied and described."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from fabula.errors import BadReply
from fabula.graph import Gap, Node
from fabula.graph.calls import Calls
from fabula.graph.method import Built, Known, Text, Work
from fabula.graphs.entities.border import (
    DESCRIPTIONS,
    EXTRACTION,
    TRIPLES,
    Description,
    Earlier,
    edges_of,
    embedded,
    nodes_of,
    read,
)
from fabula.graphs.entities.decisions import read_decisions
from fabula.graphs.entities.described import (
    Describer,
    Statements,
    first_ones,
    most_salient,
    portions,
)
from fabula.graphs.entities.extract import Extractor, attribute
from fabula.graphs.entities.facts import Tally, facts
from fabula.graphs.entities.knobs import Knobs
from fabula.graphs.entities.merge import merge
from fabula.graphs.entities.stand_ins import StandIns
from fabula.graphs.entities.triples import Fact, Stater, join_facts
from fabula.graphs.entities.types import read_types
from fabula.graphs.entities.values import Cast, Extraction, Mention, Tie
from fabula.graphs.entities.windows import Window, ask_of_each, window_gap, windows
from fabula.models.roles import Models
from fabula.text.ranking import inverse_document_frequencies
from fabula.text.stems import stemmer_of

# What later calls depend on goes first.
EXTRACT, STATE, DESCRIBE = range(1, 4)

MODEL, RULES = "model", "rules"
"""Who extracted a graph."""
_WORD = re.compile(r"[^\W\d_]+")

Out = TypeVar("Out")


def build(text: Text, knobs: Knobs, models: Models, known: Known, work: Work) -> Built:
    """The entity graph of a document, whose chunks it rests on; it knows no database.

    A model reads windows of chunks; offline, rules read them. What they say of one chunk is merged
    with what they say of others, described and embedded. Deterministic where the models are: the
    same replies give the same graph, in whatever order they come. What is `known` of unchanged
    chunks is used again, and what no model gives is a gap. Raises ModelError, and SettingsError
    for types, or decisions on names, that are none.
    """
    decisions = read_decisions(knobs.keep_apart, knobs.join)
    stand_ins = StandIns.expected(known.means, knobs.description_tokens)
    steps = _Steps(text, knobs, models, read(known, text.chunks), work, stand_ins)
    stating = work.job.start(steps.state)
    extraction = steps.extract()
    cast = merge(
        text.document.id,
        extraction,
        language=text.document.language,
        decisions=decisions,
        ordinary=_ordinary(text),
    )
    descriptions = steps.describe(cast)
    triples = join_facts(text.document.id, stating.result())
    by = RULES if models.offline else MODEL
    nodes = steps.embed(nodes_of(cast, triples, descriptions, text.chunks, by))
    told = facts(cast, triples, extraction.dropped, steps.tally, known.facts)
    return Built(tuple(nodes), tuple(edges_of(cast, triples, extraction)), told, steps.all_gaps())


@dataclass
class _Steps:
    """The steps of one document's build, and what they share."""

    text: Text
    knobs: Knobs
    models: Models
    earlier: Earlier
    work: Work
    stand_ins: StandIns
    tally: Tally = field(default_factory=Tally)
    gaps: list[Gap] = field(default_factory=list)
    """What no model gave, until now."""

    @cached_property
    def calls(self) -> Calls:
        """The calls of this build."""
        return Calls(self.models, self.work)

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """What one call reads."""
        return windows(self.text.chunks, self.knobs.window_tokens, self.text.document.language)

    def extract(self) -> Extraction:
        """What is said of all chunks, as it is known, or by a model, or offline by rules."""
        if self.models.offline:
            from fabula.graphs.entities.rules import extract_by_rules

            return extract_by_rules(self.text.chunks, self.text.document.language)
        types = read_types(self.knobs.types)
        extractor = Extractor(
            self.models.chat("model", EXTRACTION),
            types,
            self.knobs.gleanings,
            self.models.temperature,
            self.stand_ins,
        )

        asked = self._ask(EXTRACT, EXTRACTION, extractor.ask, 1 + self.knobs.gleanings)
        self.tally.windows = len(asked)
        self.tally.reused = sum(said is None for _, said in asked)
        mentions: list[Mention] = []
        ties: list[Tie] = []
        dropped: Counter[str] = Counter()
        for window, said in asked:
            if isinstance(said, tuple):
                first, every, missed = said
                if missed:
                    self.gaps.append(window_gap(EXTRACTION, missed, window, self.work.gaps))
                found, retyped = attribute(window, every, [one.name for one in types])
                self.tally.count(first, every, retyped)
                mentions += found.mentions
                ties += found.ties
                dropped.update(found.dropped)
                continue
            if isinstance(said, Gap):
                self.gaps.append(said)
            # Of a gap, what was said of its unchanged chunks before is better than nothing.
            for chunk in window.chunks:
                mentions += self.earlier.mentions.get(chunk.id, ())
                ties += self.earlier.ties.get(chunk.id, ())
        return Extraction(tuple(mentions), tuple(ties), dropped)

    def state(self) -> list[Fact]:
        """The facts of all chunks; none where they are not wanted, or there is no model."""
        if self.models.offline or not self.knobs.triples:
            return []
        self.tally.is_stated = True
        stater = Stater(self.models.chat("model", TRIPLES), self.models.temperature, self.stand_ins)

        found: list[Fact] = []
        for window, said in self._ask(STATE, TRIPLES, stater.ask, 1):
            if isinstance(said, tuple):
                found += said[0]
                self.tally.count_facts(*said)
                continue
            if isinstance(said, Gap):
                self.gaps.append(said)
            for chunk in window.chunks:
                found += self.earlier.facts.get(chunk.id, ())
        return found

    def describe(self, cast: Cast) -> dict[str, Description]:
        """What is told of each entity and relation, by its id."""
        names = {one.id: one.name for one in cast.entities}
        statements = {one.id: Statements.of(one.name, one.mentions) for one in cast.entities}
        for tied in cast.relations:
            subject = f"{names[tied.source]} and {names[tied.target]}"
            statements[tied.id] = Statements.of(subject, tied.ties)
        if self.models.offline:
            return self._quote(statements)
        describer = Describer(
            self.models.chat("model", DESCRIPTIONS),
            self.knobs.description_tokens,
            self.models.temperature,
            self.stand_ins,
        )

        many = [one for one in statements.values() if one.are_many]
        new = portions([one for one in many if one.digest not in self.earlier.described])
        self.calls.save(DESCRIPTIONS, max(0, len(portions(many)) - len(new)))
        self.work.gaps.expect(len(many))
        asked = self.calls.each(DESCRIBE, DESCRIPTIONS, describer.merge, new)
        merged = {
            one: text
            for some, texts in zip(new, asked, strict=True)
            for one, text in zip(some, texts, strict=True)
        }
        found: dict[str, Description] = {}
        for id, one in statements.items():
            text = merged.get(one) or self.earlier.described.get(one.digest)
            if isinstance(text, BadReply):
                why = self.work.gaps.accept(text)
                self.gaps.append(Gap(DESCRIPTIONS, why, one.chunks, {id: 1.0}))
                found[id] = Description(first_ones(one, self.knobs.description_tokens), "")
                continue
            found[id] = Description(text or one.joined or one.subject, one.digest)
            self.tally.merged += [found[id].text] if one in merged else []
        return found

    def embed(self, nodes: Sequence[Node]) -> list[Node]:
        """The same nodes, all with embeddings; what reads the same keeps its own."""
        vectors = self.calls.embed([embedded(node) for node in nodes], self.earlier.vectors)
        return [replace(node, embedding=vectors[embedded(node)]) for node in nodes]

    def all_gaps(self) -> tuple[Gap, ...]:
        """What no model gave, in an order that does not depend on the threads'."""
        return tuple(sorted(self.gaps, key=lambda gap: (gap.step, gap.sources, *gap.rests_on)))

    def _quote(self, statements: Mapping[str, Statements]) -> dict[str, Description]:
        """Descriptions out of statements that are sentences of the text."""
        stemmer = stemmer_of(self.text.document.language)
        weights = inverse_document_frequencies(
            stemmer.content(chunk.text) for chunk in self.text.chunks
        )
        limit = self.knobs.description_tokens
        return {
            id: Description(
                most_salient(one, limit, stemmer, weights) if one.texts else one.subject,
                one.digest,
            )
            for id, one in statements.items()
        }

    def _ask(
        self, priority: int, step: str, ask: Callable[[Window], Out], saves: int
    ) -> list[tuple[Window, Out | Gap | None]]:
        self.work.gaps.expect(len(self.windows))
        known = self.earlier.asked[step]
        return ask_of_each(
            self.windows, known, ask, self.calls, priority=priority, step=step, saves=saves
        )


def _ordinary(text: Text) -> frozenset[str]:
    """The words that a text prints in lower case."""
    words = (word for chunk in text.chunks for word in _WORD.findall(chunk.text))
    return frozenset(word for word in words if word.islower())
