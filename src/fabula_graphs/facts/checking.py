"""The third step: check statements against the ontology and make facts of them, without a call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabula.graphs.entities.triples import phrase_key
from fabula.text.ids import digest
from fabula_graphs.facts.entities import NamedEntities
from fabula_graphs.facts.ontology import RELATED, Ontology
from fabula_graphs.facts.values import End, FactStatement, OntologyFact

UNRELATED, UNTYPED, UNFIT, ITSELF = "unrelated", "untyped", "unfit", "itself"
"""Why a statement is left out: its predicate is no relation, an end has no class, the classes of
the ends are not those of the relation, both ends are the same."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The facts by id, what was left out by reason, and how many were stated by an inverse."""

    facts: tuple[OntologyFact, ...]
    left_out: Mapping[str, tuple[FactStatement, ...]]
    turned: int


@dataclass(frozen=True, slots=True)
class CheckRules:
    """What is left out.

    Attributes:
        strict: Statements whose predicate is no relation; else they are of `related_to`.
        types: Statements whose ends are of no class, or not of those of the relation. Without this
            check they are facts as they were stated, which is the ablation of the third step.
    """

    strict: bool = False
    types: bool = True


def check(
    document: str,
    statements: Iterable[FactStatement],
    entities: NamedEntities,
    ontology: Ontology,
    rules: CheckRules,
) -> Checked:
    """Return the facts that statements come to; their order does not matter."""
    found: dict[str, tuple[End, str, End]] = {}
    statements_of: dict[str, list[FactStatement]] = defaultdict(list)
    left_out: dict[str, list[FactStatement]] = defaultdict(list)
    turned = 0
    for statement in sorted(set(statements), key=_order):
        relation = _relation(statement, ontology, strict=rules.strict)
        subject, object = (_end(statement, at, entities, ontology) for at in (0, 2))
        reason = _fault(subject, relation, object)
        if reason and (rules.types or reason != UNTYPED):
            left_out[reason].append(statement)
            continue
        holds = ontology.check(subject.types, relation, object.types)
        if not holds and not rules.types:
            holds = relation
        if not holds:
            left_out[UNFIT].append(statement)
            continue
        if holds != relation:
            turned += 1
            subject, object = object, subject
        # By names: keys are ids, which depend on where the file lies.
        if ontology.relations[holds].symmetric and _place(object) < _place(subject):
            subject, object = object, subject
        id = digest(10, "fact", document, subject.key, holds, object.key)
        found.setdefault(id, (subject, holds, object))
        statements_of[id].append(statement)
    facts = (OntologyFact(id, *found[id], tuple(statements_of[id])) for id in sorted(found))
    return Checked(tuple(facts), {why: tuple(those) for why, those in left_out.items()}, turned)


def _order(statement: FactStatement) -> tuple[int, str, str, str, str, str, str]:
    types = (statement.subject_type, statement.object_type)
    return (statement.place, statement.chunk, *statement.words, *types)


def _relation(statement: FactStatement, ontology: Ontology, *, strict: bool) -> str:
    """What its predicate is called, or was taken for; `related_to` for none unless `strict`."""
    relation = ontology.relation_of(statement.predicate) or statement.choices[1] or ""
    if not relation and not strict and RELATED in ontology.relations:
        return RELATED
    return relation


def _end(statement: FactStatement, at: int, entities: NamedEntities, ontology: Ontology) -> End:
    """Whom or what the subject (0) or the object (2) is: with the class stated and its own type."""
    name = statement.words[at]
    type = statement.object_type if at else statement.subject_type
    choice = statement.choices[at]
    id = next(iter(entities.find(name)), "") if choice is None else choice
    known = entities.by_id.get(id)
    if known is None:
        return End(phrase_key(name), name, "", (type,) if type else ())
    types = dict.fromkeys(kind for kind in (type, known.type) if kind in ontology.classes)
    return End(known.id, known.name, known.id, tuple(types))


def _place(end: End) -> tuple[str, str]:
    """Which end of a symmetric relation is its subject: the one that comes first."""
    return end.name.casefold(), end.key


def _fault(subject: End, relation: str, object: End) -> str:
    if not relation:
        return UNRELATED
    if not subject.types or not object.types:
        return UNTYPED
    return ITSELF if subject.key == object.key else ""
