"""Who is one over all documents of a collection, before it is divided into communities."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from building import finish
from communities import CHUNKS, entities, writes
from fabula.graph import CHUNK, REPLIES, TEXT, Node, Owner, Part, Record
from fabula.graph.method import BuildWork, Known, PartReader
from fabula.graph.parts import known_of, part_of, text_part
from fabula_graphs.collection_communities import GRAPH
from fabula_graphs.collection_communities.build import build_collection
from fabula_graphs.collection_communities.members import find_members
from fabula_graphs.collection_communities.options import Options
from scripted import Models, told


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


def built(models: Models, known: Known) -> Part:
    """The part of a collection of one document."""
    document: Any = SimpleNamespace(id="d")
    text = text_part(told(CHUNKS).document, CHUNKS, {}, {})
    chunks = tuple(node for node in text.nodes if node.label == CHUNK)
    parts = {TEXT: replace(text, nodes=chunks), "entities": entities()}
    reader = PartReader("default", (document,), lambda graph, _: parts[graph])
    work = BuildWork()
    made = finish(build_collection(reader, Options(), models, known, work), models, work)
    return part_of(GRAPH, reader, made, {}, {})


def test_the_same_groups_are_not_reported_on_again() -> None:
    before = built(Models(writes()), Known())
    assert any(node.label == REPLIES for node in before.nodes)
    models = Models(writes())
    again = built(models, known_of(before, (), {}))
    assert (again.nodes, again.edges) == (before.nodes, before.edges)
    assert models.meter.total().calls == 0
