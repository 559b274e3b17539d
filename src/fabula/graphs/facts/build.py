"""The build of a document's facts: stated, then normalised, then checked.

The three steps of Wikontic (Chepurova et al. 2025), over the document's own entities in the place
of Wikidata's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabula.errors import BadReply
from fabula.graph import Gap, Node
from fabula.graph.calls import Calls
from fabula.graph.method import Built, Known, Text, Work
from fabula.graphs.entities.windows import Window, ask_of_each, window_gap, windows
from fabula.graphs.facts.border import (
    NORMALISATION,
    STATEMENTS,
    Earlier,
    edges_of,
    nodes_of,
    read,
)
from fabula.graphs.facts.cast import Cast
from fabula.graphs.facts.checking import check
from fabula.graphs.facts.knobs import Knobs
from fabula.graphs.facts.normalising import Answer, Normaliser, Question
from fabula.graphs.facts.ontology import Ontology, read_ontology
from fabula.graphs.facts.rules import LANGUAGE, state_by_rules
from fabula.graphs.facts.stand_ins import StandIns
from fabula.graphs.facts.stating import Stater, prove
from fabula.graphs.facts.telling import Tally, facts
from fabula.graphs.facts.values import Statement
from fabula.models.roles import Models

STATE, NORMALISE = range(1, 3)
ENTITIES = "entities"
MODEL, RULES = "model", "rules"
"""Who stated the facts."""


def build(text: Text, knobs: Knobs, models: Models, known: Known, work: Work) -> Built:
    """The facts of a document; it knows no database.

    A model states what windows of chunks tell; then, in view of all entities of the document,
    names and predicates become its entities and the ontology's relations; and what the ontology
    does not allow is left out. Offline, rules state a few facts of English texts. Deterministic
    where the models are; what is `known` of unchanged chunks is used again, and what no model
    gives is a gap. Raises ModelError, and SettingsError for an ontology that is none.
    """
    ontology = read_ontology(knobs.ontology)
    cast = Cast.of(text.below[ENTITIES])
    stand_ins = StandIns.expected(known.means)
    steps = _Steps(text, knobs, models, read(known, text.chunks), work, ontology, cast, stand_ins)
    statements = steps.state()
    if not models.offline and knobs.normalise:
        statements = steps.normalise(statements)
    checked = check(text.document.id, statements, cast, ontology, strict=knobs.strict)
    by = RULES if models.offline else MODEL
    nodes = steps.embed(nodes_of(checked.facts, ontology, text.chunks, by))
    left_out = [] if models.offline else [one for some in checked.left_out.values() for one in some]
    has_rules = not models.offline or text.document.language == LANGUAGE
    told = facts(checked, has_rules, steps.tally, known.facts)
    return Built(tuple(nodes), tuple(edges_of(checked.facts, left_out)), told, tuple(steps.gaps))


@dataclass
class _Steps:
    """The steps of one document's build, and what they share."""

    text: Text
    knobs: Knobs
    models: Models
    earlier: Earlier
    work: Work
    ontology: Ontology
    cast: Cast
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

    def state(self) -> list[Statement]:
        """What all chunks state, as it is known, or by a model, or offline by rules."""
        chunks, language = self.text.chunks, self.text.document.language
        if self.models.offline:
            return state_by_rules(chunks, self.text.below[ENTITIES], language)
        stater = Stater(
            self.models.chat("model", STATEMENTS),
            self.ontology,
            self.models.temperature,
            self.stand_ins,
            language,
        )

        self.work.gaps.expect(len(self.windows))
        known = self.earlier.asked
        asked = ask_of_each(
            self.windows, known, stater.ask, self.calls, priority=STATE, step=STATEMENTS
        )
        self.tally.windows = len(asked)
        self.tally.reused = sum(said is None for _, said in asked)
        found: list[Statement] = []
        for window, said in asked:
            if isinstance(said, tuple):
                found += said[0]
                self.tally.count(*said)
                continue
            if isinstance(said, Gap):
                self.gaps.append(said)
            # Of a gap, what was said of its unchanged chunks before is better than nothing.
            kept = [
                one for chunk in window.chunks for one in self.earlier.statements.get(chunk.id, ())
            ]
            found += prove(kept, window.chunks, language)
        return found

    def normalise(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements with what a model takes their names and predicates for.

        It is asked of all windows once all of them have stated what they do. Where it gives
        nothing, words alone decide, until it is asked again.
        """
        normaliser = Normaliser(self.cast, self.ontology, self.models.static)
        by_chunk: dict[str, list[Statement]] = defaultdict(list)
        for one in statements:
            by_chunk[one.chunk].append(one)
        chat = self.models.chat("model", NORMALISATION)

        def ask(question: Question) -> tuple[Answer, Counter[str]] | BadReply:
            try:
                return normaliser.ask(question, chat, self.models.temperature, self.stand_ins)
            except BadReply as error:
                return error

        open_before = self._count_open(normaliser, by_chunk)
        questions = normaliser.questions(self.windows, by_chunk)
        self.calls.save(NORMALISATION, open_before - len(questions))
        self.work.gaps.expect(open_before)
        replies = self.calls.each(NORMALISE, NORMALISATION, ask, questions)
        answers: dict[str, Answer] = {}
        for question, reply in zip(questions, replies, strict=True):
            if isinstance(reply, BadReply):
                gap = window_gap(NORMALISATION, reply, question.window, self.work.gaps)
                self.gaps.append(gap)
                continue
            answer, dropped = reply
            self.tally.dropped.update(dropped)
            answers |= {chunk.id: answer for chunk in question.window.chunks}
        return [normaliser.settle(one, answers.get(one.chunk)) for one in statements]

    def _count_open(
        self, normaliser: Normaliser, by_chunk: Mapping[str, Sequence[Statement]]
    ) -> int:
        """Windows with anything that words alone don't settle, known or not."""
        return sum(
            any(
                normaliser.is_open(one, at)
                for chunk in window.chunks
                for one in by_chunk.get(chunk.id, ())
                for at in range(3)
            )
            for window in self.windows
        )

    def embed(self, nodes: Sequence[Node]) -> list[Node]:
        """The same nodes, all with embeddings; what reads the same keeps its own."""
        vectors = self.calls.embed(
            [str(node.properties["text"]) for node in nodes], self.earlier.vectors
        )
        return [replace(node, embedding=vectors[str(node.properties["text"])]) for node in nodes]
