"""Who is one over all documents of a collection, before it is divided into communities."""

from __future__ import annotations

from fabula.graph import Node, Owner, Part, Record
from fabula_graphs.collection_communities.members import find_members


def part(graph: str, *nodes: Node) -> Part:
    return Part(Owner("default", graph), nodes, (), Record({}))


def entity(id: str, type: str) -> Node:
    return Node(id, "Entity", {"key": "georgia", "type": type}, ("c",))


def identity(id: str, *members: str) -> Node:
    return Node(id, "Identity", {"members": members}, ("c",))


def members(types: str, identities: Part | None = None) -> str:
    """Which of entities of one key, of these types, are one: the numbers of their first ones."""
    entities = [entity(str(row), type) for row, type in enumerate(types.split())]
    member_of = find_members([part("entities", *entities)], identities)
    return " ".join(member_of[node.id] for node in entities)


def test_a_person_and_a_place_of_one_name_are_two() -> None:
    assert members("person place person location") == "0 1 0 1"
    assert members("person place concept") == "0 1 2"
    assert members("person concept person") == "0 0 0", "what else it is called speaks for no other"


def test_a_namesake_is_in_the_one_identity_of_its_kind() -> None:
    alone = part("identities", identity("i", "0"))
    assert members("person place person", alone) == "0 1 0"
    both = part("identities", identity("i", "0"), identity("j", "3"))
    assert members("person person concept place", both) == "0 0 2 3"
