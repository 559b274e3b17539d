"""Find who says each quotation, and to whom, without a model.

After the sieves of Muzny, Fang, Chang and Jurafsky 2017 ("A two-stage sieve approach for quote
attribution", EACL): first what names the speaker beside the quotation, then whom a pronoun means,
then the turns of the dialogue.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fabula_graphs.speech.confidence import CLEAR_LEAD, LOOSE, estimate_confidence
from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.values import (
    DASH,
    LABEL,
    NAME,
    NAMED,
    NARRATOR,
    NOUN,
    PRONOUN,
    SPEECH,
    SURE,
    TAG,
    TALE,
    THOUGHT,
    TURNS,
    VOCATIVE,
    Quotation,
    Spoken,
)
from fabula_graphs.speech.words import FIRST, PLURAL, SpeechWords

MAX_WORDS_BETWEEN = 80
"""Words of narration between two turns, from which another dialogue begins."""
MAX_WORDS_OF_PARAGRAPH = 45
"""Words of narration between two quotations, from which they are not of one turn."""
COST_QUOTED, COST_OBJECT, COST_UNKNOWN, COST_SENTENCE = 60, 30, 35, 20
"""By how much a person seems farther from a pronoun who is named inside a quotation, as no subject,
or without a known sex, and for each sentence between them."""
MAX_OF_PARAGRAPH = 4
"""Quotations of a paragraph on average, from which a text lost its paragraphs."""
MIN_CARRIED_ON = 2
"""Paragraphs that carry on a quotation, from which it is a tale."""
MIN_CALLS = 3
"""How often others must call a narrator by a name, which is most of what they are called."""
MAX_TURNS = 8
"""Turns of a dialogue that are looked back over for whose turn it is."""
MAX_DISTANCE = 1_600
"""Words in which a pronoun looks back for whom it means."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*\.?")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_END = re.compile(r"[.!?…]|\n[ \t]*\n")
_COMMA = re.compile(r"[,;:.!?—]")
_AROUND = "\"'”’»“‘ _*\n"
_PARTICLES = ("de", "von", "of", "van", "du", "di", "da")
_CLAUSE_END = re.compile(r"[.!?…;:]|\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    small: str
    start: int
    end: int
    gap: str
    """What is between it and the word before."""
    quotation: int
    """The number of its quotation; -1 for narration."""
    is_possessive: bool


@dataclass(frozen=True, slots=True)
class _Mention:
    """Somebody who is named, or meant, in the words from `first` to before `last`."""

    first: int
    last: int
    kind: str
    name: str
    key: str
    sex: str
    is_subject: bool


@dataclass(frozen=True, slots=True)
class _Tag:
    """Words of narration that name a speaker: the subject, the verb, the first and last word."""

    subject: _Mention
    verb: int
    first: int
    last: int


@dataclass(slots=True)
class _Nearest:
    """Who is offered at what cost, as far as the sex allows."""

    sex: str
    costs: dict[str, float] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Whoever is at the lowest cost, or ''."""
        return min(self.costs, key=self.costs.__getitem__, default="")

    @property
    def cost(self) -> float:
        """The lowest cost."""
        return min(self.costs.values(), default=math.inf)

    @property
    def named(self) -> str:
        """Whoever is at the lowest cost of those with names; of all, if nobody has one."""
        return min(self.costs, key=lambda key: (":" in key, self.costs[key]), default="")

    @property
    def lead(self) -> float:
        """By how much everybody else is farther than whoever is named."""
        others = (cost for key, cost in self.costs.items() if key != self.named)
        return min(others, default=math.inf) - self.costs[self.named]

    def offer(self, cost: float, name: str, key: str, sex: str) -> None:
        if not name or key == NARRATOR:
            return
        if self.sex and sex and sex != self.sex:
            return
        if self.sex and not sex:
            cost += COST_UNKNOWN
        self.names[key] = name if cost < self.costs.get(key, math.inf) else self.names[key]
        self.costs[key] = min(cost, self.costs.get(key, cost))


@dataclass(slots=True)
class _Turn:
    """Quotations that one person says in one go, by their numbers."""

    rows: list[int]
    gap: int
    """Words of narration since the turn before."""

    def is_tale(self, quotations: Sequence[Quotation]) -> bool:
        """Whether it goes on from paragraph to paragraph."""
        return sum(quotations[row].continues for row in self.rows) >= MIN_CARRIED_ON


class SpeakerRules:
    """Who says what in one text.

    If `needs_verb`, a tag must have a verb of speech: where what somebody tells is read as
    narration, "and I went" behind a quotation is the next thing that is told.
    """

    def __init__(
        self,
        text: str,
        quotations: Sequence[Quotation],
        words: SpeechWords,
        persons: Persons,
        *,
        needs_verb: bool = False,
    ) -> None:
        self._text = text
        self._needs_verb = needs_verb
        self._quotations = quotations
        self._words = words
        self._persons = persons
        self._outer = [row for row, item in enumerate(quotations) if not item.depth]
        self._tokens = list(self._read_words())
        self._starts = [token.start for token in self._tokens]
        self._mentions: dict[int, _Mention] = {}
        self._read_mentions()
        self._sorted = sorted(self._mentions.values(), key=lambda mention: mention.first)
        self._firsts = [mention.first for mention in self._sorted]
        self._sentence = [0]
        for token in self._tokens:
            is_end = token.quotation == -1 and bool(_END.search(token.gap))
            self._sentence.append(self._sentence[-1] + is_end)
        self._sentence = self._sentence[1:]
        self._meant: dict[int, tuple[str, str, str]] = {}
        self._resolved = 0
        self._spoken = [Spoken(item) for item in quotations]
        self._keys: dict[int, str] = {}
        self._called: dict[int, str] = {}
        self._used: set[int] = set()
        """Words of narration that name the speaker of a quotation."""
        self._calls: dict[int, list[tuple[str, str]]] = {}
        paragraphs = len({quotations[row].turn for row in self._outer})
        self._is_flat = len(self._outer) > MAX_OF_PARAGRAPH * paragraphs
        self._tales: set[int] = set()
        """Quotations of tales."""
        self._retold = {
            at
            for item in quotations
            if item.depth
            for at in range(
                bisect_left(self._starts, item.start), bisect_left(self._starts, item.end)
            )
        }
        """Words of quotations inside others."""

    # The words of the text

    def _read_words(self) -> Iterator[_Word]:
        spans = [
            (self._quotations[row].start, self._quotations[row].end, row) for row in self._outer
        ]
        place = 0
        end = 0
        for match in _WORD.finditer(self._text):
            start = match.start()
            while place < len(spans) and spans[place][1] <= start:
                place += 1
            inside = place < len(spans) and spans[place][0] <= start
            text = match[0]
            last = match.end()
            if text.endswith("."):
                is_short = text[:-1].casefold() in self._words.titles or len(text) == 2
                if not (is_short and text[0].isupper()):
                    text, last = text[:-1], last - 1
            bare = _POSSESSIVE.sub("", text.rstrip("."))
            yield _Word(
                bare,
                bare.casefold(),
                start,
                last,
                self._text[end:start],
                spans[place][2] if inside else -1,
                bare != text.rstrip("."),
            )
            end = last

    def _read_mentions(self) -> None:
        """Find names, nouns and pronouns that mean persons, also those inside of quotations."""
        longest = max((len(name.split()) for name in self._persons.keys), default=1)
        row = 0
        while row < len(self._tokens):
            mention = (
                self._name_at(row, min(longest, 6)) or self._noun_at(row) or self._pronoun_at(row)
            )
            if mention:
                self._mentions[mention.first] = mention
                row = max(row + 1, mention.last)
            else:
                row += 1

    def _runs_on(self, row: int) -> bool:
        """Whether nothing but space, a hyphen or a title's stop is before a word."""
        return (
            row < len(self._tokens)
            and not self._tokens[row].gap.strip(" \t\n-'’")
            and ("\n\n" not in self._tokens[row].gap)
        )

    def _name_at(self, row: int, longest: int) -> _Mention | None:
        token = self._tokens[row]
        if not token.text[:1].isupper() or token.small in self._words.pronouns:
            return None
        last = self._end_of_capitals(row, longest)
        return self._known_name(row, last)

    def _end_of_capitals(self, row: int, longest: int) -> int:
        """Where a run of words with capitals ends, which may have small particles inside."""
        tokens = self._tokens
        last = row + 1
        while (
            last < len(tokens)
            and last - row < longest + 2
            and self._runs_on(last)
            and not tokens[last - 1].is_possessive
            and tokens[last].quotation == tokens[row].quotation
            and (tokens[last].text[:1].isupper() or tokens[last].small in _PARTICLES)
        ):
            last += 1
        while last > row + 1 and not tokens[last - 1].text[:1].isupper():
            last -= 1
        return last

    def _known_name(self, row: int, last: int) -> _Mention | None:
        """The longest name of a known person that begins at a word."""
        smalls = [token.small for token in self._tokens[row:last]]
        for end in range(last, row, -1):
            if " ".join(smalls[: end - row]) in self._persons.keys:
                name = self._print_words(row, end)
                return self._mention(row, end, NAME, name, self._persons.find(name))
        return None

    def _mention(self, first: int, last: int, kind: str, name: str, key: str) -> _Mention:
        key = key or self._persons.find(name)
        sex = self._persons.sex(key, name)
        is_possessive = self._tokens[last - 1].is_possessive
        before = self._before(first)
        is_subject = not is_possessive and before not in self._words.prepositions
        return _Mention(first, last, kind, name, key, sex, is_subject)

    def _before(self, row: int) -> str:
        """The word before a name in its clause; '' at a clause's beginning."""
        if not row or re.search(r"[.!?…;:,]|\n\n", self._tokens[row].gap):
            return ""
        before = self._tokens[row - 1]
        return before.small if before.quotation == self._tokens[row].quotation else ""

    def _noun_at(self, row: int) -> _Mention | None:
        tokens, words = self._tokens, self._words
        small = tokens[row].small
        if small not in words.nouns:
            return None
        first = self._begin_of_phrase(row)
        if first < 0:
            return None
        name = self._print_words(first, row + 1)
        mention = self._mention(row, row + 1, NOUN, name, f"{words.nouns[small]}:{small}")
        is_subject = mention.is_subject and self._before(first) not in words.prepositions
        return replace(mention, sex=words.nouns[small], first=row, is_subject=is_subject)

    def _begin_of_phrase(self, row: int) -> int:
        """Where "the old man" begins, of its last word; -1 where an article is missing."""
        tokens, words = self._tokens, self._words
        first = row
        while first > 0 and row - first < 4 and self._runs_on(first):
            before = tokens[first - 1].small
            if before in words.pronouns or before in words.prepositions or words.is_verb(before):
                break
            first -= 1
            if tokens[first].small in words.determiners or tokens[first].is_possessive:
                break
        if tokens[first].small not in words.determiners and not tokens[first].is_possessive:
            if words.articles and not tokens[row].text[:1].isupper():
                return -1
            return row
        return first if tokens[first].quotation == tokens[row].quotation else row

    def _pronoun_at(self, row: int) -> _Mention | None:
        token = self._tokens[row]
        said = self._words.pronouns.get(token.small)
        if said is None:
            return None
        if token.small == "i" and token.text != "I":
            return None
        key = NARRATOR if said == FIRST else ""
        return _Mention(row, row + 1, PRONOUN, token.text, key, said, not token.is_possessive)

    def _print_words(self, first: int, last: int) -> str:
        start, end = self._tokens[first].start, self._tokens[last - 1].end
        if self._tokens[last - 1].is_possessive:
            end = self._tokens[last - 1].start + len(self._tokens[last - 1].text)
        return " ".join(self._text[start:end].split())

    # What is beside a quotation

    def _narration_after(self, row: int) -> tuple[int, int]:
        """The words from a quotation to the next one, in its paragraph."""
        first = bisect_left(self._starts, self._quotations[row].end)
        last = first
        while (
            last < len(self._tokens)
            and self._tokens[last].quotation == -1
            and "\n\n" not in self._tokens[last].gap
        ):
            last += 1
        return first, last

    def _narration_before(self, row: int) -> tuple[int, int]:
        """The words from the quotation before to this one, in its paragraph."""
        last = bisect_left(self._starts, self._quotations[row].start)
        first = last
        while (
            first > 0
            and self._tokens[first - 1].quotation == -1
            and (first == last or "\n\n" not in self._tokens[first].gap)
        ):
            first -= 1
        gap = self._text[self._tokens[last - 1].end if last else 0 : self._quotations[row].start]
        # A paragraph that ends with a colon belongs to the quotation in the next one.
        if "\n\n" in gap and not gap.strip().endswith((":", "—", "--", "–", ",")):
            return last, last
        return first, last

    def _verbs(self, first: int, last: int) -> list[int]:
        return [row for row in range(first, last) if self._words.is_verb(self._tokens[row].small)]

    def _clause(self, first: int, last: int) -> int:
        """Where the clause ends that begins at `first`."""
        end = first
        while end < last:
            if end > first and _CLAUSE_END.search(self._tokens[end].gap):
                break
            end += 1
        return end

    def _tag_after(self, row: int) -> _Tag | None:
        """What names the speaker after a quotation: "said Jo"."""
        first, last = self._narration_after(row)
        if first == last:
            return None
        quotation = self._quotations[row]
        inner = self._text[quotation.start : quotation.end].rstrip(_AROUND)
        is_small = self._tokens[first].text[:1].islower()
        # A sentence that ended has no tag: what follows is a sentence of its own.
        if inner.endswith(".") and not inner.endswith("..") and not is_small:
            return None
        goes_on = (
            not self._needs_verb
            and is_small
            and (quotation.form == DASH or inner[-1:] in ",!?…—–-.;:")
        )
        end = self._clause(first, last)
        return self._verb_first(first, end, goes_on) or self._subject_first(first, end)

    def _verb_first(self, first: int, end: int, goes_on: bool) -> _Tag | None:
        """What "said Jo" names; where a verb needs no subject, what its ending says."""
        verb = next(iter(self._verbs(first, end)), end)
        if verb == end or any(row in self._mentions for row in range(first, verb)):
            return None
        if subject := self._subject_after(verb, end):
            return _Tag(subject, verb, first, end)
        if self._words.implied_subject and goes_on:
            return _Tag(self._imply_subject(verb), verb, first, end)
        return None

    def _imply_subject(self, verb: int) -> _Mention:
        """The subject of a verb that has none: he or she, as the verb's ending says."""
        sex = self._words.verb_sex(self._tokens[verb].small)
        return _Mention(verb, verb + 1, PRONOUN, "", "", sex, True)

    def _subject_first(self, first: int, end: int) -> _Tag | None:
        """What "Jo said" names."""
        subject = self._subject_from(first, end)
        verbs = self._verbs(subject.last, min(end, subject.last + 6)) if subject else []
        return _Tag(subject, verbs[0], first, end) if subject and verbs else None

    def _subject_after(self, verb: int, end: int) -> _Mention | None:
        """Who is named right after a verb: "said Jo", "cried out the old man"."""
        for row in range(verb + 1, min(end, verb + 7)):
            if row > verb + 1 and _COMMA.search(self._tokens[row].gap):
                break
            mention = self._mentions.get(row)
            if mention and (mention.kind != PRONOUN or row <= verb + 2):
                return mention
            if mention or self._tokens[row].small in self._words.prepositions:
                break
        first = verb + 1
        if first >= end or _COMMA.search(self._tokens[first].gap):
            return None
        return self._unknown_subject(first, end)

    def _unknown_subject(self, first: int, end: int) -> _Mention | None:
        """A name, or a noun after an article, that nobody is known by."""
        token = self._tokens[first]
        if token.text[:1].isupper():
            last = first + 1
            while last < end and self._runs_on(last) and self._tokens[last].text[:1].isupper():
                last += 1
            return self._mention(first, last, NAME, self._print_words(first, last), "")
        if token.small in self._words.determiners and self._words.articles:
            return self._phrase(first, end)
        return None

    def _phrase(self, first: int, end: int) -> _Mention | None:
        """A noun after an article that is on no list: "the Dormouse", "a harsh voice"."""
        last = first + 1
        while last < end and last - first < 5 and self._runs_on(last):
            small = self._tokens[last].small
            if small in self._words.prepositions or small.endswith("ly"):
                break
            if last + 1 - first > 2 and (small.endswith("ing") or self._words.is_verb(small)):
                break
            last += 1
        if last == first + 1:
            return None
        small = self._tokens[last - 1].small
        name = self._print_words(first, last)
        return _Mention(last - 1, last, NOUN, name, f":{small}", "", True)

    def _subject_from(self, first: int, end: int) -> _Mention | None:
        """Who is named at the beginning of a clause."""
        for row in range(first, min(first + 5, end)):
            mention = self._mentions.get(row)
            if mention and mention.is_subject:
                return mention if mention.kind != PRONOUN or row <= first + 2 else None
            if self._tokens[row].small in self._words.prepositions:
                return None
            if row > first and "," in self._tokens[row].gap:
                return None
        if first < end and self._tokens[first].small in self._words.determiners:
            phrase = self._phrase(first, end)
            if (
                phrase
                and self._words.articles
                and self._verbs(phrase.last, min(end, phrase.last + 2))
            ):
                return phrase
        return None

    def _tag_before(self, row: int) -> _Tag | None:
        """What names the speaker before a quotation: "Jo said:"."""
        first, last = self._narration_before(row)
        if first == last:
            return None
        gap = self._text[self._tokens[last - 1].end : self._quotations[row].start]
        if _END.search(gap.replace("\n", " ")):
            return None
        begin = self._begin_of_sentence(first, last)
        if verbs := self._verbs(begin, last):
            subject = self._subject_of(verbs[-1], begin, last)
        elif any(mark in gap for mark in ":—–-") and not self._needs_verb:
            # "He opened the door: 'Come in.'", as French often has it.
            subject = self._nearest_subject(begin, last)
        else:
            subject = None
        verb = verbs[-1] if verbs else last
        return _Tag(subject, verb, begin, last) if subject else None

    def _begin_of_sentence(self, first: int, last: int) -> int:
        begin = last - 1
        while begin > first and not _END.search(self._tokens[begin].gap):
            begin -= 1
        return begin

    def _subject_of(self, verb: int, begin: int, last: int) -> _Mention | None:
        """The subject of a verb of speech before a quotation."""
        if subject := self._nearest_subject(begin, verb):
            return subject
        if self._words.implied_subject:
            return self._imply_subject(verb)
        return self._mentions.get(verb + 1) if verb + 1 < last else None

    def _nearest_subject(self, begin: int, verb: int) -> _Mention | None:
        for row in range(verb - 1, begin - 1, -1):
            mention = self._mentions.get(row)
            if mention and mention.is_subject and mention.last <= verb:
                return mention
        return None

    # Who is meant

    def attribute(self) -> list[Spoken]:
        """Return who says each quotation, in the order of the quotations."""
        turns = self._turns()
        self._tales = {row for turn in turns if turn.is_tale(self._quotations) for row in turn.rows}
        self._read_calls()
        for place in range(len(turns)):
            self._name_speakers(turns, place)
        self._alternate(turns)
        self._name_narrator(turns)
        self._address(turns)
        return self._spoken

    def _turns(self) -> list[_Turn]:
        """Return the turns: quotations of a paragraph, with something but not much in between."""
        turns: list[_Turn] = []
        for place, row in enumerate(self._outer):
            item = self._quotations[row]
            if not place:
                turns.append(_Turn([row], MAX_WORDS_BETWEEN + 1))
                continue
            previous = self._quotations[self._outer[place - 1]]
            first = bisect_left(self._starts, previous.end)
            last = bisect_left(self._starts, item.start)
            is_one = item.turn == previous.turn and 0 < last - first <= MAX_WORDS_OF_PARAGRAPH
            if is_one or item.continues:
                turns[-1].rows.append(row)
            else:
                turns.append(_Turn([row], last - first))
        return turns

    def _name_speakers(self, turns: list[_Turn], place: int) -> None:
        """Name the speaker of a turn by what stands beside its quotations."""
        turn = turns[place]
        self._resolve_until(bisect_left(self._starts, self._quotations[turn.rows[0]].start))
        tags = self._tags(turn)
        for row in turn.rows:
            if self._quotations[row].form == LABEL:
                self._take_label(row)
            elif row in tags:
                self._take(turns, place, row, tags[row])
        self._spread(turn)

    def _tags(self, turn: _Turn) -> dict[int, _Tag]:
        """The verbs of speech beside the quotations of a turn; each is used once."""
        rows = [row for row in turn.rows if self._quotations[row].form != LABEL]
        tags: dict[int, _Tag] = {}
        for row in rows:
            if self._needs_verb and self._is_announced(row) and (tag := self._tag_before(row)):
                # "Tom said, 'Come in,' and I went on": what announces it says more.
                tags[row] = tag
            elif tag := self._tag_after(row):
                tags[row] = tag
                self._used.update(range(tag.first, tag.last))
        for row in rows:
            tag = None if row in tags else self._tag_before(row)
            if tag and tag.verb not in self._used and tag.subject.first not in self._used:
                tags[row] = tag
        return tags

    def _is_announced(self, row: int) -> bool:
        """Whether a comma or a colon is right before a quotation."""
        return self._text[: self._quotations[row].start].rstrip()[-1:] in (",", ":")

    def _take_label(self, row: int) -> None:
        """Name the speaker of a play's speech by its label; nobody where all speak."""
        item = self._quotations[row]
        if item.label:
            where = (item.label_start, item.label_start + len(item.label))
            key = self._persons.find(item.label)
            confidence = estimate_confidence(NAMED, NAME, math.inf)
            self._say(row, key, item.label, NAMED, SPEECH, where, where, confidence)

    def _spread(self, turn: _Turn) -> None:
        """Give the quotations of a turn without a name of their own the speaker beside them."""
        named = [row for row in turn.rows if row in self._keys]
        for row in turn.rows:
            if row in self._keys or not named:
                continue
            source = max((other for other in named if other < row), default=named[0])
            said = self._spoken[source]
            self._keys[row] = self._keys[source]
            share = LOOSE if self._is_loose(source, row) else 1
            self._spoken[row] = replace(
                said, quotation=self._quotations[row], confidence=share * said.confidence
            )

    def _is_loose(self, first: int, second: int) -> bool:
        """Whether there is more than a tag between two quotations of a turn.

        In a text that lost its paragraphs the sentence of the tag is too much: another may speak.
        """
        first, second = sorted((first, second))
        between = self._text[self._quotations[first].end : self._quotations[second].start]
        sentences = len(_END.findall(between.rstrip()))
        return not self._quotations[second].continues and sentences > (not self._is_flat)

    def _take(
        self,
        turns: list[_Turn],
        place: int,
        row: int,
        tag: _Tag,
    ) -> None:
        mention, verb, first, last = tag.subject, tag.verb, tag.first, tag.last
        name, key, lead = mention.name, mention.key, math.inf
        if mention.sex == PLURAL and mention.kind == PRONOUN:
            return
        if mention.kind == PRONOUN and mention.sex != FIRST:
            meant = self._resolve(mention, turns, place, row)
            if meant is None:
                return
            key, lead = meant.named, meant.lead
            name = meant.names[key]
            # "The girl" does not say which one, and hardly anybody answers himself.
            if ":" in key or key == self._key_before(turns, place):
                lead = 0
        if key in {called for called, _ in self._calls.get(row, ())}:
            return
        small = self._tokens[verb].small if verb < len(self._tokens) else ""
        kind = THOUGHT if small in self._words.thoughts else SPEECH
        end = max(mention.last, min(verb + 1, last))
        evidence = self._tokens[min(mention.first, verb)].start, self._tokens[end - 1].end
        place_of = (self._tokens[mention.first].start, self._tokens[mention.last - 1].end)
        if mention.kind == NOUN:
            at = self._text.rfind(name.split()[0], 0, place_of[1])
            place_of = (max(at, 0) if at >= 0 else place_of[0], place_of[1])
        confidence = estimate_confidence(TAG, mention.kind, lead)
        self._say(row, key, name, TAG, kind, evidence, place_of, confidence)
        if called := self._addressee_in_tag(mention, verb, first, last):
            self._called[row] = called

    def _addressee_in_tag(self, mention: _Mention, verb: int, first: int, last: int) -> str:
        """Whom "said Jo to Meg" names."""
        end = min(last, max(verb, mention.last) + 8)
        for row in range(max(verb + 1, mention.last), end):
            if re.search(r"[.!?;]", self._tokens[row].gap):
                break
            other = self._mentions.get(row)
            is_other = other and other.kind == NAME and other.key != mention.key
            if other and is_other and self._before(row) in self._words.to:
                return other.name
        return ""

    def _say(
        self,
        row: int,
        key: str,
        name: str,
        rule: str,
        kind: str,
        evidence: tuple[int, int],
        mention: tuple[int, int],
        confidence: float,
    ) -> None:
        self._keys[row] = key
        self._spoken[row] = Spoken(
            self._quotations[row], name, "", rule, kind, evidence, mention, confidence
        )

    def _resolve_until(self, end: int) -> None:
        """Say whom the pronouns of the narration before a word mean, in their order."""
        while self._resolved < len(self._sorted) and self._sorted[self._resolved].first < end:
            mention = self._sorted[self._resolved]
            self._resolved += 1
            is_narrated = self._tokens[mention.first].quotation == -1
            is_person = mention.kind == PRONOUN and mention.sex in ("m", "f")
            if is_narrated and is_person and mention.first not in self._meant:
                best = _Nearest(mention.sex)
                self._offer_named(best, mention.first)
                if best.key:
                    self._meant[mention.first] = (best.names[best.key], best.key, mention.sex)

    def _offer_named(self, best: _Nearest, at: int) -> None:
        """Offer all who are named, or meant, in the words before one."""
        index = bisect_left(self._firsts, at) - 1
        while index >= 0:
            mention = self._sorted[index]
            index -= 1
            if at - mention.first > MAX_DISTANCE:
                break
            sentences = self._sentence[at] - self._sentence[mention.first]
            cost: float = COST_SENTENCE * sentences
            if cost > best.cost + CLEAR_LEAD:
                break
            name, key, sex = mention.name, mention.key, mention.sex
            if mention.kind == PRONOUN:
                if mention.first not in self._meant:
                    continue
                name, key, sex = self._meant[mention.first]
            if self._tokens[mention.first].quotation != -1:
                cost += COST_QUOTED
            if not mention.is_subject:
                cost += COST_OBJECT
            best.offer(cost, name, key, sex)

    def _resolve(
        self, pronoun: _Mention, turns: list[_Turn], place: int, row: int
    ) -> _Nearest | None:
        """Whom "he said" means: the nearest person that fits, or None."""
        at = pronoun.first
        best = _Nearest(pronoun.sex)
        for other in turns[place].rows:
            if other < row and other in self._keys and not self._spoken[other].is_doubtful:
                key, name = self._keys[other], self._spoken[other].speaker
                best.offer(-20, name, key, self._sex(key, name))
        self._offer_named(best, at)
        return best if best.costs else None

    def _sex(self, key: str, name: str) -> str:
        if ":" in key:
            return key.split(":")[0]
        return self._persons.sex(key, name)

    # Whom somebody calls by name

    def _read_calls(self) -> None:
        """Find the names that stand between commas inside of each quotation.

        Who is addressed inside a tale is one of its figures, and no listener.
        """
        for row in self._outer:
            if row in self._tales:
                continue
            item = self._quotations[row]
            first = bisect_left(self._starts, item.start)
            last = bisect_left(self._starts, item.end)
            found: list[tuple[str, str]] = []
            at = first
            while at < last:
                mention = self._mentions.get(at)
                end = mention.last if mention else at + 1
                is_name = mention and mention.kind == NAME and at not in self._retold
                if mention and is_name and self._is_called(at, end, first, last):
                    found.append((mention.key, mention.name))
                at = end
            if found:
                self._calls[row] = found

    def _is_called(self, at: int, end: int, first: int, last: int) -> bool:
        gap = self._tokens[at].gap if at > first else ","
        begin = at
        while (
            begin > first
            and self._tokens[begin - 1].small in self._words.dears
            and (not self._tokens[begin].gap.strip())
        ):
            begin -= 1
            gap = self._tokens[begin].gap if begin > first else ","
        after = self._tokens[end].gap if end < last else "."
        opens = bool(re.search(r"[,.!?;:—–-]", gap)) or begin == first
        closes = bool(re.search(r"[,.!?;:—–-]", after))
        if begin < at:
            return closes or opens
        if begin == first or re.search(r"[.!?]", gap):
            return bool(re.search(r"[,!]", after)) or (closes and end == last)
        return opens and closes

    # The turns of a dialogue

    def _key(self, turn: _Turn) -> str:
        return next((self._keys[row] for row in turn.rows if row in self._keys), "")

    def _key_before(self, turns: Sequence[_Turn], place: int) -> str:
        """Who speaks in the turn before one of the same dialogue."""
        is_first = not place or turns[place].gap > MAX_WORDS_BETWEEN
        return "" if is_first else self._key(turns[place - 1])

    def _name_turn(self, turn: _Turn, source: int, rule: str) -> None:
        """Give a turn the speaker of another quotation."""
        said = replace(self._spoken[source], rule=rule, kind=SPEECH, addressee="")
        share = estimate_confidence(rule, NAME, math.inf)
        for row in turn.rows:
            if row not in self._keys:
                self._keys[row] = self._keys[source]
                self._spoken[row] = replace(
                    said, quotation=self._quotations[row], confidence=share * said.confidence
                )

    def _alternate(self, turns: list[_Turn]) -> None:
        """Name the turns that nothing names by the turns before and after them."""
        for place, turn in enumerate(turns):
            if not self._key(turn):
                self._name_by_turns(turns, place)
        for place in range(len(turns) - 3, -1, -1):
            if not self._key(turns[place]):
                after, second = turns[place + 1], turns[place + 2]
                linked = after.gap <= MAX_WORDS_BETWEEN and second.gap <= MAX_WORDS_BETWEEN
                if linked and self._key(second) and self._key(second) != self._key(after):
                    self._name_turn(turns[place], self._source(second), TURNS)

    def _source(self, turn: _Turn) -> int:
        return next(row for row in turn.rows if row in self._keys)

    def _name_by_turns(self, turns: list[_Turn], place: int) -> None:
        """Name a turn's speaker by who is called beside it, by turns, or by who was named last."""
        turn = turns[place]
        if not self._tales.isdisjoint(turn.rows) and (tale := self._tale_before(turns, place)):
            self._name_turn(turn, self._source(tale), TALE)
            return
        calls = {key for row in turn.rows for key, _ in self._calls.get(row, ())}
        neighbours = self._neighbours(turns, place)
        # Whoever is called by name in the turn before or after may be the one who speaks here.
        for neighbour in neighbours:
            for row in neighbour.rows:
                for key, name in self._calls.get(row, ()):
                    if key not in calls and key != self._key(neighbour):
                        self._say_turn(turn, key, name, row)
                        return
        earlier: list[_Turn] = []
        for back in range(1, MAX_TURNS):
            if place < back or turns[place - back + 1].gap > MAX_WORDS_BETWEEN:
                break
            earlier.append(turns[place - back])
        excluded = calls | ({self._key(earlier[0])} if earlier else set())
        # Every second turn is the same speaker's; else anybody who took part.
        for candidate in (*earlier[1::2], *earlier[2::2]):
            key = self._key(candidate)
            if key and key not in excluded:
                self._name_turn(turn, self._source(candidate), TURNS)
                return

    def _tale_before(self, turns: Sequence[_Turn], place: int) -> _Turn | None:
        """The tale that goes on after what was said and told in between."""
        for turn in reversed(turns[max(0, place - MAX_TURNS) : place]):
            if self._key(turn) and not self._tales.isdisjoint(turn.rows):
                return turn
        return None

    def _neighbours(self, turns: Sequence[_Turn], place: int) -> list[_Turn]:
        """The turns of the same dialogue right before and after one."""
        near = []
        if place and turns[place].gap <= MAX_WORDS_BETWEEN:
            near.append(turns[place - 1])
        if place + 1 < len(turns) and turns[place + 1].gap <= MAX_WORDS_BETWEEN:
            near.append(turns[place + 1])
        return near

    def _say_turn(self, turn: _Turn, key: str, name: str, source: int) -> None:
        where = self._find_in(source, name)
        for row in turn.rows:
            if row not in self._keys:
                confidence = estimate_confidence(VOCATIVE, NAME, math.inf)
                self._say(row, key, name, VOCATIVE, SPEECH, where, where, confidence)

    def _name_narrator(self, turns: Sequence[_Turn]) -> None:
        """Call the narrator by the name by which others call them, where these agree."""
        calls: Counter[str] = Counter()
        first: dict[str, tuple[str, tuple[int, int]]] = {}
        for place, turn in enumerate(turns):
            if self._key(turn) == NARRATOR:
                for neighbour in self._neighbours(turns, place):
                    for row in neighbour.rows:
                        for key, name in self._calls.get(row, ()):
                            if key != self._key(neighbour):
                                calls[key] += 1
                                first.setdefault(key, (name, self._find_in(row, name)))
        key, count = max(calls.items(), key=lambda item: item[1], default=("", 0))
        if count < MIN_CALLS or 3 * count < 2 * calls.total():
            return
        name, where = first[key]
        for row in [row for row, own in self._keys.items() if own == NARRATOR]:
            said = self._spoken[row]
            self._keys[row] = key
            self._spoken[row] = replace(said, speaker=name, mention=max(said.mention, where))

    def _find_in(self, row: int, name: str) -> tuple[int, int]:
        """Where a quotation has a name; all of it where a break of lines is within that."""
        item = self._quotations[row]
        at = self._text.find(name, item.start, item.end)
        return (at, at + len(name)) if at >= 0 else (item.start, item.end)

    def _address(self, turns: list[_Turn]) -> None:
        """Say whom each turn is addressed to: who is called in it, or who speaks beside it."""
        for place, turn in enumerate(turns):
            name = self._called_in(turn)
            if not name:
                own = self._key(turn)
                # A sure speaker has no doubtful listener.
                least = SURE if self._is_sure(turn) else 0
                others = [
                    other
                    for other in self._neighbours(turns, place)
                    if self._key(other) not in ("", own)
                    and self._spoken[self._source(other)].confidence >= least
                ]
                name = self._spoken[self._source(others[0])].speaker if others else ""
            for row in turn.rows:
                self._spoken[row] = replace(self._spoken[row], addressee=name)

    def _is_sure(self, turn: _Turn) -> bool:
        return any(self._spoken[row].confidence >= SURE for row in turn.rows)

    def _called_in(self, turn: _Turn) -> str:
        """Who is named as the addressee of a turn, in its tag or inside of it."""
        own = self._key(turn)
        for row in turn.rows:
            if row in self._called:
                return self._called[row]
        for row in turn.rows:
            for key, called in self._calls.get(row, ()):
                if key != own:
                    return called
        return ""
