"""Statements against the ontology, and what is left of them as facts: the third step, no call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabula.graphs.entities.triples import phrase
from fabula.graphs.facts import ids
from fabula.graphs.facts.cast import Cast
from fabula.graphs.facts.ontology import RELATED, Ontology
from fabula.graphs.facts.values import End, Fact, Statement

UNRELATED, UNTYPED, UNFIT, ITSELF = "unrelated", "untyped", "unfit", "itself"
"""Why a statement is left out: its predicate is no relation, an end has no class, their classes
are not those of the relation, both ends are one."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The facts by their ids, what was left out by the reason, and how many were turned round."""

    facts: tuple[Fact, ...]
    left_out: Mapping[str, tuple[Statement, ...]]
    turned: int


def check(
    document: str,
    statements: Iterable[Statement],
    cast: Cast,
    ontology: Ontology,
    *,
    strict: bool,
) -> Checked:
    """The facts that statements come to; the order they come in does not matter."""
    same: dict[str, tuple[End, str, End]] = {}
    said: dict[str, list[Statement]] = defaultdict(list)
    left_out: dict[str, list[Statement]] = defaultdict(list)
    turned = 0
    for one in sorted(set(statements), key=_order):
        relation = _relation(one, ontology, strict=strict)
        subject, object = (_end(one, at, cast, ontology) for at in (0, 2))
        if why := _fault(subject, relation, object):
            left_out[why].append(one)
            continue
        holds = ontology.check(subject.types, relation, object.types)
        if not holds:
            left_out[UNFIT].append(one)
            continue
        if holds != relation:
            turned += 1
            subject, object = object, subject
        if ontology.relations[holds].symmetric and object.key < subject.key:
            subject, object = object, subject
        id = ids.fact_id(document, subject.key, holds, object.key)
        same.setdefault(id, (subject, holds, object))
        said[id].append(one)
    facts = (Fact(id, *same[id], tuple(said[id])) for id in sorted(same))
    return Checked(tuple(facts), {why: tuple(some) for why, some in left_out.items()}, turned)


def _order(one: Statement) -> tuple[int, str, str, str, str, str, str]:
    words = (one.subject, one.predicate, one.object)
    return (one.place, one.chunk, *words, one.subject_type, one.object_type)


def _relation(one: Statement, ontology: Ontology, *, strict: bool) -> str:
    """What its predicate is called, or was taken for; `related_to` for none unless `strict`."""
    choice = one.choices[1]
    found = ontology.relation_of(one.predicate) or (choice.taken if choice else "")
    if not found and not strict and RELATED in ontology.relations:
        return RELATED
    return found


def _end(one: Statement, at: int, cast: Cast, ontology: Ontology) -> End:
    """Whom or what the subject (0) or the object (2) is: with the class stated and its own type."""
    name, type = (one.object, one.object_type) if at else (one.subject, one.subject_type)
    choice = one.choices[at]
    called = cast.called(name)
    id = choice.taken if choice else (called[0] if called else "")
    known = cast.by_id.get(id)
    if known is None:
        return End(phrase(name), name, "", (type,) if type else ())
    types = dict.fromkeys(kind for kind in (type, known.type) if kind in ontology.classes)
    return End(known.id, known.name, known.id, tuple(types))


def _fault(subject: End, relation: str, object: End) -> str:
    if not relation:
        return UNRELATED
    if not subject.types or not object.types:
        return UNTYPED
    return ITSELF if subject.key == object.key else ""
