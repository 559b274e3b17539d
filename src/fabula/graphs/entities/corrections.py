"""Corrections by people: entities that are renamed, merged, or split, after names were resolved.

The method joins names as it does without them. Then the corrections are applied one after the
other, in the order in which people made them, each to the entities that those before it left. So a
later one may take back what an earlier one did, and without an undone one the others are applied as
if it had never been. An entity is meant by its key, else by its name, else by a printed name of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabula.errors import BadValue, CorrectionRefused, NotFound
from fabula.graph.decisions import Decision
from fabula.graphs.entities.correction_rules import KINDS, MERGE, RENAME, SPLIT
from fabula.graphs.entities.names import lower_name, titled_key
from fabula.graphs.entities.resolve import NameGroup
from fabula.graphs.entities.values import Mention, mention_order

APPLIED, ALREADY, ABSENT, CONFLICT = "applied", "already so", "no such entity", "name is taken"
"""What became of a correction in a document."""
DECIDED = "person"
"""Why a name is an entity's, where a person decided it."""


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """An entity before its node is made.

    Attributes:
        group: The forms of its names.
        mentions: Its mentions, in text order.
        key: Its key without corrections, which its id is made from: a new name keeps the id.
        name: Its name.
        type: Its type.
        is_named: Whether a person decided the name.
        given: Names that people gave it, which may be printed nowhere.
    """

    group: NameGroup
    mentions: tuple[Mention, ...]
    key: str
    name: str
    type: str
    is_named: bool = False
    given: tuple[str, ...] = ()

    def calls(self, name: str) -> int:
        """Return how often the text calls it by a name, plus 1 if it does at all."""
        forms = [
            (form, len(starts))
            for mention in self.mentions
            for form, starts in mention.names.items()
        ]
        forms += [(form, 0) for form in (*self.given, *(part.name for part in self.mentions))]
        counts = [count for form, count in forms if titled_key(form) == titled_key(name)]
        return 1 + sum(counts) if counts else 0


Row = Mapping[str, object]
NameDraft = Callable[[NameGroup, Sequence[Mention], frozenset[str]], EntityDraft]
"""Makes the draft of a group and its mentions; its key is none of those given."""


def apply_corrections(
    drafts: Sequence[EntityDraft], decisions: Sequence[Decision], draft: NameDraft
) -> tuple[list[EntityDraft], dict[int, str]]:
    """Apply corrections in their order.

    Args:
        drafts: The entities as names were resolved.
        decisions: The corrections; other kinds are left out.
        draft: Makes the draft of mentions that were split off or are left.

    Returns:
        The entities, and what became of each correction, by its number.
    """
    corrected = list(drafts)
    effects: dict[int, str] = {}
    for decision in decisions:
        if decision.kind == RENAME:
            effect = _rename(corrected, *decision.names)
        elif decision.kind == MERGE:
            effect = _merge(corrected, decision.names)
        elif decision.kind == SPLIT:
            effect = _split(corrected, decision.names[0], decision.names[1:], draft)
        else:
            continue
        effects[decision.number] = effect
    return corrected, effects


def find_called(drafts: Sequence[EntityDraft], name: str) -> int | None:
    """Return the place of the entity that a name means; None if nothing has it.

    Of several that the text calls so, it is the one that it calls so most often.
    """
    wanted = lower_name(name)
    for matches in (
        [at for at, draft in enumerate(drafts) if wanted in (draft.key, lower_name(draft.name))],
        [at for at, draft in enumerate(drafts) if titled_key(draft.name) == titled_key(name)],
    ):
        if matches:
            by_name = [at for at in matches if lower_name(drafts[at].name) == wanted]
            return max(by_name or matches, key=lambda at: (len(drafts[at].mentions), -at))
    best = max(range(len(drafts)), key=lambda at: (drafts[at].calls(name), -at), default=None)
    return best if best is not None and drafts[best].calls(name) else None


def _rename(drafts: list[EntityDraft], name: str, new_name: str) -> str:
    at = find_called(drafts, name)
    if at is None:
        return ABSENT
    if drafts[at].name == new_name:
        return ALREADY
    others = (draft for number, draft in enumerate(drafts) if number != at)
    if any(lower_name(draft.name) == lower_name(new_name) for draft in others):
        return CONFLICT
    drafts[at] = replace(drafts[at], name=new_name, is_named=True, given=(new_name,))
    return APPLIED


def _merge(drafts: list[EntityDraft], names: Sequence[str]) -> str:
    places = [find_called(drafts, name) for name in names]
    present = list(dict.fromkeys(at for at in places if at is not None))
    if len([at for at in places if at is not None]) < 2:
        return ABSENT
    if len(present) < 2:
        return ALREADY
    merged = [drafts[at] for at in present]
    group = _join_groups([draft.group for draft in merged])
    mentions = [mention for draft in merged for mention in draft.mentions]
    # The name of the first one stays even if another one's is printed more often.
    drafts[present[0]] = replace(
        merged[0],
        group=group,
        mentions=tuple(sorted(mentions, key=mention_order)),
        is_named=True,
        given=tuple(name for draft in merged for name in draft.given),
    )
    for at in sorted(present[1:], reverse=True):
        del drafts[at]
    return APPLIED


def _split(
    drafts: list[EntityDraft], name: str, leaving_names: Sequence[str], draft: NameDraft
) -> str:
    at = find_called(drafts, name)
    if at is None:
        return ABSENT
    leaving = {titled_key(leaving_name) for leaving_name in leaving_names}
    parted = [part for mention in drafts[at].mentions for part in _part(mention, leaving)]
    gone = [mention for mention, leaves in parted if leaves]
    stay = [mention for mention, leaves in parted if not leaves]
    if not gone or not stay:
        return ALREADY
    before = drafts[at]
    group = before.group
    taken = frozenset(other.key for other in drafts)
    rest = draft(_narrow(group, leaving, leaves=False), stay, taken)
    # It stays who it was, unless its name is one of those that leave it.
    is_other = titled_key(before.name) in leaving
    drafts[at] = replace(
        rest,
        key=before.key,
        name=rest.name if is_other else before.name,
        is_named=before.is_named and not is_other,
        given=tuple(name for name in before.given if titled_key(name) not in leaving),
    )
    split_off = draft(_narrow(group, leaving, leaves=True), gone, taken)
    namesake = next(
        (
            number
            for number, other in enumerate(drafts)
            if number != at and titled_key(other.name) == titled_key(split_off.name)
        ),
        None,
    )
    if namesake is None:
        drafts.append(split_off)
        return APPLIED
    # The text has another entity of this name already: it is that one.
    other = drafts[namesake]
    drafts[namesake] = replace(
        other,
        group=_join_groups([other.group, split_off.group]),
        mentions=tuple(sorted((*other.mentions, *split_off.mentions), key=mention_order)),
    )
    return APPLIED


def _part(mention: Mention, leaving: set[str]) -> Iterator[tuple[Mention, bool]]:
    """A mention, or its two parts, each with whether it leaves."""
    leaves = titled_key(mention.name) in leaving
    own = {
        form: at for form, at in mention.names.items() if (titled_key(form) in leaving) == leaves
    }
    other = {form: at for form, at in mention.names.items() if form not in own}
    yield replace(mention, names=own) if other else mention, leaves
    if other:
        # What was said goes with the name that the extraction gave: this part is a bare one.
        yield Mention(mention.chunk, mention.place, min(other), other, mention.type), not leaves


def _narrow(group: NameGroup, leaving: set[str], *, leaves: bool) -> NameGroup:
    """The forms of a group that leave it, or those that stay."""
    forms = frozenset(form for form in group.forms if (titled_key(form.name) in leaving) == leaves)
    joined = tuple(pair for pair in group.joined if pair[0] in forms and pair[1] in forms)
    return NameGroup(forms, joined, group.full & forms, group.variants & forms)


def _join_groups(groups: Sequence[NameGroup]) -> NameGroup:
    """One group of several, each joined to the first by its commonest form."""
    heads = [
        min(group.forms, key=lambda form: (-form.count, form.name, form.type))
        for group in groups
        if group.forms
    ]
    pairs = [(heads[0], head, DECIDED) for head in heads[1:]]
    return NameGroup(
        frozenset(form for group in groups for form in group.forms),
        (*(pair for group in groups for pair in group.joined), *pairs),
        frozenset(form for group in groups for form in group.full),
        frozenset(form for group in groups for form in group.variants),
    )


# Before a correction is kept


def check(
    kind: str, names: Sequence[str], rows: Sequence[Mapping[str, object]]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the names by which a correction is kept, and the documents that it concerns.

    A name that another correction gave, and that the text prints nowhere, is replaced by one that
    the text prints: so this correction stays when the other one is undone.

    Args:
        kind: What is to be done.
        names: With which names.
        rows: The entities of the documents that may have such entities: `document`, `title`,
            `key`, `name`, `type`, all `names`, and `counts`, how often each is printed.

    Raises:
        BadValue: There are too few names, or too many.
        CorrectionRefused: A name means several entities, another entity has it, or nothing would
            change.
        NotFound: No entity has a name.
    """
    needed = 2
    if len(names) < needed or not all(names) or (kind == RENAME and len(names) > needed):
        raise BadValue(f"A decision to {kind} needs names: {KINDS[kind]}.")
    by_document: dict[str, list[Row]] = {}
    for row in rows:
        by_document.setdefault(str(row["document"]), []).append(row)
    checks = {RENAME: _check_rename, MERGE: _check_merge, SPLIT: _check_split}
    concerned = [document for document, found in by_document.items() if checks[kind](found, names)]
    if concerned:
        found = by_document[concerned[0]]
        means = 1 if kind != MERGE else len(names)
        printed = [_printed_name(found, name) for name in names[:means]]
        return (*printed, *names[means:]), concerned
    of_entities = names[:1] if kind != MERGE else names
    documents = [{id for id, found in by_document.items() if _find(found, name)} for name in names]
    if kind == MERGE and all(documents) and not set.intersection(*documents):
        # They are in different documents, whose entities the graph of identities joins.
        return tuple(names), []
    if kind == SPLIT and all(documents) and _are_of_different_documents(by_document, names):
        # No document has them as names of one entity: the graph of identities keeps entities of
        # different documents apart, also where both have one name: John is not the other John.
        return tuple(names), []
    for name in of_entities:
        if not any(_find(found, name) for found in by_document.values()):
            raise NotFound(f"No entity is called {name!r} (`fabula entities` lists them).")
    raise CorrectionRefused(_why_nothing(kind, names))


def _why_nothing(kind: str, names: Sequence[str]) -> str:
    if kind == RENAME:
        return f"{names[0]!r} is called {names[1]!r} already."
    listed = ", ".join(repr(name) for name in names[1:])
    if kind == SPLIT:
        return f"Nothing that is called {names[0]!r} has the name {listed} besides another one."
    return f"{names[0]!r} and {listed} are names of one entity already."


def _check_rename(rows: Sequence[Row], names: Sequence[str]) -> bool:
    row = _find(rows, names[0])
    if row is None or row["name"] == names[1]:
        return False
    for other in rows:
        if other is not row and lower_name(str(other["name"])) == lower_name(names[1]):
            raise CorrectionRefused(
                f"Another entity of {row['title']} is called {names[1]!r}. If they are one, merge "
                "them; otherwise choose another name.",
                advice=f'Run `fabula correct merge "{names[1]}" "{names[0]}"`.',
            )
    return True


def _check_merge(rows: Sequence[Row], names: Sequence[str]) -> bool:
    found = [row for name in names if (row := _find(rows, name))]
    return len({str(row["key"]) for row in found}) > 1


def _check_split(rows: Sequence[Row], names: Sequence[str]) -> bool:
    row = _find(rows, names[0])
    if row is None:
        return False
    leaving = {titled_key(name) for name in names[1:]}
    forms = {titled_key(str(form)) for form in _forms(row)}
    return bool(forms & leaving) and bool(forms - leaving)


def _are_of_different_documents(
    by_document: Mapping[str, Sequence[Row]], names: Sequence[str]
) -> bool:
    """Whether two documents have entities that the first of some names and another one mean."""
    called = [{id for id, rows in by_document.items() if _find(rows, name)} for name in names]
    return all(len(called[0] | others) > 1 for others in called[1:])


def _find(rows: Sequence[Row], name: str) -> Row | None:
    """The entity of a document that a name or an id means; CorrectionRefused if several may be."""
    wanted = lower_name(name)
    levels = (
        [row for row in rows if row.get("id") == name],
        [row for row in rows if lower_name(str(row["name"])) == wanted],
        [row for row in rows if row["key"] == wanted],
        [row for row in rows if titled_key(str(row["name"])) == titled_key(name)],
        [
            row
            for row in rows
            if any(titled_key(str(form)) == titled_key(name) for form in _forms(row))
        ],
    )
    matches = next(filter(None, levels), [])
    if len(matches) > 1:
        of_key = [row for row in matches if row["key"] == wanted]
        if len(of_key) == 1:
            return of_key[0]
        meant = ", ".join(f"{row['name']} ({row['type']}, key {row['key']!r})" for row in matches)
        raise CorrectionRefused(
            f"{name!r} means {len(matches)} entities of {matches[0]['title']}: {meant}. Name the "
            "one you mean by its own name or by its key."
        )
    return matches[0] if matches else None


def _printed_name(rows: Sequence[Row], name: str) -> str:
    """A name that the text prints, for one that it prints nowhere."""
    row = _find(rows, name)
    if row is None:
        return name
    counts = row["counts"]
    assert isinstance(counts, Sequence)
    printed = {str(form): count for form, count in zip(_forms(row), counts, strict=True) if count}
    if (
        not printed
        or any(titled_key(form) == titled_key(name) for form in printed)
        or row["key"] == name
    ):
        return name
    best = max(printed, key=lambda form: (printed[form], form))
    is_its_own = all(
        other is row or titled_key(best) not in {titled_key(str(form)) for form in _forms(other)}
        for other in rows
    )
    return best if is_its_own else name


def _forms(row: Row) -> Sequence[object]:
    forms = row["names"]
    assert isinstance(forms, Sequence)
    return forms


def describe(decision: Decision) -> str:
    """Return a correction in words."""
    first, *others = decision.names
    listed = ", ".join(others)
    if decision.kind == RENAME:
        return f"rename {first} to {listed}"
    if decision.kind == MERGE:
        return f"merge {first} with {listed}"
    return f"split {listed} off {first}"
