"""Twenty questions of analysts about *A Christmas Carol*: the tools that answer them, and how.

Half of them are asked with a key of one collection, by prepared queries and other tools; half with
one of the whole library, by Cypher. No answer takes more than three calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

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


def one(result: Any) -> Any:
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
    ask("How many words has the book?", ("ngrams", {}), by=lambda r: 28_000 < r["tokens"] < 30_000),
    ask(
        "Which graphs were built?",
        ("schema", {}),
        by=lambda r: {"aspects", "entities", "speech"} <= r["graphs"].keys(),
    ),
    ask(
        "How many of them are Scrooge's?",
        ("speech", {"limit": 1}),
        ("speech", {"limit": 1, "speaker": "Scrooge"}),
        by=lambda r: 50 < r["total"] < 400,
    ),
    # Comparisons
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
        "What happened before the second stave?",
        ("recap", {"document": BOOK, "until": "STAVE I"}),
        by=lambda r: r["total"] and all(row["end"] <= r["until"] for row in r["rows"]),
    ),
)
CHUNK = "MATCH (c:Passage&Chunk {collection: $collection}) "
ENTITY = "MATCH (e:Element&Entity {collection: $collection}) "
QUOTATION = "MATCH (q:Element&Quotation {collection: $collection}) "
BY_CYPHER = (
    # Counts
    ask("How many chunks?", cypher(CHUNK + "RETURN count(*) AS n"), by=lambda r: one(r) > 100),
    ask(
        "How many entities of each type?",
        cypher(ENTITY + "RETURN e.type AS type, count(*) AS n ORDER BY n DESC"),
        by=lambda r: falls(values(r, "n")) and "person" in values(r, "type"),
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
        "What stands from the first chunk to the fifth?",
        cypher(
            "MATCH (d:Document {collection: $collection})-[:FIRST_CHUNK]->(c:Chunk)"
            "-[:NEXT_CHUNK]->{0,4}(n:Chunk) RETURN n.index AS index, n.start AS start "
            "ORDER BY index"
        ),
        by=lambda r: values(r, "index") == [0, 1, 2, 3, 4],
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
    # Aggregates over chapters
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
        "Which labels and properties may a statement use?",
        ("schema", {"label": "Quotation"}),
        by=lambda r: {"speaker", "words"} <= r["properties"].keys(),
    ),
)
