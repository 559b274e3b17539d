"""The second step: which entity a name means, and which relation a predicate.

Words settle most of it: a name that one entity alone has, a predicate that a relation is called by.
About the rest a chat model is asked once a window, and answers by number, so that two entities of
one name are two choices. Candidates for a name are those of the nearest names by static word
embeddings, which cost nothing: both are of the text's language. Relations are all listed, as long
as the ontology has no more than the option `listed_relations` says: its words are English, and
static vectors do not know that "zabił" is "kills". Of more relations the nearest five by the
collection's own embeddings are listed, as in Wikontic. An answer is kept with the name, and holds
until others have the same name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from fabula.graph.builds import Build
from fabula.graph.calls import Calls, batches
from fabula.graph.extraction import ModelQuestion, Records, TextWindow
from fabula.graphs.entities.triples import phrase_key
from fabula.models import Embedder
from fabula.models.prompts import escape_marks
from fabula.models.replies import read_lists, shorten
from fabula.models.schemas import ReplyShape
from fabula.text.document import Vectors
from fabula.text.ids import digest
from fabula_graphs.facts.entities import NamedEntities
from fabula_graphs.facts.labels import NORMALISATION
from fabula_graphs.facts.ontology import TIME, Ontology
from fabula_graphs.facts.values import FactStatement

PROMPTS = Path(__file__).parent / "prompts"
MAX_CANDIDATES = 5
"""Of each name, and of each predicate where not all relations are listed."""
MAX_CANDIDATE_TOKENS = 12
"""Of the description of a candidate: half a line."""
MAX_PHRASES = 50
"""Names, and predicates, of one window that are asked about."""
REPLY_TOKENS = 100 + 2 * MAX_PHRASES * 12
MISNUMBERED = "misnumbered"
"""Why a choice is left out."""


class ChoiceShape(ReplyShape):
    """Which candidate the one with that number means."""

    n: int
    taken: int = Field(alias="is")


class ChoicesReply(ReplyShape):
    """Which candidates names and predicates mean."""

    names: list[ChoiceShape]
    predicates: list[ChoiceShape]


@dataclass(frozen=True, slots=True)
class OpenPhrases:
    """Names and predicates of one window that words don't settle, each with its candidates.

    Candidates are ids of entities, and names of relations. If all relations are `listed`, they are
    the candidates of every predicate, and the prompt shows them once.
    """

    window: TextWindow
    statements: tuple[FactStatement, ...]
    names: Mapping[str, tuple[str, ...]]
    predicates: Mapping[str, tuple[str, ...]]
    listed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meanings:
    """The candidate that each name and each predicate was taken for; '' for none."""

    names: Mapping[str, str]
    predicates: Mapping[str, str]


@dataclass(frozen=True)
class Normaliser:
    """Finds what the names and predicates of a document's statements may mean.

    Attributes:
        entities: The document's entities.
        ontology: The relations.
        static: Embeds names, at no cost.
        calls: Embed texts by the collection's embedder, which may cost money, for an ontology of
            more relations than are listed.
        listed_relations: How many relations an ontology may have to be listed as a whole.
        text: What the passages are taken from, as "a narrative text".
        known: What the build before kept.
    """

    entities: NamedEntities
    ontology: Ontology
    static: Embedder
    calls: Calls
    listed_relations: int
    text: str
    known: Mapping[str, str]

    def is_open(self, statement: FactStatement, at: int) -> bool:
        """Return whether words alone leave the subject (0), predicate (1) or object (2) open.

        Dates and numbers are never open.
        """
        if at == 1:
            return not self.ontology.relation_of(statement.predicate)
        name = statement.words[at]
        type = statement.object_type if at else statement.subject_type
        if TIME in self.ontology.above.get(type, ()) or all(
            map(_has_digit, phrase_key(name).split())
        ):
            return False
        return len(self.entities.find(name)) != 1

    def settle(self, statement: FactStatement, meanings: Meanings | None) -> FactStatement:
        """Return the statement with what a model chose now, or before where that still holds.

        Without `meanings` what is open stays open.
        """
        choices: list[str | None] = [None, None, None]
        for at, words in enumerate(statement.words):
            if not self.is_open(statement, at):
                continue
            taken = self._recall(statement, at)
            if taken is None and meanings:
                taken = (meanings.predicates if at == 1 else meanings.names).get(words)
            if taken is not None:
                self.calls.work.kept[self._key(statement, at)] = taken
            choices[at] = taken
        return replace(statement, choices=(choices[0], choices[1], choices[2]))

    def _recall(self, statement: FactStatement, at: int) -> str | None:
        """Return what a model chose before, if it was asked the same and that is still there."""
        taken = self.known.get(self._key(statement, at))
        choices = self.ontology.relations if at == 1 else self.entities.by_id
        return taken if taken in ("", *choices) else None

    def _key(self, statement: FactStatement, at: int) -> str:
        """Return what a choice is kept by: once others have the name, the model is asked again."""
        words = statement.words[at]
        among = () if at == 1 else sorted(self.entities.find(words))
        return digest(9, statement.chunk, str(at), words, *among)

    # Candidates

    def has_open(
        self, window: TextWindow, statements: Mapping[str, Sequence[FactStatement]]
    ) -> bool:
        """Return whether words alone leave anything of a window open, asked about or not."""
        found = _of_window(window, statements)
        return any(self.is_open(statement, at) for statement in found for at in range(3))

    def find_open(
        self, windows: Sequence[TextWindow], statements: Mapping[str, Sequence[FactStatement]]
    ) -> Build[list[OpenPhrases]]:
        """Return what is still to be asked, window by window; `statements` are by chunk ids."""
        opened: list[tuple[TextWindow, tuple[FactStatement, ...], list[str], list[str]]] = []
        for window in windows:
            found = tuple(_of_window(window, statements))
            names: dict[str, None] = {}
            predicates: dict[str, None] = {}
            for statement in found:
                for at, words in enumerate(statement.words):
                    if self.is_open(statement, at) and self._recall(statement, at) is None:
                        (predicates if at == 1 else names)[words] = None
            if names or predicates:
                listed = [*names][:MAX_PHRASES], [*predicates][:MAX_PHRASES]
                opened.append((window, found, *listed))
        near = _find_nearest(
            {name for *_, names, _ in opened for name in names}, *self._entity_forms, self._vectors
        )
        relations = self._listed
        asked_about = {words for *_, predicates in opened for words in predicates}
        alike = dict.fromkeys(asked_about, relations)
        if not relations:
            forms, owners = self._relation_forms
            vectors = yield from self.calls.embed([*forms, *sorted(asked_about)], {})
            alike = _find_nearest(
                asked_about, forms, owners, lambda texts: np.stack([vectors[t] for t in texts])
            )
        return [
            OpenPhrases(
                window,
                found,
                {name: self._first(name, near[name]) for name in names},
                {predicate: alike[predicate] for predicate in predicates},
                relations,
            )
            for window, found, names, predicates in opened
        ]

    @property
    def _listed(self) -> tuple[str, ...]:
        """All relations, or none if there are too many of them to be listed."""
        relations = tuple(self.ontology.relations)
        return relations if len(relations) <= self.listed_relations else ()

    def _first(self, name: str, near: Sequence[str]) -> tuple[str, ...]:
        """Those of just this name before those of names that are near."""
        return tuple(dict.fromkeys((*self.entities.find(name), *near)))[:MAX_CANDIDATES]

    @cached_property
    def _entity_forms(self) -> tuple[list[str], list[str]]:
        pairs = [
            (form, entity.id)
            for entity in self.entities.entities
            for form in (entity.name, *entity.names)
        ]
        return [form for form, _ in pairs], [id for _, id in pairs]

    @cached_property
    def _relation_forms(self) -> tuple[list[str], list[str]]:
        pairs = [
            (form, relation.name)
            for relation in self.ontology.relations.values()
            for form in (relation.name.replace("_", " "), *relation.aliases)
        ]
        return [form for form, _ in pairs], [name for _, name in pairs]

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        rows = [
            self.static.embed(batch, "passage").vectors
            for batch in batches(texts, self.static.batch)
        ]
        return np.concatenate(rows)

    # The call

    def question(self) -> ModelQuestion[OpenPhrases, Records[Meanings]]:
        """Return the question which of its candidates each name and each predicate means."""
        return ModelQuestion(
            step=NORMALISATION,
            prompt=PROMPTS / "normalise",
            values=self._values,
            system_values={"text": self.text},
            schema=ChoicesReply,
            max_tokens=REPLY_TOKENS,
            read=read_choices,
            placeholder=lambda phrases, _: first_candidates(phrases),
        )

    def _values(self, phrases: OpenPhrases) -> dict[str, object]:
        lines = dict.fromkeys(
            f"- {statement.subject} | {statement.predicate} | {statement.object}"
            for statement in phrases.statements
        )
        return {
            "passages": phrases.window.passages,
            "facts": "\n".join(lines),
            "names": _number("Names:", phrases.names, self._describe_entity),
            "predicates": self._list_predicates(phrases),
        }

    def _list_predicates(self, phrases: OpenPhrases) -> str:
        if not phrases.listed or not phrases.predicates:
            return _number("Predicates:", phrases.predicates, self._describe_relation)
        listed = _number("Predicates:", dict.fromkeys(phrases.predicates, ()), str)
        relations = "\n".join(
            f"    ({place}) {self._describe_relation(name)}"
            for place, name in enumerate(phrases.listed, start=1)
        )
        return f"{listed}\n\nThe candidates of every predicate:\n{relations}"

    def _describe_entity(self, id: str) -> str:
        entity = self.entities.by_id[id]
        text = shorten(" ".join(entity.text.split()), MAX_CANDIDATE_TOKENS)
        return f"{entity.name}, {entity.type}: {text}"

    def _describe_relation(self, name: str) -> str:
        relation = self.ontology.relations[name]
        starts, ends = relation.starts, relation.ends
        if not starts:
            inverse = self.ontology.relations[relation.inverse]
            starts, ends = inverse.ends, inverse.starts
        return f"{name}: {' or '.join(starts)} -> {' or '.join(ends)}, as “{relation.words}”"


def read_choices(reply: str, phrases: OpenPhrases) -> Records[Meanings]:
    """Return what a reply takes names and predicates for: none for those that it leaves out.

    Raises:
        BadReply: It has neither of the two lists.
    """
    lists = read_lists(reply, ("names", "predicates"))
    dropped: Counter[str] = Counter()
    names = _read(lists["names"], phrases.names, dropped)
    predicates = _read(lists["predicates"], phrases.predicates, dropped)
    return Records((Meanings(names, predicates),), dropped)


def _read(
    items: Sequence[Any], candidates: Mapping[str, tuple[str, ...]], dropped: Counter[str]
) -> dict[str, str]:
    meanings = dict.fromkeys(candidates, "")
    phrases = list(candidates)
    for item in items[: 2 * MAX_PHRASES]:
        number: Any = item.get("n") if isinstance(item, dict) else None
        place: Any = item.get("is") if isinstance(item, dict) else None
        if not _is_in(number, 1, len(phrases)):
            dropped[MISNUMBERED] += 1
            continue
        phrase = phrases[number - 1]
        if not _is_in(place, 0, len(candidates[phrase])):
            dropped[MISNUMBERED] += 1
        elif place:
            meanings[phrase] = candidates[phrase][place - 1]
    dropped[MISNUMBERED] += len(items[2 * MAX_PHRASES :])
    return meanings


def first_candidates(phrases: OpenPhrases) -> str:
    """Return the choice of the first candidate for all names and predicates, as JSON."""
    counts = {"names": len(phrases.names), "predicates": len(phrases.predicates)}
    choices = {
        name: [{"n": number, "is": 1} for number in range(1, count + 1)]
        for name, count in counts.items()
    }
    return json.dumps(choices)


def _is_in(number: Any, least: int, most: int) -> bool:
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    return is_whole and least <= number <= most


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _of_window(
    window: TextWindow, statements: Mapping[str, Sequence[FactStatement]]
) -> Iterator[FactStatement]:
    for id in window.ids:
        yield from statements.get(id, ())


def _number(
    title: str, phrases: Mapping[str, tuple[str, ...]], describe: Callable[[str], str]
) -> str:
    """Names or predicates with their numbers, and below each its candidates with theirs."""
    lines = [title] if phrases else []
    for number, (words, candidates) in enumerate(phrases.items(), start=1):
        lines.append(f"[{number}] {escape_marks(words)}")
        lines += [f"    ({place}) {describe(key)}" for place, key in enumerate(candidates, start=1)]
    return "\n".join(lines)


def _find_nearest(
    phrases: set[str],
    forms: Sequence[str],
    owners: Sequence[str],
    vectors: Callable[[Sequence[str]], Vectors],
) -> dict[str, tuple[str, ...]]:
    """The owners of the nearest forms of each, best first, equal ones in the order of ids."""
    texts = sorted(phrases)
    if not texts or not forms:
        return dict.fromkeys(texts, ())
    among = vectors(forms)
    nearest = {}
    for batch in batches(texts, 256):
        scores = vectors(batch) @ among.T
        for text, row in zip(batch, scores, strict=True):
            best: dict[str, float] = {}
            # An owner may have many forms: more of them are examined than owners are needed.
            for at in np.argsort(-row, kind="stable")[: 20 * MAX_CANDIDATES].tolist():
                best[owners[at]] = max(best.get(owners[at], -1.0), round(float(row[at]), 6))
            order = sorted(best, key=lambda owner: (-best[owner], owner))
            nearest[text] = tuple(order[:MAX_CANDIDATES])
    return nearest
