"""What facts there may be: classes of things, and relations that hold between them.

As in the third step of Wikontic (Chepurova et al. 2025): a fact holds if the classes of its ends,
or any that those are under, are among those of its relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import SettingsError, did_you_mean
from fabula.graph import sets
from fabula.graphs.entities.triples import phrase_key
from fabula_graphs.facts import ontologies

RELATED = "related_to"
"""The relation of facts that are of no other relation."""
TIME = "time"
"""The class of dates and hours, which are never taken for one another."""
MAX_ENTRIES = 300
"""Classes, and relations, of an ontology: a prompt lists the classes."""
_COPULA = frozenset(["is", "are", "was", "were", "be", "been", "a", "an", "the"])


@dataclass(frozen=True, slots=True)
class OntologyRelation:
    """A relation; without `starts` and `ends` it is only another way to say its inverse.

    `aliases` are other words for it: a fact of it reads as the first.
    """

    name: str
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    inverse: str = ""
    symmetric: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """How a fact of it reads between its ends."""
        return self.aliases[0] if self.aliases else self.name.replace("_", " ")


@dataclass(frozen=True)
class Ontology:
    """Classes, each with those that it is directly under, and relations by their names."""

    classes: Mapping[str, tuple[str, ...]]
    relations: Mapping[str, OntologyRelation]

    @cached_property
    def above(self) -> Mapping[str, frozenset[str]]:
        """Each class with all that it is under, itself included."""
        above: dict[str, frozenset[str]] = {}

        def climb(name: str) -> frozenset[str]:
            if name not in above:
                above[name] = frozenset({name}).union(*map(climb, self.classes[name]))
            return above[name]

        return {name: climb(name) for name in self.classes}

    def relation_of(self, predicate: str) -> str:
        """Return the relation that has a predicate as its name or an alias; '' for none."""
        return self._by_words.get(_plain(predicate), "")

    def check(self, subject: Iterable[str], relation: str, object: Iterable[str]) -> str:
        """Return the relation by which a fact holds between ends of these classes; '' for none.

        If that is not `relation`, it is its inverse, and subject and object change places.
        """
        start, end = self._above_all(subject), self._above_all(object)
        if self._holds(start, relation, end):
            return relation
        inverse = self.relations[relation].inverse
        return inverse if inverse and self._holds(end, inverse, start) else ""

    def _holds(self, start: frozenset[str], relation: str, end: frozenset[str]) -> bool:
        allowed = self.relations[relation]
        return not start.isdisjoint(allowed.starts) and not end.isdisjoint(allowed.ends)

    def _above_all(self, classes: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(self.above.get(name, frozenset()) for name in classes))

    @cached_property
    def _by_words(self) -> Mapping[str, str]:
        names: dict[str, str] = {}
        for relation in self.relations.values():
            names.setdefault(_plain(relation.name), relation.name)
        for relation in self.relations.values():
            for alias in relation.aliases:
                names.setdefault(_plain(alias), relation.name)
        return names


def _plain(predicate: str) -> str:
    """A predicate as predicates are compared: "is the son of" is "son of", and so is `son_of`."""
    words = phrase_key(predicate.replace("_", " ")).split()
    while len(words) > 1 and words[0] in _COPULA:
        words = words[1:]
    return " ".join(words)


# Files


class _Relation(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    starts: list[str] = Field([], alias="from")
    ends: list[str] = Field([], alias="to")
    inverse: str = ""
    symmetric: bool = False
    aliases: list[str] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    classes: dict[str, list[str]] = Field(min_length=1, max_length=MAX_ENTRIES)
    relations: dict[str, _Relation] = Field(min_length=1, max_length=MAX_ENTRIES)


def read_ontology(name_or_path: str) -> Ontology:
    """Return a shipped ontology, or one of a TOML file.

    Raises:
        SettingsError: There is no such file, or it is not a valid ontology; the message says why.
    """
    file = sets.read_set(name_or_path, ontologies.__name__, "ontology", _File)
    sets.refuse_names(name_or_path, "class", file.classes)
    sets.refuse_names(name_or_path, "relation", file.relations)
    classes = {name: tuple(parents) for name, parents in file.classes.items()}
    relations = {
        name: OntologyRelation(
            name,
            tuple(entry.starts),
            tuple(entry.ends),
            entry.inverse,
            entry.symmetric,
            tuple(" ".join(alias.split()) for alias in entry.aliases if re.search(r"\w", alias)),
        )
        for name, entry in file.relations.items()
    }
    faults = [*_class_faults(classes), *_spelling_faults(relations)]
    for relation in relations.values():
        faults += _relation_faults(relation, classes, relations)
        faults += _inverse_faults(relation, relations)
    if faults:
        raise SettingsError(f"{name_or_path} is not a valid ontology: {faults[0]}")
    # An inverse is declared on one of the two relations only.
    for relation in list(relations.values()):
        inverse = relations[relation.inverse] if relation.inverse else None
        if inverse and not inverse.inverse:
            relations[inverse.name] = replace(inverse, inverse=relation.name, symmetric=False)
    return Ontology(classes, relations)


def _class_faults(classes: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    for name, parents in classes.items():
        for parent in parents:
            if parent not in classes:
                yield f"the class {name!r} is under {parent!r}, {_unknown(parent, classes)}"
                return
    path: list[str] = []
    done: set[str] = set()

    def circle(name: str) -> str:
        if name in path:
            names = [*path[path.index(name) :], name]
            return f"its classes go in a circle: {', under '.join(map(repr, names))}."
        if name in done:
            return ""
        path.append(name)
        fault = next(filter(None, map(circle, classes[name])), "")
        path.pop()
        done.add(name)
        return fault

    yield from filter(None, map(circle, classes))


def _spelling_faults(relations: Mapping[str, OntologyRelation]) -> Iterable[str]:
    """Names and aliases that stand for no relation, or for two."""
    owners: dict[str, str] = {}
    for name, relation in relations.items():
        if not re.search(r"[^\W_]", name):
            yield f"the relation {name!r} has no letter in its name."
        for words in (name, *relation.aliases):
            owner = owners.setdefault(_plain(words), name)
            if owner != name:
                yield f"{words!r} stands for both {owner!r} and {name!r}: remove it from one."


def _relation_faults(
    relation: OntologyRelation,
    classes: Mapping[str, tuple[str, ...]],
    relations: Mapping[str, OntologyRelation],
) -> Iterable[str]:
    for name in (*relation.starts, *relation.ends):
        if name not in classes:
            yield f"the relation {relation.name!r} is of {name!r}, {_unknown(name, classes)}"
            return
    if bool(relation.starts) != bool(relation.ends):
        yield (
            f"the relation {relation.name!r} needs both `from` and `to`, or an inverse that has "
            "them."
        )
    elif relation.symmetric and set(relation.starts) != set(relation.ends):
        yield f"the relation {relation.name!r} is symmetric, and needs the same `from` and `to`."
    elif not relation.starts and not any(
        other.starts
        for other in relations.values()
        if other.name == relation.inverse or other.inverse == relation.name
    ):
        yield f"the relation {relation.name!r} needs `from` and `to`, or an inverse that has them."


def _inverse_faults(
    relation: OntologyRelation, relations: Mapping[str, OntologyRelation]
) -> Iterable[str]:
    if not relation.inverse:
        return
    inverse = relations.get(relation.inverse)
    if inverse is None:
        hint = did_you_mean(
            relation.inverse, relations, "List it, too; it needs no more than a name."
        )
        yield f"the inverse {relation.inverse!r} of {relation.name!r} is not listed. {hint}"
        return
    claiming = [inverse.inverse] + [
        other.name for other in relations.values() if other.inverse == relation.inverse
    ]
    others = [name for name in claiming if name not in ("", relation.name)]
    if others:
        yield f"{relation.inverse!r} is the inverse of both {relation.name!r} and {others[0]!r}."
    elif relation.symmetric:
        yield f"the relation {relation.name!r} is symmetric, and so its own inverse."
    elif _are_at_odds(relation, inverse):
        yield (
            f"{relation.name!r} and its inverse {relation.inverse!r} have different classes: "
            "`from` of one is `to` of the other, or both are left out of one."
        )


def _are_at_odds(relation: OntologyRelation, inverse: OntologyRelation) -> bool:
    """Whether both have classes, and not the same ones."""
    if not (relation.starts and inverse.starts):
        return False
    return (set(relation.starts), set(relation.ends)) != (set(inverse.ends), set(inverse.starts))


def _unknown(name: str, classes: Iterable[str]) -> str:
    listed = list(classes)
    return f"which is none of its classes. {did_you_mean(name, listed, ', '.join(listed) + '.')}"
