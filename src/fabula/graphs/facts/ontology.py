"""What facts there may be: classes of things, and relations that hold between them.

As in the third step of Wikontic (Chepurova et al. 2025): a fact holds if the classes of its ends,
or any that those are under, are among those of its relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from fabula.errors import SettingsError, did_you_mean
from fabula.graph import sets
from fabula.graphs.entities.triples import phrase
from fabula.graphs.facts import ontologies

RELATED = "related_to"
"""The relation of what is no other one."""
TIME = "time"
"""The class of dates and hours, which are never taken for one another."""
MOST = 300
"""Classes, and relations, of an ontology: a prompt lists the classes."""
_COPULA = frozenset(["is", "are", "was", "were", "be", "been", "a", "an", "the"])


@dataclass(frozen=True, slots=True)
class Relation:
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
    relations: Mapping[str, Relation]

    @cached_property
    def above(self) -> Mapping[str, frozenset[str]]:
        """Each class with all that it is under, itself among them."""
        found: dict[str, frozenset[str]] = {}

        def climb(name: str) -> frozenset[str]:
            if name not in found:
                found[name] = frozenset({name}).union(*map(climb, self.classes[name]))
            return found[name]

        return {name: climb(name) for name in self.classes}

    def relation_of(self, predicate: str) -> str:
        """The relation that a predicate is called by name or by an alias; '' for none."""
        return self._spelt.get(_plain(predicate), "")

    def check(self, subject: Iterable[str], relation: str, object: Iterable[str]) -> str:
        """The relation by which a fact holds between ends of these classes; '' for none.

        Where that is not `relation`, it is its inverse, and the fact is to be turned round.
        """
        start, end = self._above_all(subject), self._above_all(object)
        if self._holds(start, relation, end):
            return relation
        inverse = self.relations[relation].inverse
        return inverse if inverse and self._holds(end, inverse, start) else ""

    def _holds(self, start: frozenset[str], relation: str, end: frozenset[str]) -> bool:
        one = self.relations[relation]
        return not start.isdisjoint(one.starts) and not end.isdisjoint(one.ends)

    def _above_all(self, classes: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(self.above.get(name, frozenset()) for name in classes))

    @cached_property
    def _spelt(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for one in self.relations.values():
            found.setdefault(_plain(one.name), one.name)
        for one in self.relations.values():
            for alias in one.aliases:
                found.setdefault(_plain(alias), one.name)
        return found


def _plain(predicate: str) -> str:
    """A predicate as predicates are compared: "is the son of" is "son of", and so is `son_of`."""
    words = phrase(predicate.replace("_", " ")).split()
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

    classes: dict[str, list[str]] = Field(min_length=1, max_length=MOST)
    relations: dict[str, _Relation] = Field(min_length=1, max_length=MOST)


def read_ontology(name_or_path: str) -> Ontology:
    """A shipped ontology, or one of a TOML file.

    Raises SettingsError, which names the file and what is wrong with it.
    """
    read = sets.read_set(name_or_path, ontologies.__name__, "ontology", _File)
    sets.refuse_names(name_or_path, "class", read.classes)
    sets.refuse_names(name_or_path, "relation", read.relations)
    classes = {name: tuple(parents) for name, parents in read.classes.items()}
    relations = {
        name: Relation(
            name,
            tuple(one.starts),
            tuple(one.ends),
            one.inverse,
            one.symmetric,
            tuple(" ".join(alias.split()) for alias in one.aliases if re.search(r"\w", alias)),
        )
        for name, one in read.relations.items()
    }
    refusals = [*_class_faults(classes), *_spelling_faults(relations)]
    for one in relations.values():
        refusals += [*_relation_faults(one, classes, relations), *_inverse_faults(one, relations)]
    if refusals:
        raise SettingsError(f"{name_or_path} is no ontology: {refusals[0]}")
    for one in list(relations.values()):
        other = relations[one.inverse] if one.inverse else None
        if other and not other.inverse:
            relations[other.name] = Relation(
                other.name, other.starts, other.ends, one.name, aliases=other.aliases
            )
    return Ontology(classes, relations)


def _class_faults(classes: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    for name, parents in classes.items():
        for parent in parents:
            if parent not in classes:
                yield f"the class {name!r} is under {parent!r}, {_unknown(parent, classes)}"
                return
    under_way: list[str] = []
    done: set[str] = set()

    def circle(name: str) -> str:
        if name in under_way:
            round_trip = [*under_way[under_way.index(name) :], name]
            return f"its classes go in a circle: {', under '.join(map(repr, round_trip))}."
        if name in done:
            return ""
        under_way.append(name)
        found = next(filter(None, map(circle, classes[name])), "")
        under_way.pop()
        done.add(name)
        return found

    yield from filter(None, map(circle, classes))


def _spelling_faults(relations: Mapping[str, Relation]) -> Iterable[str]:
    """Names and aliases that say no relation, or two."""
    spelt: dict[str, str] = {}
    for one in relations.values():
        if not re.search(r"[^\W_]", one.name):
            yield f"the relation {one.name!r} has no letter in its name."
        for words in (one.name, *one.aliases):
            other = spelt.setdefault(_plain(words), one.name)
            if other != one.name:
                yield f"{words!r} says both {other!r} and {one.name!r}: let it say one of them."


def _relation_faults(
    one: Relation, classes: Mapping[str, tuple[str, ...]], relations: Mapping[str, Relation]
) -> Iterable[str]:
    for name in (*one.starts, *one.ends):
        if name not in classes:
            yield f"the relation {one.name!r} is of {name!r}, {_unknown(name, classes)}"
            return
    if bool(one.starts) != bool(one.ends):
        yield f"the relation {one.name!r} needs both `from` and `to`, or an inverse that has them."
    elif one.symmetric and set(one.starts) != set(one.ends):
        yield f"the relation {one.name!r} is symmetric, and needs the same `from` and `to`."
    elif not one.starts and not any(
        other.starts
        for other in relations.values()
        if other.name == one.inverse or other.inverse == one.name
    ):
        yield f"the relation {one.name!r} needs `from` and `to`, or an inverse that has them."


def _inverse_faults(one: Relation, relations: Mapping[str, Relation]) -> Iterable[str]:
    if not one.inverse:
        return
    inverse = relations.get(one.inverse)
    if inverse is None:
        hint = did_you_mean(one.inverse, relations, "List it, too; it needs no more than a name.")
        yield f"the inverse {one.inverse!r} of {one.name!r} is none of its relations. {hint}"
        return
    claiming = [inverse.inverse] + [
        two.name for two in relations.values() if two.inverse == one.inverse
    ]
    others = [name for name in claiming if name not in ("", one.name)]
    if others:
        yield f"{one.inverse!r} is the inverse of both {one.name!r} and {others[0]!r}."
    elif one.symmetric:
        yield f"the relation {one.name!r} is symmetric, and so its own inverse."
    elif _are_at_odds(one, inverse):
        yield (
            f"{one.name!r} and its inverse {one.inverse!r} are between different classes: `from` "
            "of one is `to` of the other, or both are left out of one."
        )


def _are_at_odds(one: Relation, inverse: Relation) -> bool:
    """Whether both say what they are between, and not the same."""
    if not (one.starts and inverse.starts):
        return False
    return (set(one.starts), set(one.ends)) != (set(inverse.ends), set(inverse.starts))


def _unknown(name: str, classes: Iterable[str]) -> str:
    listed = list(classes)
    return f"which is none of its classes. {did_you_mean(name, listed, ', '.join(listed) + '.')}"
