"""An assistant has the graph in its hands: it answers, and writes and leaves nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import fabula
from analyst_questions import BY_CYPHER, BY_TOOLS, Question
from database import cypher
from fabula.cli.commands.mcp import write_skill
from fabula.graph.installed import graphs
from fabula.jobs.callers import PERSON, Caller
from fabula.operations.schema import MAX_TOKENS
from fabula.server import Address
from fabula.text.tokens import count
from mcp_attempts import LATER, Attempt, leaving_attempts, place_attempts, write_attempts
from mcp_calls import called, in_memory
from offline import offline_app
from served import Served, served
from stories import LIGHTHOUSE

CAROL = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"
READER = Caller("ada", "Ada", "read", frozenset({"mine"}))
ADMIN_OF_ONE = Caller("eve", "Eve", "admin", frozenset({"mine"}))
TRUSTED = PERSON


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
        told = []
        for tool, values in attempts:
            result = await client.call_tool(tool, values)
            shown = result.content[0].text if result.content else ""  # type: ignore[union-attr]
            told.append((bool(result.is_error), shown + json.dumps(result.structured_content)))
        return told

    return in_memory(it, call_all, caller)


def count_graph(it: Served) -> Any:
    """What any change of the graph would change."""
    return cypher(
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
    told = called(it, "schema", READER, collection="mine", label="Entitty")
    assert "Did you mean Entity?" in told


def test_a_prepared_query_is_typed(it: Served) -> None:
    asked = {"collection": "mine", "query": "cast"}
    told = called(it, "cypher", READER, **asked, parameters={"limit": "3"})
    assert told.endswith("The query 'cast' takes integer as limit, not string.")
    found = called(it, "cypher", READER, **asked, parameters={"limit": 3}, max_rows=2)
    assert (found["total"], found["cut_by"], found["reach"]) == (2, "rows", "collection mine")
    [row] = called(it, "queries", READER, words="recap")["rows"]
    types = {each["name"]: each["types"] for each in row["parameters"]}
    assert types == {"document": ["string"], "until": ["integer", "string"], "limit": ["integer"]}


def test_free_cypher_is_for_the_whole_library_where_the_operator_allows_it(it: Served) -> None:
    statement = "MATCH (n:Passage&Chunk {collection: $collection}) RETURN count(*) AS n"
    asked = {"statement": statement, "collection": "mine"}
    found = called(it, "run_cypher", TRUSTED, **asked)
    assert found["reach"].startswith("the whole graph")
    assert "needs a key with the role admin" in called(it, "run_cypher", READER, **asked)
    told = called(it, "run_cypher", ADMIN_OF_ONE, **asked)
    assert "can't be restricted to those of this key" in told
    long = "MATCH (n:Passage&Chunk {collection: $collection}) RETURN collect(n.text) AS texts"
    [row] = called(it, "run_cypher", TRUSTED, statement=long, collection="mine")["rows"]
    assert re.fullmatch(r"… \(\d+ more items\)", row["texts"][-1])
    serving = it.state.serving
    it.state.serving = serving.model_copy(update={"cypher_tool": False})
    try:
        assert "Unknown tool" in called(it, "run_cypher", TRUSTED, **asked)
    finally:
        it.state.serving = serving


def test_each_statement_of_the_skill_runs(it: Served) -> None:
    skill = write_skill()
    head = r"---\nname: fabula-graph-skill\ndescription: (?s:.+?)\ncompatibility: .+\n---\n"
    assert re.match(head, skill)
    book = it.state.app.collection("mine").document("Carol").id
    [ids] = cypher(
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
        asked = {"statement": statement, "collection": "mine", "parameters": used}
        found = called(it, "run_cypher", TRUSTED, **asked)
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
    told = make_calls(it, TRUSTED, writes)
    done = [each for each, (is_refused, _) in zip(writes, told, strict=True) if not is_refused]
    assert done == []
    assert count_graph(it) == before

    light = it.state.app.collection("other").document("Light").id
    [row] = cypher(
        it.state.app.connect(),
        "MATCH (c:Chunk {collection: 'other', index: 0}) RETURN c.id AS id",
    )
    leaving = leaving_attempts(light, row["id"])
    for caller in (READER, ADMIN_OF_ONE):
        told = make_calls(it, caller, leaving)
        shown = [each for each, (_, text) in zip(leaving, told, strict=True) if tells_light(text)]
        assert shown == []

    places = place_attempts()
    told = make_calls(it, READER, places)
    passed = [
        (values, name)
        for (_, values), (_, text) in zip(places, told, strict=True)
        for name in LATER
        if name in text.replace(str(values), "") and name not in json.dumps(values)
    ]
    assert passed == []
    assert len(writes) + 2 * len(leaving) + len(places) >= 500


def tells_light(text: str) -> bool:
    """Whether the story of the other collection is in a result: names and words of it alone."""
    return bool(re.search(r"\b(Elias|Marta|Aurora)\b", text))
