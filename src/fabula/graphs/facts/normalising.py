"""Which entity a name means, and which relation a predicate: the second step.

Words settle most of it: a name that one entity alone has, a predicate that a relation is called by.
About the rest a chat model is asked once a window, and answers by number, so that two entities of
one name are two choices. Candidates are those of the nearest names by static word embeddings, which
cost nothing; an answer is kept with the name, and holds until others are called so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.calls import batches
from fabula.graphs.entities.triples import phrase
from fabula.graphs.entities.windows import Window
from fabula.graphs.facts.cast import Cast
from fabula.graphs.facts.ontology import TIME, Ontology
from fabula.graphs.facts.prompts import prompt
from fabula.graphs.facts.stand_ins import StandIns
from fabula.graphs.facts.values import Choice, Statement
from fabula.models import Chat, Embedder, Prompt
from fabula.models.replies import ask, read_lists, shortened
from fabula.text.document import Vectors

SHOWN = 5
"""Candidates for each name and each predicate."""
HALF_A_LINE = 12
"""Tokens of what is told of a candidate."""
MOST_ASKED = 50
"""Names, and predicates, of one window that are asked about."""
TRIES = 3
REPLY_TOKENS = 100 + 2 * MOST_ASKED * 12
MISNUMBERED = "misnumbered"
"""Why an answer is left out."""


class ChoiceShape(BaseModel):
    """Which candidate the one with that number means."""

    model_config = ConfigDict(extra="forbid")

    n: int
    taken: int = Field(alias="is")


class ChoicesReply(BaseModel):
    """Which candidates names and predicates mean."""

    model_config = ConfigDict(extra="forbid")

    names: list[ChoiceShape]
    predicates: list[ChoiceShape]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one window: names and predicates, each with its candidates' keys."""

    window: Window
    statements: tuple[Statement, ...]
    names: Mapping[str, tuple[str, ...]]
    predicates: Mapping[str, tuple[str, ...]]


Answer = tuple[Mapping[str, str], Mapping[str, str]]
"""What each name and each predicate was taken for; '' for none."""


@dataclass(frozen=True)
class Normaliser:
    """Knows whom and what a document's statements may mean."""

    cast: Cast
    ontology: Ontology
    static: Embedder

    def is_open(self, statement: Statement, at: int) -> bool:
        """Whether words alone don't settle the subject (0), the predicate (1), or the object (2).

        Dates and numbers are what they are.
        """
        if at == 1:
            return not self.ontology.relation_of(statement.predicate)
        name = statement.object if at else statement.subject
        type = statement.object_type if at else statement.subject_type
        if TIME in self.ontology.above.get(type, ()) or all(map(_has_digit, phrase(name).split())):
            return False
        return len(self.cast.called(name)) != 1

    def still_holds(self, statement: Statement, at: int) -> bool:
        """Whether what a model said of it before is still an answer to the same question."""
        choice = statement.choices[at]
        if choice is None:
            return False
        if at == 1:
            return choice.taken in ("", *self.ontology.relations)
        name = statement.object if at else statement.subject
        is_there = not choice.taken or choice.taken in self.cast.by_id
        return is_there and choice.among == self._among(name)

    def settle(self, statement: Statement, answer: Answer | None) -> Statement:
        """The statement with what a model says of it now, or said before where that still holds.

        Without an answer, what is open stays so.
        """
        choices = list(statement.choices)
        for at, words in enumerate((statement.subject, statement.predicate, statement.object)):
            if not self.is_open(statement, at):
                choices[at] = None
            elif not self.still_holds(statement, at):
                taken = answer and answer[at == 1].get(words)
                among = () if at == 1 else self._among(words)
                choices[at] = None if taken is None else Choice(taken, among)
        return replace(statement, choices=(choices[0], choices[1], choices[2]))

    def _among(self, name: str) -> tuple[str, ...]:
        return tuple(sorted(self.cast.called(name)))

    # Candidates

    def questions(
        self, windows: Sequence[Window], statements: Mapping[str, Sequence[Statement]]
    ) -> list[Question]:
        """What is still to be asked, window by window; `statements` are by their chunks."""
        opened: list[tuple[Window, list[Statement], list[str], list[str]]] = []
        for window in windows:
            said = [one for chunk in window.chunks for one in statements.get(chunk.id, ())]
            names: dict[str, None] = {}
            predicates: dict[str, None] = {}
            for one in said:
                for at, words in enumerate((one.subject, one.predicate, one.object)):
                    if self.is_open(one, at) and not self.still_holds(one, at):
                        (predicates if at == 1 else names)[words] = None
            if names or predicates:
                opened.append((window, said, [*names][:MOST_ASKED], [*predicates][:MOST_ASKED]))
        near = self._nearest(
            {name for _, _, names, _ in opened for name in names}, *self._entity_forms
        )
        alike = self._nearest(
            {one for _, _, _, predicates in opened for one in predicates}, *self._relation_forms
        )
        return [
            Question(
                window,
                tuple(said),
                {name: self._first(name, near[name]) for name in names},
                {one: alike[one] for one in predicates},
            )
            for window, said, names, predicates in opened
        ]

    def _first(self, name: str, near: Sequence[str]) -> tuple[str, ...]:
        """Those of just this name before those of names that are near."""
        return tuple(dict.fromkeys((*self.cast.called(name), *near)))[:SHOWN]

    @cached_property
    def _entity_forms(self) -> tuple[list[str], list[str]]:
        pairs = [(form, one.id) for one in self.cast.entities for form in (one.name, *one.names)]
        return [form for form, _ in pairs], [id for _, id in pairs]

    @cached_property
    def _relation_forms(self) -> tuple[list[str], list[str]]:
        pairs = [
            (form, one.name)
            for one in self.ontology.relations.values()
            for form in (one.name.replace("_", " "), *one.aliases)
        ]
        return [form for form, _ in pairs], [name for _, name in pairs]

    def _nearest(
        self, asked: set[str], forms: Sequence[str], owners: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """The owners of the nearest forms of each, best first, equal ones in the order of ids."""
        texts = sorted(asked)
        if not texts or not forms:
            return dict.fromkeys(texts, ())
        among = self._vectors(forms)
        found = {}
        for batch in batches(texts, 256):
            scores = self._vectors(batch) @ among.T
            for text, row in zip(batch, scores, strict=True):
                best: dict[str, float] = {}
                # A form may be one of many of its owner: more than are shown are looked at.
                for at in np.argsort(-row, kind="stable")[: 20 * SHOWN].tolist():
                    best[owners[at]] = max(best.get(owners[at], -1.0), round(float(row[at]), 6))
                order = sorted(best, key=lambda owner: (-best[owner], owner))
                found[text] = tuple(order[:SHOWN])
        return found

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        rows = [self.static.embed(batch).vectors for batch in batches(texts, self.static.batch)]
        return np.concatenate(rows)

    # The call

    def ask(
        self, question: Question, chat: Chat, temperature: float, stand_ins: StandIns
    ) -> tuple[Answer, Counter[str]]:
        """What a chat model says, and how many of its answers were none. Raises BadReply."""
        said = dict.fromkeys(
            f"- {one.subject} | {one.predicate} | {one.object}" for one in question.statements
        )
        names = _numbered("Names:", question.names, self._told_entity)
        predicates = _numbered("Predicates:", question.predicates, self._told_relation)
        asked = Prompt(
            system=prompt("normalise_system"),
            user=prompt(
                "normalise",
                passages=question.window.passages,
                facts="\n".join(said),
                names=names,
                predicates=predicates,
            ),
            max_tokens=REPLY_TOKENS,
            temperature=temperature,
            schema=ChoicesReply,
            stand_in=lambda: stand_ins.chosen(len(question.names), len(question.predicates)),
        )
        return ask(chat, asked, lambda reply: read_choices(reply, question), TRIES)

    def _told_entity(self, id: str) -> str:
        one = self.cast.by_id[id]
        said = shortened(" ".join(one.text.split()), HALF_A_LINE)
        return f"{one.name}, {one.type}: {said}"

    def _told_relation(self, name: str) -> str:
        one = self.ontology.relations[name]
        starts, ends = (one.starts, one.ends)
        if not starts:
            other = self.ontology.relations[one.inverse]
            starts, ends = other.ends, other.starts
        return f"{name}: {' or '.join(starts)} -> {' or '.join(ends)}, as “{one.words}”"


def read_choices(reply: str, question: Question) -> tuple[Answer, Counter[str]]:
    """What a reply takes names and predicates for; what it says nothing of is none.

    Raises BadReply where it is no such reply.
    """
    lists = read_lists(reply, ("names", "predicates"))
    dropped: Counter[str] = Counter()
    names = _read(lists["names"], question.names, dropped)
    predicates = _read(lists["predicates"], question.predicates, dropped)
    return (names, predicates), dropped


def _read(
    given: Sequence[Any], asked: Mapping[str, tuple[str, ...]], dropped: Counter[str]
) -> dict[str, str]:
    found = dict.fromkeys(asked, "")
    listed = list(asked)
    for one in given[: 2 * MOST_ASKED]:
        number: Any = one.get("n") if isinstance(one, dict) else None
        taken: Any = one.get("is") if isinstance(one, dict) else None
        if not _is_in(number, 1, len(listed)) or not _is_in(taken, 0, SHOWN):
            dropped[MISNUMBERED] += 1
            continue
        name = listed[number - 1]
        if taken > len(asked[name]):
            dropped[MISNUMBERED] += 1
        elif taken:
            found[name] = asked[name][taken - 1]
    dropped[MISNUMBERED] += len(given[2 * MOST_ASKED :])
    return found


def _is_in(number: Any, least: int, most: int) -> bool:
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    return is_whole and least <= number <= most


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _numbered(title: str, asked: Mapping[str, tuple[str, ...]], told: Callable[[str], str]) -> str:
    """Names or predicates with their numbers, and below each its candidates with theirs."""
    lines = [title] if asked else []
    for number, (words, candidates) in enumerate(asked.items(), start=1):
        lines.append(f"[{number}] {words}")
        lines += [f"    ({place}) {told(one)}" for place, one in enumerate(candidates, start=1)]
    return "\n".join(lines)
