"""The queries for analysts: each says what it is for, runs, and finds what is there."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conftest import connect, cypher, wipe
from fabula import Fabula
from fabula.cli import main
from fabula.errors import FabulaError, NotFound, StoreError
from fabula.explore import names, parse, shipped
from fabula.server import Address
from fabula.settings import OFFLINE, STATIC, Settings
from fabula.store import Store
from fabula.store.reading import run
from graphs import in_space, small_graph
from test_cli import STORY as LIGHTHOUSE
from test_service import STORY

WINTER = STORY.partition("CHAPTER IV")[0]
GRASS = Path(__file__).parents[1] / "docs" / "browser.grass"


@pytest.fixture(scope="module")
def graph(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two stories built offline, and a graph by hand, 'A', whose last chunk nothing covers."""
    folder = tmp_path_factory.mktemp("explore")
    settings = Settings(
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        home=folder / "home",
        cache_folder=folder / "cache",
        chunk_tokens=40,
        model=OFFLINE,
        embedding_model=STATIC,
    )
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text(LIGHTHOUSE, source="lighthouse.txt", title="The Lighthouse")
        fabula.ingest_text(WINTER, source="winter.txt", title="Winter")
        space = store.space()
        assert space is not None
        own = {"embedding_model": space.model}
        store.replace(in_space(small_graph(), space.dimensions), own)
        cypher(store, "MATCH (:Chunk {text: 'word 3.'})<-[edge:SUMMARIZES]-() DELETE edge")
        yield store


@pytest.fixture
def typed(graph: Store, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the graph."""
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)


def found(graph: Store, name: str, **given: str) -> list[dict[str, Any]]:
    query = shipped(name)
    table = run(graph, query.statement, query.values(given))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


# What a file says of itself


@pytest.mark.parametrize("name", names())
def test_a_header_tells_purpose_and_every_parameter_with_a_default(name: str) -> None:
    query = shipped(name)
    body = re.sub(r"(?m)^//.*\n", "", query.statement)
    assert query.purpose.endswith(".")
    assert {one.name for one in query.parameters} == set(re.findall(r"\$(\w+)", body))
    assert not any(one.required for one in query.parameters)
    assert all(one.about for one in query.parameters)
    assert body.startswith("CYPHER 25\n")
    assert "ORDER BY" in body
    assert re.search(r"LIMIT \$(limit|parts)\n$", body)


def test_there_is_a_query_for_every_question() -> None:
    assert len(names()) >= 20


def test_a_header_is_read_as_it_pastes_into_neo4j_browser() -> None:
    query = parse(
        "// What it is for.\n"
        "// :param word => 'it\\'s'\n"
        "//   a word,\n"
        "//   or two\n"
        "// :param limit => 20\n"
        '// :param names => ["a", 1.5, true]\n'
        "RETURN $word, $limit, $names, $other, '$text' // $comment",
        "mine",
    )
    assert query.purpose == "What it is for."
    assert [(one.name, one.default, one.about, one.required) for one in query.parameters] == [
        ("word", "it's", "a word, or two", False),
        ("limit", 20, "", False),
        ("names", ["a", 1.5, True], "", False),
        ("other", None, "", True),
    ]


def test_a_value_is_json_or_else_text_and_text_where_the_default_is() -> None:
    query = parse("// :param word => ''\n// :param limit => 20\nRETURN $word, $limit, $list")
    assert query.values({"word": "1984", "limit": "5", "list": '["a"]'}) == {
        "word": "1984",
        "limit": 5,
        "list": ["a"],
    }
    assert query.values({"word": '"quoted"', "list": "plain"})["word"] == "quoted"


def test_a_default_that_cannot_be_read_is_named() -> None:
    with pytest.raises(FabulaError, match=r"parameter 'x' in mine can't be read: \[1,"):
        parse("// :param x => [1, \nRETURN $x", "mine")


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(NotFound, match="Did you mean outline"):
        shipped("outlin")


def test_the_style_sheet_knows_every_label_and_relationship() -> None:
    rules = dict(re.findall(r"([\w.]+) \{\n(.*?)\n\}", GRASS.read_text(), re.DOTALL))
    nodes = {"node", *(f"node.{one}" for one in ("Document", "Chunk", "Summary", "Detail"))}
    ties = ("SUMMARIZES", "DETAILS", "NEXT_CHUNK", "FIRST_CHUNK", "FROM_DOCUMENT")
    assert {*nodes, "node.EmbeddingSpace", "relationship"} | {
        f"relationship.{tie}" for tie in ties
    } == set(rules)
    # Neo4j Browser knows no comments, and drops a line of two colons.
    for rule in rules.values():
        assert all(re.fullmatch(r"  [\w-]+: [^:;]+;", line) for line in rule.splitlines())


# What each finds


@pytest.mark.parametrize("name", names())
def test_every_query_runs_and_finds_something(name: str, graph: Store) -> None:
    query = shipped(name)
    # A word can mark a section only where there are several.
    given = {"document": "lighthouse"} if name == "section_words" else {}
    table = run(graph, query.statement, query.values(given))
    assert table.rows
    assert table.changes == {}
    assert len(set(table.columns)) == len(table.columns)
    for row in table.rows:
        assert len(json.dumps(row)) < 20_000


def test_the_outline_goes_from_the_top_down(graph: Store) -> None:
    rows = found(graph, "outline", document="A", aspect="plot")
    mine = [row for row in rows if row["title"] == "A"]
    assert [row["level"] for row in mine] == [2, 1, 1]
    assert (mine[0]["members"], sorted(row["members"] for row in mine[1:])) == (2, [1, 3])


def test_a_summary_is_followed_down_to_the_text(graph: Store) -> None:
    [top] = [row for row in found(graph, "tops", aspect="theme") if row["title"] == "A"]
    rows = found(graph, "support", summary=top["id"])
    assert [row["level"] for row in rows] == [2, 1, 1, 0, 0, 0]
    assert [row["text"] for row in rows[3:]] == ["word 0.", "word 1.", "word 2."]
    assert (rows[0]["weight"], rows[3]["weight"]) == (1.0, 1.0)
    assert top["percent"] == 75.0


def test_a_passage_is_followed_up_to_the_tops(graph: Store) -> None:
    rows = found(graph, "above", words="word 2")
    assert rows[0]["text"] == "word 2."
    assert {(row["aspect"], row["level"]) for row in rows[1:]} == {
        ("plot", 1),
        ("plot", 2),
        ("theme", 1),
        ("theme", 2),
    }


def test_the_uncovered_chunk_is_found(graph: Store) -> None:
    [row] = found(graph, "uncovered")
    assert (row["title"], row["text"]) == ("A", "word 3.")
    without_style = found(graph, "uncovered", document="A", aspect="style")
    assert [row["index"] for row in without_style if row["title"] == "A"] == [0, 1, 2, 3]


def test_coverage_counts_chunks_once(graph: Store) -> None:
    rows = [row for row in found(graph, "coverage", aspect="plot") if row["title"] == "A"]
    assert [(row["level"], row["summaries"], row["chunks"], row["percent"]) for row in rows] == [
        (1, 2, 3, 75.0),
        (2, 1, 3, 75.0),
    ]


def test_words_are_found_where_they_are_densest(graph: Store) -> None:
    rows = found(graph, "density", document="lighthouse", words="storm|lens", parts="3")
    assert sum(row["found"] for row in rows) == 2
    assert rows[-1]["found"] == 0
    assert found(graph, "density", document="lighthouse", words="stor", parts="1")[0]["found"] == 0


def test_a_theme_is_measured_along_the_book(graph: Store) -> None:
    rows = found(graph, "theme", document="Winter", parts="5")
    assert [row["part"] for row in rows] == [1, 2, 3, 4, 5]
    assert all(-1 <= row["cosine"] <= 1 for row in rows)


def test_aspects_of_the_same_chunks_share_all(graph: Store) -> None:
    [row] = [row for row in found(graph, "shared_aspects", limit="500") if row["title"] == "A"]
    assert (row["aspect"], row["other"], row["shared"], row["percent"]) == ("plot", "theme", 3, 100)


def test_a_bridge_is_the_chunk_that_weighs_most_in_both(graph: Store) -> None:
    [row] = [row for row in found(graph, "bridges", limit="500") if row["title"] == "A"]
    assert (row["aspect"], row["other"], row["chunks"], row["text"]) == (
        "plot",
        "theme",
        3,
        "word 0.",
    )


def test_a_chunk_of_two_clusters_is_divided(graph: Store) -> None:
    [row] = [row for row in found(graph, "divided", limit="500") if row["title"] == "A"]
    assert (row["text"], row["clusters"], row["aspects"]) == ("word 2.", 2, ["plot", "theme"])


def test_the_most_connected_chunk_is_in_most_summaries(graph: Store) -> None:
    rows = [row for row in found(graph, "connected", limit="500") if row["title"] == "A"]
    assert (rows[0]["text"], rows[0]["summaries"]) == ("word 2.", 4)


def test_chapters_of_two_characters_are_compared(graph: Store) -> None:
    rows = found(graph, "characters", document="lighthouse", first="Elias", second="Aurora")
    assert [row["section"] for row in rows] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert [row["second"] > 0 for row in rows] == [False, True, True]
    assert all(row["both"] <= min(row["first"], row["second"]) for row in rows)
    assert rows[0]["first"] > 0
    assert rows[0]["percent"] == 0


def test_names_are_words_with_a_capital_inside_sentences(graph: Store) -> None:
    rows = found(graph, "names", document="lighthouse")
    told = {row["name"]: row for row in rows}
    assert {"Elias", "Marta", "November", "Aurora"} >= set(told) >= {"Elias", "Marta", "Aurora"}
    assert (told["Aurora"]["first"], told["Aurora"]["last"]) == ("CHAPTER II", "CHAPTER III")


def test_near_duplicate_details_are_pairs_of_one_document(graph: Store) -> None:
    rows = found(graph, "near_duplicates", similarity="0.999", limit="500")
    mine = [row for row in rows if row["title"] == "A"]
    assert {row["cosine"] for row in mine} == {1.0}
    # Eight details of the same length have the same embedding in this graph.
    assert len(mine) == 8 * 7 / 2
    assert all(row["text"] != row["other_text"] for row in mine)


def test_echoes_are_far_apart(graph: Store) -> None:
    rows = found(graph, "echoes", document="Winter", distance="15")
    assert rows
    assert all(row["section"] != row["other_section"] for row in rows)


def test_sections_come_longest_or_shortest_first(graph: Store) -> None:
    longest = found(graph, "sections", document="lighthouse")
    shortest = found(graph, "sections", document="lighthouse", shortest="true")
    assert [row["section"] for row in longest] == [row["section"] for row in shortest][::-1]
    assert sum(row["percent"] for row in longest) == pytest.approx(100, abs=0.2)


def test_the_words_of_a_section_are_its_own(graph: Store) -> None:
    rows = found(graph, "section_words", document="lighthouse", words="40")
    assert "marta" in rows[0]["words"]
    assert "aurora" not in rows[0]["words"]


def test_facts_are_found_by_their_words(graph: Store) -> None:
    rows = found(graph, "facts", words="word 1")
    assert [row["fact"] for row in rows] == ["detail 0 of word 1", "detail 1 of word 1"]


def test_cost_is_what_the_document_tells(graph: Store) -> None:
    [row] = [row for row in found(graph, "cost") if row["title"] == "A"]
    assert (row["calls"], row["prompt_tokens"], row["completion_tokens"]) == (6, 150, 10)


def test_two_documents_are_compared_level_by_level(graph: Store) -> None:
    rows = found(graph, "compare", first="A", second="Winter")
    [chunks] = [row for row in rows if row["kind"] == "chunk"]
    assert (chunks["first"], chunks["second"], chunks["in_first"]) == ("A", "Winter", 4)
    [style] = [row for row in rows if row["aspect"] == "style" and row["level"] == 1]
    assert style["in_first"] == 0
    assert style["mean_tokens_first"] is None


def test_parallels_and_differences_are_of_one_aspect(graph: Store) -> None:
    asked = {"first": "lighthouse", "second": "Winter", "aspect": "plot"}
    parallels = found(graph, "parallels", **asked)
    differences = found(graph, "differences", **asked)
    assert {row["aspect"] for row in parallels + differences} == {"plot"}
    cosines = [row["cosine"] for row in parallels]
    assert cosines == sorted(cosines, reverse=True)
    assert differences[-1]["cosine"] == cosines[0]


def test_the_text_is_read_from_any_place(graph: Store) -> None:
    rows = found(graph, "read", first="2")
    assert [row["text"] for row in rows] == ["word 2.", "word 3."]


# What values look like


def test_values_of_every_kind_are_plain(graph: Store) -> None:
    table = run(
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
    table = run(
        graph,
        "MATCH path = (:Document {title: 'A'})-[:FIRST_CHUNK]->(:Chunk)<-[:SUMMARIZES]-(:Summary) "
        "RETURN path LIMIT 1",
        {},
    )
    [[path]] = table.rows
    document, chunk, summary = path["nodes"]
    first, summarizes = path["relationships"]
    assert [node["labels"] for node in path["nodes"]] == [["Document"], ["Chunk"], ["Summary"]]
    assert chunk["properties"]["embedding"] == "[256 dimensions]"
    assert document["properties"]["updated_at"].startswith("20")
    assert (first["type"], first["from"], first["to"]) == (
        "FIRST_CHUNK",
        document["id"],
        chunk["id"],
    )
    assert (summarizes["from"], summarizes["properties"]) == (summary["id"], {"weight": 1.0})


@pytest.mark.parametrize(
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
        run(graph, statement, {})


# As a user types it


def ask(*arguments: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["cypher", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def test_the_list_names_every_query_with_its_purpose() -> None:
    shown = ask("--list").stdout
    assert all(name in shown and shipped(name).purpose in shown for name in names())
    told = json.loads(ask("--list", "--json").stdout)
    assert [one["name"] for one in told] == names()
    assert told[0]["parameters"][0] == {
        "name": "document",
        "default": "",
        "about": "a document's id, or a part of its title; '' for the first by title",
    }


def test_a_query_is_shown_to_be_pasted() -> None:
    assert ask("outline", "--show").stdout == shipped("outline").statement


def test_a_table_is_for_reading(typed: None) -> None:
    shown = ask("read", "--param", "limit=2").stdout
    assert "title" in shown
    assert "word 1." in shown
    assert shown.endswith("2 rows\n")


def test_json_is_a_list_of_objects(typed: None) -> None:
    told = json.loads(ask("read", "--param", "document=A", "--param", "limit=1", "--json").stdout)
    assert told == [{"title": "A", "section": "I", "index": 0, "text": "word 0."}]


def test_csv_has_a_header_and_quotes_what_it_must(typed: None) -> None:
    shown = ask("divided", "--param", "limit=500", "--csv").stdout
    rows = list(csv.DictReader(io.StringIO(shown)))
    [row] = [row for row in rows if row["title"] == "A"]
    assert (row["text"], json.loads(row["aspects"])) == ("word 2.", ["plot", "theme"])


def test_a_path_is_drawn(typed: None) -> None:
    shown = ask("tree").stdout
    assert "(:Summary plot at level 2)-[:SUMMARIZES" in shown
    assert "->(:Chunk word 0.)" in shown


def test_a_file_of_ones_own_runs(typed: None, tmp_path: Path) -> None:
    path = tmp_path / "mine.cypher"
    path.write_text(
        "// Titles.\n// :param part => ''\nMATCH (d:Document) WHERE d.title CONTAINS $part "
        "RETURN d.title AS title ORDER BY title;\n"
    )
    assert json.loads(ask(path, "--param", "part=Win", "--json").stdout) == [{"title": "Winter"}]
    assert "can't be read" in ask(tmp_path / "other.cypher", code=1).stderr


def test_a_statement_runs_with_its_parameters(typed: None) -> None:
    statement = "MATCH (c:Chunk {text: $text}) RETURN c.index AS index, $list AS list"
    given = ["--param", "text=word 1.", "--param", 'list=["a", 2]']
    assert json.loads(ask("-e", statement, *given, "--json").stdout) == [
        {"index": 1, "list": ["a", 2]}
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["outlin"], "Did you mean outline?"),
        (["zzz"], "`fabula cypher --list` shows them"),
        (["read", "--param", "fist=3"], "its parameters are document, first, limit. Did you mean"),
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


@pytest.mark.parametrize(
    "arguments",
    [[], ["outline", "-e", "RETURN 1"], ["read", "--param", "x"], ["read", "--json", "--csv"]],
)
def test_what_cannot_be_meant_is_a_usage_error(arguments: list[str]) -> None:
    ask(*arguments, code=2)
