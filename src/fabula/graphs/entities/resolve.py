"""Resolve names: which names of a document are of one person, place or thing, and why.

Names are joined level by level, the surest first: what a person decided, equal names, aliases,
family names and first names, case endings, and misspellings. No level joins what a person keeps
apart, a man's title with a woman's, or a person with a place.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import DamerauLevenshtein, Prefix

from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.forenames import forename_sex, is_short_for, long_forms
from fabula.graphs.entities.name_parts import NameParts, parts_of_names
from fabula.graphs.entities.names import (
    lower_name,
    name_key,
    name_titles,
    title_sex,
    titled_key,
    titles_agree,
)
from fabula.graphs.entities.pronouns import Pronouns, pronoun_sex
from fabula.graphs.entities.words import all_words, words_of
from fabula.text.folding import fold

PERSON, PLACE, UNKNOWN, THING = "person", "place", "name", "thing"
"""Types with a meaning here; rules give UNKNOWN to a name of which they know nothing else."""
_PLACES = frozenset((PLACE, "location", "geo"))
_ANIMATE = frozenset((PERSON, "creature", "animal", "being", "character", "deity", "god"))
MAX_MISSPELT_COUNT = 2
"""A name that occurs more often is not taken for a misspelling."""
MIN_LETTERS_ONE_WRONG, MIN_LETTERS_TWO_WRONG = 5, 9
"""Letters of a word in which one letter may be wrong, and two letters."""
MIN_STEM, MIN_STEM_OF_SEVERAL = 4, 3
"""Letters before a case ending in a name of one word, and in one of several."""
_SOFT_LETTERS = {"ć": "ci", "ś": "si", "ź": "zi", "ń": "ni"}
_SOFT = re.compile("[ćśźń](?=k)")
MIN_FULL_COUNT = 2
"""How often a full name occurs before a first name alone is taken for it."""
MIN_DOUBTFUL_COUNT = 5
"""How often both of two names must occur for a model to be asked about them."""
WIFE_SHARE = 5
"""How often Mrs Dilber must occur for each Dilber, so that Dilber is she and not her husband."""
MIN_WEIGHT = 4
"""How often a family name may occur, however rare its only bearer is."""
MAX_LIGHTER, FIRST_NAME_SHARE = 1.5, 0.25
"""How much more often than its only bearer a family name may occur, and how often the first name
alone, as a share of the family name, says that its bearer is called by it."""


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
        short: Forms that stand for a fuller name of the group, are inflected, or are misspelt.
    """

    forms: frozenset[NameForm]
    joined: tuple[tuple[NameForm, NameForm, str], ...]
    short: frozenset[NameForm]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Groups of forms, one for each entity.

    `shared` has family names of several people, and for each of them a form of everyone whom it
    may mean. `doubtful` has pairs of persons' names, both common, that rules leave apart though
    they may be of one person, the commonest first.
    """

    groups: tuple[NameGroup, ...]
    shared: Mapping[NameForm, tuple[NameForm, ...]]
    doubtful: tuple[tuple[NameForm, NameForm], ...] = ()


def resolve(
    forms: Collection[NameForm],
    *,
    language: str,
    decisions: DecidedPairs,
    ordinary: Collection[str],
    pronouns: Mapping[str, Pronouns] | None = None,
    confirmed: Iterable[tuple[str, str]] = (),
) -> Resolution:
    """Find out which forms are names of one entity.

    Args:
        forms: All forms of a document.
        language: Its language, an ISO 639-1 code.
        decisions: What a person decided.
        ordinary: Words that the text has in lower case; none is a misspelt name.
        pronouns: How many pronouns of a man and of a woman follow each name (`pronouns`).
        confirmed: Pairs of names that a model takes for one person's.
    """
    joining = _Joining(sorted(forms, key=_commonest_first), decisions, ordinary, pronouns or {})
    _join_decided(joining, decisions.join)
    people = _People(joining)
    _join_equal(joining, people)
    _join_aliases(joining, people)
    _join_full_nicknames(joining, people)
    shared = _join_short(joining, people)
    _join_nicknames(joining)
    _join_plurals(joining, people)
    _join_confirmed(joining, confirmed)
    _join_inflected(joining, language)
    _join_misspelt(joining, frozenset(ordinary))
    return Resolution(
        tuple(joining.group(root) for root in joining.roots()),
        shared,
        _doubtful(joining, people),
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
    return tuple(_soften(word)[:MIN_STEM_OF_SEVERAL] for word in name.split())


class _Joining:
    """Forms in groups that only grow; each begins alone. A group's root is its commonest form."""

    def __init__(
        self,
        forms: Sequence[NameForm],
        decisions: DecidedPairs,
        ordinary: Collection[str],
        pronouns: Mapping[str, Pronouns],
    ) -> None:
        self.forms = forms
        counts: Counter[str] = Counter()
        for form in forms:
            counts[form.name] += form.count
        # A thing's name has no epithets: the battle of Waterloo is no Waterloo.
        people = {form.name for form in forms if kind_of(form.type) in (PERSON, "")}
        self._parts = parts_of_names({name: counts[name] for name in sorted(people)}, ordinary)
        words = [parts.words for parts in self._parts.values()]
        self._families = {words_of_name[-1] for words_of_name in words if len(words_of_name) > 1}
        self._pronouns = pronouns
        self._kept_apart = [set(map(titled_key, pair)) for pair in decisions.keep_apart]
        self._root = {form: form for form in forms}
        self._members = {form: [form] for form in forms}
        self._joined: dict[NameForm, list[tuple[NameForm, NameForm, str]]] = {
            form: [] for form in forms
        }
        self._short: set[NameForm] = set()

    def parts(self, form: NameForm) -> NameParts:
        """The parts of a form's name; a thing's name is all of it."""
        if kind_of(form.type) in (PERSON, ""):
            return self._parts[form.name]
        return NameParts(form.name, fold(name_key(form.name)))

    def key(self, form: NameForm) -> str:
        return self.parts(form).key

    def roots(self) -> list[NameForm]:
        return list(self._members)

    def root(self, form: NameForm) -> NameForm:
        return self._root[form]

    def members(self, form: NameForm) -> list[NameForm]:
        return self._members[self._root[form]]

    def count(self, form: NameForm) -> int:
        return sum(member.count for member in self.members(form))

    def place(self, form: NameForm) -> int:
        """Where the text first has one of the group's names."""
        return min(member.place for member in self.members(form))

    def title_sexes(self, form: NameForm) -> set[str]:
        """What the titles of a group say, as `Words.titles` has it."""
        rests = (self.parts(member).rest for member in self.members(form))
        return {sex for rest in rests if (sex := title_sex(rest))}

    def sex(self, form: NameForm) -> str:
        """Whether a group is a man ("m") or a woman ("f"), or ''.

        Its titles and forenames say so, and else the pronouns that follow its names.
        """
        members = self.members(form)
        sexes = {sex for member in members if (sex := self._sex_of_name(member))}
        if len(sexes) == 1:
            return min(sexes)
        if sexes:
            return ""
        counts = [self._pronouns.get(member.name, (0, 0)) for member in members]
        return pronoun_sex(sum(men for men, _ in counts), sum(women for _, women in counts))

    def _sex_of_name(self, form: NameForm) -> str:
        """The sex that a name shows; one word is a forename if it is nobody's family name."""
        parts = self.parts(form)
        if parts.sex or len(parts.words) != 1 or name_titles(parts.rest):
            return parts.sex
        return "" if parts.key in self._families else forename_sex(parts.key)

    def group(self, root: NameForm) -> NameGroup:
        root = self._root[root]
        members = frozenset(self._members[root])
        # Where a name has words that are no part of it, the name without them is the fuller one.
        shortened = {form for form in members if self.parts(form).epithets}
        short = (members & self._short) | shortened
        return NameGroup(members, tuple(self._joined[root]), short)

    def fits(self, form: NameForm, other: NameForm) -> bool:
        """Whether nothing speaks against making one group of theirs."""
        members = (*self.members(form), *self.members(other))
        return (
            self._may_join(form, other)
            and {self.sex(form), self.sex(other)} != {"m", "f"}
            and agree(
                (member.type for member in members),
                (self.parts(member).rest for member in members),
            )
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
            {titled_key(member.name) for member in self._members[root]} for root in roots
        )
        return not any(
            pair & names and pair & other_names and len(pair & (names | other_names)) == 2
            for pair in self._kept_apart
        )


class _People:
    """Full names of persons, by all that they end with and by all that they begin with.

    `by_role` has names with an article, of whatever type, by their last word: the White Rabbit.
    `by_key` has all forms by their keys.
    """

    def __init__(self, joining: _Joining) -> None:
        self.by_family: dict[str, list[NameForm]] = defaultdict(list)
        self.by_first: dict[str, list[NameForm]] = defaultdict(list)
        self.by_role: dict[str, list[NameForm]] = defaultdict(list)
        self.by_key: dict[str, list[NameForm]] = defaultdict(list)
        self.last_place = max((form.place for form in joining.forms), default=0)
        for form in joining.forms:
            parts = joining.parts(form)
            words = parts.words
            self.by_key[parts.key].append(form)
            if len(words) > 1 and _has_article(form.name):
                self.by_role[words[-1]].append(form)
            if len(words) > 1 and kind_of(form.type) == PERSON and _is_of_a_person(parts.rest):
                for cut in range(1, len(words)):
                    self.by_family[" ".join(words[cut:])].append(form)
                    self.by_first[" ".join(words[:cut])].append(form)


def _join_decided(joining: _Joining, pairs: Iterable[tuple[str, str]]) -> None:
    """Pairs of names that a person gave, whatever the names look like."""
    by_name: dict[str, list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        by_name[titled_key(form.name)].append(form)
    for first_name, second_name in sorted(tuple(sorted(pair)) for pair in pairs):
        for first in by_name[titled_key(first_name)]:
            for second in by_name[titled_key(second_name)]:
                joining.join(first, second, "person")


def _join_equal(joining: _Joining, people: _People) -> None:
    """Join equal keys.

    Where titles tell several entities of a key apart, the name without a title joins one of them at
    most: a man, or else a woman if nobody's full name ends with it.
    """
    for key, forms in people.by_key.items():
        with_title = [form for form in forms if title_sex(joining.parts(form).rest)]
        bare = [form for form in forms if not title_sex(joining.parts(form).rest)]
        for alike in (with_title, bare):
            for number, form in enumerate(alike):
                _join_first(joining, form, alike[:number])
        men = [form for form in with_title if joining.title_sexes(form) & {"m", "o"}]
        for form in bare:
            _join_first(joining, form, men)
            is_family_name = any(not joining.title_sexes(full) for full in people.by_family[key])
            if not joining.title_sexes(form) and not is_family_name:
                women = [other for other in with_title if _may_be_hers(joining, form, other)]
                _join_first(joining, form, women)


def _join_first(joining: _Joining, form: NameForm, others: Iterable[NameForm]) -> None:
    """Join a form with the first of those of equal key that it fits."""
    for other in others:
        if joining.fits(form, other):
            titles, other_titles = (name_titles(joining.parts(f).rest) for f in (form, other))
            joining.join(form, other, "exact" if titles == other_titles else "title")
            return


def _may_be_hers(joining: _Joining, bare: NameForm, other: NameForm) -> bool:
    """Whether a name without a title may be that of someone who has a woman's title.

    Beside Mrs Barrymore, Barrymore is her husband, unless he is named much less often than she is.
    """
    if (
        joining.title_sexes(bare)
        or "w" not in joining.title_sexes(other)
        or " " in joining.key(bare)
    ):
        return True
    return WIFE_SHARE * joining.count(bare) <= joining.count(other)


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

    Names with a maiden's title come first: who is Miss Hilbery is not Mrs Hilbery. Family names of
    several people are returned, with the full names that they may stand for.
    """
    shared: dict[NameForm, tuple[NameForm, ...]] = {}
    maidens_first = sorted(
        joining.forms, key=lambda form: title_sex(joining.parts(form).rest) != "g"
    )
    for form in maidens_first:
        name = joining.key(form)
        members = joining.members(form)
        words = len(joining.parts(form).words)
        has_fuller = any(len(joining.parts(member).words) > words for member in members)
        if kind_of(form.type) not in (PERSON, "") or has_fuller:
            continue
        with_article = sum(
            member.count
            for member in members
            if _has_article(member.name) and not joining.parts(member).epithets
        )
        if 2 * with_article >= joining.count(form):
            _join_role(joining, form, people.by_role[name])
            continue
        by_family = _bearers(joining, form, people.by_family[name], is_family=True)
        by_first = _bearers(joining, form, people.by_first[name], is_family=False)
        last_title = name_titles(joining.parts(form).rest).split()[-1:]
        if not last_title:
            bearers = list(dict.fromkeys([*by_family, *by_first]))
        elif last_title[0] in all_words().before_first:
            bearers = by_first or by_family
        else:
            bearers = by_family or by_first
        is_family = bool(bearers) and set(bearers) <= set(by_family)
        is_first = bool(bearers) and not is_family and " " not in name
        if is_first and not _is_introduced(joining, people, form, bearers[0]):
            continue
        if len(bearers) == 1 or (is_family and _have_one_first_name(joining, bearers, name)):
            if is_family and not _is_weighty(joining, people, form, bearers[0]):
                continue
            joining.mark_short(joining.members(form))
            joining.join(form, bearers[0], "family" if is_family else "first")
        elif is_family and joining.count(form) <= sum(map(joining.count, bearers)):
            # A family name that occurs more often than all its full names is another person's, and
            # so is one with a title.
            bare = (
                member
                for member in joining.members(form)
                if not title_sex(joining.parts(member).rest)
            )
            shared |= dict.fromkeys(bare, tuple(bearers))
    return shared


def _is_introduced(joining: _Joining, people: _People, first: NameForm, full: NameForm) -> bool:
    """Whether a full name may be that of who is called by its first name alone.

    A full name that occurs once is, where it introduces its bearer, or where the text has its
    family name, too. "Joe Miller never made such a joke" makes no Miller of old Joe.
    """
    if joining.count(full) >= MIN_FULL_COUNT or full.place <= first.place:
        return True
    if _titles(joining, first) & _titles(joining, full):
        return True
    family = joining.parts(full).words[-1]
    families = (*people.by_key[family], *people.by_family[family])
    return any(joining.root(form) != joining.root(full) for form in families)


def _is_weighty(joining: _Joining, people: _People, short: NameForm, full: NameForm) -> bool:
    """Whether a family name may stand for the only full name that ends with it.

    It may be another person's of the family where it occurs much more often than all that its
    bearer is called, and its bearer either is called by a first name, or comes late in the text:
    Heathcliff is not his son Linton Heathcliff.
    """
    family = joining.key(short)
    firsts = {
        key.removesuffix(f" {family}")
        for member in joining.members(full)
        if (key := joining.key(member)).endswith(f" {family}")
    }
    alone = [
        form
        for first in sorted(firsts)
        for form in people.by_key[first]
        if kind_of(form.type) in (PERSON, "")
    ]
    bearer = joining.count(full) + sum(
        form.count for form in alone if joining.root(form) != joining.root(full)
    )
    count = joining.count(short)
    if count <= bearer or _titles(joining, short) & _titles(joining, full):
        return True
    if "g" in joining.title_sexes(short):
        return True
    is_called_by_first_name = sum(form.count for form in alone) >= FIRST_NAME_SHARE * count
    is_late = joining.place(full) - joining.place(short) > people.last_place / 3
    has_always_title = all(name_titles(joining.parts(f).rest) for f in joining.members(short))
    if is_called_by_first_name and has_always_title:
        # Who is never without his title is not his son, whom the text calls by his first name: Mr.
        # Wilcox is not Charles. But Farmer Oak, who is also Oak, may be Gabriel.
        return False
    if count <= MIN_WEIGHT:
        return not (is_called_by_first_name and count > MAX_LIGHTER * bearer)
    if count <= MAX_LIGHTER * bearer:
        return not (is_called_by_first_name and is_late)
    return not (is_called_by_first_name or is_late)


def _join_role(joining: _Joining, form: NameForm, full: Iterable[NameForm]) -> None:
    """Join "the Rabbit" with "the White Rabbit", if that is the only name that ends so."""
    roots = list({joining.root(other) for other in full})
    if len(roots) != 1 or joining.count(roots[0]) < MIN_FULL_COUNT:
        return
    if kind_of(form.type) == kind_of(roots[0].type) == PERSON and joining.fits(form, roots[0]):
        joining.mark_short(joining.members(form))
        joining.join(form, roots[0], "family")


def _bearers(
    joining: _Joining, short: NameForm, full: Iterable[NameForm], *, is_family: bool
) -> list[NameForm]:
    """The full names that a short one may stand for, a root for each group, the commonest first.

    `is_family` says whether the short one would be a family name.
    """
    roots = {
        joining.root(other)
        for other in full
        if joining.fits(short, other) and _may_be_hers(joining, short, other)
    }
    titles = set(name_titles(joining.parts(short).rest).split())
    if titles & all_words().sovereigns:
        roots = {root for root in roots if titles & _titles(joining, root)}
    if joining.title_sexes(short) & {"f", "w", "g"}:
        # Miss Watkin is Henrietta Watkin, who must be a woman.
        roots = {root for root in roots if joining.sex(root) == "f"}
    if is_family and _titles(joining, short):
        # Squire Gordon is not young George Gordon.
        roots = {root for root in roots if not _is_young(joining, root)}
    if is_family and "w" in joining.title_sexes(short):
        # Mrs Cratchit is not Martha Cratchit, who may be her daughter, unless that is a Mrs, too.
        roots = {root for root in roots if joining.title_sexes(root)}
    return sorted(roots, key=lambda root: (-joining.count(root), root.name))


def _is_young(joining: _Joining, form: NameForm) -> bool:
    """Whether a group has a name with a word that tells a younger bearer from an older one."""
    young = {pair[-1] for pair in all_words().opposites}
    return any(young & set(joining.parts(member).epithets) for member in joining.members(form))


def _titles(joining: _Joining, form: NameForm) -> set[str]:
    """The titles before all names of a group."""
    return {
        title
        for member in joining.members(form)
        for title in name_titles(joining.parts(member).rest).split()
    }


def _have_one_first_name(joining: _Joining, forms: Iterable[NameForm], family: str) -> bool:
    """Whether no two full names have different first names; an initial stands for one of them."""
    first_names = {
        key.split()[0]
        for form in forms
        for member in joining.members(form)
        if (key := joining.key(member)).endswith(f" {family}")
    }
    spelt_out = {name for name in first_names if len(name) > 1}
    return len(spelt_out) <= 1 and len({name[0] for name in first_names}) <= 1


def _join_full_nicknames(joining: _Joining, people: _People) -> None:
    """Join full names of one family of which one forename is short for the other: Harry Jekyll."""
    for family in sorted(people.by_family):
        forms = [form for form in people.by_family[family] if len(joining.parts(form).words) == 2]
        for number, form in enumerate(forms):
            for other in forms[:number]:
                first, second = (joining.parts(f).words[0] for f in (form, other))
                if is_short_for(first, second) and joining.fits(form, other):
                    joining.join(form, other, "nickname")


def _join_nicknames(joining: _Joining) -> None:
    """Join Lizzy with Elizabeth, if there is only one."""
    firsts: dict[str, list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        words = joining.parts(form).words
        if words and kind_of(form.type) == PERSON and not _is_family_title(joining, form):
            firsts[words[0]].append(form)
    for form in joining.forms:
        key = joining.key(form)
        if kind_of(form.type) not in (PERSON, "") or _is_family_title(joining, form):
            continue
        others = {
            joining.root(other)
            for long in sorted(long_forms(key))
            for other in firsts[long]
            if joining.fits(form, other)
            and not _has_forename(joining, form, other)
            and not _has_title_before(joining, other, long)
        } - {joining.root(form)}
        if len(others) == 1:
            [other] = others
            _join_as_shorter(joining, form, other, "nickname")


def _join_as_shorter(joining: _Joining, form: NameForm, other: NameForm, why: str) -> None:
    """Join two forms; that of fewer words, or the rarer one, stands for the other."""
    shorter = min(form, other, key=lambda form: (len(joining.parts(form).words), form.count))
    joining.mark_short(joining.members(shorter))
    joining.join(form, other, why)


def _is_family_title(joining: _Joining, form: NameForm) -> bool:
    """Whether a name of one word stands behind a title of family names: Mr. Jack, not Sir Jack."""
    parts = joining.parts(form)
    titles = name_titles(parts.rest).split()
    return len(parts.words) == 1 and bool(titles) and titles[-1] not in all_words().before_first


def _has_title_before(joining: _Joining, form: NameForm, forename: str) -> bool:
    """Whether a group has a title before this forename: nobody calls Father William Bill."""
    return any(
        joining.parts(member).words[:1] == [forename] and name_titles(joining.parts(member).rest)
        for member in joining.members(form)
    )


def _has_forename(joining: _Joining, form: NameForm, other: NameForm) -> bool:
    """Whether two groups have different full names, so that they are two people."""
    fulls = [
        {key for member in joining.members(f) if " " in (key := joining.key(member))}
        for f in (form, other)
    ]
    return bool(fulls[0] and fulls[1])


def _join_inflected(joining: _Joining, language: str) -> None:
    """Join case forms with the commonest of them, where the endings of the language are known."""
    if not words_of(language).paradigms:
        return
    by_beginnings: dict[tuple[str, ...], list[NameForm]] = defaultdict(list)
    case_forms: dict[NameForm, list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        name = name_key(joining.parts(form).rest)
        alike = by_beginnings[beginnings(name)]
        for other in alike:
            other_name = name_key(joining.parts(other).rest)
            if is_inflected(name, other_name, language) and joining.fits(form, other):
                joining.join(form, other, "inflection")
                case_forms[other].append(form)
                break
        else:
            alike.append(form)
    for first, others in case_forms.items():
        forms = [first, *others]
        base = _nominative(joining, forms, language)
        joining.mark_short(form for form in forms if form != base)


def _nominative(joining: _Joining, forms: Sequence[NameForm], language: str) -> NameForm:
    """The case form from which the endings of a language make most uses of the others.

    Where none makes another, it is the commonest, which is the first.
    """
    keys = {form: name_key(joining.parts(form).rest) for form in forms}

    def count_explained(base: NameForm) -> int:
        return sum(
            form.count
            for form in forms
            if keys[form] != keys[base] and _is_base(keys[base], keys[form], language)
        )

    def same(base: NameForm) -> int:
        return sum(form.count for form in forms if keys[form] == keys[base])

    best = max(forms, key=lambda form: (count_explained(form) + same(form), form.count))
    return best if count_explained(best) else forms[0]


def _has_common_stem(
    word: str, other: str, min_stem: int, paradigms: Collection[Sequence[str]]
) -> bool:
    """Whether two words are one stem with endings of one paradigm."""
    word, other = _soften(word), _soften(other)
    return any(
        word[cut:] in paradigm and other[cut:] in paradigm
        for cut in range(MIN_STEM_OF_SEVERAL, Prefix.similarity(word, other) + 1)
        # Endings of two letters and more say more than short ones: Jacek, Jacka.
        if cut >= min_stem or min(len(word), len(other)) >= cut + 2
        for paradigm in paradigms
    )


def _soften(word: str) -> str:
    """A Polish word with its soft consonants before k written as before vowels: Maćka, Maciek."""
    return _SOFT.sub(lambda match: _SOFT_LETTERS[match[0]], word)


def _is_base(name: str, other_name: str, language: str) -> bool:
    """Whether the first of two case forms has the ending of the nominative, the other another."""
    pairs = zip(name.split(), other_name.split(), strict=True)
    return all(
        word == other
        or any(
            word[cut:] == paradigm[0] and other[cut:] in paradigm[1:]
            for cut in range(Prefix.similarity(word, other) + 1)
            for paradigm in words_of(language).paradigms
        )
        for word, other in ((_soften(first), _soften(second)) for first, second in pairs)
    )


def _join_plurals(joining: _Joining, people: _People) -> None:
    """Join a people with one of it: the Morlocks and a Morlock.

    It is a people where it is named at least as often together as singly, and where one of it has
    an article: the Cratchits are several, but Cratchit is somebody.
    """
    for form in joining.forms:
        key = joining.key(form)
        if kind_of(form.type) == PLACE or not key.endswith("s"):
            continue
        for one in people.by_key.get(key[:-1], ()):
            is_people = _has_article(one.name) or kind_of(one.type) == THING
            is_rarer = joining.count(one) <= joining.count(form)
            if is_people and is_rarer and kind_of(one.type) != PLACE:
                joining.mark_short(joining.members(one))
                joining.join(one, form, "plural")


def _join_confirmed(joining: _Joining, pairs: Iterable[tuple[str, str]]) -> None:
    """Join what a model takes for one person's names, unless titles or decisions forbid it."""
    by_name: dict[str, list[NameForm]] = defaultdict(list)
    for form in joining.forms:
        by_name[form.name].append(form)
    for first_name, second_name in sorted(pairs):
        for first in by_name[first_name]:
            for second in by_name[second_name]:
                if joining.fits(first, second):
                    _join_as_shorter(joining, first, second, "model")


def _doubtful(joining: _Joining, people: _People) -> tuple[tuple[NameForm, NameForm], ...]:
    """Pairs of persons of whom one may be called by a part or a short form of the other's name."""
    pairs: dict[tuple[NameForm, NameForm], int] = {}
    for form in joining.forms:
        key = joining.key(form)
        if kind_of(form.type) != PERSON or " " in key or _has_article(form.name):
            continue
        longer = [*people.by_family[key], *people.by_first[key]]
        longer += [other for long in sorted(long_forms(key)) for other in people.by_key[long]]
        for other in longer:
            roots = (joining.root(form), joining.root(other))
            counts = [joining.count(root) for root in roots]
            if min(counts) >= MIN_DOUBTFUL_COUNT and joining.fits(*roots):
                pair = (min(roots, key=_commonest_first), max(roots, key=_commonest_first))
                pairs[pair] = sum(counts)
    return tuple(sorted(pairs, key=lambda pair: (-pairs[pair], pair[0].name, pair[1].name)))


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
