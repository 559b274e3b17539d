"""Attempts to do by an assistant's tools what they must not do: each has to fail.

They are made from a few statements and names, in as many spellings as there are for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
            told = {**values, "parameters": {**values["parameters"], "until": place}}
            attempts.append((tool, told))
    return [(tool, {"collection": "mine", **values}) for tool, values in attempts]
