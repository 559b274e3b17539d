"""The graph as a file: what is read back is what is in the graph."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from cases import for_each
from commands import run as run_command
from database import cypher
from fabula import Fabula
from fabula.errors import FabulaError, StoreError
from fabula.export.files import write_graph
from fabula.store import Store
from fabula.store import export_reader as export_module
from fabula.store.export_reader import ExportReader
from graphs import DIMENSIONS, document_id, nodes, put, small_graph

HOSTILE = 'a "<b>&\x00\x0b c\r\nd\U0001f600 ]]> e'
SPACE = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def full(store: Store, graph_url: str) -> Store:
    """Two documents in two collections; the first has a hostile chunk."""
    for collection in ("default", "other"):
        store.prepare(collection, "test-model", DIMENSIONS)
    text, aspects = small_graph()
    described, first, *rest = text.nodes
    hostile = replace(first, properties={**first.properties, "text": HOSTILE})
    put(store, [replace(text, nodes=(described, hostile, *rest)), aspects])
    put(store, small_graph("b.txt", chunks=3, collection="other"))
    return store


run = partial(run_command, "export")


def lines(file: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The nodes and the relationships of a file."""
    objects = [json.loads(line) for line in file.read_text("utf-8").split("\n")[:-1]]
    nodes = [one for one in objects if one["type"] == "node"]
    return nodes, [one for one in objects if one["type"] == "relationship"]


def in_graph(store: Store, collection: str) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The properties of a collection's nodes by id, and its relationships by type.

    The words by which a node is found are made of its text anew wherever it is read.
    """
    nodes = cypher(
        store,
        "MATCH (n:Document|Part|Passage {collection: $collection}) "
        "RETURN n {.*, embedding: NULL, search_text: NULL, search_terms: NULL, "
        "search_length: NULL, tenant: NULL, last: NULL, since: NULL, "
        "created_at: toString(n.created_at), "
        "updated_at: toString(n.updated_at)} AS n ORDER BY n.id",
        collection=collection,
    )
    edges = cypher(
        store,
        "MATCH ({collection: $collection})-[r]->() RETURN type(r) AS type, count(*) AS count",
        collection=collection,
    )
    kept = [{key: value for key, value in row["n"].items() if value is not None} for row in nodes]
    return kept, Counter({row["type"]: row["count"] for row in edges})


def weights() -> dict[tuple[str, str], float]:
    """The memberships of a small graph, by summary and member."""
    return {
        (edge.start, edge.end): edge.properties["weight"]
        for part in small_graph()
        for edge in part.edges
        if edge.type == "SUMMARIZES"
    }


@pytest.mark.journey
def test_json_lines_hold_the_collection(full: Store, tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    output = run("--out", file).stdout
    nodes, edges = lines(file)
    wanted, types = in_graph(full, "default")
    assert sorted((node["properties"] for node in nodes), key=lambda one: str(one["id"])) == wanted
    assert all(node["id"] == node["properties"]["id"] for node in nodes)
    assert Counter(edge["label"] for edge in edges) == types
    assert output == f"{file}: {len(nodes)} nodes, {len(edges)} relationships\n"
    assert [path.name for path in tmp_path.iterdir()] == ["graph.jsonl"]


def test_relationships_name_both_ends_and_their_weights(full: Store, tmp_path: Path) -> None:
    run("--out", tmp_path / "graph.jsonl")
    nodes, edges = lines(tmp_path / "graph.jsonl")
    labels = {node["id"]: node["labels"] for node in nodes}
    for edge in edges:
        for end in ("start", "end"):
            assert labels[edge[end]["id"]] == edge[end]["labels"]
    found = {
        (edge["start"]["id"], edge["end"]["id"]): edge["properties"]["weight"]
        for edge in edges
        if edge["label"] == "SUMMARIZES"
    }
    assert found == weights()


def test_embeddings_come_when_asked_for_as_they_were(full: Store, tmp_path: Path) -> None:
    run("--out", tmp_path / "with.jsonl", "--embeddings")
    written, _ = lines(tmp_path / "with.jsonl")
    found = {node["id"]: node["properties"].get("embedding") for node in written}
    for chunk in nodes(small_graph(), "Chunk"):
        assert chunk.embedding is not None
        assert np.array_equal(np.array(found[chunk.id], dtype=np.float32), chunk.embedding)
    assert found[document_id(small_graph())] is None


@pytest.mark.journey
def test_graphml_holds_the_same_with_typed_keys(full: Store, tmp_path: Path) -> None:
    file = tmp_path / "graph.graphml"
    run("--out", file)
    root = ElementTree.parse(file).getroot()
    keys = {
        key.attrib["id"]: (key.attrib["attr.name"], key.attrib["attr.type"])
        for key in root.iter(f"{SPACE}key")
    }

    def value(type: str, text: str) -> Any:
        return text if type == "string" else json.loads(text)

    def values(element: ElementTree.Element) -> dict[str, Any]:
        data = [(keys[node.attrib["key"]], node.text or "") for node in element]
        return {name: value(type, text) for (name, type), text in data}

    found = {node.attrib["id"]: values(node) for node in root.iter(f"{SPACE}node")}
    wanted, types = in_graph(full, "default")
    assert set(found) == {node["id"] for node in wanted}
    for node in wanted:
        texts = {
            name: json.dumps(value) if isinstance(value, list) else value
            for name, value in node.items()
            if name != "id"
        }
        for name in {"text", "name"} & texts.keys():
            texts[name] = texts[name].replace("\x00", "").replace("\x0b", "")
        label = found[node["id"]].pop("label")
        assert label.lower() == node.get("kind", "part" if "graph" in node else "document")
        assert found[node["id"]] == texts
    edges = list(root.iter(f"{SPACE}edge"))
    assert Counter(values(edge)["label"] for edge in edges) == types
    assert all({edge.attrib["source"], edge.attrib["target"]} <= set(found) for edge in edges)
    exported = [values(edge)["weight"] for edge in edges if values(edge)["label"] == "SUMMARIZES"]
    assert sorted(exported) == sorted(weights().values())


def test_one_document_or_all_collections(full: Store, tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    run("B", "--out", file, "--collection", "other")
    assert {node["properties"]["collection"] for node in lines(file)[0]} == {"other"}
    run("--all", "--out", file)
    assert {node["properties"]["collection"] for node in lines(file)[0]} == {"other", "default"}
    assert len(lines(file)[0]) == 21 + 18


def test_it_is_read_in_batches(
    full: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("--all", "--out", tmp_path / "at-once.jsonl")
    monkeypatch.setattr(export_module, "ROWS_PER_PAGE", 4)
    run("--all", "--out", tmp_path / "batches.jsonl")
    once, batches = (tmp_path / "at-once.jsonl"), (tmp_path / "batches.jsonl")
    assert batches.read_bytes() == once.read_bytes()


def test_a_document_that_changes_meanwhile_leaves_no_file(full: Store, tmp_path: Path) -> None:
    with Fabula() as fabula:
        exported = ExportReader(fabula.open_store(), list(fabula.documents()))
        put(full, small_graph(words="new"))
        with pytest.raises(StoreError, match=r"A was changed while it was read: export it again"):
            write_graph(exported, tmp_path / "graph.jsonl", "jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_one_line(full: Store, tmp_path: Path) -> None:
    with Fabula() as fabula, pytest.raises(FabulaError, match=r"can't be written: No such file"):
        fabula.export(tmp_path / "nowhere" / "graph.jsonl")


def test_a_device_a_pipe_or_a_link_is_never_replaced(full: Store, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("good")
    (tmp_path / "link.jsonl").symlink_to(target)
    (tmp_path / "loose.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    before = sorted(tmp_path.iterdir())
    with Fabula() as fabula:
        for name, kind in (
            ("link", "a link"),
            ("loose", "a link"),
            ("pipe", "a device or a pipe"),
            ("folder", "a folder"),
        ):
            file = tmp_path / f"{name}.jsonl"
            mode = file.lstat().st_mode
            with pytest.raises(
                FabulaError, match=rf"{name}\.jsonl is {kind}, .* name another file"
            ):
                fabula.export(file)
            assert file.lstat().st_mode == mode
        with pytest.raises(FabulaError, match=f"^{os.devnull} is a device"):
            fabula.export(os.devnull, format="jsonl")
    assert target.read_text() == "good"
    assert sorted(tmp_path.iterdir()) == before


@for_each(
    ("words", "message"),
    [
        (["--out", "graph.csv"], "end the file in .jsonl or .graphml"),
        (["--out", "graph"], "end the file in .jsonl or .graphml"),
        (["--out", "graph.graphml", "--embeddings"], "only be in JSONL: leave them out"),
    ],
)
def test_what_a_file_cannot_be_is_told(full: Store, words: list[str], message: str) -> None:
    assert message in run(*words, code=1).output


def test_flags_that_do_not_go_together_are_told() -> None:
    assert "not both" in run("A", "--all", "--out", "graph.jsonl", code=1).output


@for_each(
    ("how", "message"),
    [
        ({"format": "grapml"}, "written as jsonl or graphml, not as 'grapml'"),
        ({"format": "graphml", "embeddings": True}, "only be in JSONL"),
    ],
)
def test_a_program_is_told_the_same(
    full: Store, tmp_path: Path, how: dict[str, Any], message: str
) -> None:
    with Fabula() as fabula, pytest.raises(FabulaError, match=message):
        fabula.export(tmp_path / "graph", **how)
    assert list(tmp_path.iterdir()) == []


def test_a_collection_that_is_not_there_takes_the_place_of_no_file(
    full: Store, tmp_path: Path
) -> None:
    file = tmp_path / "backup.jsonl"
    file.write_text("good")
    output = run("--collection", "typo", "--out", file, code=1).output
    assert "into collection 'typo' yet: add documents to it" in output
    assert "Run `fabula ingest BOOK --collection typo`" in output
    assert "other" not in output.replace("another", ""), "nothing is told of other collections"
    assert file.read_text() == "good"


@pytest.mark.parametrize("format", ["jsonl", "graphml"])
def test_what_another_program_tied_to_the_graph_stays_out(
    full: Store, tmp_path: Path, format: str
) -> None:
    run("--out", tmp_path / "before", "--format", format)
    cypher(
        full,
        "MATCH (c:Chunk {collection: 'default', index: 1}), (o:Chunk {collection: 'other'}) "
        "MERGE (p:Person {name: 'Dora'}) MERGE (c)-[:MENTIONS]->(p) MERGE (c)-[:LIKE]->(o)",
    )
    run("--out", tmp_path / "after", "--format", format)
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


def test_keys_of_graphml_are_words_whatever_a_property_is_called(
    full: Store, tmp_path: Path
) -> None:
    odd = 'my "odd" name & <more>'
    cypher(full, f"MATCH (c:Chunk {{index: 1}}) SET c.`{odd}` = 'odd value', c.label = 'own'")
    run("--out", tmp_path / "graph.graphml")
    root = ElementTree.parse(tmp_path / "graph.graphml").getroot()
    keys = {key.attrib["id"]: key.attrib["attr.name"] for key in root.iter(f"{SPACE}key")}
    assert len(keys) == len(list(root.iter(f"{SPACE}key")))
    assert all(re.fullmatch(r"[\w.-]+", id) for id in keys)
    values = {keys[element.attrib["key"]]: element.text for element in root.iter(f"{SPACE}data")}
    assert values[odd] == "odd value"


def test_embeddings_wait_until_a_re_embedding_has_ended(full: Store, tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    cypher(full, "MATCH (s:Collection) SET s.phase = 'writing', s.next_model = 'm'")
    assert "is being re-embedded with m" in run("--out", file, "--embeddings", code=1).output
    assert not file.exists()
    run("--out", file)


def test_embeddings_of_two_models_are_never_one_file(full: Store) -> None:
    there = ExportReader(full, list(full.documents("default"))).nodes(embeddings=True)
    next(there)
    cypher(full, "MATCH (s:Collection) SET s.model = 'another'")
    with pytest.raises(StoreError, match="re-embedded while it was read"):
        list(there)
