"""Resolves names: which names of a document are of one person, place or thing, and why.

Names are joined level by level, the surest first: what a person decided, equal names, aliases,
family names and first names, case endings, and misspellings. No level joins what a person keeps
apart, a man's title with a woman's, or a person with a place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import DamerauLevenshtein, Prefix

from fabula.graphs.entities.decisions import Decisions
from fabula.graphs.entities.names import (
    lower_name,
    name_key,
    name_titles,
    title_sex,
    titled,
    titles_agree,
)
from fabula.graphs.entities.words import all_words, words_of

PERSON, PLACE, UNKNOWN = "person", "place", "name"
"""Types with a meaning here; rules give UNKNOWN to a name of which they know nothing else."""
_PLACES = frozenset((PLACE, "location", "geo"))
MAX_MISSPELT_COUNT = 2
"""A name that occurs more often is not taken for a misspelling."""
MIN_LETTERS_ONE_WRONG, MIN_LETTERS_TWO_WRONG = 5, 9
"""Letters of a word in which one letter may be wrong, and two letters."""
MIN_STEM, MIN_STEM_OF_SEVERAL = 4, 3
"""Letters before a case ending in a name of one word, and in one of several."""
MIN_FULL_COUNT = 2
"""How often a full name occurs before a first name alone is taken for it."""


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name as mentions give it, with its type, how often it occurs, and its other names."""

    name: str
    type: str
    count: int
    aliases: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NameGroup:
    """The forms of one entity.

    Attributes:
        forms: The forms.
        joined: The pairs of forms that were joined, each with the name of the level that did it.
        short: Forms that stand for a fuller name of the group, are inflected, or are misspelt.
    """

    forms: frozenset[NameForm]
    joined: tuple[tuple[NameForm, NameForm, str], ...]
    short: frozenset[NameForm]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Groups of forms, one for each entity.

    `shared` has family names of several people, and for each of them a form of everyone whom it
    may mean.
    """

    groups: tuple[NameGroup, ...]
    shared: Mapping[NameForm, tuple[NameForm, ...]]


def resolve(
    forms: Collection[NameForm],
    *,
    language: str,
    decisions: Decisions,
    ordinary: Collection[str],
) -> Resolution:
    """Find out which forms are names of one entity.

    Args:
        forms: All forms of a document.
        language: Its language, an ISO 639-1 code.
        decisions: What a person decided.
        ordinary: Words that the text has in lower case; none is a misspelt name.
    """
    joining = _Joining(sorted(forms, key=_commonest_first), decisions)
    _join_decided(joining, decisions.join)
    people = _People(joining)
    _join_equal(joining, people)
    _join_aliases(joining, people)
    shared = _join_short(joining, people)
    _join_inflected(joining, language)
    _join_misspelt(joining, frozenset(ordinary))
    return Resolution(
        tuple(joining.group(root) for root in joining.roots()),
        shared,
    )


def person_or_place(type: str) -> str:
    """Return PERSON or PLACE where a type of any set of types says so, else ''."""
    folded = type.casefold()
    return PERSON if folded == PERSON else PLACE if folded in _PLACES else ""


def agree(types: Iterable[str], names: Iterable[str]) -> bool:
    """Return whether these types, and the titles before these names, may all be of one entity."""
    kinds = {person_or_place(type) for type in types} - {""}
    return len(kinds) < 2 and titles_agree(names)


def is_inflected(first: str, second: str, language: str) -> bool:
    """Return whether two keys may be case forms of one name, by the endings of their words."""
    words, other_words = first.split(), second.split()
    if first == second or len(words) != len(other_words):
        return False
    min_stem = MIN_STEM if len(words) == 1 else MIN_STEM_OF_SEVERAL
    paradigms = words_of(language).paradigms
    return all(
        word == other or _has_common_stem(word, other, min_stem, paradigms)
        for word, other in zip(words, other_words, strict=True)
    )


def beginnings(name: str) -> tuple[str, ...]:
    """Return what two keys have in common if they are case forms of one name."""
    return tuple(word[:MIN_STEM_OF_SEVERAL] for word in name.split())


class _Joining:
    """Forms in groups that only grow; each begins alone. A group's root is its commonest form."""

    def __init__(self, forms: Sequence[NameForm], decisions: Decisions) -> None:
        self.forms = forms
        self._kept_apart = [set(map(titled, pair)) for pair in decisions.keep_apart]
        self._root = {form: form for form in forms}
        self._members = {form: [form] for form in forms}
        self._joined: dict[NameForm, list[tuple[NameForm, NameForm, str]]] = {
            form: [] for form in forms
        }
        self._short: set[NameForm] = set()

    def roots(self) -> list[NameForm]:
        return list(self._members)

    def root(self, form: NameForm) -> NameForm:
        return self._root[form]

    def members(self, form: NameForm) -> list[NameForm]:
        return self._members[self._root[form]]

    def count(self, form: NameForm) -> int:
        return sum(member.count for member in self.members(form))

    def sexes(self, form: NameForm) -> set[str]:
        return {sex for member in self.members(form) if (sex := title_sex(member.name))}

    def group(self, form: NameForm) -> NameGroup:
        root = self._root[form]
        members = frozenset(self._members[root])
        return NameGroup(members, tuple(self._joined[root]), members & self._short)

    def fits(self, form: NameForm, other: NameForm) -> bool:
        """Whether nothing speaks against making one group of theirs."""
        members = (*self.members(form), *self.members(other))
        return self._may_join(form, other) and agree(
            (member.type for member in members), (member.name for member in members)
        )

    def join(self, form: NameForm, other: NameForm, why: str) -> None:
        """Make one group of theirs, unless a person keeps them apart."""
        if not self._may_join(form, other):
            return
        root, gone = sorted((self._root[form], self._root[other]), key=_commonest_first)
        for member in self._members[gone]:
            self._root[member] = root
        self._members[root] += self._members.pop(gone)
        self._joined[root] += [*self._joined.pop(gone), (form, other, why)]

    def mark_short(self, forms: Iterable[NameForm]) -> None:
        """Note that these stand for a fuller name."""
        self._short.update(forms)

    def _may_join(self, form: NameForm, other: NameForm) -> bool:
        roots = (self._root[form], self._root[other])
        if roots[0] == roots[1]:
            return False
        if not self._kept_apart:
            return True
        names, other_names = (
            {titled(member.name) for member in self._members[root]} for root in roots
        )
        return not any(
            pair & names and pair & other_names and len(pair & (names | other_names)) == 2
            for pair in self._kept_apart
        )


class _People:
    """Full names of persons, by all that they end with and by all that they begin with.

    `by_role` has names with an article, of whatever type, by their last word: the White Rabbit.
    """

    def __init__(self, joining: _Joining) -> None:
        self.by_family: dict[str, list[NameForm]] = defaultdict(list)
        self.by_first: dict[str, list[NameForm]] = defaultdict(list)
        self.by_role: dict[str, list[NameForm]] = defaultdict(list)
        for form in joining.forms:
            words = name_key(form.name).split()
            if len(words) > 1 and _has_article(form.name):
                self.by_role[words[-1]].append(form)
            if (
                len(words) > 1
                and person_or_place(form.type) == PERSON
                and _is_of_a_person(form.name)
            ):
                for cut in range(1, len(words)):
                    self.by_family[" ".join(words[cut:])].append(form)
                    self.by_first[" ".join(words[:cut])].append(form)


def _join_decided(joining: _Joining, pairs: Iterable[tuple[str, str]]) -> None:
    """Pairs of names that a person gave, whatever the names look like."""
    by_name: dict[str, list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        by_name[titled(form.name)].append(form)
    for first_name, second_name in sorted(tuple(sorted(pair)) for pair in pairs):
        for first in by_name[titled(first_name)]:
            for second in by_name[titled(second_name)]:
                joining.join(first, second, "person")


def _join_equal(joining: _Joining, people: _People) -> None:
    """Join equal keys.

    Where titles tell several entities of a key apart, the name without a title joins one of them at
    most: a man, or else a woman if nobody's full name ends with it.
    """
    by_key: dict[str, list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        by_key[name_key(form.name)].append(form)
    for forms in by_key.values():
        with_title = [form for form in forms if title_sex(form.name)]
        bare = [form for form in forms if not title_sex(form.name)]
        for alike in (with_title, bare):
            for number, form in enumerate(alike):
                _join_first(joining, form, alike[:number])
        men = [form for form in with_title if "m" in joining.sexes(form)]
        for form in bare:
            _join_first(joining, form, men)
            family = people.by_family[name_key(form.name)]
            is_family_name = any(not joining.sexes(full) for full in family)
            if not joining.sexes(form) and not is_family_name:
                women = [other for other in with_title if _may_be_hers(joining, form, other)]
                _join_first(joining, form, women)


def _join_first(joining: _Joining, form: NameForm, others: Iterable[NameForm]) -> None:
    """Join a form with the first of those of equal key that it fits."""
    for other in others:
        if joining.fits(form, other):
            why = "exact" if name_titles(form.name) == name_titles(other.name) else "title"
            joining.join(form, other, why)
            return


def _may_be_hers(joining: _Joining, bare: NameForm, other: NameForm) -> bool:
    """Whether a name without a title may be that of someone who has a woman's title.

    Beside Mrs Barrymore, Barrymore is her husband, unless he is named less often than she is.
    """
    if joining.sexes(bare) or "w" not in joining.sexes(other) or " " in name_key(bare.name):
        return True
    return joining.count(bare) < joining.count(other)


def _join_aliases(joining: _Joining, people: _People) -> None:
    """Join an alias of one entity alone with that entity, if it is no part of another full name."""
    claims: dict[str, set[NameForm]] = defaultdict(set)
    for form in joining.forms:
        for alias in form.aliases:
            claims[name_key(alias)].add(joining.root(form))
    for form in joining.forms:
        name = name_key(form.name)
        claimants = {joining.root(claimant) for claimant in claims[name]} - {joining.root(form)}
        aliases = {name_key(alias) for member in joining.members(form) for alias in member.aliases}
        bearers = {joining.root(f) for f in (*people.by_family[name], *people.by_first[name])}
        if len(claimants) == 1 and aliases <= {name} and claimants >= bearers:
            [claimant] = claimants
            if joining.fits(form, claimant):
                joining.mark_short(joining.members(form))
                joining.join(form, claimant, "alias")


def _join_short(joining: _Joining, people: _People) -> dict[NameForm, tuple[NameForm, ...]]:
    """Join family names and first names with the full name that they stand for.

    Returns:
        Family names of several people, with the full names that they may stand for.
    """
    shared: dict[NameForm, tuple[NameForm, ...]] = {}
    for form in joining.forms:
        name = name_key(form.name)
        members = joining.members(form)
        has_fuller = any(_count_words(member) > _count_words(form) for member in members)
        if person_or_place(form.type) == PLACE or has_fuller:
            continue
        with_article = sum(member.count for member in members if _has_article(member.name))
        if 2 * with_article >= joining.count(form):
            _join_role(joining, form, people.by_role[name])
            continue
        by_family = _bearers(joining, form, people.by_family[name])
        by_first = _bearers(joining, form, people.by_first[name])
        last_title = name_titles(form.name).split()[-1:]
        if not last_title:
            bearers = list(dict.fromkeys([*by_family, *by_first]))
        elif last_title[0] in all_words().before_first:
            bearers = by_first or by_family
        else:
            bearers = by_family or by_first
        is_family = bool(bearers) and set(bearers) <= set(by_family)
        is_first = bool(bearers) and not is_family and " " not in name
        if is_first and joining.count(bearers[0]) < MIN_FULL_COUNT:
            continue
        if len(bearers) == 1 or (is_family and _have_one_first_name(joining, bearers, name)):
            joining.mark_short(joining.members(form))
            joining.join(form, bearers[0], "family" if is_family else "first")
        elif is_family and joining.count(form) <= sum(map(joining.count, bearers)):
            # A family name that occurs more often than all its full names is another person's, and
            # so is one with a title.
            bare = (member for member in joining.members(form) if not title_sex(member.name))
            shared |= dict.fromkeys(bare, tuple(bearers))
    return shared


def _join_role(joining: _Joining, form: NameForm, full: Iterable[NameForm]) -> None:
    """Join "the Rabbit" with "the White Rabbit", if that is the only name that ends so."""
    roots = list({joining.root(other) for other in full})
    if len(roots) != 1 or joining.count(roots[0]) < MIN_FULL_COUNT:
        return
    if person_or_place(form.type) == person_or_place(roots[0].type) == PERSON and joining.fits(
        form, roots[0]
    ):
        joining.mark_short(joining.members(form))
        joining.join(form, roots[0], "family")


def _bearers(joining: _Joining, short: NameForm, full: Iterable[NameForm]) -> list[NameForm]:
    """The full names that a short one may stand for, a root for each group, the commonest first."""
    roots = {
        joining.root(other)
        for other in full
        if joining.fits(short, other) and _may_be_hers(joining, short, other)
    }
    if joining.sexes(short) - {"m"}:
        # Mrs Cratchit is not Martha Cratchit: the full name has to have her title, too.
        roots = {root for root in roots if joining.sexes(root)}
    return sorted(roots, key=lambda root: (-joining.count(root), root.name))


def _have_one_first_name(joining: _Joining, forms: Iterable[NameForm], family: str) -> bool:
    """Whether no two full names have different first names; an initial stands for one of them."""
    first_names = {
        name_key(member.name).split()[0]
        for form in forms
        for member in joining.members(form)
        if name_key(member.name).endswith(f" {family}")
    }
    spelt_out = {name for name in first_names if len(name) > 1}
    return len(spelt_out) <= 1 and len({name[0] for name in first_names}) <= 1


def _join_inflected(joining: _Joining, language: str) -> None:
    """Join case forms with the commonest of them, where the endings of the language are known."""
    if not words_of(language).paradigms:
        return
    by_beginnings: dict[tuple[str, ...], list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        name = name_key(form.name)
        alike = by_beginnings[beginnings(name)]
        for other in alike:
            other_name = name_key(other.name)
            if is_inflected(name, other_name, language) and joining.fits(form, other):
                is_base = _is_base(name, other_name, language)
                is_other_base = _is_base(other_name, name, language)
                joining.mark_short([other if is_base and not is_other_base else form])
                joining.join(form, other, "inflection")
                break
        else:
            alike.append(form)


def _has_common_stem(
    word: str, other: str, min_stem: int, paradigms: Collection[Sequence[str]]
) -> bool:
    """Whether two words are one stem with endings of one paradigm."""
    return any(
        word[cut:] in paradigm and other[cut:] in paradigm
        for cut in range(min_stem, Prefix.similarity(word, other) + 1)
        for paradigm in paradigms
    )


def _is_base(name: str, other_name: str, language: str) -> bool:
    """Whether the first of two case forms has the ending of the nominative, the other another."""
    return all(
        word == other
        or any(
            word[cut:] == paradigm[0] and other[cut:] in paradigm[1:]
            for cut in range(Prefix.similarity(word, other) + 1)
            for paradigm in words_of(language).paradigms
        )
        for word, other in zip(name.split(), other_name.split(), strict=True)
    )


def _join_misspelt(joining: _Joining, ordinary: Collection[str]) -> None:
    """Join rare names with a commoner one of their type that differs by a letter or two."""
    by_pattern: dict[tuple[str, ...], list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        patterns = _patterns_but_for_one_word(form)
        if joining.count(form) <= MAX_MISSPELT_COUNT:
            others = {other for pattern in patterns for other in by_pattern[pattern]}
            distances = [
                (misspelt_by(name_key(form.name), name_key(other.name), ordinary), other)
                for other in others
                if other.count > form.count
            ]
            distances.sort(key=lambda pair: (pair[0], *_commonest_first(pair[1])))
            for distance, other in distances:
                if distance and joining.fits(form, other):
                    joining.mark_short([form])
                    joining.join(form, other, "spelling")
                    break
        for pattern in patterns:
            by_pattern[pattern].append(form)


def _patterns_but_for_one_word(form: NameForm) -> list[tuple[str, ...]]:
    """What a form shares with forms of its type in which one word is spelt otherwise."""
    words = name_key(form.name).split()
    return [
        (form.type, *words[:at], f"{word[0]}*", *words[at + 1 :]) for at, word in enumerate(words)
    ]


def misspelt_by(name: str, other_name: str, ordinary: Collection[str]) -> int:
    """Return by how many letters two keys differ, if one of them may be a misspelling.

    A difference is a letter too few, one too many, a wrong one, or two exchanged (Damerau 1964).

    Returns:
        The number of letters; 0 where the names differ in several words, or are two names.
    """
    pairs = zip(name.split(), other_name.split(), strict=True)
    different = [pair for pair in pairs if pair[0] != pair[1]]
    if len(different) != 1:
        return 0
    [(first, second)] = different
    most = min(most_letters(first), most_letters(second))
    distance = DamerauLevenshtein.distance(first, second, score_cutoff=most) if most else 1
    is_word = first in ordinary or second in ordinary or not (first + second).isalpha()
    # The Cratchits are more than one Cratchit, and Elizabethan is no Elizabeth.
    is_derived = first.startswith(second) or second.startswith(first)
    return 0 if distance > most or is_word or is_derived else distance


def most_letters(word: str) -> int:
    """Return how many letters of a word may be wrong."""
    if len(word) < MIN_LETTERS_ONE_WRONG:
        return 0
    return 1 if len(word) < MIN_LETTERS_TWO_WRONG else 2


def _count_words(form: NameForm) -> int:
    return len(name_key(form.name).split())


def _has_article(name: str) -> bool:
    """Whether a name has an article, and so says what someone is, not who: the Spirit."""
    words = lower_name(name).split()
    return len(words) > 1 and words[0] in all_words().articles


def _is_of_a_person(name: str) -> bool:
    """Whether the words of a name that have no capital are ones of persons' names: de, von."""
    words = all_words()
    small = {word for word in name.split() if word.islower()}
    is_owned = "'s " in f"{lower_name(name)} ".replace(f"{name_key(name)} ", f"{name_key(name)}")
    return small <= words.particles | words.titles.keys() and not is_owned


def _commonest_first(form: NameForm) -> tuple[int, str, str, tuple[str, ...]]:
    return (-form.count, form.name, form.type, tuple(sorted(form.aliases)))
