"""Find events and links without a model, for matching chunks and questions; in English only.

An event is a name with the verb that stands right beside it, as in "Anna slowly opened the door"
and "said Anna": a verb that is further away often belongs to somebody else. Where, when, why and
how are found in the same clause by its small words. How a chunk hangs together with the one before
is found by the connective that it begins with. Most neighbours have no printed connective: rules
find no link between them.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from fabula.graph.method import BuildText
from fabula.graphs.discourse.labels import SLOTS
from fabula.graphs.discourse.senses import Senses
from fabula.graphs.discourse.values import EXPLICIT, Event, Link
from fabula.graphs.discourse.words import Connective, DiscourseWords, words_of
from fabula.graphs.entities.labels import ENTITY, FROM_CHUNK
from fabula.graphs.entities.resolve import PERSON, PLACE, UNKNOWN, person_or_place
from fabula.graphs.entities.rules import extract_entities
from fabula.text.document import Chunk
from fabula.text.sentences import spans

RULES_VERSION = 2
"""Part of what an offline graph is made from: events by other rules are other events."""
MIN_SUBJECTS = 2
"""How often a name that is not known to be a person's must do something to be somebody: "Tübingen
lay" and "the Palæontological staved" are each the only one of their kind."""
MAX_EVENTS = 2
"""Of a chunk, by rules as by a model: those with most slots."""
ACTORS = frozenset((PERSON, UNKNOWN, "group", "organization", "creature"))
MAX_CLAUSE_WORDS, MAX_MANNER_WORDS = 12, 6
"""Of a reason, and of the way in which something is done."""
_BEFORE_A_SENTENCE = " \t\n\"'“”‘’«»„—–-_*("
_CLAUSE_END = re.compile(r"[.;:!?—–\"”]")
_ENDED = re.compile(r"\s*[.!?]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Name:
    """A printed name, at a place in characters of its chunk."""

    start: int
    end: int
    text: str
    is_actor: bool
    is_place: bool
    is_person: bool


def events_by_rules(text: BuildText) -> list[Event]:
    """Return at most two events of each chunk, in text order; none in a language without rules."""
    words = words_of(text.document.language)
    if words is None:
        return []
    reader = _Reader(words)
    names = reader.without_passing_names(text.chunks, _names(text))
    return [
        Event(chunk.id, ordinal, slots)
        for chunk in text.chunks
        for ordinal, slots in enumerate(
            reader.fullest(reader.read(chunk, names.get(chunk.id, ()), text.document.language))
        )
    ]


def links_by_rules(chunks: Sequence[Chunk], language: str, senses: Senses) -> list[Link]:
    """Return the links by the connectives that chunks begin with, in text order."""
    words = words_of(language)
    if words is None:
        return []
    links: list[Link] = []
    for chunk, following in pairwise(chunks):
        connective = opening(following.text, words)
        if connective and (sense := senses.equivalent(connective[0].sense)):
            links.append(Link(chunk.id, following.id, sense, EXPLICIT, connective[1]))
    return links


def opening(text: str, words: DiscourseWords) -> tuple[Connective, str] | None:
    """Return the connective that relates a text to what is before, and its printed form."""
    begin = text.lstrip(_BEFORE_A_SENTENCE)
    by_form, pattern = _patterns(words.connectives)
    match = pattern.match(begin)
    if not match:
        return None
    # A dotless i matches an i in the pattern, but casefold does not make one of it.
    connective = by_form.get(match[1].casefold())
    if connective is None:
        return None
    rest = begin[match.end() :]
    after = _WORD.search(rest)
    follower = after[0] if after else ""
    small = follower.casefold().replace("’", "'").partition("'")[0]
    if not connective.opens or small in words.lists["not_after"] or _ENDED.match(rest):
        return None
    if connective.opens == "any" or rest.startswith(","):
        return connective, match[1]
    follows = small in words.lists["pronouns"]
    if connective.opens == "subject":
        follows = follows or small in words.lists["determiners"] or follower[:1].isupper()
    return (connective, match[1]) if follows else None


@functools.cache
def _patterns(
    connectives: tuple[Connective, ...],
) -> tuple[dict[str, Connective], re.Pattern[str]]:
    by_form = {
        form: connective
        for connective in connectives
        for form in (connective.word, *connective.forms)
    }
    longest = sorted(by_form, key=lambda form: (-len(form), form))
    return by_form, re.compile(rf"({'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)


class _Reader:
    """Reads sentences by the words of a language."""

    def __init__(self, words: DiscourseWords) -> None:
        self._words = words
        lists = words.any_of
        number, unit = rf"(?:\d+|{lists('numbers')})", rf"(?:{lists('units')})"
        part = rf"(?:{lists('parts_of_day')})"
        which = rf"(?:the|that|this|every|each|one|{lists('ordinals')})"
        day, feast = (rf"(?-i:{lists(name).title()})" for name in ("weekdays", "feasts"))
        month, date = rf"(?-i:{lists('months').title()})", r"\d{1,2}(?:st|nd|rd|th)?"
        at = "in|on|at|by|before|after|towards?|until|till"
        self._when = re.compile(
            r"\b(?:"
            rf"(?:at|by|about|before|after|till|until|past) (?:half[ -]past )?{number} o['’]clock"
            rf"|{number} {unit} (?:ago|later|after|afterwards|before|earlier)"
            rf"|(?:early |late )?(?:(?:on|in|next|last|{which}) )*{day}(?: {part})?"
            rf"|(?:on |in )?(?:the )?(?:{date} (?:of )?)?{month}(?: {date}\b)?(?:,? \d{{4}})?"
            rf"|in (?:the year )?1\d{{3}}"
            rf"|(?:{at}|{which}) (?:{which} )?(?:\w+ )?{part}"
            rf"|(?:in|during|{which}) (?:{which} )?(?:{lists('seasons')})"
            rf"|(?:{which} ){unit}"
            rf"|(?:{lists('days')})(?: {part})?"
            rf"|(?:at |on )?{feast}(?:[- ](?:eve|day|time|week))?"
            r")\b",
            re.IGNORECASE,
        )
        self._because = re.compile(r"\b(?:because|in order (?=to\b))", re.IGNORECASE)
        self._for = re.compile(
            rf"[,;:—]\s?(?:for|since)\s(?=(?:{lists('pronouns')})\b)",
            re.IGNORECASE,
        )
        self._near = re.compile(
            rf"\b(?:{lists('near')})\s+(?:(?:the|a|an|old|his|her|their|my)\s+)*$", re.IGNORECASE
        )
        self._subject_gap = re.compile(
            rf"\s+(?:(?:{lists('before_verb')}|\w+ly)\s+)*(?=(\w[\w'’-]*))", re.IGNORECASE
        )
        self._before_object = re.compile(
            rf"\b(?:{lists('prepositions')})\s+(?:(?:{lists('determiners')}|old|young|poor|\w+\.)\s+)*$",
            re.IGNORECASE,
        )
        self._by = re.compile(r"\bby (\w{2,}ing\b[^.,;:!?—]*)", re.IGNORECASE)

    def read(self, chunk: Chunk, names: Sequence[Name], language: str) -> Iterator[dict[str, str]]:
        """Yield what each sentence of a chunk says, by slot."""
        for start, end in spans(chunk.text, language):
            inside = [name for name in names if start <= name.start and name.end <= end]
            yield self._sentence(chunk.text, start, end, inside)

    def fullest(self, sentences: Iterable[dict[str, str]]) -> list[dict[str, str]]:
        """Return those with most slots, in their order; without a subject and a verb is no event.

        A verb of speech does not count: that somebody speaks says little.
        """
        events = [slots for slots in sentences if slots.keys() >= {"who", "predicate"}]
        speech = {self.verb(word) for word in self._words.lists["speech"]}
        weights = [len(slots) - (slots.get("predicate") in speech) for slots in events]
        best = sorted(range(len(events)), key=lambda at: (-weights[at], at))[:MAX_EVENTS]
        return [events[at] for at in sorted(best)]

    def without_passing_names(
        self, chunks: Sequence[Chunk], names: Mapping[str, Sequence[Name]]
    ) -> dict[str, list[Name]]:
        """Return the names with those as actors only that are persons or do something often."""
        subjects = Counter(
            name.text
            for chunk in chunks
            for name in names.get(chunk.id, ())
            if name.is_actor
            and not name.is_person
            and (
                self._speech(chunk.text, 0, len(chunk.text), name) >= 0
                or self._own_verb(chunk.text, 0, name)
            )
        )
        return {
            chunk: [
                replace(name, is_actor=False)
                if not name.is_person and subjects[name.text] < MIN_SUBJECTS
                else name
                for name in printed
            ]
            for chunk, printed in names.items()
        }

    def _sentence(self, text: str, start: int, end: int, names: Sequence[Name]) -> dict[str, str]:
        who, predicate, at, after = self._who(
            text, start, end, [name for name in names if name.is_actor]
        )
        if not predicate:
            return {}
        begin = max([start, *(mark.end() for mark in _CLAUSE_END.finditer(text, start, at))])
        closing = _CLAUSE_END.search(text, after, end)
        until = closing.start() if closing else end
        clause = text[begin:until]
        places = [name for name in names if name.is_place and begin <= name.start < until]
        slots = {
            "who": who,
            "predicate": predicate,
            "when": _first(self._when.search(clause)),
            "where": self._where(text, places),
            "why": self._why(text[at:end]),
            "how": self._how(clause),
        }
        return {slot: " ".join(slots[slot].split()) for slot in SLOTS if slots.get(slot)}

    def _who(
        self, text: str, start: int, end: int, actors: Sequence[Name]
    ) -> tuple[str, str, int, int]:
        """Return who speaks, or else the first who does something, with the verb.

        Returns:
            The name, the verb as a dictionary has it, where both begin and where both end; empty
            texts if there is nobody.

        """
        for name in actors:
            if (at := self._speech(text, start, end, name)) >= 0:
                verb = _WORD.match(text, at)
                ends = max(name.end, verb.end() if verb else at)
                spoken = self.verb(verb[0].casefold()) if verb else ""
                return name.text, spoken, min(at, name.start), ends
        for index, name in enumerate(actors):
            pair = [name]
            if index + 1 < len(actors):
                second = actors[index + 1]
                if text[name.end : second.start].split() == ["and"]:
                    pair.append(second)
            if self._before_object.search(text[start : name.start]):
                continue
            if match := self._own_verb(text, start, pair[-1]):
                who = " and ".join(each.text for each in pair)
                return who, self.verb(match[1].casefold()), name.start, match.end(1)
        return "", "", start, start

    def _own_verb(self, text: str, start: int, name: Name) -> re.Match[str] | None:
        """Return the match of the verb right after a name, which is group 1, if there is one."""
        if self._before_object.search(text[start : name.start]):
            return None
        match = self._subject_gap.match(text, name.end)
        return match if match and self.verb(match[1].casefold()) else None

    def _speech(self, text: str, start: int, end: int, name: Name) -> int:
        """Where the verb of speech beside a name begins; -1 for none."""
        before = re.search(r"(\w+)\s+(?:the\s+|old\s+)?$", text[start : name.start])
        if before and before[1].casefold() in self._words.lists["speech"]:
            return start + before.start(1)
        after = re.match(r"\s+(\w+)", text[name.end : end])
        if after and after[1].casefold() in self._words.lists["speech"]:
            return name.end + after.start(1)
        return -1

    def verb(self, word: str) -> str:
        """Return the verb of a past form, or the word itself if it only ends like one; else ''."""
        if word in self._words.verbs:
            return self._words.verbs[word]
        is_past = (
            word.endswith("ed") and len(word) > 3 and word not in self._words.lists["not_past"]
        )
        return word if is_past else ""

    def _where(self, text: str, places: Sequence[Name]) -> str:
        for place in places:
            if self._near.search(text[max(0, place.start - 40) : place.start]):
                return place.text
        return ""

    def _why(self, sentence: str) -> str:
        match = self._because.search(sentence) or self._for.search(sentence)
        if not match:
            return ""
        return " ".join(_clause(sentence[match.end() :]).split()[:MAX_CLAUSE_WORDS])

    def _how(self, sentence: str) -> str:
        if by := self._by.search(sentence):
            return " ".join(by[0].split()[:MAX_MANNER_WORDS])
        for match in _WORD.finditer(sentence):
            word = match[0].casefold()
            is_manner = word.endswith("ly") and len(word) > 4 and match[0].islower()
            if is_manner and word not in self._words.lists["not_manner"]:
                return word
        return ""


def _clause(text: str) -> str:
    """A text until the next mark that ends a clause."""
    return _CLAUSE_END.split(text.lstrip(_BEFORE_A_SENTENCE + ",;:"), maxsplit=1)[0]


def _first(match: re.Match[str] | None) -> str:
    return match[0] if match else ""


def _names(text: BuildText) -> Mapping[str, Sequence[Name]]:
    """Printed names of persons and places by chunk id: those of the entities, or by rules."""
    names: dict[str, list[Name]] = defaultdict(list)
    starts = {chunk.id: chunk.start for chunk in text.chunks}
    for chunk, type, form, start in _find_printed(text):
        at = start - starts[chunk]
        folded = type.casefold()
        names[chunk].append(
            Name(
                at,
                at + len(form),
                form,
                folded in ACTORS,
                person_or_place(type) == PLACE,
                folded == PERSON,
            )
        )
    return {
        chunk: sorted(printed, key=lambda name: (name.start, -name.end))
        for chunk, printed in names.items()
    }


def _find_printed(text: BuildText) -> Iterator[tuple[str, str, str, int]]:
    """The chunk, type, form and place of each printed name."""
    if part := text.below.get("entities"):
        types = {node.id: node.properties["type"] for node in part.nodes if node.label == ENTITY}
        for edge in part.edges:
            if edge.type == FROM_CHUNK and edge.start in types:
                properties = edge.properties
                for form, start in zip(properties["names"], properties["starts"], strict=True):
                    yield edge.end, types[edge.start], form, start
        return
    for mention in extract_entities(text.chunks, text.document.language).mentions:
        for form, places in mention.names.items():
            for start in places:
                yield mention.chunk, mention.type, form, start
