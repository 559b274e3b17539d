"""An assistant has the graph in its hands: it answers, and writes and leaves nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import fabula
from database import cypher as rows_of
from fabula.cli.commands.mcp import write_skill
from fabula.graph.installed import graphs
from fabula.jobs.callers import PERSON, Caller
from fabula.operations.schema import MAX_TOKENS
from fabula.server import Address
from fabula.text.tokens import count
from mcp_calls import called, in_memory
from offline import offline_app
from served import Served, served
from stories import LIGHTHOUSE

CAROL = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"
READER = Caller("ada", "Ada", "read", frozenset({"mine"}))
ADMIN_OF_ONE = Caller("eve", "Eve", "admin", frozenset({"mine"}))
TRUSTED = PERSON


Results = Sequence[Any]
Call = tuple[str, dict[str, Any]]
Step = Call | Callable[[Results], Call]
BOOK = "Christmas Carol"
STAVES = 5


@dataclass(frozen=True)
class Question:
    """A question, the calls that answer it, and whether their results do."""

    text: str
    steps: tuple[Step, ...]
    is_answered: Callable[[Results], bool]


def ask(text: str, *steps: Step, by: Callable[[Any], bool]) -> Question:
    """A question that the last result answers."""
    return Question(text, steps, lambda results: by(results[-1]))


def query(name: str, /, **parameters: Any) -> Call:
    """A prepared query."""
    return "cypher", {"query": name, "parameters": parameters}


def cypher(statement: str, /, **parameters: Any) -> Call:
    """A statement of one's own about the collection."""
    return "run_cypher", {"statement": f"CYPHER 25 {statement}", "parameters": parameters}


def values(result: Any, column: str) -> list[Any]:
    """The cells of a column."""
    return [row[column] for row in result["rows"]]


def only_cell(result: Any) -> Any:
    """The only cell of a result."""
    [row] = result["rows"]
    [cell] = row.values()
    return cell


def falls(numbers: Sequence[float]) -> bool:
    """Whether there are some, and none is larger than the one before."""
    return bool(numbers) and list(numbers) == sorted(numbers, reverse=True)


def first_id(results: Results) -> str:
    """The id in the first row of the last result."""
    found: str = results[-1]["rows"][0]["id"]
    return found


BY_TOOLS = (
    # Counts
    ask("How many documents are there?", ("list_documents", {}), by=lambda r: r["total"] == 1),
    ask("How many words has the book?", ("ngrams", {}), by=lambda r: 28_000 < r["tokens"] < 30_000),
    ask(
        "How many words occur once?",
        ("ngrams", {"limit": 1}),
        by=lambda r: r["types"] > r["hapaxes"] > 2000,
    ),
    ask(
        "How often is humbug said?",
        ("concordance", {"words": "humbug"}),
        by=lambda r: r["total"] == len(r["rows"]) == 9,
    ),
    ask("How many chapters are there?", query("sections"), by=lambda r: r["total"] == STAVES + 1),
    ask(
        "Which graphs were built?",
        ("schema", {}),
        by=lambda r: {"aspects", "entities", "speech"} <= r["graphs"].keys(),
    ),
    ask(
        "How many people are named?",
        ("entities", {"type": "person"}),
        by=lambda r: r["total"] > 9,
    ),
    ask("How many quotations are there?", ("speech", {"limit": 1}), by=lambda r: r["total"] > 400),
    ask(
        "How many of them are Scrooge's?",
        ("speech", {"limit": 1}),
        ("speech", {"limit": 1, "speaker": "Scrooge"}),
        by=lambda r: 50 < r["total"] < 400,
    ),
    ask(
        "How long is the text in chunks, details and summaries?",
        query("library"),
        by=lambda r: r["rows"][0]["chunks"] > 100 < r["rows"][0]["summaries"] + 100,
    ),
    # Comparisons
    ask(
        "Which chapter is the longest?",
        query("sections", limit=1),
        by=lambda r: "STAVE III" in r["rows"][0]["section"],
    ),
    ask(
        "Which is the shortest?",
        query("sections", shortest=True, limit=1),
        by=lambda r: r["rows"][0]["section"] == "PREFACE",
    ),
    ask(
        "Who is named most?",
        query("cast", limit=3),
        by=lambda r: r["rows"][0]["name"] == "Scrooge" and falls(values(r, "mentions")),
    ),
    ask(
        "How do the chapters of Scrooge and the Cratchits overlap?",
        query("characters", first="Scrooge", second="Bob|Cratchit"),
        by=lambda r: r["rows"][1]["second"] == 0 < r["rows"][3]["both"],
    ),
    ask(
        "Is Christmas or money spread more evenly?",
        ("dispersion", {"words": "christmas", "beside": "money"}),
        by=lambda r: values(r, "deviation")[0] < values(r, "deviation")[1],
    ),
    ask(
        "Which words does the book use beside Scrooge?",
        ("collocates", {"words": "scrooge", "limit": 3}),
        by=lambda r: r["rows"][0]["word"] == "said",
    ),
    ask(
        "Which aspect is told of most of the book?",
        query("coverage"),
        by=lambda r: falls(values(r, "percent")),
    ),
    ask(
        "Which words mark each chapter?",
        query("section_words"),
        by=lambda r: "marley" in r["rows"][1]["words"],
    ),
    ask(
        "Who says most to whom?",
        query("conversations", limit=5),
        by=lambda r: r["rows"][0]["speaker"] == "Scrooge" and falls(values(r, "words")),
    ),
    # Paths
    ask(
        "Which summaries rest on the surplus population?",
        query("above", words="surplus population"),
        by=lambda r: r["rows"][0]["kind"] == "chunk" and r["rows"][-1]["level"] >= 2,
    ),
    ask(
        "What does the first summary of the plot rest on?",
        query("outline", aspect="plot", limit=1),
        lambda results: query("support", summary=first_id(results)),
        by=lambda r: "chunk" in values(r, "kind"),
    ),
    ask(
        "What is Marley to Scrooge, part by part?",
        query("between", first="Scrooge", second="Marley"),
        by=lambda r: r["rows"][0]["chunks"] > 3,
    ),
    ask(
        "Who meets whom first, and where?",
        query("meetings", limit=5),
        by=lambda r: falls(values(r, "chunks")) and all(values(r, "first_section")),
    ),
    ask(
        "What follows the passage that answers a question?",
        ("search", {"question": "Who was dead to begin with?", "k": 1, "kinds": ["chunk"]}),
        lambda results: ("neighbours", {"passage": first_id(results), "direction": "beside"}),
        by=lambda r: r["total"] >= 1,
    ),
    # Aggregates over chapters
    ask(
        "In which chapters does Marley appear?",
        query("appearances", name="Marley"),
        by=lambda r: "STAVE I:" in r["rows"][0]["section"] and r["total"] > 1,
    ),
    ask(
        "Where are ghosts densest?",
        query("density", words="ghost|spectre", parts=5),
        by=lambda r: r["total"] == 5 and max(values(r, "found")) > 5,
    ),
    ask(
        "Which aspects has each chapter?",
        query("profile"),
        by=lambda r: len({*values(r, "section")}) == STAVES + 1,
    ),
    ask(
        "What happened before the second stave?",
        ("recap", {"document": BOOK, "until": "STAVE I"}),
        by=lambda r: r["total"] and all(row["end"] <= r["until"] for row in r["rows"]),
    ),
    ask(
        "Who says what about Christmas?",
        query("said_about", word="Christmas"),
        by=lambda r: "Scrooge" in values(r, "speaker"),
    ),
    ask(
        "How does the book begin?",
        query("read", first=1, limit=1),
        by=lambda r: "MARLEY was dead" in r["rows"][0]["text"],
    ),
)
CHUNK = "MATCH (c:Passage&Chunk {collection: $collection}) "
ENTITY = "MATCH (e:Element&Entity {collection: $collection}) "
QUOTATION = "MATCH (q:Element&Quotation {collection: $collection}) "
SUMMARY = "MATCH (s:Passage&Summary {collection: $collection}) "
BY_CYPHER = (
    # Counts
    ask(
        "How many chunks?", cypher(CHUNK + "RETURN count(*) AS n"), by=lambda r: only_cell(r) > 100
    ),
    ask(
        "How many tokens has a chunk on average?",
        cypher(CHUNK + "RETURN avg(c.tokens) AS n"),
        by=lambda r: 50 < only_cell(r) < 400,
    ),
    ask(
        "How many chunks have nobody?",
        cypher(CHUNK + "WHERE NOT EXISTS { (c)<-[:FROM_CHUNK]-(:Entity) } RETURN count(*) AS n"),
        by=lambda r: 0 <= only_cell(r) < 100,
    ),
    ask(
        "How many entities of each type?",
        cypher(ENTITY + "RETURN e.type AS type, count(*) AS n ORDER BY n DESC"),
        by=lambda r: falls(values(r, "n")) and "person" in values(r, "type"),
    ),
    ask(
        "How many people are named once?",
        cypher(ENTITY + "WHERE e.type = 'person' AND e.mentions = 1 RETURN count(*) AS n"),
        by=lambda r: only_cell(r) >= 0,
    ),
    ask(
        "How many quotations have no known speaker?",
        cypher(QUOTATION + "WHERE q.speaker = '' RETURN count(*) AS n"),
        by=lambda r: 0 < only_cell(r) < 400,
    ),
    ask(
        "How many summaries of each aspect and level?",
        cypher(
            SUMMARY + "RETURN s.aspect AS aspect, s.level AS level, count(*) AS n "
            "ORDER BY aspect, level"
        ),
        by=lambda r: min(values(r, "level")) == 1 and sum(values(r, "n")) > 20,
    ),
    ask(
        "How many edges of each kind lead from a summary?",
        cypher(SUMMARY + "MATCH (s)-[x]->() RETURN type(x) AS type, count(*) AS n"),
        by=lambda r: values(r, "type") == ["SUMMARIZES"],
    ),
    ask(
        "How many details has a chunk at most?",
        cypher(
            CHUNK + "RETURN COUNT { (c)<-[:DETAILS]-() } AS details, count(*) AS n "
            "ORDER BY details DESC LIMIT 1"
        ),
        by=lambda r: 0 < r["rows"][0]["details"] <= 2,
    ),
    ask(
        "What did each graph cost?",
        cypher(
            "MATCH (p:Part {collection: $collection}) RETURN p.graph AS graph, p.calls AS calls "
            "ORDER BY graph"
        ),
        by=lambda r: set(values(r, "calls")) <= {0, None},
    ),
    # Comparisons
    ask(
        "Who is in more chunks, Scrooge or Marley?",
        cypher(
            ENTITY + "WHERE e.name IN ['Scrooge', 'Marley'] "
            "RETURN e.name AS name, e.chunks AS chunks ORDER BY chunks DESC"
        ),
        by=lambda r: values(r, "name")[0] == "Scrooge",
    ),
    ask(
        "Who has the most names?",
        cypher(ENTITY + "RETURN e.name AS name, size(e.names) AS n ORDER BY n DESC, name LIMIT 3"),
        by=lambda r: falls(values(r, "n")) and values(r, "n")[0] > 3,
    ),
    ask(
        "Do speakers say more words in stave one or in stave five?",
        cypher(
            QUOTATION
            + "WHERE q.section STARTS WITH 'STAVE I:' OR q.section STARTS WITH 'STAVE V:' "
            "RETURN q.section AS section, sum(q.words) AS words ORDER BY words DESC"
        ),
        by=lambda r: r["total"] == 2 and "STAVE I:" in values(r, "section")[0],
    ),
    ask(
        "Whose quotations are the longest on average?",
        cypher(
            QUOTATION + "WHERE q.speaker <> '' WITH q.speaker AS speaker, avg(q.words) AS words, "
            "count(*) AS n WHERE n > 5 RETURN speaker, words ORDER BY words DESC LIMIT 5"
        ),
        by=lambda r: falls(values(r, "words")),
    ),
    ask(
        "Are summaries longer than what they rest on?",
        cypher(
            SUMMARY + "MATCH (s)-[:SUMMARIZES]->(m) WITH s, sum(m.tokens) AS below "
            "RETURN avg(toFloat(s.tokens) / below) AS share"
        ),
        by=lambda r: 0 < only_cell(r) < 1,
    ),
    ask(
        "Which two chunks are nearest to the first by meaning?",
        cypher(
            CHUNK + "WHERE c.index = 1 MATCH (n:Passage) SEARCH n IN (VECTOR INDEX "
            "passage_vectors_256 FOR c.embedding WHERE n.collection = $collection AND "
            "n.kind = 'chunk' LIMIT 3) SCORE AS score WHERE n <> c "
            "RETURN n.index AS index, score ORDER BY score DESC LIMIT 2"
        ),
        by=lambda r: r["total"] == 2 and falls(values(r, "score")),
    ),
    ask(
        "Which chunks have both words, turkey and goose?",
        cypher(
            "CALL db.index.fulltext.queryNodes('passage_texts', '+turkey +goose') YIELD node, "
            "score WHERE node.collection = $collection RETURN node.kind AS kind, "
            "node.section AS section "
            "ORDER BY score DESC LIMIT 20"
        ),
        by=lambda r: r["total"] >= 0,
    ),
    # Paths
    ask(
        "How are Scrooge and Tiny Tim tied?",
        cypher(
            "MATCH (a:Element&Entity {collection: $collection, name: 'Scrooge'}), "
            "(b:Element&Entity {collection: $collection}) WHERE 'Tiny Tim' IN b.names "
            "MATCH p = SHORTEST 1 (a)-[:RELATES_TO]-{1,5}(b) "
            "RETURN [x IN nodes(p) | x.name] AS names, length(p) AS steps"
        ),
        by=lambda r: r["rows"][0]["names"][0] == "Scrooge" and r["rows"][0]["steps"] >= 1,
    ),
    ask(
        "Who is two steps from Scrooge, and not one?",
        cypher(
            "MATCH (a:Element&Entity {collection: $collection, name: 'Scrooge'})"
            "-[:RELATES_TO]-()-[:RELATES_TO]-(b:Entity) "
            "WHERE a <> b AND NOT EXISTS { (a)-[:RELATES_TO]-(b) } "
            "RETURN DISTINCT b.name AS name ORDER BY name LIMIT 20"
        ),
        by=lambda r: "Scrooge" not in values(r, "name"),
    ),
    ask(
        "What stands from the first chunk to the fifth?",
        cypher(
            "MATCH (d:Document {collection: $collection})-[:FIRST_CHUNK]->(c:Chunk)"
            "-[:NEXT_CHUNK]->{0,4}(n:Chunk) RETURN n.index AS index, n.start AS start "
            "ORDER BY index"
        ),
        by=lambda r: values(r, "index") == [0, 1, 2, 3, 4],
    ),
    ask(
        "How many chunks are below each top summary of the plot?",
        cypher(
            SUMMARY + "WHERE s.aspect = 'plot' AND NOT EXISTS { (s)<-[:SUMMARIZES]-() } "
            "MATCH (s)-[:SUMMARIZES]->{1,6}(c:Chunk) RETURN s.id AS id, count(DISTINCT c) AS n"
        ),
        by=lambda r: max(values(r, "n")) > 10,
    ),
    ask(
        "Which summary rests most strongly on a chunk that names Fezziwig?",
        cypher(
            CHUNK + "WHERE c.text CONTAINS 'Fezziwig' MATCH (s:Summary)-[x:SUMMARIZES]->(c) "
            "RETURN s.id AS id, s.aspect AS aspect, x.weight AS weight ORDER BY weight DESC LIMIT 3"
        ),
        lambda results: ("passage", {"passage": first_id(results)}),
        by=lambda r: r["passage"]["kind"] == "summary",
    ),
    ask(
        "Which triangles of people are there around Scrooge?",
        cypher(
            "MATCH (a:Element&Entity {collection: $collection, name: 'Scrooge'})"
            "-[:RELATES_TO]-(b:Entity)-[:RELATES_TO]-(c:Entity)-[:RELATES_TO]-(a) "
            "WHERE b.name < c.name "
            "RETURN b.name AS one, c.name AS other ORDER BY one, other LIMIT 20"
        ),
        by=lambda r: r["total"] > 0,
    ),
    # Aggregates over chapters
    ask(
        "How many people does each chapter name?",
        cypher(
            ENTITY + "WHERE e.type = 'person' MATCH (e)-[:FROM_CHUNK]->(c:Chunk) "
            "RETURN c.section AS section, count(DISTINCT e) AS people, min(c.start) AS start "
            "ORDER BY start"
        ),
        by=lambda r: r["total"] >= STAVES and min(values(r, "people")) > 0,
    ),
    ask(
        "Who enters in which chapter?",
        cypher(
            ENTITY + "MATCH (e)-[:FROM_CHUNK]->(c:Chunk) WITH e, min(c.start) AS start "
            "MATCH (c:Passage&Chunk {collection: $collection, start: start}) "
            "WITH c, e, start ORDER BY COUNT { (e)-[:FROM_CHUNK]->() } DESC, e.name "
            "RETURN c.section AS section, collect(e.name)[..5] AS names, min(start) AS first "
            "ORDER BY first"
        ),
        by=lambda r: any("Scrooge" in names for names in values(r, "names")),
    ),
    ask(
        "What share of each chapter is direct speech?",
        cypher(
            QUOTATION + "WITH q.section AS section, sum(q.end - q.start) AS spoken "
            "MATCH (c:Passage&Chunk {collection: $collection, section: section}) "
            "WITH section, spoken, max(c.end) - min(c.start) AS length "
            "RETURN section, toFloat(spoken) / length AS share ORDER BY section"
        ),
        by=lambda r: r["total"] == STAVES and all(0 < share < 1 for share in values(r, "share")),
    ),
    ask(
        "How much of each chapter has Scrooge's name, and what is its longest stretch without it?",
        cypher(
            "MATCH (e:Element&Entity {collection: $collection, name: 'Scrooge'})"
            "-[:FROM_CHUNK]->(c) WITH c ORDER BY c.index WITH collect(c.index) AS at "
            "RETURN reduce(m = 0, i IN range(1, size(at) - 1) | "
            "CASE WHEN at[i] - at[i - 1] > m THEN at[i] - at[i - 1] ELSE m END) AS gap"
        ),
        by=lambda r: only_cell(r) > 1,
    ),
    ask(
        "How many quotations does each speaker have in each chapter?",
        cypher(
            QUOTATION + "WHERE q.speaker <> '' RETURN q.section AS section, q.speaker AS speaker, "
            "count(*) AS n ORDER BY n DESC LIMIT 10"
        ),
        by=lambda r: r["rows"][0]["speaker"] == "Scrooge",
    ),
    ask(
        "Which episodes does each chapter have?",
        cypher(
            "MATCH (e:Passage&Episode {collection: $collection, level: 1}) "
            "RETURN e.section AS section, count(*) AS n, min(e.start) AS start ORDER BY start"
        ),
        by=lambda r: sum(values(r, "n")) > STAVES,
    ),
    ask(
        "Which labels and properties may a statement use?",
        ("schema", {"label": "Quotation"}),
        by=lambda r: {"speaker", "words"} <= r["properties"].keys(),
    ),
)


Attempt = tuple[str, dict[str, Any]]
WRITES = (
    "CREATE (:Intruder)",
    "CREATE (n:Intruder) RETURN n",
    "INSERT (:Intruder)",
    "MERGE (:Intruder {id: 1})",
    "MATCH (n:Chunk) SET n.text = 'gone'",
    "MATCH (n:Chunk) SET n += {text: 'gone'}",
    "MATCH (n:Chunk) SET n:Intruder",
    "MATCH (n:Chunk) REMOVE n.text",
    "MATCH (n:Chunk) REMOVE n:Chunk",
    "MATCH (n:Chunk) DETACH DELETE n",
    "MATCH ()-[r]->() DELETE r",
    "MATCH (n:Chunk) FOREACH (x IN [n] | SET x.text = 'gone')",
    "UNWIND [1] AS x CREATE (:Intruder {id: x}) RETURN x",
    "MATCH (a:Chunk), (b:Chunk) CREATE (a)-[:NEXT_CHUNK]->(b)",
    "CALL () { CREATE (:Intruder) } RETURN 1",
    "UNWIND [1] AS x CALL (x) { CREATE (:Intruder {id: x}) } IN TRANSACTIONS RETURN x",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "LOAD CSV WITH HEADERS FROM 'http://127.0.0.1:1/x' AS row RETURN row",
    "CREATE INDEX intruder FOR (n:Intruder) ON (n.id)",
    "DROP INDEX passage_texts",
    "DROP CONSTRAINT passage_id",
    "CREATE CONSTRAINT intruder FOR (n:Intruder) REQUIRE n.id IS UNIQUE",
    "CALL db.create.setNodeVectorProperty(null, 'embedding', [1.0])",
    "MATCH (n:Chunk) CALL db.create.setNodeVectorProperty(n, 'embedding', [1.0]) RETURN n",
    "CALL db.createLabel('Intruder')",
    "CALL db.clearQueryCaches()",
    "CALL dbms.listConfig() YIELD name RETURN name",
    "CALL dbms.setConfigValue('a', 'b')",
    "CALL dbms.killConnections(['x'])",
    "CALL tx.setMetaData({a: 1})",
    "CALL apoc.load.json('http://127.0.0.1:1/') YIELD value RETURN value",
    "CALL apoc.cypher.doIt('CREATE (:Intruder)', {}) YIELD value RETURN value",
    "RETURN apoc.cypher.runFirstColumnSingle('CREATE (:Intruder)', {})",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "SHOW SETTINGS",
    "SHOW USERS",
    "ALTER USER neo4j SET PASSWORD 'changed-12345'",
    "CREATE USER intruder SET PASSWORD 'intruder-12345'",
    "CREATE DATABASE intruder",
    "STOP DATABASE neo4j",
    "RETURN COUNT { CALL db.clearQueryCaches() YIELD value RETURN value } AS n",
)


def spell(statement: str) -> Iterator[str]:
    """The spellings of a statement."""
    first, _, rest = statement.partition(" ")
    yield statement
    yield statement.lower()
    yield "".join(c.upper() if n % 2 else c.lower() for n, c in enumerate(statement))
    yield f"CYPHER 25 {statement}"
    yield f"PROFILE {statement}"
    yield f"// only reads\n{first}/* RETURN 1 */ {rest}"
    yield re.sub(" ", "\t\r\n", statement)
    yield f"\\u{ord(first[0]):04X}{first[1:]} {rest}"
    yield f"RETURN 1; {statement}"
    yield f"{statement};"


def write_attempts() -> list[Attempt]:
    """Statements that write, or reach beyond the graph."""
    return [
        ("run_cypher", {"statement": each})
        for statement in WRITES
        for each in dict.fromkeys(spell(statement))
    ]


NAMES = ("other", "OTHER", "mine/../other", "mine,other", "*", "", "other ", "mine' OR 1=1 //")
LEAVING: tuple[Attempt, ...] = (
    ("search", {"question": "the lighthouse"}),
    ("ask", {"question": "the lighthouse"}),
    ("read", {"document": "Light"}),
    ("schema", {}),
    ("entities", {}),
    ("concordance", {"words": "lighthouse"}),
    ("cypher", {"query": "library"}),
    ("outline", {"document": "Light"}),
    ("check", {}),
)


def leaving_attempts(document: str, passage: str) -> list[Attempt]:
    """Calls with a key of the collection `mine` for what the collection `other` has.

    Args:
        document: The id of a document of the other collection.
        passage: The id of a passage of it.
    """
    by_name = [(tool, {**values, "collection": name}) for tool, values in LEAVING for name in NAMES]
    by_id: list[Attempt] = [
        ("read", {"document": document}),
        ("show_document", {"document": document}),
        ("outline", {"document": document}),
        ("check", {"document": document}),
        ("search", {"question": "the lighthouse", "document": document}),
        ("passage", {"passage": passage}),
        ("neighbours", {"passage": passage, "direction": "beside"}),
        ("keyness", {"document": "Carol", "against_collection": "other"}),
        ("keyness", {"document": "Carol", "against": document}),
    ]
    by_query: list[Attempt] = [
        ("cypher", {"query": query, "parameters": parameters})
        for query in ("library", "read", "cast", "sections", "details", "concordance")
        for parameters in (
            {"collection": "other"},
            {"document": document},
            {"document": "Light"},
            {"$collection": "other"},
        )
    ]
    own: list[Attempt] = [
        ("run_cypher", {"statement": "MATCH (n:Chunk) RETURN n.text"}),
        ("run_cypher", {"statement": "MATCH (n:Chunk) RETURN n.text", "collection": "mine"}),
        ("search_across", {"question": "the lighthouse", "collections": ["other"]}),
        ("ask_across", {"question": "the lighthouse", "collections": ["mine", "other"]}),
    ]
    here = [(tool, {"collection": "mine", **values}) for tool, values in (*by_id, *by_query)]
    return [*by_name, *here, *own]


PLACES = ("STAVE I", "stave i", "20%", "30000", " STAVE I ")
"""How a reader says where they are; all are before the second stave has ended."""
LATER = ("Fezziwig", "Tiny Tim", "Cratchit", "Topper")
"""Names that the book prints after those places alone."""


def place_attempts() -> list[Attempt]:
    """Calls of a reader with a place for what the book tells later."""
    asked: list[Attempt] = [
        *(("search", {"question": f"Who is {name}?", "k": 20}) for name in LATER),
        *(("concordance", {"words": name}) for name in ("cratchit", "fezziwig")),
        ("read", {"start": 100_000, "end": 101_000}),
        ("entities", {"limit": 500}),
        *(("entity", {"name": name}) for name in ("Tiny Tim", "Fezziwig")),
        ("speech", {"limit": 500}),
        ("outline", {}),
        ("recap", {}),
        ("ngrams", {"limit": 5000, "min_count": 1}),
        ("collocates", {"words": "bob"}),
    ]
    by_query: list[Attempt] = [
        ("cypher", {"query": name, "parameters": {"document": "Carol", **parameters}})
        for name, parameters in (
            ("cast", {"limit": 200}),
            ("details", {"words": "Fezziwig"}),
            ("concordance", {"words": "Cratchit"}),
            ("read", {"first": 150}),
            ("outline", {}),
            ("recap", {}),
            ("sections", {}),
            ("turns", {}),
            ("above", {"words": "Fezziwig"}),
            ("appearances", {"name": "Tiny Tim"}),
        )
    ]
    attempts: list[Attempt] = []
    for place in PLACES:
        for tool, values in asked:
            attempts.append((tool, {"document": "Carol", **values, "until": place}))
        for tool, values in by_query:
            fields = {**values, "parameters": {**values["parameters"], "until": place}}
            attempts.append((tool, fields))
    return [(tool, {"collection": "mine", **values}) for tool, values in attempts]


@pytest.fixture(scope="module")
def it(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A novel and a story in two collections, where the operator allows assistants Cypher."""
    home = tmp_path_factory.mktemp("home")
    built = "aspects,entities,speech,episodes"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FABULA_SERVE__CYPHER_TOOL", "true")
        with offline_app(address, home=home, chunk_tokens=200, graphs=built) as app:
            app.collection("mine").ingest(CAROL)
            app.collection("other").ingest_text(LIGHTHOUSE, source="light.txt", title="Light")
            with served(app) as it:
                yield it


def make_calls(it: Served, caller: Caller, attempts: Sequence[Attempt]) -> list[tuple[bool, str]]:
    """Whether each call was refused, and all that it returned."""

    async def call_all(client: Client) -> list[tuple[bool, str]]:
        found_later = []
        for tool, values in attempts:
            result = await client.call_tool(tool, values)
            shown = result.content[0].text if result.content else ""  # type: ignore[union-attr]
            found_later.append(
                (bool(result.is_error), shown + json.dumps(result.structured_content))
            )
        return found_later

    return in_memory(it, call_all, caller)


def count_graph(it: Served) -> Any:
    """What any change of the graph would change."""
    return rows_of(
        it.state.app.connect(),
        "MATCH (n:!Lock&!ServiceQueue&!ServiceLedger) OPTIONAL MATCH (n)-[r]->() "
        "RETURN count(DISTINCT n) AS nodes, count(r) AS edges, sum(size(keys(n))) AS properties, "
        "sum(size(labels(n))) AS labels, "
        "sum(size(coalesce(n.text, ''))) AS text",
    )


@pytest.mark.parametrize(
    ("caller", "questions"), [(READER, BY_TOOLS), (TRUSTED, BY_CYPHER)], ids=["tools", "cypher"]
)
def test_thirty_questions_are_answered_in_three_calls_each(
    it: Served, caller: Caller, questions: Sequence[Question]
) -> None:
    async def answer(client: Client) -> list[str]:
        wrong = []
        for question in questions:
            results: list[Any] = []
            for step in question.steps:
                tool, values = step(results) if callable(step) else step
                result = await client.call_tool(tool, {"collection": "mine", **values})
                if result.is_error:
                    wrong.append(f"{question.text} {result.content}")
                    break
                results.append(result.structured_content)
            else:
                if not question.is_answered(results):
                    wrong.append(f"{question.text} {results[-1]}"[:400])
        return wrong

    assert len(questions) == 30
    assert max(len(question.steps) for question in questions) <= 3
    assert in_memory(it, answer, caller) == []


def test_the_schema_is_that_of_the_collection_and_short(it: Served) -> None:
    found = called(it, "schema", READER, collection="mine")
    assert count(json.dumps(found)) <= MAX_TOKENS
    assert {"Chunk", "Summary", "Entity", "Quotation", "Episode"} <= found["labels"].keys()
    assert "(Quotation)-[SPOKEN_BY]->(Entity)" in found["edges"]
    assert "(Summary)-[SUMMARIZES {weight}]->(Chunk|Summary)" in found["edges"]
    built = ["aspects", "entities", "episodes", "speech", "text"]
    assert found["graphs"] == dict.fromkeys(built, 1)
    assert {"passage_vectors_256", "passage_texts", "element_texts"} <= found["indexes"].keys()
    alone = called(it, "schema", READER, collection="mine", label="Entity")
    assert alone["properties"]["names"] == "LIST<STRING NOT NULL>"
    result = called(it, "schema", READER, collection="mine", label="Entitty")
    assert "Did you mean Entity?" in result


def test_a_prepared_query_is_typed(it: Served) -> None:
    request = {"collection": "mine", "query": "cast"}
    result = called(it, "cypher", READER, **request, parameters={"limit": "3"})
    assert result.endswith("The query 'cast' takes integer as limit, not string.")
    found = called(it, "cypher", READER, **request, parameters={"limit": 3}, max_rows=2)
    assert (found["total"], found["cut_by"], found["reach"]) == (2, "rows", "collection mine")
    [row] = called(it, "queries", READER, words="recap")["rows"]
    types = {each["name"]: each["types"] for each in row["parameters"]}
    assert types == {"document": ["string"], "until": ["integer", "string"], "limit": ["integer"]}


def test_free_cypher_is_for_the_whole_library_where_the_operator_allows_it(it: Served) -> None:
    statement = "MATCH (n:Passage&Chunk {collection: $collection}) RETURN count(*) AS n"
    request = {"statement": statement, "collection": "mine"}
    found = called(it, "run_cypher", TRUSTED, **request)
    assert found["reach"].startswith("the whole graph")
    assert "needs a key with the role admin" in called(it, "run_cypher", READER, **request)
    result = called(it, "run_cypher", ADMIN_OF_ONE, **request)
    assert "can't be restricted to those of this key" in result
    long = "MATCH (n:Passage&Chunk {collection: $collection}) RETURN collect(n.text) AS texts"
    [row] = called(it, "run_cypher", TRUSTED, statement=long, collection="mine")["rows"]
    assert re.fullmatch(r"… \(\d+ more items\)", row["texts"][-1])
    serving = it.state.serving
    it.state.serving = serving.model_copy(update={"cypher_tool": False})
    try:
        assert "Unknown tool" in called(it, "run_cypher", TRUSTED, **request)
    finally:
        it.state.serving = serving


def test_each_statement_of_the_skill_runs(it: Served) -> None:
    skill = write_skill()
    head = r"---\nname: fabula-graph-skill\ndescription: (?s:.+?)\ncompatibility: .+\n---\n"
    assert re.match(head, skill)
    book = it.state.app.collection("mine").document("Carol").id
    [ids] = rows_of(
        it.state.app.connect(),
        "MATCH (s:Summary {collection: 'mine', level: 1}) "
        "MATCH (c:Chunk {collection: 'mine', index: 3}) "
        "RETURN s.id AS summary, c.id AS passage LIMIT 1",
    )
    known = {"document": book, "name": "Scrooge", "other": "Marley", "words": "+scrooge", **ids}
    statements = re.findall(r"```cypher\n(.+?)```", skill, re.DOTALL)
    assert len(statements) >= 7
    for statement in statements:
        used = {name: known[name] for name in re.findall(r"\$(\w+)", statement) if name in known}
        request = {"statement": statement, "collection": "mine", "parameters": used}
        found = called(it, "run_cypher", TRUSTED, **request)
        assert not isinstance(found, str), f"{statement}: {found}"
        assert found["rows"], statement
    labels = {*re.findall(r"(?:Passage|Element)&(\w+)", skill)}
    installed = {name for graph in graphs().values() for name in (*graph.passages, *graph.elements)}
    assert labels <= installed | {"Chunk"}


@pytest.mark.nightly
def test_five_hundred_attempts_fail(it: Served) -> None:
    """To write, to leave the collection, to pass a reader's place."""
    before = count_graph(it)
    writes = write_attempts()
    results = make_calls(it, TRUSTED, writes)
    done = [each for each, (is_refused, _) in zip(writes, results, strict=True) if not is_refused]
    assert done == []
    assert count_graph(it) == before

    light = it.state.app.collection("other").document("Light").id
    [row] = rows_of(
        it.state.app.connect(),
        "MATCH (c:Chunk {collection: 'other', index: 0}) RETURN c.id AS id",
    )
    leaving = leaving_attempts(light, row["id"])
    for caller in (READER, ADMIN_OF_ONE):
        results = make_calls(it, caller, leaving)
        shown = [
            each for each, (_, text) in zip(leaving, results, strict=True) if tells_light(text)
        ]
        assert shown == []

    places = place_attempts()
    results = make_calls(it, READER, places)
    passed = [
        (values, name)
        for (_, values), (_, text) in zip(places, results, strict=True)
        for name in LATER
        if name in text.replace(str(values), "") and name not in json.dumps(values)
    ]
    assert passed == []
    assert len(writes) + 2 * len(leaving) + len(places) >= 500


def tells_light(text: str) -> bool:
    """Whether the story of the other collection is in a result: names and words of it alone."""
    return bool(re.search(r"\b(Elias|Marta|Aurora)\b", text))
