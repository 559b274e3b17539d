"""A collection as a file: what is imported is what was exported, or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fabula.store as store_module
from commands import run
from database import cypher, wipe
from fabula import App
from fabula.errors import Changed, LoadError, NotFound, SpaceError, StoreError
from fabula.export import collection_file
from fabula.export.collection_file import format_row, parse_row
from fabula.graph.annotations import Annotation, LayerRecord, make_layer
from fabula.graph.decisions import Decision
from fabula.graph.hits import Filters
from fabula.graph.installed import graphs
from fabula.graph.queries import read_statement
from fabula.store import Store, database, locks, parts, reembedding, whole_collection
from fabula.store.annotations import edit_layer, read_layers
from fabula.store.decisions import save_decision
from fabula.store.integrity import check
from fabula.store.locks import process_lock
from fabula.store.migration import VERSION
from fabula.text.anchoring import TextQuote
from graphs import (
    DIMENSIONS,
    MODEL,
    begin_collection,
    names_of,
    nodes,
    put,
    settled_of,
    small_cast,
    small_communities,
    small_graph,
    vector,
)
from small_discourses import small_discourse

# What a collection has in a graph.

Belongings = tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]


def belongings(store: Store, collection: str) -> Belongings:
    """All that a collection has: its nodes, its relationships, and its own node.

    Nodes of all labels are counted, and all relationships, so that a copy can't forget one.
    """
    nodes = cypher(
        store,
        "MATCH (n {collection: $name}) "
        "WHERE NOT n:Retired AND (n:Passage|Element|Document|Part OR NOT n:Staged) "
        "RETURN [label IN labels(n) WHERE label <> 'Staged'] AS labels, "
        "n { .*, run: null, labels: null } AS properties, "
        "[time IN [n.created_at, n.updated_at, n.at] | toString(time)] AS times",
        name=collection,
    )
    edges = cypher(
        store,
        "MATCH (a {collection: $name})-[edge]->(b) "
        "WHERE NOT a:Retired AND (a:Passage|Element|Document|Part OR NOT a:Staged) "
        "RETURN a.id AS start, type(edge) AS type, b.id AS end, properties(edge) AS properties",
        name=collection,
    )
    own = cypher(
        store,
        "MATCH (n:Collection {name: $name}) RETURN properties(n) AS properties",
        name=collection,
    )
    for row in nodes:
        row["labels"].sort()
    rows = (nodes, edges, own)
    return tuple(sorted(found, key=_repr_of) for found in rows)  # type: ignore[return-value]


def _repr_of(row: dict[str, Any]) -> str:
    """Whatever order the server gave the properties in."""
    return json.dumps(row, sort_keys=True, default=str)


NOTHING: Belongings = ([], [], [])


NAME = "novels / of 'two'"
"""A collection whose name is a beginning of another's."""
NEIGHBOUR = "novels"


class Crash(BaseException):
    """The process was killed."""


@pytest.fixture
def app(store: Store, graph_url: str) -> Iterator[App]:
    """A collection and its neighbour."""
    with App() as app:
        fill(app.connect(), NAME)
        fill(app.connect(), NEIGHBOUR)
        yield app


@pytest.fixture
def file(app: App, tmp_path: Path) -> Path:
    """The collection as a file; the graph has it no more."""
    file = tmp_path / "novels.jsonl"
    app.collection(NAME).export_whole(file)
    remove(app.connect())
    return file


def fill(store: Store, name: str) -> None:
    """Two books with all kinds of parts, a part of the whole collection, and a decision."""
    begin_collection(store, name)
    for source in ("a.txt", "b.txt"):
        made = small_graph(source, collection=name)
        cast = small_cast(made)
        communities = small_communities(cast, [node.id for node in nodes(made, "Chunk")])
        put(store, [*made, names_of(made), cast, communities, small_discourse(made)])
    put(store, [settled_of(names_of(made))])
    save_decision(store, name, Decision(1, "entities", "rename", ("Anna", "Ann"), by="me"), 0)
    annotate(store, name)


def annotate(store: Store, name: str, count: int = 3) -> None:
    """Notes on the first document."""
    [entry, *_] = store.documents(name)
    quote = TextQuote("Anna")
    notes = (Annotation(quote, body=f"Note {number}", id=str(number)) for number in range(count))
    layer = make_layer(LayerRecord("notes", entry.id, by="me"), notes)
    edit_layer(store, name, entry.id, "notes", lambda _: layer)


def remove(store: Store) -> None:
    """All of the collection goes."""
    cypher(store, "MATCH (n {collection: $name}) DETACH DELETE n", name=NAME)
    cypher(store, "MATCH (n:Collection {name: $name}) DELETE n", name=NAME)


def faults(store: Store, name: str) -> list[str]:
    """The invariants that `fabula check` finds broken; the reports made by hand break one."""
    return [fault.invariant for fault in check(store, graphs().values(), name).violations]


def rewrite(file: Path, change: Any) -> None:
    """Change the lines of a file, and make its last line fit them."""
    objects = [json.loads(line) for line in file.read_bytes().splitlines()[:-1]]
    objects = [made for line in objects if (made := change(line)) is not None]
    lines = [json.dumps(line) + "\n" for line in objects]
    kinds = [line["type"] for line in objects]
    end = {
        "type": "end",
        "nodes": kinds.count("node"),
        "relationships": kinds.count("relationship"),
        "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
    }
    file.write_text("".join([*lines, json.dumps(end) + "\n"]))


def test_what_is_imported_is_what_was_exported(app: App, tmp_path: Path) -> None:
    store = app.connect()
    whole, neighbour = belongings(store, NAME), belongings(store, NEIGHBOUR)
    broken, layers = faults(store, NAME), list(store.documents(NAME))
    assert len(whole[0]) > 80 and len(whole[1]) > 100 and len(whole[2]) == 1
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    written = app.collection(NAME).export_whole(first)
    assert (written.nodes, written.relationships) == (len(whole[0]), len(whole[1]))
    assert belongings(store, NAME) == whole, "it is only read"
    wipe(store)
    fill(store, NEIGHBOUR)
    neighbour = belongings(store, NEIGHBOUR)
    head = app.import_collection(first)
    assert (head.collection, head.nodes) == (NAME, len(whole[0]))
    assert belongings(store, NAME) == whole
    assert belongings(store, NEIGHBOUR) == neighbour
    assert cypher(store, "MATCH (n:Staged) RETURN n") == []
    assert app.collections() == [NEIGHBOUR, NAME]
    assert faults(store, NAME) == broken == faults(store, NEIGHBOUR)
    assert list(store.documents(NAME)) == layers
    app.collection(NAME).export_whole(second)
    assert second.read_bytes() == first.read_bytes()
    # Questions are answered, and it takes changes.
    hits = store.nearest(vector(0), 3, Filters(NAME), MODEL)
    assert hits[0].score == pytest.approx(1, abs=1e-4)
    put(store, small_graph("c.txt", collection=NAME))


def move_to_other_slot(store: Store) -> None:
    """Have the collection re-embedded, with the same numbers."""
    reembedding.begin(store, NAME, "another", DIMENSIONS)
    cypher(
        store,
        "MATCH (n {collection: $name}) WHERE n.embedding IS NOT NULL "
        "CALL db.create.setNodeVectorProperty(n, 'embedding_2', n.embedding)",
        name=NAME,
    )
    for step in (reembedding.index, reembedding.flip, reembedding.clear):
        space = store.space(NAME)
        assert space is not None
        step(store, space)


def test_a_slot_and_long_layers_of_annotations_are_kept(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = app.connect()
    [entry, *_] = store.documents(NAME)
    annotate(store, NAME, 1200)
    move_to_other_slot(store)
    space = store.space(NAME)
    assert space is not None and space.slot == 2
    monkeypatch.setattr(whole_collection, "CHARACTERS_PER_SLICE", 1)
    monkeypatch.setattr(collection_file, "BYTES_PER_SLICE", 1)
    whole = belongings(store, NAME)
    app.collection(NAME).export_whole(tmp_path / "novels.jsonl")
    remove(store)
    app.import_collection(tmp_path / "novels.jsonl")
    assert belongings(store, NAME) == whole
    [layer] = read_layers(store, NAME, entry.id)
    assert len(layer.annotations) == 1200


def statements(monkeypatch: pytest.MonkeyPatch, last: int) -> list[str]:
    """Count the statements that are sent from now on, and crash before number `last`."""
    sent: list[str] = []

    def counting(name: str) -> str:
        if len(sent) == last:
            raise Crash
        sent.append(name)
        return read_statement(name)

    for module in (store_module, database, whole_collection, locks, parts):
        monkeypatch.setattr(module, "read_statement", counting)
    return sent


def test_an_import_that_is_killed_before_any_of_its_statements_leaves_nothing_to_see(
    app: App, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = app.connect()
    monkeypatch.setattr(collection_file, "ROWS_PER_SLICE", 60)
    app.import_collection(file)
    whole, neighbour = belongings(store, NAME), belongings(store, NEIGHBOUR)
    remove(store)
    with monkeypatch.context() as patched:
        sent = statements(patched, 10**6)
        app.import_collection(file)
    remove(store)
    assert len(sent) > 15
    for last in range(1, len(sent)):
        with monkeypatch.context() as patched, App() as crashing:
            assert crashing.connect()
            statements(patched, last)
            with pytest.raises(Crash):
                crashing.import_collection(file)
        if app.collections() != [NEIGHBOUR, NAME]:
            assert app.collections() == [NEIGHBOUR], f"killed before statement {last}"
            assert store.count(NAME) == (0, 2)
            app.import_collection(file)
        assert belongings(store, NAME) == whole, f"killed before statement {last}"
        assert cypher(store, "MATCH (n:Staged) RETURN n") == []
        remove(store)
    assert belongings(store, NEIGHBOUR) == neighbour


def test_an_import_that_fails_removes_what_it_has_written(app: App, file: Path) -> None:
    rewrite(file, lambda one: one | {"end": "nobody"} if one.get("label") == "DETAILS" else one)
    with pytest.raises(StoreError, match="relationships lead to nodes that are not of the coll"):
        app.import_collection(file)
    assert belongings(app.connect(), NAME) == NOTHING
    assert cypher(app.connect(), "MATCH (n:Staged) RETURN n") == []


def test_a_collection_that_is_there_is_never_changed(app: App, tmp_path: Path) -> None:
    store, file = app.connect(), tmp_path / "novels.jsonl"
    app.collection(NAME).export_whole(file)
    whole = belongings(store, NAME)
    with pytest.raises(SpaceError, match=r"There is a collection .* already: nothing was imported"):
        app.import_collection(file)
    assert belongings(store, NAME) == whole


def test_while_it_is_imported_a_collection_takes_no_documents(app: App, file: Path) -> None:
    store = app.connect()
    properties = {"model": MODEL, "dimensions": DIMENSIONS, "slot": 1, "name": NAME}
    properties |= {"aspects": [""], "kinds": [], "element_kinds": []}
    store.rows("core/save_importing", collection=NAME, properties=properties)
    with pytest.raises(SpaceError, match="is being imported"):
        store.prepare(NAME, MODEL, DIMENSIONS)
    with pytest.raises(SpaceError, match="is being imported"):
        app.collection(NAME).reembed()
    with pytest.raises(NotFound, match="There is no collection"):
        app.collection(NAME).export_whole(file.with_name("none.jsonl"))
    assert any("is being imported" in note for note in check(store, [], NAME).notes)
    with process_lock(store, [f"import {NAME}"]), pytest.raises(StoreError, match="is importing"):
        app.import_collection(file)
    # Whoever began it was killed.
    app.import_collection(file)
    assert faults(store, NAME) == faults(store, NEIGHBOUR)


def test_a_collection_that_changes_meanwhile_is_no_file(app: App, tmp_path: Path) -> None:
    rows = whole_collection.read_collection(app.connect(), NAME)
    assert next(rows)[0] == "collection"
    annotate(app.connect(), NAME, 4)
    with pytest.raises(Changed, match="changed while it was read"):
        list(rows)


def test_a_file_that_was_cut_is_refused(app: App, file: Path) -> None:
    whole = file.read_bytes()
    cuts = [whole[: int(len(whole) * kept)] for kept in (0.0, 0.001, 0.3, 0.7, 0.999)]
    for cut in (*cuts, b"\n".join(whole.split(b"\n")[:-20]) + b"\n"):
        file.write_bytes(cut)
        with pytest.raises(LoadError, match="was cut or changed"):
            app.import_collection(file)
    assert belongings(app.connect(), NAME) == NOTHING


NO_EXPORTS: list[tuple[Any, str]] = [
    (lambda text: text.replace("Nobody", "Nemo"), "was cut or changed"),
    (lambda text: text + text, "a line is not where it should be"),
    (lambda text: text.split("\n", 1)[1], "a line is not where it should be"),
    (lambda _: '{"type": "node", "id": "x"}\n', "or not all of one"),
    (lambda _: "<graphml/>\n", "is no export of a whole collection"),
    (lambda _: "[1]\n", "is no export of a whole collection"),
    (lambda text: text.replace('"schema": ', '"schema": 9'), "was written by a newer Fabula"),
    (lambda text: text.replace('"schema": ', '"schema": -'), "was written by an older Fabula"),
]


def test_what_is_no_such_file_is_refused(app: App, file: Path) -> None:
    text = file.read_text()
    for change, message in NO_EXPORTS:
        file.write_text(change(text))
        with pytest.raises(LoadError, match=message):
            app.import_collection(file)
    assert belongings(app.connect(), NAME) == NOTHING


def test_a_file_that_is_not_there_is_refused(app: App, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="can't be read: No such file"):
        app.import_collection(tmp_path / "none.jsonl")


STRANGE_NODES: list[dict[str, Any]] = [
    {"labels": ["ServiceKey"], "properties": {"collection": NAME}},
    {"labels": ["Part", "ServiceKey"], "properties": {"id": "x", "collection": NAME}},
    {"labels": ["Part", "Lock"], "properties": {"id": "x", "collection": NAME}},
    {"labels": ["Part", "`:Lock"], "properties": {"id": "x", "collection": NAME}},
    {"labels": ["Part"], "properties": {"id": "x", "collection": NEIGHBOUR}},
    {"labels": [], "properties": {"id": "x", "collection": NAME}},
]


def test_a_strangers_file_makes_nothing_beside_the_collection(app: App, file: Path) -> None:
    neighbour, whole = belongings(app.connect(), NEIGHBOUR), file.read_bytes()
    for node in STRANGE_NODES:
        file.write_bytes(whole)
        put_in = iter([{"type": "node", "vector": None, **node}])
        rewrite(file, lambda one, new=put_in: next(new, one) if one["type"] == "node" else one)
        with pytest.raises(StoreError, match=r"labels|of another collection"):
            app.import_collection(file)
        assert belongings(app.connect(), NAME) == NOTHING, node
        assert belongings(app.connect(), NEIGHBOUR) == neighbour, node
    assert cypher(app.connect(), "MATCH (n:ServiceKey) RETURN n") == []


def test_a_file_of_an_earlier_schema_becomes_one_of_this(
    app: App, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.import_collection(file)
    whole = belongings(app.connect(), NAME)
    remove(app.connect())
    earlier = VERSION - 1

    def as_before(one: dict[str, Any]) -> dict[str, Any]:
        """A version in which details were called points, and titles stood in upper case."""
        if one["type"] == "collection":
            one["schema"] = earlier
        if one.get("label") == "DETAILS":
            one["label"] = "POINTS"
        if "Document" in one.get("labels", ()):
            one["properties"]["title"] = one["properties"]["title"].upper()
        return one

    def convert(kind: str, row: dict[str, Any]) -> dict[str, Any]:
        if kind == "relationship" and row["label"] == "POINTS":
            return row | {"label": "DETAILS"}
        if kind == "node" and "Document" in row["labels"]:
            title = row["properties"]["title"].title()
            return row | {"properties": row["properties"] | {"title": title}}
        return row

    rewrite(file, as_before)
    with pytest.raises(LoadError, match="was written by an older Fabula"):
        app.import_collection(file)
    monkeypatch.setattr(collection_file, "CONVERSIONS", {earlier: convert})
    app.import_collection(file)
    assert belongings(app.connect(), NAME) == whole


PROPERTIES = st.dictionaries(
    st.text(min_size=1),
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.lists(st.integers())
    | st.lists(st.text())
    | st.fixed_dictionaries({"time": st.datetimes().map(str)}),
)


@given(PROPERTIES, st.none() | st.lists(st.floats(width=32, allow_nan=False), min_size=1))
def test_a_line_is_read_as_it_was_written(
    properties: dict[str, Any], numbers: list[float] | None
) -> None:
    vector = None if numbers is None else np.array(numbers, np.float32)
    line = format_row("node", {"labels": ["A"], "properties": properties, "vector": vector})
    assert line.count("\n") == 1
    kind, row = parse_row(line.encode("utf-8", "surrogatepass"))
    assert (kind, row["labels"], row["properties"]) == ("node", ["A"], properties)
    if vector is None:
        assert row["vector"] is None
    else:
        assert np.array_equal(row["vector"], vector)


def test_two_commands_bring_a_collection_elsewhere(app: App, tmp_path: Path) -> None:
    file, store = tmp_path / "novels.jsonl", app.connect()
    written = run("export", "--whole", "--out", file, "--collection", NEIGHBOUR).stdout
    for more in (("A",), ("--all",), ("--embeddings",), ("--format", "graphml")):
        assert (
            "--whole is all of one collection"
            in run("export", *more, "--whole", "--out", file, code=1).output
        )
    wipe(store)
    imported = run("import", file).stdout
    assert imported.split(": ")[1] == written.split(": ")[1]
    assert imported.startswith("Collection 'novels': ")
    refused = run("import", file, code=1).output
    assert "There is a collection 'novels' already" in refused
    assert "fabula remove-collection --collection novels" in refused
