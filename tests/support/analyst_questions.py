"""Sixty questions of analysts about *A Christmas Carol*: the tools that answer them, and how.

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
    ask("How many chunks?", cypher(CHUNK + "RETURN count(*) AS n"), by=lambda r: one(r) > 100),
    ask(
        "How many tokens has a chunk on average?",
        cypher(CHUNK + "RETURN avg(c.tokens) AS n"),
        by=lambda r: 50 < one(r) < 400,
    ),
    ask(
        "How many chunks have nobody?",
        cypher(CHUNK + "WHERE NOT EXISTS { (c)<-[:FROM_CHUNK]-(:Entity) } RETURN count(*) AS n"),
        by=lambda r: 0 <= one(r) < 100,
    ),
    ask(
        "How many entities of each type?",
        cypher(ENTITY + "RETURN e.type AS type, count(*) AS n ORDER BY n DESC"),
        by=lambda r: falls(values(r, "n")) and "person" in values(r, "type"),
    ),
    ask(
        "How many people are named once?",
        cypher(ENTITY + "WHERE e.type = 'person' AND e.mentions = 1 RETURN count(*) AS n"),
        by=lambda r: one(r) >= 0,
    ),
    ask(
        "How many quotations have no known speaker?",
        cypher(QUOTATION + "WHERE q.speaker = '' RETURN count(*) AS n"),
        by=lambda r: 0 < one(r) < 400,
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
        by=lambda r: 0 < one(r) < 1,
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
        by=lambda r: one(r) > 1,
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
