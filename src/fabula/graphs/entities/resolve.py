"""Which names of a document are of one person, place or thing, and why they are thought to be.

Names are joined level by level, from the surest: what a person decided, equal names, aliases,
titles and family names, case endings, and misspellings. A level never joins what a person keeps
apart, a man's title with a woman's, or a person with a place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import DamerauLevenshtein, Prefix

from fabula.graphs.entities.decisions import Decisions
from fabula.graphs.entities.names import key, lower_name, title, title_sex, titled, titles_agree
from fabula.graphs.entities.words import all_words, words_of

PERSON, PLACE, UNKNOWN = "person", "place", "name"
"""Types with a meaning here; UNKNOWN is the rules' word for a name of which they know no more."""
_PLACES = frozenset((PLACE, "location", "geo"))
RARE = 2
"""A name that occurs more often is not misspelt."""
SHORTEST_MISSPELT, SHORTEST_TWICE = 5, 9
"""Letters of a word that may differ in one letter, and in two."""
SHORTEST_STEM, SHORTEST_STEM_OF_SEVERAL = 4, 3
"""Letters before a case ending in a name of one word, and in one of several."""
FEWEST_FULL = 2
"""How often a full name occurs, at least, before a first name alone is taken for it."""


@dataclass(frozen=True, slots=True)
class Form:
    """A name as mentions give it: what they say it is, how often it occurs, its other names."""

    name: str
    type: str
    count: int
    aliases: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Group:
    """Forms of one entity, and the pairs of them that were joined, each with the level's name.

    `short` are those that stand for a fuller name of the group, or are oblique or misspelt.
    """

    forms: frozenset[Form]
    joined: tuple[tuple[Form, Form, str], ...]
    short: frozenset[Form]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Groups of forms; and of a family name that several bear, a form of each that it may be."""

    groups: tuple[Group, ...]
    shared: Mapping[Form, tuple[Form, ...]]


def resolve(
    forms: Collection[Form],
    *,
    language: str,
    decisions: Decisions,
    ordinary: Collection[str],
) -> Resolution:
    """What forms belong together."""
    joining = _Joining(sorted(forms, key=_commonest), decisions)
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


def kind(type: str) -> str:
    """PERSON or PLACE where a type, of whatever set, says so; else ''."""
    folded = type.casefold()
    return PERSON if folded == PERSON else PLACE if folded in _PLACES else ""


def agree(types: Iterable[str], names: Iterable[str]) -> bool:
    """Whether these types, and the titles before these names, may all be of one."""
    kinds = {kind(type) for type in types} - {""}
    return len(kinds) < 2 and titles_agree(names)


def is_inflected(first: str, second: str, language: str) -> bool:
    """Whether two names, as keys, are case forms of one, as far as their endings tell."""
    ones, others = first.split(), second.split()
    least = SHORTEST_STEM if len(ones) == 1 else SHORTEST_STEM_OF_SEVERAL
    paradigms = words_of(language).paradigms
    return (
        first != second
        and len(ones) == len(others)
        and all(
            one == other or _has_common_stem(one, other, least, paradigms)
            for one, other in zip(ones, others, strict=True)
        )
    )


def beginnings(name: str) -> tuple[str, ...]:
    """What names, as keys, have in common if they are inflected forms of one."""
    return tuple(word[:SHORTEST_STEM_OF_SEVERAL] for word in name.split())


class _Joining:
    """Forms in groups that only grow; each begins alone. A group's root is its commonest form."""

    def __init__(self, forms: Sequence[Form], decisions: Decisions) -> None:
        self.forms = forms
        self._kept_apart = [{titled(one), titled(other)} for one, other in decisions.keep_apart]
        self._root = {form: form for form in forms}
        self._members = {form: [form] for form in forms}
        self._joined: dict[Form, list[tuple[Form, Form, str]]] = {form: [] for form in forms}
        self._short: set[Form] = set()

    def roots(self) -> list[Form]:
        return list(self._members)

    def root(self, form: Form) -> Form:
        return self._root[form]

    def members(self, form: Form) -> list[Form]:
        return self._members[self._root[form]]

    def count(self, form: Form) -> int:
        return sum(one.count for one in self.members(form))

    def sexes(self, form: Form) -> set[str]:
        return {found for one in self.members(form) if (found := title_sex(one.name))}

    def group(self, form: Form) -> Group:
        root = self._root[form]
        members = frozenset(self._members[root])
        return Group(members, tuple(self._joined[root]), members & self._short)

    def fits(self, one: Form, other: Form) -> bool:
        """Whether nothing speaks against making one group of theirs."""
        forms = (*self.members(one), *self.members(other))
        return self._may_join(one, other) and agree(
            (form.type for form in forms), (form.name for form in forms)
        )

    def join(self, one: Form, other: Form, why: str) -> None:
        """Make one group of theirs, unless a person keeps them apart."""
        if not self._may_join(one, other):
            return
        into, gone = sorted((self._root[one], self._root[other]), key=_commonest)
        for member in self._members[gone]:
            self._root[member] = into
        self._members[into] += self._members.pop(gone)
        self._joined[into] += [*self._joined.pop(gone), (one, other, why)]

    def shorten(self, forms: Iterable[Form]) -> None:
        """Note that these stand for a fuller name."""
        self._short.update(forms)

    def _may_join(self, one: Form, other: Form) -> bool:
        first, second = self._root[one], self._root[other]
        if first == second:
            return False
        if not self._kept_apart:
            return True
        ones, others = ({titled(form.name) for form in self._members[it]} for it in (first, second))
        return not any(
            pair & ones and pair & others and len(pair & (ones | others)) == 2
            for pair in self._kept_apart
        )


class _People:
    """Full names of persons, by all that they end with and begin with.

    By their last word alone, names with an article, of whatever kind: the White Rabbit.
    """

    def __init__(self, joining: _Joining) -> None:
        self.by_family: dict[str, list[Form]] = defaultdict(list)
        self.by_first: dict[str, list[Form]] = defaultdict(list)
        self.by_role: dict[str, list[Form]] = defaultdict(list)
        for form in joining.forms:
            words = key(form.name).split()
            if len(words) > 1 and _has_article(form.name):
                self.by_role[words[-1]].append(form)
            if len(words) > 1 and kind(form.type) == PERSON and _is_of_a_person(form.name):
                for cut in range(1, len(words)):
                    self.by_family[" ".join(words[cut:])].append(form)
                    self.by_first[" ".join(words[:cut])].append(form)


def _join_decided(joining: _Joining, pairs: Iterable[tuple[str, str]]) -> None:
    """Pairs of names that a person gave, whatever the names look like."""
    by_name: dict[str, list[Form]] = defaultdict(list)
    for form in joining.forms:
        by_name[titled(form.name)].append(form)
    for one, other in sorted(tuple(sorted(pair)) for pair in pairs):
        for first in by_name[titled(one)]:
            for second in by_name[titled(other)]:
                joining.join(first, second, "person")


def _join_equal(joining: _Joining, people: _People) -> None:
    """Equal keys; where titles tell several apart, the name without one is one of them at most."""
    by_key: dict[str, list[Form]] = defaultdict(list)
    for form in joining.forms:
        by_key[key(form.name)].append(form)
    for forms in by_key.values():
        titled = [form for form in forms if title_sex(form.name)]
        bare = [form for form in forms if not title_sex(form.name)]
        for some in (titled, bare):
            for number, form in enumerate(some):
                _join_first(joining, form, some[:number])
        men = [form for form in titled if "m" in joining.sexes(form)]
        for form in bare:
            _join_first(joining, form, men)
            others = (one for one in people.by_family[key(form.name)] if not joining.sexes(one))
            if not joining.sexes(form) and not any(others):
                _join_first(joining, form, [one for one in titled if _is_hers(joining, form, one)])


def _join_first(joining: _Joining, form: Form, others: Iterable[Form]) -> None:
    """Join it with the first of those of equal key that it fits."""
    for other in others:
        if joining.fits(form, other):
            why = "exact" if title(form.name) == title(other.name) else "title"
            joining.join(form, other, why)
            return


def _is_hers(joining: _Joining, bare: Form, other: Form) -> bool:
    """Whether a name without a title may be that of someone who has a woman's title.

    Beside Mrs Barrymore, Barrymore is her husband, unless he is named less often than she.
    """
    if joining.sexes(bare) or "w" not in joining.sexes(other) or " " in key(bare.name):
        return True
    return joining.count(bare) < joining.count(other)


def _join_aliases(joining: _Joining, people: _People) -> None:
    """What one entity alone is said to be called, too, if that is nobody else's full name."""
    claims: dict[str, set[Form]] = defaultdict(set)
    for form in joining.forms:
        for alias in form.aliases:
            claims[key(alias)].add(joining.root(form))
    for form in joining.forms:
        own = key(form.name)
        claimants = {joining.root(one) for one in claims[own]} - {joining.root(form)}
        named = {key(alias) for one in joining.members(form) for alias in one.aliases}
        full = (*people.by_family[own], *people.by_first[own])
        if len(claimants) == 1 and named <= {own} and claimants >= set(map(joining.root, full)):
            [claimant] = claimants
            if joining.fits(form, claimant):
                joining.shorten(joining.members(form))
                joining.join(form, claimant, "alias")


def _join_short(joining: _Joining, people: _People) -> dict[Form, tuple[Form, ...]]:
    """Family names and first names join the full name that they stand for.

    A family name that several bear comes back with the full names that it may stand for.
    """
    shared: dict[Form, tuple[Form, ...]] = {}
    for form in joining.forms:
        word = key(form.name)
        members = joining.members(form)
        if kind(form.type) == PLACE or any(_words(one) > _words(form) for one in members):
            continue
        with_article = sum(one.count for one in members if _has_article(one.name))
        if 2 * with_article >= joining.count(form):
            _join_role(joining, form, people.by_role[word])
            continue
        families = _bearers(joining, form, people.by_family[word])
        firsts = _bearers(joining, form, people.by_first[word])
        before = title(form.name).split()[-1:]
        if not before:
            found = [*families, *(one for one in firsts if one not in families)]
        elif before[0] in all_words().before_first:
            found = firsts or families
        else:
            found = families or firsts
        is_family = bool(found) and set(found) <= set(families)
        is_first = bool(found) and not is_family and " " not in word
        if is_first and joining.count(found[0]) < FEWEST_FULL:
            continue
        if len(found) == 1 or (is_family and _have_one_first_name(joining, found, word)):
            joining.shorten(joining.members(form))
            joining.join(form, found[0], "family" if is_family else "first")
        elif is_family and joining.count(form) <= sum(map(joining.count, found)):
            # Whoever is called so more often than all who bear it in full is someone else, and so
            # is who has a title.
            bare = (one for one in joining.members(form) if not title_sex(one.name))
            shared |= dict.fromkeys(bare, tuple(found))
    return shared


def _join_role(joining: _Joining, form: Form, full: Iterable[Form]) -> None:
    """The Rabbit joins the White Rabbit, if there is no other, and no other thing, of that name."""
    roots = list({joining.root(one) for one in full})
    if len(roots) != 1 or joining.count(roots[0]) < FEWEST_FULL:
        return
    if kind(form.type) == kind(roots[0].type) == PERSON and joining.fits(form, roots[0]):
        joining.shorten(joining.members(form))
        joining.join(form, roots[0], "family")


def _bearers(joining: _Joining, short: Form, full: Iterable[Form]) -> list[Form]:
    """Those full names that a part of a name may stand for, one a group, the commonest first."""
    roots = {
        joining.root(one)
        for one in full
        if joining.fits(short, one) and _is_hers(joining, short, one)
    }
    if joining.sexes(short) - {"m"}:
        # Mrs Cratchit is not Martha Cratchit: the full name has to have her title, too.
        roots = {root for root in roots if joining.sexes(root)}
    return sorted(roots, key=lambda root: (-joining.count(root), root.name))


def _have_one_first_name(joining: _Joining, forms: Iterable[Form], family: str) -> bool:
    """Whether no two of the full names have different first names; an initial may be of any."""
    given = {
        key(one.name).split()[0]
        for form in forms
        for one in joining.members(form)
        if key(one.name).endswith(f" {family}")
    }
    return len({name for name in given if len(name) > 1}) <= 1 and len({n[0] for n in given}) <= 1


def _join_inflected(joining: _Joining, language: str) -> None:
    """Case forms join the commonest of them; where the language's endings are known."""
    if not words_of(language).paradigms:
        return
    begun: dict[tuple[str, ...], list[Form]] = defaultdict(list)
    for form in joining.forms:
        near = begun[beginnings(key(form.name))]
        for other in near:
            ones, others = key(form.name), key(other.name)
            if is_inflected(ones, others, language) and joining.fits(form, other):
                is_base = _is_base(ones, others, language) and not _is_base(others, ones, language)
                joining.shorten([other if is_base else form])
                joining.join(form, other, "inflection")
                break
        else:
            near.append(form)


def _has_common_stem(
    one: str, other: str, least: int, paradigms: Collection[Sequence[str]]
) -> bool:
    """Whether two words are a stem of at least so many letters with endings of one paradigm."""
    return any(
        one[cut:] in paradigm and other[cut:] in paradigm
        for cut in range(least, Prefix.similarity(one, other) + 1)
        for paradigm in paradigms
    )


def _is_base(one: str, other: str, language: str) -> bool:
    """Whether the first of two case forms has the ending of the nominative, the other another."""
    return all(
        first == second
        or any(
            first[cut:] == paradigm[0] and second[cut:] in paradigm[1:]
            for cut in range(Prefix.similarity(first, second) + 1)
            for paradigm in words_of(language).paradigms
        )
        for first, second in zip(one.split(), other.split(), strict=True)
    )


def _join_misspelt(joining: _Joining, ordinary: Collection[str]) -> None:
    """Rare names join a commoner one of their type that differs by a letter or two of one word."""
    begun: dict[tuple[str, ...], list[Form]] = defaultdict(list)
    for form in joining.forms:
        alike = _but_for_one_word(form)
        if joining.count(form) <= RARE:
            near = {one for some in alike for one in begun[some] if one.count > form.count}
            found = [(misspelt_by(key(form.name), key(one.name), ordinary), one) for one in near]
            for distance, other in sorted(found, key=lambda pair: (pair[0], *_commonest(pair[1]))):
                if distance and joining.fits(form, other):
                    joining.shorten([form])
                    joining.join(form, other, "spelling")
                    break
        for some in alike:
            begun[some].append(form)


def _but_for_one_word(form: Form) -> list[tuple[str, ...]]:
    """What it shares with names of its type of which one word is spelt otherwise, word by word."""
    words = key(form.name).split()
    return [
        (form.type, *words[:at], f"{word[0]}*", *words[at + 1 :]) for at, word in enumerate(words)
    ]


def misspelt_by(one: str, other: str, ordinary: Collection[str]) -> int:
    """By how many letters the one word differs in which two names do; 0 where they are two names.

    Damerau 1964: a letter too few, too many, another, or two exchanged.
    """
    pairs = zip(one.split(), other.split(), strict=True)
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
    """How many of its letters may differ."""
    return 0 if len(word) < SHORTEST_MISSPELT else 1 if len(word) < SHORTEST_TWICE else 2


def _words(form: Form) -> int:
    return len(key(form.name).split())


def _has_article(name: str) -> bool:
    """Whether it says what someone is, not who: the Spirit."""
    words = lower_name(name).split()
    return len(words) > 1 and words[0] in all_words().articles


def _is_of_a_person(name: str) -> bool:
    """Whether its words in small letters are such as stand in persons' names: de, von."""
    words = all_words()
    small = {word for word in name.split() if word.islower()}
    is_owned = "'s " in f"{lower_name(name)} ".replace(f"{key(name)} ", f"{key(name)}")
    return small <= words.particles | words.titles.keys() and not is_owned


def _commonest(form: Form) -> tuple[int, str, str, tuple[str, ...]]:
    return (-form.count, form.name, form.type, tuple(sorted(form.aliases)))
