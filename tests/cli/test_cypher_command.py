"""`fabula cypher` as a user types it, and what it makes of a graph's values."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from cases import for_each
from commands import run as run_command
from database import cypher, name_server
from explored import explored
from fabula.cli import main
from fabula.errors import StoreError
from fabula.graph.explore import query_names, shipped_query
from fabula.server import Address
from fabula.store import Store
from fabula.store.user_query import run_user_query
from graphs import DIMENSIONS, MODEL, put, small_graph


@pytest.fixture(scope="module")
def graph(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with explored(address, tmp_path_factory.mktemp("explore")) as store:
        yield store


@pytest.fixture
def typed(graph: Store, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the graph."""
    name_server(monkeypatch, address)


# What values look like


def test_values_of_every_kind_are_plain(graph: Store) -> None:
    table = run_user_query(
        graph,
        "CYPHER 25 RETURN date('2026-11-21') AS day, datetime('2026-11-21T17:00Z') AS time, "
        "duration('PT1H') AS span, point({x: 1, y: 2}) AS place, 0.0 / 0.0 AS nothing, "
        "{day: date('2026-11-21')} AS map, [1, null, 'a'] AS list, "
        "vector([1, 2, 3], 3, FLOAT32) AS vector, [x IN range(1, 64) | 1.0 * x] AS embedding",
        {},
    )
    told = dict(zip(table.columns, table.rows[0], strict=True))
    json.dumps(told, allow_nan=False)
    assert told["day"] == "2026-11-21"
    assert told["time"].startswith("2026-11-21T17:00:00")
    assert told["span"] == "PT1H"
    assert told["place"]["coordinates"] == [1.0, 2.0]
    assert told["map"] == {"day": "2026-11-21"}
    assert told["list"] == [1, None, "a"]
    assert (told["vector"], told["embedding"]) == ("[3 dimensions]", "[64 dimensions]")


def test_nodes_relationships_and_paths_are_plain(graph: Store) -> None:
    table = run_user_query(
        graph,
        "MATCH path = (:Document {title: 'A'})-[:FIRST_CHUNK]->(:Chunk)<-[:SUMMARIZES]-(:Summary) "
        "RETURN path LIMIT 1",
        {},
    )
    [[path]] = table.rows
    document, chunk, summary = path["nodes"]
    first, summarizes = path["relationships"]
    assert [node["labels"] for node in path["nodes"]] == [
        ["Document"],
        ["Chunk", "Passage", "Passage256", "PassageText"],
        ["Passage", "Passage256", "PassageText", "Summary"],
    ]
    assert chunk["properties"]["embedding"] == "[256 dimensions]"
    assert document["properties"]["updated_at"].startswith("20")
    assert (first["type"], first["from"], first["to"]) == (
        "FIRST_CHUNK",
        document["id"],
        chunk["id"],
    )
    assert (summarizes["from"], summarizes["properties"]) == (summary["id"], {"weight": 1.0})


@for_each(
    "statement",
    [
        "CREATE (:Mine)",
        "MATCH (n:Chunk) DETACH DELETE n",
        "MATCH (n:Chunk) SET n.text = ''",
        "MATCH (n:Chunk) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10 ROWS",
        "MATCH (n:Chunk) CALL db.create.setNodeVectorProperty(n, 'embedding', [1.0])",
        "DROP INDEX passage_texts",
        "CREATE INDEX mine FOR (n:Mine) ON n.id",
    ],
)
def test_the_server_refuses_to_write(statement: str, graph: Store) -> None:
    with pytest.raises(StoreError, match="--write"):
        run_user_query(graph, statement, {})


@for_each(
    ("statement", "used"),
    [
        ("LOAD CSV FROM 'file:///x' AS line RETURN line", "LoadCSV"),
        ("CALL () { LOAD CSV FROM 'http://x/' AS line RETURN line } RETURN line", "LoadCSV"),
        ("RETURN COLLECT { LOAD CSV FROM 'http://x/' AS line RETURN line }", "LOAD CSV"),
        ("RETURN [x IN [1, 2] | COLLECT { LOAD CSV FROM 'http://x/' AS l RETURN l }]", "LOAD CSV"),
        ("RETURN [x IN [1] | COLLECT { CALL db.prepareForReplanning() RETURN 1 }]", "CALL"),
        ("RETURN any(x IN [1] WHERE EXISTS { CALL db.ping() YIELD success })", "CALL"),
        ("L\\u004fAD CSV FROM 'http://x/' AS line RETURN line", "LoadCSV"),
        ("CALL db.prepareForReplanning()", "db.prepareForReplanning"),
        ("CALL db.resampleOutdatedIndexes()", "db.resampleOutdatedIndexes"),
        ("SHOW TRANSACTIONS", "ShowTransactions"),
        ("SHOW SETTINGS", "ShowSettings"),
        ("TERMINATE TRANSACTIONS 'neo4j-transaction-1'", "TerminateTransactions"),
        ("CALL dbms.listConfig()", "would write"),
        ("SHOW USERS", "would write"),
        ("RETURN apoc.cypher.runFirstColumnSingle('RETURN 1', {})", "apoc.cypher.run"),
        ("RETURN `apoc` . /* x */ `cypher`\n.runFirstColumnMany ('RETURN 1', {})", "apoc.cypher"),
        ("WITH 'http://x' AS u RETURN apoc./* x */load.json(u)", "apoc.load.json"),
        ("RETURN [x IN [1] | \\u0041POC.Load.json('http://x')]", "APOC.Load.json"),
        ("ALTER CURRENT USER SET PASSWORD FROM 'one' TO 'another'", "would write"),
    ],
)
def test_what_does_more_than_read_the_graph_is_refused(
    statement: str, used: str, graph: Store
) -> None:
    with pytest.raises(StoreError, match=f"{used}.*--write"):
        run_user_query(graph, statement, {})


@for_each(
    "statement",
    [
        "RETURN 'LOAD CSV FROM x', 'CALL dbms.listConfig()', 'SHOW TRANSACTIONS'",
        "MATCH (n:Chunk) WHERE EXISTS { MATCH (n)-->(m) } RETURN COUNT { MATCH (n)-->() }",
        "CALL db.labels() YIELD label RETURN label",
        "CALL db.index.fulltext.queryNodes('passage_texts', 'word') YIELD node RETURN node",
        "CALL () { MATCH (n:Chunk) RETURN n } RETURN n",
        "SHOW INDEXES",
        "EXPLAIN RETURN 1",
        "RETURN 'apoc.cypher.runFirstColumn', 'apoc.load.json of a book'",
    ],
)
def test_what_only_reads_the_graph_is_judged_by_its_plan(statement: str, graph: Store) -> None:
    run_user_query(graph, statement, {})


def test_with_write_a_query_may_do_all_that_the_server_lets_it(graph: Store) -> None:
    assert run_user_query(
        graph, "SHOW SETTINGS YIELD name RETURN name LIMIT 1", {}, write=True
    ).rows


# As a user types it


ask = partial(run_command, "cypher")


@pytest.mark.journey
def test_the_list_names_every_query_with_its_purpose() -> None:
    def list_queries(*words: str) -> str:
        listed = CliRunner().invoke(main, ["queries", *words])
        assert listed.exit_code == 0, listed.output
        return listed.stdout

    shown = list_queries()
    assert all(name in shown and shipped_query(name).purpose in shown for name in query_names())
    body = json.loads(list_queries("--json"))["rows"]
    assert [one["name"] for one in body] == query_names()
    assert body[0]["parameters"][0] == {
        "name": "document",
        "default": "",
        "about": "a document's id, or a part of its title; '' for the first by title",
        "types": ["string"],
    }
    [turns] = json.loads(list_queries("turns", "--statements", "--json"))["rows"]
    assert (turns["name"], turns["statement"]) == ("turns", shipped_query("turns").statement)


def test_a_query_is_shown_to_be_pasted() -> None:
    assert ask("outline", "--show").stdout == shipped_query("outline").statement


def test_a_table_is_for_reading(typed: None) -> None:
    shown = ask("read", "--param", "limit=2").stdout
    assert "title" in shown
    assert "word 1." in shown
    assert shown.endswith("2 rows\n")


HOSTILE = "a\x1b]0;owned\x07b\x9bc\u202ed\u2066e"
"""What sets a terminal's title, rings its bell, and shows text in another order than it has."""


def test_a_table_holds_nothing_that_a_terminal_obeys(typed: None) -> None:
    written = "RETURN $said AS said, [$said] AS `he\x1b[1mad`"
    shown = ask("-e", written, "--param", f"said={json.dumps(HOSTILE)}").stdout
    assert "a]0;ownedbcde" in shown
    assert "he[1mad" in shown
    assert not [one for one in shown if one != "\n" and not one.isprintable()]


def test_json_keeps_the_data_and_escapes_what_a_terminal_obeys(typed: None) -> None:
    said = ("--param", f"said={json.dumps(HOSTILE)}")
    shown = ask("-e", "RETURN $said AS said", *said, "--json").stdout
    assert json.loads(shown)["rows"] == [{"said": HOSTILE}]
    assert not [one for one in shown if one != "\n" and not one.isprintable()]


def test_csv_runs_no_formula_in_a_spreadsheet(typed: None) -> None:
    words = "'=1+1' AS a, '@x' AS b, -1 AS c, 'x=1' AS d, '-2' AS e"
    shown = ask("-e", f"RETURN {words}", "--csv").stdout
    assert shown.splitlines() == ["a,b,c,d,e", "'=1+1,'@x,-1,x=1,'-2"]


def test_csv_has_a_header_and_quotes_what_it_must(typed: None) -> None:
    shown = ask("library", "--csv").stdout
    [row] = [row for row in csv.DictReader(io.StringIO(shown)) if row["title"] == "A"]
    assert (row["chunks"], json.loads(row["graphs"])) == ("4", ["aspects", "text"])


def test_a_path_is_drawn(typed: None) -> None:
    shown = ask("tree").stdout
    assert "(:Summary plot 2: plot at level 2)-[:SUMMARIZES" in shown
    assert "->(:Chunk word 0.)" in shown


def test_a_file_of_ones_own_runs(typed: None, tmp_path: Path) -> None:
    path = tmp_path / "mine.cypher"
    path.write_text(
        "// Titles.\n// :param part => ''\nMATCH (d:Document) WHERE d.title CONTAINS $part "
        "RETURN d.title AS title ORDER BY title;\n"
    )
    found = json.loads(ask(path, "--param", "part=Win", "--json").stdout)
    assert found["rows"] == [{"title": "Winter"}]
    assert "can't be read" in ask(tmp_path / "other.cypher", code=1).stderr


@pytest.mark.journey
def test_a_statement_runs_with_its_parameters(typed: None) -> None:
    statement = "MATCH (c:Chunk {text: $text}) RETURN c.index AS index, $list AS list"
    given = ["--param", "text=word 1.", "--param", 'list=["a", 2]']
    assert json.loads(ask("-e", statement, *given, "--json").stdout)["rows"] == [
        {"index": 1, "list": ["a", 2]}
    ]


def test_a_query_is_given_the_collection_of_the_settings(typed: None, graph: Store) -> None:
    name = "Война и мир. 2"
    graph.prepare(name, MODEL, DIMENSIONS)
    put(graph, small_graph(words="other", collection=name))

    def first(*arguments: str) -> list[str]:
        found = json.loads(ask("read", *arguments, "--json").stdout)
        return [row["text"] for row in found["rows"]][:1]

    assert first() == ["word 0."]
    assert first("--collection", name) == ["other 0."]
    assert first("--param", f"collection={json.dumps(name)}") == ["other 0."]
    assert first("--param", "collection=nowhere") == []
    statement = "RETURN $collection AS name"
    assert json.loads(ask("-e", statement, "--collection", name, "--json").stdout)["rows"] == [
        {"name": name}
    ]


def test_writing_is_refused_in_one_line_that_names_the_way(typed: None) -> None:
    result = ask("-e", "CREATE (:Mine)", code=1)
    assert result.stderr == (
        "Error: This query would write, and queries may only read: --write allows it.\n"
    )


def test_writing_is_done_when_it_is_asked_for(typed: None, graph: Store) -> None:
    try:
        result = ask("-e", "CREATE (:Mine {name: 'x'})", "--write")
        assert result.stderr == "Changed: labels added 1, nodes created 1, properties set 1\n"
        assert cypher(graph, "MATCH (n:Mine) RETURN n.name AS name") == [{"name": "x"}]
    finally:
        cypher(graph, "MATCH (n:Mine) DELETE n")


def test_what_was_written_into_an_empty_collection_is_told(typed: None, graph: Store) -> None:
    statement = "CREATE (:Mine {name: $collection})"
    try:
        result = ask("-e", statement, "--write", "--collection", "empty")
        assert result.stderr == "Changed: labels added 1, nodes created 1, properties set 1\n"
        nothing = ask(
            "-e", "MATCH (n:Chunk {collection: $collection}) RETURN n", "--json", "-c", "empty"
        )
        assert json.loads(nothing.stdout)["rows"] == []
    finally:
        cypher(graph, "MATCH (n:Mine) DELETE n")


ENDLESS = "UNWIND range(1, 1000000000000) AS x RETURN count(x) AS endless"
RUNNING = (
    "SHOW TRANSACTIONS YIELD currentQuery AS query WHERE query CONTAINS 'endless' "
    "AND NOT query CONTAINS 'SHOW' RETURN query"
)


def wait_for_its_end(graph: Store, begun: float) -> None:
    """Wait until the query runs no more, well before the minute that is its limit otherwise."""
    while cypher(graph, RUNNING):
        assert time.monotonic() - begun < 45, "two seconds where nothing else runs"
        time.sleep(0.1)
    assert time.monotonic() - begun < 50


def test_a_query_ends_after_its_time(typed: None, graph: Store) -> None:
    begun = time.monotonic()
    message = ask("-e", ENDLESS, "--time-limit", "1", code=1).stderr
    assert "took longer than 1 s and was ended: --time-limit gives it more" in message
    wait_for_its_end(graph, begun)


def test_ctrl_c_ends_a_query_on_the_server_too(typed: None, graph: Store) -> None:
    # Whoever runs the tests in the background has it ignored.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from fabula.cli import run; run()"
    )
    words = ["-c", program, "cypher", "-e", ENDLESS]
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True) as asking:
        while not cypher(graph, RUNNING):
            assert asking.poll() is None
            time.sleep(0.1)
        begun = time.monotonic()
        asking.send_signal(signal.SIGINT)
        output = asking.communicate(timeout=60)[1]
    wait_for_its_end(graph, begun)
    assert asking.returncode != 0
    assert "Traceback" not in output


@for_each(
    ("arguments", "says"),
    [
        (["outlin"], "Did you mean outline?"),
        (["zzz"], "`fabula queries` lists them"),
        (["outline", "--param", "document=zzz"], "no document 'zzz' in collection 'default'"),
        (["parallels", "--param", "second=zzz"], "no document 'zzz' in collection 'default'"),
        (["library", "--collection", "other"], "Nothing has been ingested into collection 'other'"),
        (
            ["read", "--param", "fist=3"],
            "its parameters are collection, document, first, limit, until. Did you mean",
        ),
        (["-e", "RETURN 1", "--param", "x=1"], "This query has no parameter 'x': it has none."),
        (
            ["-e", "RETURN $x + $y", "--param", "x=1"],
            "needs --param y=...: its parameters are x, y",
        ),
        (["read", "--param", "limit=many"], "Neo4j refused the query"),
        (["-e", "MATCH (n RETURN n"], "Neo4j refused the query: Invalid input 'RETURN'"),
        (["-e", "RETURN nothing"], "Neo4j refused the query"),
    ],
)
def test_a_mistake_is_one_line(typed: None, arguments: list[str], says: str) -> None:
    message = ask(*arguments, code=1).stderr
    assert message.startswith("Error: ")
    assert message.count("\n") == 1
    assert says in message


@for_each("form", [[], ["--json"], ["--csv"]])
def test_where_nothing_is_found_it_is_said_why(typed: None, form: list[str]) -> None:
    asked = ask("outline", "--param", "aspect=humour", *form)
    assert asked.stderr.strip() == shipped_query("outline").no_rows
    assert "summaries" in asked.stderr
    assert ("No rows" in asked.stdout) == ("--json" in form)
    assert ask("outline", *form).stderr == ""


@for_each(
    "arguments",
    [[], ["outline", "-e", "RETURN 1"], ["read", "--param", "x"], ["read", "--json", "--csv"]],
)
def test_what_cannot_be_meant_is_a_usage_error(arguments: list[str]) -> None:
    ask(*arguments, code=2)


# What is no value


@for_each(
    "value",
    [
        '{"a":' * 60_000 + "1" + "}" * 60_000,
        "[" * 900 + "]" * 900,
        r'"\ud800"',
        r'{"\ud800": 1}',
        str(2**70),
        "\udcff",
    ],
    ids=["60,000 deep", "900 deep", "half a pair", "half a pair as a key", "2^70", "no UTF-8"],
)
def test_a_parameter_that_can_not_be_sent_is_one_sentence(
    value: str, graph: Store, typed: None
) -> None:
    refused = CliRunner().invoke(main, ["cypher", "-e", "RETURN $a", "--param", f"a={value}"])
    assert refused.exit_code == 1
    assert isinstance(refused.exception, SystemExit), "no traceback"
    assert re.fullmatch(r"Error: [^\n]+\.\n", refused.stderr)


def test_a_statement_that_is_too_deep_is_one_sentence(graph: Store, typed: None) -> None:
    deep = "RETURN " + "(" * 20_000 + "1" + ")" * 20_000
    for statement in (deep, "RETURN 1" + "+1" * 4000):
        refused = CliRunner().invoke(main, ["cypher", "-e", statement])
        assert refused.exit_code == 1
        assert re.fullmatch(r"Error: The query (?:has|nests) [0-9,]+ [^\n]+\.\n", refused.stderr)
