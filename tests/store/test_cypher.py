"""Every statement in `cypher/`: its header tells the truth, and the server understands it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from cases import for_each
from database import connect, wipe
from fabula.graph import installed
from fabula.graph.hits import Hit
from fabula.graph.installed import graphs
from fabula.graph.method import Graph
from fabula.graph.queries import FOLDER, read_statement
from fabula.server import Address
from fabula.store import Store, schema
from fabula.store.schema import STATEMENTS, make_service
from fabula.store.whole_collection import BELONGINGS
from graphs import DIMENSIONS, MODEL, names_of, small_graph

pytestmark = [pytest.mark.statement, pytest.mark.whole]

FILES = sorted(FOLDER.rglob("*.cypher"))
NAMES = [path.relative_to(FOLDER).with_suffix("").as_posix() for path in FILES]
SENT = [name for name in NAMES if "explore" not in name.split("/")]
"""What the program sends by itself."""
VERBS = (
    "schema_",
    "save_",
    "find_",
    "read_",
    "count_",
    "sum_",
    "clear_",
    "pause_",
    "stage_",
    "switch_",
    "take_",
    "check_",
    "reembed_",
    "terminate_",
)

LABELS = {"Document", "Chunk", "Part", "Collection", "Schema", "Lock", "Staged", "Retired"}
LABELS |= {"AnnotationSlice", "Decision"}
LABELS |= {"Passage", "Passage256", "PassageText", "Element", "Element256", "ElementText", "Gap"}
LABELS |= {"Replies"}
TYPES = {"FROM_DOCUMENT", "FIRST_CHUNK", "NEXT_CHUNK", "PART_OF", "LACKS"}
"""All that the core calls nodes and edges; a graph's own are on its closed lists."""
OF_SERVICE = {"ServiceConversation", "ServiceTurn", "TURN_OF"}
OF_SERVICE |= {"ServiceJob", "ServiceItem", "HAS_ITEM", "ServiceQueue", "ServiceUpload"}
OF_SERVICE |= {"WAITS_FOR", "ServiceRecipe"}
OF_SERVICE |= {
    "ServiceKey",
    "ServiceSession",
    "ServiceLink",
    "ServiceAct",
    "ServiceSpend",
    "ServiceLedger",
    "ServiceJournal",
}
"""What the service keeps, which no graph and nothing of the core names."""
OF_COLLECTIONS = {"Document", "Part", "Passage", "Element", "Decision", "AnnotationSlice"}
"""The labels that a collection's nodes have one of: `fabula export --whole` writes them."""
OF_GRAPH = {"Schema", "Lock", "Staged", "Collection"}
"""The labels that no collection's nodes have, or that an import writes itself."""


def parts(name: str) -> tuple[str, str]:
    lines = read_statement(name).splitlines()
    header = [line for line in lines if line.startswith("//")]
    return "\n".join(header), "\n".join(line for line in lines if not line.startswith("//"))


def own(graph: Graph[Any]) -> set[str]:
    """The labels and types of a graph and of those that it rests on or uses."""
    below = [own(graphs()[name]) for name in (*graph.rests_on, *graph.uses)]
    return {*graph.passages, *graph.elements, *graph.edges}.union(*below)


def allowed(name: str) -> set[str]:
    """What a statement may call nodes and edges."""
    room = name.split("/")[-2]
    if room in graphs():
        return LABELS | TYPES | own(graphs()[room])
    if room == "core":
        return LABELS | TYPES
    every = (LABELS | TYPES).union(*map(own, graphs().values()))
    return OF_SERVICE | every if room in ("jobs", "service") else every


def named(statement: str) -> set[str]:
    """The labels and types that a statement names; what stands in a map follows a space."""
    bare = re.sub(r"'(?:\\.|[^'\\])*'|`[^`]*`|//[^\n]*", "", statement)
    found = re.findall(r":(!?[A-Z]\w*(?:[|&!]+[A-Z]\w*)*)", bare)
    return {name for group in found for name in re.findall(r"\w+", group)}


@pytest.fixture(scope="module")
def prepared(address: Address) -> Iterator[Store]:
    with connect(address) as store:
        wipe(store)
        store.prepare("default", "test-model", 256)
        schema.make_vectors(store, 256, 1, "element")
        make_service(store)
        yield store


@pytest.fixture(scope="module")
def one_book(address: Address) -> Iterator[Store]:
    """A graph of one document, of which the planner expects otherwise than of an empty one."""
    with connect(address) as store:
        wipe(store)
        store.prepare("default", MODEL, DIMENSIONS)
        make_service(store)
        text, aspects = small_graph(chunks=150)
        store.apply([text, aspects, names_of([text, aspects], count=100)], MODEL)
        yield store


@for_each("name", NAMES)
def test_the_header_lists_every_parameter(name: str) -> None:
    header, body = parts(name)
    purpose = re.split(r"(?m)^// (?=\$|:param)", header)[0]
    assert purpose.rstrip().endswith((".", ".)")), "first what comes back"
    assert set(re.findall(r"(?:\$|:param )(\w+)", header)) == set(re.findall(r"\$(\w+)", body))


@for_each("name", SENT)
def test_a_statement_is_named_by_a_verb(name: str) -> None:
    # A migration's statements begin with the version that they lead to.
    assert re.sub(r"^migrate/\d+_", "migrate/", name).rpartition("/")[2].startswith(VERBS)


@for_each("name", NAMES)
def test_labels_and_types_are_on_a_list(name: str) -> None:
    assert named(parts(name)[1]) - allowed(name) == set()


def written(statement: str) -> set[str]:
    """The labels of the nodes that a statement makes."""
    bare = re.sub(r"'(?:\\.|[^'\\])*'|//[^\n]*", "", statement)
    clauses = re.findall(r"\b(?:CREATE|MERGE)\s*((?:\([^)]*\)|[^()\n])*)", bare)
    return {name for clause in clauses for name in re.findall(r"\(\w*:(\w+)", clause)}


def test_an_export_of_a_whole_collection_knows_every_label_that_is_made() -> None:
    # Who gives collections nodes of a new label has to export, import and remove them, and to add
    # the label to OF_COLLECTIONS; what is of no collection is added to OF_GRAPH or OF_SERVICE.
    rooms = ("core", *graphs())
    of_rooms = [name for name in SENT if name.split("/")[-2] in rooms]
    made = {label for name in of_rooms for label in written(parts(name)[1])}
    constrained = set()
    for name in schema.CONSTRAINTS:
        constrained |= set(re.findall(r"FOR \(\w+:(\w+)\)", read_statement(f"core/{name}")))
    assert made >= {"AnnotationSlice", "Decision", "Staged"}
    assert made | constrained == OF_COLLECTIONS | OF_GRAPH
    assert OF_COLLECTIONS == BELONGINGS
    for statement in ("find_whole_nodes", "clear_collection"):
        matched = re.findall(r"MATCH \(n:(\w+)", read_statement(f"core/{statement}"))
        assert set(matched) == OF_COLLECTIONS, statement


def test_no_graph_may_use_a_label_of_the_core() -> None:
    assert LABELS - set(installed.LABELS) == {
        *("Passage256", "Element256", "PassageText", "ElementText")
    }


def test_labels_and_types_are_found_wherever_they_stand() -> None:
    statement = (
        "MATCH (:A&B)-[e:R|S {weight: 1}]->{1,9}(n:!C {name: 'x:Y'}) // :D\n"
        "WHERE n:E AND NOT (:F) SET n:G REMOVE n:H RETURN {key: Value, list: [1]}"
    )
    assert named(statement) == set("ABRSCEFGH")


NUMBERS = {
    *(
        "dimensions",
        "limit",
        "depth",
        "width",
        "slot",
        "pool",
        "days",
        "lowest",
        "highest",
        "batch",
    ),
    *("milliseconds", "news", "wait", "until", "slice", "minutes"),
}
LISTS = {
    *("rows", "kinds", "locks", "runs", "passages", "nodes", "ids", "sha256", "items", "from"),
    *("dead", "recipes", "phrases", "resembling", "slices", "entries", "documents", "people"),
    "collections",
}
FLAGS = {"everything", "from_end"}
MAPS = {"created", "kept", "job", "quotas", "properties"}
"""Parameters by the type of their values; the others are text."""


def value_of(parameter: str) -> Any:
    """A value of the type that a parameter has."""
    if parameter == "vector":
        return [0.1] * 256
    kinds: tuple[tuple[set[str], Any], ...] = (
        (NUMBERS, 5),
        (LISTS, []),
        (FLAGS, True),
        (MAPS, {}),
    )
    return next((value for names, value in kinds if parameter in names), "x")


def explain(name: str, store: Store, option: str = "") -> neo4j.ResultSummary:
    """What the server makes of a statement, without carrying it out."""
    statement = read_statement(name)
    parameters = {key: value_of(key) for key in re.findall(r"\$(\w+)", statement)}
    explained = re.sub(r"(?m)^(CYPHER \d+)$", rf"\1 {option} EXPLAIN", statement)
    assert "EXPLAIN" in explained
    with store.session() as session:
        return session.run(explained, parameters).consume()


# The others are run, and not only explained, in test_tenants.
ONLY_EXPLAINED = ("annotations/", "jobs/", "service/")
EXPLAINED = [
    name
    for name in SENT
    if name.startswith(ONLY_EXPLAINED) or "$collection" not in read_statement(name)
]


@for_each("name", EXPLAINED)
def test_the_server_understands_it(name: str, prepared: Store) -> None:
    assert explain(name, prepared).query_type is not None


def list_scans(name: str, store: Store) -> list[str]:
    """The scans for each row of a list in a statement's plan, made for the graph as it is now."""
    plan = explain(name, store, "replan=force").plan
    assert plan is not None
    return [*scans(plan)]


def scans(step: Any, rows: bool = False) -> Iterator[str]:
    """The operators that read all of something for each row of a list that was given."""
    operator = step["operatorType"].partition("@")[0]
    if rows and operator.endswith("Scan"):
        yield operator
    first, *others = step.get("children") or [None]
    if first:
        yield from scans(first, rows)
    for other in others:
        yield from scans(other, rows or ("Apply" in operator and unwinds(first)))


def unwinds(step: Any) -> bool:
    return step["operatorType"].startswith("Unwind") or any(map(unwinds, step.get("children", ())))


LOOKED_UP = [name for name in SENT if "UNWIND $" in read_statement(name)]
# A migration has the indexes of an older graph.
LOOKED_UP = [name for name in LOOKED_UP if not name.startswith("migrate/")]


@for_each("name", LOOKED_UP)
def test_of_a_list_it_looks_each_up_however_new_the_graph_is(name: str, prepared: Store) -> None:
    # Of a graph without nodes the planner takes any scan for free, and keeps to that for a while.
    assert list_scans(name, prepared) == []


@for_each("name", LOOKED_UP)
def test_of_a_list_it_looks_each_up_in_a_graph_of_one_book(name: str, one_book: Store) -> None:
    # As long as there are few nodes, a scan for each of a list looks cheap: a question took 200 ms
    # in the place of 10.
    assert list_scans(name, one_book) == []


PROJECTION = re.compile(r"(\w+) \{([^{}]*)\} AS hit\b")


def test_a_hit_is_returned_by_one_projection_and_has_all_fields() -> None:
    # Pages, lines and metadata come from the structure of the document, the score from the index,
    # and the collection from who asked several of them.
    others = ("score", "pages", "lines", "metadata", "collection")
    fields = [field.name for field in dataclasses.fields(Hit) if field.name not in others]
    from_document = {"title": "title: document.title", "language": "language: document.language"}
    wanted = ", ".join(from_document.get(name, f".{name}") for name in fields)
    returned = [match[2] for name in SENT for match in PROJECTION.finditer(read_statement(name))]
    assert len(returned) == 22
    assert {" ".join(fields.split()) for fields in returned} == {wanted}


@for_each("name", [name for name in SENT if "/read_" in name])
def test_a_statement_that_reads_whole_rows_locks_their_node_first(name: str) -> None:
    _, body = parts(name)
    locked = re.search(
        r"SET (\w+)\.(\w+) = \1\.\2\nWITH \1\nWHERE \1\.id IS NOT NULL\nRETURN", body
    )
    assert locked, "one that waited for a lock finds what was deleted meanwhile without an id"


def test_every_statement_is_used() -> None:
    source = Path(__file__).parents[2] / "src"
    code = "\n".join(path.read_text() for path in source.rglob("*.py"))
    quoted = {*re.findall(r'"([\w/.]+)"', code)}

    def is_used(name: str) -> bool:
        stem = name.rpartition("/")[2]
        by_room = name.startswith(("jobs/schema_", "service/schema_"))
        by_pattern = by_room or stem.startswith("check_")
        return by_pattern or bool(quoted & {name, stem, f"{stem}.cypher"})

    assert [name for name in SENT if not is_used(name)] == []


@for_each("name", STATEMENTS)
def test_a_statement_of_the_schema_is_called_after_what_it_makes(name: str) -> None:
    # By its name is known whether that is there.
    made = name.removeprefix(schema.PREFIX)
    assert re.search(rf"(INDEX|CONSTRAINT) {made} IF NOT EXISTS\n", read_statement(f"core/{name}"))
