"""Who is one over all documents of a collection, before it is divided into communities."""

from __future__ import annotations

from fabula.graph import Edge, Node, Owner, Part, Record
from fabula.graphs.collection_communities.joined import group


def part(graph: str, *nodes: Node, edges: tuple[Edge, ...] = ()) -> Part:
    return Part(Owner("default", graph), nodes, edges, Record({}))


def entity(id: str, type: str) -> Node:
    return Node(id, "Entity", {"key": "georgia", "type": type}, ("c",))


def identity(id: str, type: str) -> Node:
    return Node(id, "Identity", {"keys": ["georgia"], "type": type}, ("c",))


def grouped(types: str, identities: Part | None = None) -> str:
    """Which of entities of one key, of these types, are one: the numbers of their first ones."""
    entities = [entity(str(row), type) for row, type in enumerate(types.split())]
    found = group([part("entities", *entities)], identities)
    return " ".join(found[one.id] for one in entities)


def test_a_person_and_a_place_of_one_name_are_two() -> None:
    assert grouped("person place person location") == "0 1 0 1"
    assert grouped("person place concept") == "0 1 2"
    assert grouped("person concept person") == "0 0 0", "what else it is called speaks for no other"


def test_a_namesake_is_in_the_one_identity_of_its_kind() -> None:
    tied = (Edge("SAME", "i", "0"),)
    told = part("identities", identity("i", "person"), edges=tied)
    assert grouped("person place person", told) == "0 1 0"
    both = part("identities", identity("i", "person"), identity("j", "place"), edges=tied)
    assert grouped("person person concept", both) == "0 0 2"
