"""The kinds of corrections that people make, and how they are checked."""

from __future__ import annotations

from fabula.graph.decisions import DecisionRules
from fabula.graph.method import LazyFunction
from fabula.graph.queries import FOLDER

RENAME, MERGE, SPLIT = "rename", "merge", "split"
KINDS = {
    RENAME: "give an entity another name: its name, and the new one",
    MERGE: "make one entity of several: the name of the one that stays, and those of the others",
    SPLIT: "make an entity of its own of names that belong to somebody else, or keep entities of "
    "different documents apart: the name of the entity, and those that are not its own",
}

_MODULE = "fabula.graphs.entities.corrections"
RULES = DecisionRules(
    KINDS,
    FOLDER / "entities" / "find_named.cypher",
    # A question loads the declarations of all graphs, and corrects nothing.
    words=LazyFunction(f"{_MODULE}:describe"),
    check=LazyFunction(f"{_MODULE}:check"),
)
