"""Merge what chunks say one by one into entities with all their names, and their relations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, groupby

from fabula.graph.decisions import Decision
from fabula.graphs.entities import ids
from fabula.graphs.entities.corrections import DECIDED, EntityDraft, apply_corrections
from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.names import has_capital, lower_name, name_key, name_titles, titled_key
from fabula.graphs.entities.plays import is_of_scene
from fabula.graphs.entities.resolve import (
    PERSON,
    UNKNOWN,
    NameForm,
    NameGroup,
    Resolution,
    kind_of,
    person_or_place,
    resolve,
)
from fabula.graphs.entities.values import (
    Entities,
    Entity,
    Extraction,
    Mention,
    Relation,
    RelationMention,
    mention_order,
)
from fabula.graphs.entities.word_forms import is_inflected
from fabula.graphs.entities.words import all_words, words_of

FAMILY = "group"
"""The type of a family: a family name with the ending of the plural."""
MAX_CHUNKS_IN_ERROR = 2
"""A name that is a person in more chunks than this, and a place or thing in more, is both."""
NEAR_CHARACTERS = 4_000
"""How near to a family name its bearer is looked for, where several bear it: 1,000 tokens."""


@dataclass(frozen=True, slots=True)
class ResolvedMentions:
    """The mentions of an extraction, and which of their names are one person's."""

    extraction: Extraction
    language: str
    mentions: Sequence[Mention]
    forms: Sequence[NameForm]
    resolve: Callable[..., Resolution]
    resolution: Resolution

    def confirm(self, pairs: Collection[tuple[str, str]]) -> ResolvedMentions:
        """Return the same with some of the doubtful pairs of names taken for one person's."""
        return replace(self, resolution=self.resolve(confirmed=pairs)) if pairs else self

    def merge(self, document: str, corrections: Sequence[Decision] = ()) -> Entities:
        """Return the entities of a document; the order of the mentions does not matter.

        Args:
            document: The id of the document, which the ids of entities are made from.
            corrections: What people corrected in the entities, which is applied at the end.

        Returns:
            Entities and relations, each ordered by ids, and their mentions in text order. An
            entity has each of its mentions, several of a chunk where there are several.
        """
        groups = self.resolution.groups
        by_group = _mentions_by_group(self.mentions, self.forms, self.resolution)
        drafts, effects = apply_corrections(
            _drafts(groups, by_group), corrections, partial(_draft, groups)
        )
        entities = _entities(document, self.language, drafts)
        relations = _relations(document, entities, self.extraction.relation_mentions)
        return Entities(entities, relations, effects)


def resolve_mentions(
    extraction: Extraction,
    *,
    language: str,
    decisions: DecidedPairs,
) -> ResolvedMentions:
    """Find out which names of an extraction are one person's.

    Args:
        extraction: What chunks say.
        language: The language of the document, an ISO 639-1 code.
        decisions: What a person decided of names.
    """
    whole_and_split = (
        part for mention in extraction.mentions for part in _split(mention, decisions.keep_apart)
    )
    mentions = [mention for mention, _ in groupby(sorted(whole_and_split, key=mention_order))]
    forms = _forms(mentions, language)
    resolve_forms = partial(
        resolve,
        frozenset(forms),
        language=language,
        decisions=decisions,
    )
    return ResolvedMentions(extraction, language, mentions, forms, resolve_forms, resolve_forms())


def _split(mention: Mention, keep_apart: Iterable[tuple[str, str]]) -> Iterator[Mention]:
    """A mention without the printed names that a person keeps apart from it, and one of those."""
    names = dict(mention.names)
    for pair in (set(map(titled_key, names_apart)) for names_apart in keep_apart):
        if len(pair) == 2 and pair <= {titled_key(form) for form in (mention.name, *names)}:
            leaving = max(pair - {titled_key(mention.name)})
            gone = {form: names.pop(form) for form in [*names] if titled_key(form) == leaving}
            yield Mention(mention.chunk, mention.place, min(gone), gone, mention.type)
    yield replace(mention, names=names)


def _forms(mentions: Sequence[Mention], language: str) -> list[NameForm]:
    """The form of each mention: its name, or two of a name that is a person's and a thing's."""
    chunks: dict[tuple[str, bool], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    units = [_unit(mention.name, language) for mention in mentions]
    for mention, unit in zip(mentions, units, strict=True):
        chunks[unit][kind_of(mention.type)].add(mention.chunk)

    def side_of(mention: Mention, unit: tuple[str, bool]) -> str:
        sides = {kind: len(of_kind) for kind, of_kind in chunks[unit].items() if kind}
        # Two where each is in several chunks; Hope and hope are two by their capitals (`_unit`).
        often = {kind for kind, count in sides.items() if count > MAX_CHUNKS_IN_ERROR}
        if PERSON not in often or len(often) < 2:
            return ""
        kind = kind_of(mention.type)
        return kind if kind in often else min(often, key=lambda kind: (-sides[kind], kind))

    of_mentions = [
        (mention.name, unit, side_of(mention, unit))
        for mention, unit in zip(mentions, units, strict=True)
    ]
    types: dict[tuple[tuple[str, bool], str], list[str]] = defaultdict(list)
    counts: Counter[tuple[str, tuple[str, bool], str]] = Counter()
    aliases: dict[tuple[str, tuple[str, bool], str], set[str]] = defaultdict(set)
    places: dict[tuple[str, tuple[str, bool], str], int] = {}
    for mention, of_mention in zip(mentions, of_mentions, strict=True):
        types[of_mention[1:]].append(mention.type)
        counts[of_mention] += max(1, sum(map(len, mention.names.values())))
        aliases[of_mention].update((*mention.aliases, *mention.names))
        place = min(_places(mention))
        places[of_mention] = min(place, places.get(of_mention, place))
    forms = {
        of_mention: NameForm(
            of_mention[0],
            _most_frequent(types[of_mention[1:]]),
            count,
            frozenset(
                alias for alias in aliases[of_mention] if name_key(alias) != name_key(of_mention[0])
            ),
            places[of_mention],
        )
        for of_mention, count in counts.items()
    }
    return [forms[of_mention] for of_mention in of_mentions]


def _unit(name: str, language: str) -> tuple[str, bool]:
    """What has one type: a name with its titles, and whether it is written small."""
    words = name.split()
    bare = " ".join(words[1:]) if words[0].casefold() in all_words().articles else name
    has_case = bare.lower() != bare.upper() and not words_of(language).nouns_have_capitals
    return titled_key(name), has_case and not has_capital(bare)


def _mentions_by_group(
    mentions: Sequence[Mention], forms: Sequence[NameForm], resolution: Resolution
) -> list[list[Mention]]:
    """The mentions of each group, in the order of the groups."""
    group_of = {
        form: number for number, group in enumerate(resolution.groups) for form in group.forms
    }
    places: dict[int, list[int]] = defaultdict(list)
    for mention, form in zip(mentions, forms, strict=True):
        places[group_of[form]] += _places(mention)
    for of_group in places.values():
        of_group.sort()

    # A family name of several goes to whoever is named most nearby; else it is one of its own.
    def bearer(mention: Mention, form: NameForm) -> int:
        place = _places(mention)[0]
        bearers = {group_of[full] for full in resolution.shared.get(form, ())}
        nearest_first = sorted(
            (-_count_near(places[group], place), -len(places[group]), group) for group in bearers
        )
        if not nearest_first or not nearest_first[0][0]:
            return group_of[form]
        return nearest_first[0][2]

    by_group: list[list[Mention]] = [[] for _ in resolution.groups]
    for mention, form in zip(mentions, forms, strict=True):
        by_group[bearer(mention, form)].append(mention)
    return by_group


def _places(mention: Mention) -> list[int]:
    return sorted(start for starts in mention.names.values() for start in starts) or [mention.place]


def _count_near(places: Sequence[int], place: int) -> int:
    first = bisect_left(places, place - NEAR_CHARACTERS)
    return bisect_right(places, place + NEAR_CHARACTERS) - first


def _drafts(
    groups: Sequence[NameGroup], mentions: Sequence[Sequence[Mention]]
) -> list[EntityDraft]:
    """An entity for each group that has mentions, the most mentioned first."""
    pairs = [
        (group, of_group) for group, of_group in zip(groups, mentions, strict=True) if of_group
    ]
    pairs.sort(key=lambda pair: (-len(pair[1]), mention_order(pair[1][0])))
    drafts: list[EntityDraft] = []
    taken: set[str] = set()
    for group, of_group in pairs:
        drafts.append(_draft(groups, group, of_group, taken))
        taken.add(drafts[-1].key)
    return drafts


def _draft(
    groups: Sequence[NameGroup],
    group: NameGroup,
    mentions: Sequence[Mention],
    taken: Collection[str],
) -> EntityDraft:
    """The entity of a group and its mentions, with a key that is none of those taken."""
    name, full = _names(group, mentions)
    types = [mention.type for mention in mentions]
    type = FAMILY if _is_family(name, groups) else _most_frequent(types)
    return EntityDraft(group, tuple(mentions), _unique_key(full, type, taken), name, type)


def _unique_key(name: str, type: str, taken: Collection[str]) -> str:
    """The key of a name; where it is taken, a longer one."""
    keys = (name_key(name), lower_name(name), f"{name_key(name)} ({type})")
    numbered = (f"{name_key(name)} ({number})" for number in count(2))
    return next(key for key in chain(keys, numbered) if key not in taken)


def _entities(document: str, language: str, drafts: Sequence[EntityDraft]) -> tuple[Entity, ...]:
    """The entities of drafts; where keys are equal, some get longer ones."""
    taken: set[str] = set()
    entities = []
    in_order = sorted(
        drafts, key=lambda draft: (-len(draft.mentions), mention_order(draft.mentions[0]))
    )
    for draft in in_order:
        counts = _counts(draft.mentions)
        for name in (draft.name, *draft.given):
            counts.setdefault(name, 0)  # a name that a person gave may be printed nowhere
        full = draft.name if draft.name in draft.given else _names(draft.group, draft.mentions)[1]
        key = _unique_key(full, draft.type, taken)
        taken.add(key)
        names = sorted(counts, key=lambda form: (form != full, -counts[form], form))
        names.sort(key=draft.name.__ne__)
        entities.append(
            Entity(
                ids.entity_id(document, draft.key),
                key,
                draft.name,
                draft.type,
                {form: counts[form] for form in names},
                _explain_draft(draft, counts, language),
                draft.mentions,
            )
        )
    return tuple(sorted(entities, key=lambda entity: entity.id))


def _explain_draft(draft: EntityDraft, counts: Counter[str], language: str) -> dict[str, str]:
    """Why each form except its name was taken for this entity; some because a person said so."""
    keys = {name_key(form.name) for form in draft.group.forms}
    start = draft.name
    if draft.is_named and name_key(draft.name) not in keys:
        start = _names(draft.group, draft.mentions)[0]
    whys = _explain(draft.group, start, counts, language)
    return {form: whys.get(form, DECIDED) for form in counts if form != draft.name}


def _counts(mentions: Iterable[Mention]) -> Counter[str]:
    """How often each form is printed; 0 for a name that an extraction gave and no chunk prints."""
    counts: Counter[str] = Counter()
    for mention in mentions:
        for form, starts in mention.names.items():
            counts[form] += len(starts)
    keys = {name_key(form) for form in counts}
    for mention in mentions:
        if name_key(mention.name) not in keys:
            counts.setdefault(mention.name, 0)
    return counts


def _names(group: NameGroup, mentions: Sequence[Mention]) -> tuple[str, str]:
    """What an entity is called, the form that is printed most often, and its full name."""
    counts = _counts(mentions)
    first: dict[str, int] = {}
    for mention in mentions:
        for form in (mention.name, *mention.names):
            first.setdefault(form, min(mention.names.get(form, (mention.place,))))

    def commonest(among: Iterable[NameForm]) -> str:
        keys = {name_key(form.name) for form in among}
        forms = [form for form in counts if name_key(form) in keys] or list(counts)
        # Of equals, one that is not all in capitals, has no title, is longer, and is printed first.
        return min(
            forms,
            key=lambda form: (
                *(-counts[form], form.isupper(), bool(name_titles(form))),
                *(-len(form), first[form], form),
            ),
        )

    return commonest(group.forms - group.variants), commonest(group.full)


def _is_family(name: str, groups: Iterable[NameGroup]) -> bool:
    """Whether a name is an article and the plural of a person's last name: the Cratchits."""
    words = lower_name(name).split()
    if len(words) != 2 or words[0] not in all_words().articles or not words[1].endswith("s"):
        return False
    return any(
        person_or_place(form.type) == PERSON and name_key(form.name).split()[-1:] == [words[1][:-1]]
        for group in groups
        for form in group.forms
    )


def _explain(group: NameGroup, name: str, printed: Iterable[str], language: str) -> dict[str, str]:
    """Why each form except `name` was taken for this entity."""
    starts = (form for form in group.forms if name_key(form.name) == name_key(name))
    reached = group.explain(sorted(starts, key=lambda form: form.name))
    whys = {form.name: why for form, why in reached.items()}
    by_key = {name_key(form.name): why for form, why in reversed(reached.items())}

    def why_of(form: str) -> str:
        form_key = name_key(form)
        if form_key == name_key(name):
            return "exact" if name_titles(form) == name_titles(name) else "title"
        if why := whys.get(form) or by_key.get(form_key):
            return why
        if any(form_key == other.split()[-1] for other in by_key):
            return "family"
        is_case_form = any(is_inflected(form_key, other, language) for other in by_key)
        return "inflection" if is_case_form else "alias"

    return {form: why_of(form) for form in printed if form != name}


def _relations(
    document: str, entities: Sequence[Entity], relation_mentions: Iterable[RelationMention]
) -> tuple[Relation, ...]:
    """Relations of every two entities; what is of two names of one entity is left out."""
    entity_of: dict[tuple[str, str], str] = {}
    of_entities = [(mention, entity.id) for entity in entities for mention in entity.mentions]
    # The names that the extraction gave come first: it gives relations by these names.
    for entity_mention, id in of_entities:
        entity_of.setdefault((entity_mention.chunk, entity_mention.name), id)
    for entity_mention, id in of_entities:
        for form in (*entity_mention.names, *entity_mention.aliases):
            entity_of.setdefault((entity_mention.chunk, form), id)
    # Two who share a scene of a play may speak in different chunks of it.
    of_name = {entity_mention.name: id for entity_mention, id in reversed(of_entities)}
    pairs: dict[tuple[str, str], list[tuple[RelationMention, bool]]] = defaultdict(list)
    for mention in sorted(set(relation_mentions), key=_relation_mention_order):
        elsewhere = of_name if is_of_scene(mention.keywords) else {}
        source, target = (
            entity_of.get((mention.chunk, name)) or elsewhere.get(name, "")
            for name in (mention.source, mention.target)
        )
        if source and target and source != target:
            pairs[min(source, target), max(source, target)].append((mention, source < target))
    relations = [
        Relation(
            ids.relation_id(document, first, second),
            first,
            second,
            tuple(mention for mention, _ in of_pair),
            tuple(forward for _, forward in of_pair),
        )
        for (first, second), of_pair in pairs.items()
    ]
    return tuple(sorted(relations, key=lambda relation: relation.id))


def _most_frequent(types: Iterable[str]) -> str:
    """The type that most mentions have; UNKNOWN only where no mention has another."""
    counts = Counter(types)
    return min(counts, key=lambda type: (type == UNKNOWN, -counts[type], type))


def _relation_mention_order(mention: RelationMention) -> tuple[object, ...]:
    ends = (mention.source, mention.target)
    rest = (mention.statement, mention.keywords, mention.strength)
    return (mention.place, mention.chunk, *ends, *rest)
