"""Resolve names: which names of a document are of one person, place or thing, and why.

What joins two names is in `JOINS`, the surest first, and what forbids it in `FORBIDS`. Each of them
is one principle, in one function, and can be left out: `fabula bench run gold` measures what each
gains on books that it was not chosen on (docs/entities.md has the figures).
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.forenames import forename_sex, is_short_for, long_forms
from fabula.graphs.entities.names import (
    has_capital,
    lower_name,
    name_key,
    name_titles,
    title_sex,
    titled_key,
    titles_agree,
)
from fabula.graphs.entities.word_forms import beginnings, find_nominative, is_inflected
from fabula.graphs.entities.words import all_words, words_of
from fabula.text.folding import fold

PERSON, PLACE, UNKNOWN, THING = "person", "place", "name", "thing"
"""Types with a meaning here; rules give UNKNOWN to a name of which they know nothing else."""
_PLACES = frozenset((PLACE, "location", "geo"))
_ANIMATE = frozenset((PERSON, "creature", "animal", "being", "character", "deity", "god"))
MIN_DOUBTFUL_COUNT = 5
"""How often both of two names must occur for a model to be asked about them."""
MIN_DOMINANCE = 5
"""How many times as often as others somebody is named who is meant where a name fits them as well.
With this, F1 of pairs of persons' names is .689 on 28 whole novels (PDNC), and .653 without; .869
and .863 on 67 beginnings (LitBank). With 4 one of them loses .017, with 7 .005."""
_REMEMBERED = 65_536
WIVES, INTRODUCTIONS = "wives", "introductions"
"""Principles that a model's word is stronger than: the first of them only makes a pair doubtful."""


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name as mentions give it, with its type, how often it occurs, and its other names.

    `place` is the first character of the text at which it occurs.
    """

    name: str
    type: str
    count: int
    aliases: frozenset[str] = frozenset()
    place: int = 0


@dataclass(frozen=True, slots=True)
class NameGroup:
    """The forms of one entity.

    Attributes:
        forms: The forms.
        joined: The pairs of forms that were joined, each with the name of the level that did it.
        full: Those that no other form of the group contains: Sherlock Holmes, beside Holmes.
        variants: Forms that the entity is never called by: other cases of its name.
    """

    forms: frozenset[NameForm]
    joined: tuple[tuple[NameForm, NameForm, str], ...]
    full: frozenset[NameForm]
    variants: frozenset[NameForm]

    def explain(self, starts: Iterable[NameForm]) -> dict[NameForm, str]:
        """Return why each form was joined: the level of the pair by which it is reached first."""
        neighbours: dict[NameForm, list[tuple[NameForm, str]]] = defaultdict(list)
        for first, second, why in self.joined:
            neighbours[first].append((second, why))
            neighbours[second].append((first, why))
        reached = dict.fromkeys(starts, "exact")
        waiting = [*reached]
        for form in waiting:
            for neighbour, why in neighbours[form]:
                if neighbour not in reached:
                    reached[neighbour] = why
                    waiting.append(neighbour)
        return reached


@dataclass(frozen=True, slots=True)
class Resolution:
    """Groups of forms, one for each entity.

    `shared` has names of several people, and for each of them a form of everyone whom it may mean.
    `doubtful` has pairs of persons' names, both common, that rules leave apart though they may be
    of one person, the commonest first.
    """

    groups: tuple[NameGroup, ...]
    shared: Mapping[NameForm, tuple[NameForm, ...]]
    doubtful: tuple[tuple[NameForm, NameForm], ...] = ()


def resolve(
    forms: Collection[NameForm],
    *,
    language: str,
    decisions: DecidedPairs,
    confirmed: Iterable[tuple[str, str]] = (),
    without: Collection[str] = (),
) -> Resolution:
    """Find out which forms are names of one entity.

    Args:
        forms: All forms of a document.
        language: Its language, an ISO 639-1 code.
        decisions: What a person decided.
        confirmed: Pairs of names that a model takes for one person's.
        without: Principles that are left out, to measure them: names in JOINS and FORBIDS.
    """
    forbids = {name: forbid for name, forbid in FORBIDS.items() if name not in without}
    cast = _Cast(forms, language, decisions, confirmed, forbids)
    for name, join in JOINS.items():
        if name not in without:
            join(cast)
    groups = {id(group): group for group in cast.group_of.values()}.values()
    return Resolution(
        tuple(cast.close(group) for group in groups), cast.shared, cast.list_doubtful()
    )


def person_or_place(type: str) -> str:
    """Return PERSON or PLACE where a type of any set of types says so, else ''."""
    folded = type.casefold()
    return PERSON if folded == PERSON else PLACE if folded in _PLACES else ""


def kind_of(type: str) -> str:
    """Return PERSON, PLACE, THING for every other type, and '' for a name of unknown type."""
    folded = type.casefold()
    if folded in _ANIMATE:
        return PERSON
    return person_or_place(folded) or ("" if folded == UNKNOWN else THING)


def agree(types: Iterable[str], names: Iterable[str]) -> bool:
    """Return whether these types, and the titles before these names, may all be of one entity.

    A person is neither a place nor a thing. A place and a thing may be one.
    """
    kinds = {kind_of(type) for type in types} - {""}
    return (PERSON not in kinds or len(kinds) < 2) and titles_agree(names)


@dataclass(frozen=True, slots=True)
class ReadName:
    """A name without the words around it, and the words of its key, without accents."""

    bare: str
    words: tuple[str, ...]

    @property
    def titles(self) -> list[str]:
        """Its titles, in lower case."""
        return name_titles(self.bare).split()

    @property
    def title_sex(self) -> str:
        """What its titles say of its bearer, as `Words.titles` has it."""
        return title_sex(self.bare)

    @property
    def has_article(self) -> bool:
        """Whether it says what someone is, not who: the Spirit."""
        words = lower_name(self.bare).split()
        return len(words) > 1 and words[0] in all_words().articles

    @property
    def is_surname(self) -> bool:
        """Whether it is one word behind a title of surnames: Mr. Jack, but not Sir Jack."""
        is_word = len(self.words) == 1 and bool(self.titles)
        return is_word and self.titles[-1] not in all_words().before_first


@functools.lru_cache(_REMEMBERED)
def read_name(name: str) -> ReadName:
    """Return a person's name without what is around it: "her poor cousin Edith" is cousin Edith.

    Words in lower case, and adjectives for persons, stand before names; an article alone stays.
    """
    small, tokens = all_words(), name.split()
    first = 0
    while first < len(tokens) - 1:
        word = tokens[first].casefold().strip(".,")
        is_before = tokens[first].islower() or word in small.articles | small.epithets
        if word in small.connectives:  # the wife of Bath
            first = 0
            break
        if word in small.titles or not is_before:
            break
        first += 1
    if small.articles.issuperset(map(str.casefold, tokens[:first])):
        first = 0
    last = len(tokens)
    while last > first + 1 and tokens[last - 1] in small.epithets:
        last -= 1
    bare = " ".join(tokens[first:last])
    bearer, of, _ = bare.partition(" of ")
    if of and name_titles(bearer):
        bare = bearer
    if not has_capital(bare):
        bare = name
    return ReadName(bare, tuple(fold(name_key(bare)).split()))


@dataclass(eq=False, slots=True)
class _Group:
    """Forms of one entity, and why each was joined; it only grows."""

    forms: list[NameForm]
    joined: list[tuple[NameForm, NameForm, str]] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(form.count for form in self.forms)


class _Cast:
    """The forms of a document in groups; each begins alone."""

    def __init__(
        self,
        forms: Collection[NameForm],
        language: str,
        decisions: DecidedPairs,
        confirmed: Iterable[tuple[str, str]],
        forbids: Mapping[str, Callable[[_Cast, _Group, _Group], bool]],
    ) -> None:
        self.forms = sorted(forms, key=_commonest_first)
        self.language = language
        self.decided, self.confirmed = decisions.join, sorted(confirmed)
        self.shared: dict[NameForm, tuple[NameForm, ...]] = {}
        self.variants: set[NameForm] = set()
        self.group_of = {form: _Group([form]) for form in self.forms}
        self.read = {form: _read(form) for form in self.forms}
        self.by_words: dict[tuple[str, ...], list[NameForm]] = defaultdict(list)
        self.by_word: dict[str, list[NameForm]] = defaultdict(list)
        for form, name in self.read.items():
            self.by_words[name.words].append(form)
            if kind_of(form.type) == PERSON and not _is_described(name):
                for word in dict.fromkeys(name.words):
                    self.by_word[word].append(form)
        self._forbids = forbids
        self._kept_apart = [set(map(titled_key, pair)) for pair in decisions.keep_apart]

    def fits(self, form: NameForm, other: NameForm, but: str = "") -> bool:
        """Whether nothing speaks against making one group of theirs, `but` one principle aside."""
        group, other_group = self.group_of[form], self.group_of[other]
        if group is other_group or self._are_kept_apart(group, other_group):
            return False
        return not any(
            forbid(self, group, other_group)
            for name, forbid in self._forbids.items()
            if name != but
        )

    def join(self, form: NameForm, other: NameForm, why: str) -> None:
        """Make one group of theirs, unless a person keeps them apart."""
        group, gone = self.group_of[form], self.group_of[other]
        if group is gone or self._are_kept_apart(group, gone):
            return
        if _commonest_first(gone.forms[0]) < _commonest_first(group.forms[0]):
            group, gone = gone, group
        group.forms += gone.forms
        group.joined += [*gone.joined, (form, other, why)]
        self.group_of |= dict.fromkeys(gone.forms, group)

    def title_sexes(self, group: _Group) -> set[str]:
        """What the titles of a group say, as `Words.titles` has it."""
        return {self.read[form].title_sex for form in group.forms} - {""}

    def sex(self, group: _Group) -> str:
        """Whether a group is a man ("m") or a woman ("f"), by titles and forenames, or ''."""
        sexes = {sex for form in group.forms if (sex := self._sex_of_name(self.read[form]))}
        return min(sexes) if len(sexes) == 1 else ""

    def _sex_of_name(self, name: ReadName) -> str:
        """The sex that the titles of a name show, or its first word."""
        if (sex := name.title_sex) not in ("", "o"):
            return "m" if sex == "m" else "f"
        return forename_sex(name.words[0], self.language) if name.words else ""

    def _are_kept_apart(self, group: _Group, other: _Group) -> bool:
        if not self._kept_apart:
            return False
        names, others = ({titled_key(form.name) for form in part.forms} for part in (group, other))
        return any(
            pair & names and pair & others and len(pair & (names | others)) == 2
            for pair in self._kept_apart
        )

    def find_bearers(self, short: NameForm, is_like: _IsLike, but: str = "") -> dict[int, NameForm]:
        """Return a form of every group that a shorter name may be of, by the group.

        `is_like` says whether a word of the shorter name is one of the longer.
        """
        name, bearers = self.read[short], {}
        if not name.words or kind_of(short.type) not in (PERSON, "") or _is_described(name):
            return {}
        for word in dict.fromkeys((name.words[0], *sorted(long_forms(name.words[0])))):
            for other in self.by_word.get(word, ()):
                if (
                    id(group := self.group_of[other]) not in bearers
                    and _contains(self.read[other], name, is_like)
                    and self.fits(short, other, but)
                ):
                    bearers[id(group)] = other
        return bearers

    def list_doubtful(self) -> tuple[tuple[NameForm, NameForm], ...]:
        """Return pairs of persons of whom one may be called by a part of the other's name."""
        pairs: dict[tuple[NameForm, NameForm], int] = {}
        for form in self.forms:
            is_common = self.group_of[form].count >= MIN_DOUBTFUL_COUNT
            if not is_common or kind_of(form.type) != PERSON or self.read[form].has_article:
                continue
            for other in self.find_bearers(form, _is_same_forename, but=WIVES).values():
                groups = self.group_of[form], self.group_of[other]
                counts = [group.count for group in groups]
                if min(counts) >= MIN_DOUBTFUL_COUNT:
                    heads = sorted((group.forms[0] for group in groups), key=_commonest_first)
                    pairs[heads[0], heads[1]] = sum(counts)
        return tuple(sorted(pairs, key=lambda pair: (-pairs[pair], pair[0].name, pair[1].name)))

    def close(self, group: _Group) -> NameGroup:
        """Return a group as others see it."""
        names = {form: self.read[form].words for form in group.forms if form not in self.variants}
        full = {
            form
            for form, words in names.items()
            if not any(len(words) < len(other) and {*words} < {*other} for other in names.values())
        }
        variants = self.variants.intersection(group.forms)
        return NameGroup(
            frozenset(group.forms), tuple(group.joined), frozenset(full), frozenset(variants)
        )


_IsLike = Callable[[str, str], bool]


# What joins names. Each principle has a name, by which it can be left out.


def _join_decided(cast: _Cast) -> None:
    """Pairs of names that a person gave are one, whatever they look like."""
    by_name: dict[str, list[NameForm]] = defaultdict(list)
    for form in cast.forms:
        by_name[titled_key(form.name)].append(form)
    for first_name, second_name in sorted(tuple(sorted(pair)) for pair in cast.decided):
        for first in by_name[titled_key(first_name)]:
            for second in by_name[titled_key(second_name)]:
                cast.join(first, second, "person")


def _join_equal(cast: _Cast) -> None:
    """Names of the same words are one, titles aside."""
    for forms in cast.by_words.values():
        titled = [form for form in forms if cast.read[form].title_sex]
        bare = [form for form in forms if not cast.read[form].title_sex]
        for at, form in enumerate(titled):
            _join_first(cast, form, titled[:at])
        for at, form in enumerate(bare):
            _join_first(cast, form, bare[:at])
        # A bare name is one bearer's: a man's, as they are called by surnames, or a woman's.
        men_first = sorted(titled, key=lambda form: cast.read[form].title_sex not in "mo")
        for form in bare:
            _join_first(cast, form, men_first)


def _join_first(cast: _Cast, form: NameForm, others: Iterable[NameForm]) -> None:
    for other in others:
        if cast.fits(form, other):
            is_same = cast.read[form].titles == cast.read[other].titles
            cast.join(form, other, "exact" if is_same else "title")
            return


def _join_aliases(cast: _Cast) -> None:
    """A name that a model gives one entity alone is its name, if it is no part of another's."""
    claims: dict[str, dict[int, NameForm]] = defaultdict(dict)
    for form in cast.forms:
        for alias in form.aliases:
            claims[name_key(alias)].setdefault(id(cast.group_of[form]), form)
    for form in cast.forms:
        name = name_key(form.name)
        # Groups may have been joined since.
        others = {id(cast.group_of[claimant]): claimant for claimant in claims[name].values()}
        others.pop(id(cast.group_of[form]), None)
        aliases = {name_key(alias) for part in cast.group_of[form].forms for alias in part.aliases}
        if len(others) != 1 or not aliases <= {name}:
            continue
        if cast.find_bearers(form, str.__eq__).keys() <= others.keys():
            [claimant] = others.values()
            if cast.fits(form, claimant, but=INTRODUCTIONS):
                cast.join(form, claimant, "alias")


def _join_contained(cast: _Cast) -> None:
    """A name is part of a fuller one, or a short form of one, if one bearer is in sight."""
    for form in sorted(cast.forms, key=lambda form: -len(cast.read[form].words)):
        # Who has the name itself goes before who has a long form of it: Lizzy, Elizabeth.
        found = cast.find_bearers(form, str.__eq__) or cast.find_bearers(form, _is_same_forename)
        bearers = [*found.values()]
        name = cast.read[form]
        counts = [cast.group_of[other].count for other in bearers]
        most = max(counts, default=0)
        # Not with a title, which tells a family's members apart: Mr. Wilcox is not always Charles.
        if bearers and not name.titles and most >= MIN_DOMINANCE * (sum(counts) - most):
            bearers = [bearers[counts.index(most)]]
        is_last = [cast.read[other].words[-len(name.words) :] == name.words for other in bearers]
        if len(bearers) == 1:
            is_same = {*name.words} <= {*cast.read[bearers[0]].words}
            why = "family" if is_last[0] else "first" if is_same else "nickname"
            cast.join(form, bearers[0], why)
            continue
        # A surname of several is kept; who is named more often than they is somebody else.
        is_somebody = name.title_sex or name.has_article or cast.group_of[form].count > sum(counts)
        if bearers and all(is_last) and not is_somebody:
            cast.shared[form] = tuple(bearers)


def _join_confirmed(cast: _Cast) -> None:
    """What a model takes for one person's names is one, unless something forbids it."""
    by_name: dict[str, list[NameForm]] = defaultdict(list)
    for form in cast.forms:
        by_name[form.name].append(form)
    for first_name, second_name in cast.confirmed:
        for first in by_name[first_name]:
            for second in by_name[second_name]:
                if cast.fits(first, second, but=WIVES):
                    cast.join(first, second, "model")


def _join_inflected(cast: _Cast) -> None:
    """Case forms are one name, where the endings of the language are known."""
    if not words_of(cast.language).paradigms:
        return
    by_beginnings: dict[tuple[str, ...], list[NameForm]] = defaultdict(list)
    case_forms: dict[NameForm, list[NameForm]] = defaultdict(list)
    keys = {form: name_key(cast.read[form].bare) for form in cast.forms}
    for form, key in keys.items():
        alike = by_beginnings[beginnings(key)]
        for other in alike:
            if is_inflected(key, keys[other], cast.language) and cast.fits(form, other):
                cast.join(form, other, "inflection")
                case_forms[other].append(form)
                break
        else:
            alike.append(form)
    for first, others in case_forms.items():
        counts: Counter[str] = Counter()
        for form in (first, *others):
            counts[keys[form]] += form.count
        nominative = find_nominative(counts, cast.language)
        cast.variants.update(form for form in (first, *others) if keys[form] != nominative)


JOINS: Mapping[str, Callable[[_Cast], None]] = {
    "decisions": _join_decided,
    "equal words": _join_equal,
    "aliases": _join_aliases,
    "contained words": _join_contained,
    "model": _join_confirmed,
    "inflection": _join_inflected,
}
"""What joins names, the surest first."""


# What forbids it.


def _types_differ(cast: _Cast, group: _Group, other: _Group) -> bool:
    """A person is neither a place nor a thing."""
    kinds = {kind_of(form.type) for form in (*group.forms, *other.forms)} - {""}
    return PERSON in kinds and len(kinds) > 1


def _titles_differ(cast: _Cast, group: _Group, other: _Group) -> bool:
    """Nobody is Mrs and Miss, or a prince and a count."""
    return not titles_agree(cast.read[form].bare for form in (*group.forms, *other.forms))


def _sexes_differ(cast: _Cast, group: _Group, other: _Group) -> bool:
    """Nobody is a man and a woman."""
    return {cast.sex(group), cast.sex(other)} == {"m", "f"}


def _is_wife(cast: _Cast, group: _Group, other: _Group) -> bool:
    """Mrs. X is not who has X's name without a woman's title: her husband, or her child.

    Where she is named far more often, nobody else is in sight.
    """
    wives = ["w" in cast.title_sexes(part) for part in (group, other)]
    wife, somebody = (group, other) if wives[0] else (other, group)
    return (
        wives[0] != wives[1]
        and wife.count < MIN_DOMINANCE * somebody.count
        and all(
            name.is_surname and forename_sex(name.words[0], cast.language) != "f"
            for name in map(cast.read.__getitem__, wife.forms)
        )
    )


def _introduces_nobody(cast: _Cast, group: _Group, other: _Group) -> bool:
    """A fuller name printed once, after a rare shorter one, is a byword: Joe Miller, and Joe."""
    for full, short in ((group, other), (other, group)):
        is_later = full.forms[0].place > min(form.place for form in short.forms)
        if full.count == 1 and is_later and short.count < MIN_DOMINANCE:
            words = len(cast.read[full.forms[0]].words)
            if words > max(len(cast.read[form].words) for form in short.forms):
                return True
    return False


FORBIDS: Mapping[str, Callable[[_Cast, _Group, _Group], bool]] = {
    "types": _types_differ,
    "titles": _titles_differ,
    "sexes": _sexes_differ,
    WIVES: _is_wife,
    INTRODUCTIONS: _introduces_nobody,
}
"""What forbids that two groups of names are one."""


def _is_same_forename(word: str, other: str) -> bool:
    return word == other or is_short_for(word, other)


def _contains(full: ReadName, short: ReadName, is_like: _IsLike) -> bool:
    """Whether a name has all words of another in their order, and is a fuller one."""
    if full.words == short.words or len(full.words) < len(short.words):
        return False
    rest = iter(full.words)
    return all(any(is_like(word, other) for other in rest) for word in short.words)


@functools.lru_cache(_REMEMBERED)
def _is_described(name: ReadName) -> bool:
    """Whether a name has words of another name: the captain of the Nautilus, Marley's Ghost."""
    words = all_words()
    small = {word for word in name.bare.split() if word.islower()}
    is_owned = "'s " in f"{lower_name(name.bare)} "
    return is_owned or not small <= words.particles | words.titles.keys() | words.articles


def _read(form: NameForm) -> ReadName:
    """The parts of a form's name; a thing's name is all of it."""
    if kind_of(form.type) in (PERSON, ""):
        return read_name(form.name)
    return ReadName(form.name, tuple(fold(name_key(form.name)).split()))


def _commonest_first(form: NameForm) -> tuple[int, str, str, tuple[str, ...]]:
    return (-form.count, form.name, form.type, tuple(sorted(form.aliases)))
