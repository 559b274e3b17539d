"""The method: what happens in chunks, and how neighbours hang together, become nodes and edges.

After a chunk graph of 5W1H and discourse relations; its fault was that every pair got a relation,
two thirds of them one and the same, so here a model may say that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise

from fabula.errors import BadReply
from fabula.graph import Gap, Part
from fabula.graph.calls import Calls, batches
from fabula.graph.method import Built, Known, Text, Work
from fabula.graphs.discourse.border import (
    EVENTS,
    JUDGED_BY,
    LINKS,
    Earlier,
    nodes_and_edges,
    read,
    ties_to_entities,
    told_pairs,
)
from fabula.graphs.discourse.facts import Tally, facts
from fabula.graphs.discourse.knobs import Knobs
from fabula.graphs.discourse.normal import listed, normal, normal_forms
from fabula.graphs.discourse.prompts import prompt
from fabula.graphs.discourse.records import (
    EventsReply,
    Told,
    links_reply,
    read_events,
    read_links,
)
from fabula.graphs.discourse.senses import Senses, read_senses
from fabula.graphs.discourse.stand_ins import StandIns
from fabula.graphs.discourse.values import Event, Link
from fabula.graphs.entities.border import ENTITY
from fabula.graphs.entities.resolve import PERSON, PLACE, kind
from fabula.graphs.entities.windows import Window, ask_of_each, windows
from fabula.models import Prompt
from fabula.models.replies import ask
from fabula.models.roles import Models
from fabula.text.document import Chunk

READ, JUDGE = range(1, 3)
"""The priorities of the two steps."""
TRIES = 3
"""For a reply that can be used: the first, and two more that are told what was wrong."""
REPLY_TOKENS = 3000
"""Room for all that a reply may have."""
MODEL, RULES = "model", "rules"
"""Who read the text."""

Pair = tuple[Chunk, Chunk]


def build(text: Text, knobs: Knobs, models: Models, known: Known, work: Work) -> Built:
    """The discourse graph of a document, whose chunks it rests on; it knows no database.

    A model reads windows of chunks for events and judges pairs of neighbours; offline, rules do,
    as far as rules can. The same replies give the same graph, in whatever order they come. What is
    `known` of unchanged chunks and pairs is used again, and what no model gives is a gap. Raises
    ModelError, and SettingsError for a set of senses that is none.
    """
    language = text.document.language
    senses, stand_ins = read_senses(knobs.senses), StandIns.expected(known.means)
    steps = _Steps(text, knobs, models, read(known, senses), work, senses, stand_ins)
    steps.expect()
    judging = work.job.start(steps.judge)
    events = steps.read()
    links = judging.result()
    nodes, edges = nodes_and_edges(
        text.document.id,
        events,
        links,
        text.chunks,
        lambda value: normal(value, language),
        senses.cause,
        RULES if models.offline else MODEL,
    )
    if entities := text.below.get("entities"):
        edges += ties_to_entities(nodes, _resolver(entities, language))
    told = facts(nodes, edges, events, links, steps.tally, known.facts)
    told = {**told, JUDGED_BY: senses.digest}
    return Built(tuple(nodes), tuple(edges), told, steps.all_gaps())


@dataclass
class _Steps:
    """The steps of one document's build, and what they share."""

    text: Text
    knobs: Knobs
    models: Models
    earlier: Earlier
    work: Work
    senses: Senses
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

    def expect(self) -> None:
        """Tells how many pieces there will be before either step may miss one."""
        if not self.models.offline:
            pairs = [*pairwise(self.text.chunks)]
            self.work.gaps.expect(len(self.windows) + len(batches(pairs, self.knobs.pairs)))

    def read(self) -> list[Event]:
        """What happens in all chunks, as it is known, or by a model, or offline by rules."""
        if self.models.offline:
            from fabula.graphs.discourse.rules import events_by_rules

            return events_by_rules(self.text)
        known = self.earlier.read
        asked = ask_of_each(
            self.windows, known, self._ask_events, self.calls, priority=READ, step=EVENTS
        )
        self.tally.windows = len(asked)
        self.tally.reused = sum(told is None for _, told in asked)
        found: list[Event] = []
        for window, told in asked:
            if isinstance(told, Told):
                self.tally.told.append(told)
                self.tally.passages += len(window.chunks)
                found += told.events
                continue
            if isinstance(told, Gap):
                self.gaps.append(told)
            # Of a gap, what was said of its unchanged chunks before is better than nothing.
            for chunk in window.chunks:
                found += self.earlier.events.get(chunk.id, ())
        return found

    def judge(self) -> list[Link]:
        """How all neighbours hang together, as it is known, or by a model, or offline by rules."""
        every = list(pairwise(self.text.chunks))
        self.tally.pairs = len(every)
        if self.models.offline:
            from fabula.graphs.discourse.rules import links_by_rules

            return links_by_rules(self.text.chunks, self.text.document.language, self.senses)
        new = [pair for pair in every if _key(pair) not in self.earlier.judged]
        self.tally.kept = len(every) - len(new)
        asked = batches(new, self.knobs.pairs)
        whole = len(batches(every, self.knobs.pairs))
        self.calls.save(LINKS, whole - len(asked))
        said = self.calls.each(JUDGE, LINKS, self._ask_links, asked)
        found = {_key(pair): link for pair in every if (link := self.earlier.links.get(_key(pair)))}
        for pairs, told in zip(asked, said, strict=True):
            if isinstance(told, Gap):
                self.gaps.append(told)
                continue
            self.tally.told.append(told)
            self.tally.judged += len(pairs)
            found |= {(link.arg1, link.arg2): link for link in told.links}
        return [found[_key(pair)] for pair in every if _key(pair) in found]

    def all_gaps(self) -> tuple[Gap, ...]:
        """What no model gave, in an order that does not depend on the threads'."""
        return tuple(sorted(self.gaps, key=lambda gap: (gap.step, gap.sources)))

    def _ask_events(self, window: Window) -> Told:
        asked = Prompt(
            system=prompt("events_system"),
            user=prompt("events", passages=window.passages, count=len(window.chunks)),
            max_tokens=REPLY_TOKENS,
            temperature=self.models.temperature,
            schema=EventsReply,
            stand_in=partial(self.stand_ins.events, window),
        )
        language = self.text.document.language
        return ask(
            self.models.chat("model", EVENTS),
            asked,
            lambda reply: read_events(reply, window.chunks, language),
            TRIES,
        )

    def _ask_links(self, pairs: Sequence[Pair]) -> Told | Gap:
        shown = {chunk.id: chunk for pair in pairs for chunk in pair}
        numbers = {id: number for number, id in enumerate(shown, 1)}
        passages = [f"[{numbers[id]}] {chunk.text.strip()}" for id, chunk in shown.items()]
        listed = [
            f"{number}: Arg1 is [{numbers[one.id]}], Arg2 is [{numbers[other.id]}]"
            for number, (one, other) in enumerate(pairs, 1)
        ]
        leaves = self.senses.leaves
        asked = Prompt(
            system=prompt(
                "links_system",
                result=self.senses.like("Contingency.Cause.Result"),
                reason=self.senses.like("Contingency.Cause.Reason"),
            ),
            user=prompt(
                "links",
                senses="\n".join(f"- {one.path}: {one.about}" for one in leaves),
                passages="\n\n".join(passages),
                pairs="\n".join(listed),
            ),
            max_tokens=REPLY_TOKENS,
            temperature=self.models.temperature,
            schema=links_reply(tuple(one.path for one in leaves)),
            stand_in=lambda: self.stand_ins.links(pairs, self.senses),
        )
        try:
            return ask(
                self.models.chat("model", LINKS),
                asked,
                lambda reply: read_links(reply, pairs, self.senses),
                TRIES,
            )
        except BadReply as error:
            why = self.work.gaps.accept(error)
            told = {"pairs": told_pairs(map(_key, pairs))}
            return Gap(LINKS, why, tuple(shown), dict.fromkeys(shown, 1.0), told)


def _key(pair: Pair) -> tuple[str, str]:
    return pair[0].id, pair[1].id


def _resolver(entities: Part, language: str) -> Callable[[str, str], list[str]]:
    """From who or where, and how it is called, to the entities that have such a name.

    Where several have it, the one of the right type, and of those the one mentioned most.
    """
    found: dict[str, list[tuple[str, int, str]]] = {}
    for node in entities.nodes:
        if node.label == ENTITY:
            told = node.properties
            forms = {form for name in told["names"] for form in normal_forms(name, language)}
            for form in forms:
                found.setdefault(form, []).append((kind(told["type"]), -told["mentions"], node.id))
    wanted: Mapping[str, str] = {"who": PERSON, "where": PLACE}

    def best(slot: str, name: str) -> str:
        for form in normal_forms(name, language):
            if some := found.get(form):
                return min(some, key=lambda one: (one[0] != wanted[slot], *one[1:]))[2]
        return ""

    def resolve(slot: str, value: str) -> list[str]:
        whole = best(slot, value)
        parts = [whole] if whole else [best(slot, part) for part in listed(value)]
        return list(dict.fromkeys(filter(None, parts)))

    return resolve
