"""Assistants read and ask by MCP: in memory, over HTTP with a key, and as a program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from database import server_variables
from fabula import App, Settings
from fabula.config.settings import OFFLINE, STATIC
from fabula.jobs.callers import PERSON, Caller
from fabula.jobs.start import IngestOptions, begin_ingest, text_item
from fabula.operations.documents import drop_graph
from fabula.operations.kit import find_operations
from fabula.server import Address
from fabula.service.mcp import MAX_RESULT_TOKENS
from fabula.service.state import ServiceState
from fabula.text.tokens import count
from mcp_calls import called, in_memory
from offline import offline_app
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER

TOOLS = {
    "add_text",
    *(
        each.function.__name__
        for each in find_operations()
        if each.has_tool and not each.is_for_trusted
    ),
}


@pytest.fixture(scope="module")
def it(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two collections of a story each, made without a model."""
    with offline_app(address, home=tmp_path_factory.mktemp("home")) as app:
        for name, text, title in (("mine", WINTER, "Winter"), ("other", LIGHTHOUSE, "Light")):
            app.collection(name).ingest_text(text, source=f"{title}.txt", title=title)
        with served(app) as it:
            yield it


@pytest.fixture
def book(it: Served) -> str:
    return it.state.app.collection("mine").document("Winter").id


def test_tools_say_whether_they_change_anything(it: Served) -> None:
    async def tools(client: Client) -> Any:
        return (await client.list_tools()).tools

    found = {tool.name: tool for tool in in_memory(it, tools)}
    assert found.keys() == TOOLS
    writing = {name for name, one in found.items() if not one.annotations.read_only_hint}
    changing = {each.function.__name__ for each in find_operations() if each.changes}
    assert writing == {"add_text", *changing & TOOLS}
    hints = {name: found[name].annotations.destructive_hint for name in writing}
    assert (hints["add_note"], hints["edit_note"], hints["remove_note"]) == (False, True, True)
    assert not {"make_key", "list_keys", "revoke_key", "audit"} & found.keys()
    assert all(value.description and value.output_schema for value in found.values())


@pytest.mark.journey
def test_an_assistant_finds_reads_and_follows_what_it_found(it: Served, book: str) -> None:
    assert [row["name"] for row in called(it, "list_collections")["rows"]] == ["mine"]
    [document] = called(it, "list_documents", collection="mine", words="wint")["rows"]
    assert document["id"] == book
    hits = called(it, "search", collection="mine", question="Where did Anna walk?", k=3)
    first = hits["rows"][0]
    text = called(
        it, "read", collection="mine", document=book, start=first["start"], end=first["end"]
    )
    if first["kind"] == "chunk":
        assert text["text"] == first["text"]
    request: dict[str, Any] = {"question": "Where did Anna walk?", "kinds": ["chunk"]}
    chunk = called(it, "search", collection="mine", **request)["rows"][0]
    above = called(it, "neighbours", collection="mine", passage=chunk["id"], direction="up")
    assert {one["kind"] for one in above["rows"]} == {"summary"}
    it.state.app.collection("mine").build("episodes")
    recap = called(it, "recap", collection="mine", document="Winter", until="30%", by="chapter")
    assert recap["rows"][0]["start"] == 0
    assert all(part["end"] <= recap["until"] for part in recap["rows"])
    assert recap["total"] == len(recap["rows"])
    drop_graph(it.state.app.collection("mine"), "episodes")
    outline = called(it, "outline", collection="mine", document="Winter", aspect="plot")
    levels = [one["level"] for one in outline["rows"]]
    assert levels == sorted(levels, reverse=True)
    answer = called(it, "ask", collection="mine", question="Where did Anna walk?")
    assert answer["offline"] is True
    assert answer["answer"]


def test_a_text_is_read_to_its_end_in_stretches(it: Served, book: str) -> None:
    whole, start = "", 0
    while start is not None:
        where: dict[str, Any] = {"document": book, "start": start, "end": start + 700}
        stretch = called(it, "read", collection="mine", **where)
        whole, start = whole + stretch["text"], stretch["next"]
    entry = it.state.app.collection("mine").document(book)
    rows = it.state.app.connect().find_chunks(entry, 0, 10**9)
    assert whole == "".join(row["text"] for row in rows)


def test_results_are_bounded_and_say_so(it: Served) -> None:
    found = called(it, "search", collection="mine", question="winter", k=50)
    assert sum(count(hit["text"]) for hit in found["rows"]) <= MAX_RESULT_TOKENS


def test_what_a_key_may_not_see_is_not_there(it: Served) -> None:
    missing = "There is no collection 'other'."
    hidden: list[tuple[str, dict[str, Any]]] = [
        ("search", {"question": "light"}),
        ("ask", {"question": "light"}),
        ("read", {"document": "Light"}),
        ("outline", {"document": "Light"}),
        ("recap", {"document": "Light"}),
        ("list_documents", {}),
        ("neighbours", {"passage": "0" * 20}),
    ]
    for tool, given in hidden:
        assert called(it, tool, collection="other", **given).endswith(missing)
        nowhere = called(it, tool, collection="nowhere", **given)
        assert nowhere.endswith(missing.replace("other", "nowhere"))
    refused = called(it, "add_text", collection="mine", text="A tale.", source="tale")
    assert refused.endswith("This needs a key with the role write; this key has the role read.")


def test_a_text_that_is_added_is_a_job_that_ends_well(it: Served) -> None:
    writer = Caller("bob", "Bob", "write", frozenset({"mine", "tales"}))
    text = "Once there was a miller. He had three sons and a cat. The cat could speak."
    file = f"{text}\n\nEnd of Project Gutenberg's Cat"
    job = called(it, "add_text", writer, collection="tales", text=file, source="cat", title="Cat")
    for _ in range(1000):
        status = called(it, "show_job", writer, job=job["id"])
        state = status["state"]
        if state == "succeeded":
            break
        anyio.run(anyio.sleep, 0.2)
    assert state == "succeeded"
    [item] = status["items"]
    assert (item["left_out"], item["warnings"]) == ({"licence": 26}, [])
    assert called(it, "read", writer, collection="tales", document="Cat")["text"] == text
    assert "There is no job" in called(it, "show_job", job=job["id"]), (
        "of a collection it may not see"
    )


def test_a_text_from_nowhere_or_without_a_word_is_none(it: Served) -> None:
    writer = Caller("bob", "Bob", "write", frozenset({"mine"}))
    assert "no text" in called(it, "add_text", writer, text=" ", source="a", collection="mine")
    result = called(it, "add_text", writer, text="A word.", source=" ", collection="mine")
    assert "by which its document is known" in result


def test_what_an_assistant_asks_are_questions_of_its_key(it: Served) -> None:
    reader = Caller("cy", "Cy", "read", frozenset({"mine"}))
    request = {"question": "Where did Anna walk?", "collection": "mine"}
    with ExitStack() as stack:
        for _ in range(it.state.serving.asks_at_once):
            stack.enter_context(it.state.question_limit.hold(reader.id))
        for tool in ("ask", "search"):
            assert "questions of one key at once" in called(it, tool, reader, **request)
        assert called(it, "list_collections", reader)["total"] == 1
    assert called(it, "ask", reader, **request)["answer"]
    assert "at least 1 character" in called(it, "ask", reader, question="", collection="mine")


def test_a_tool_takes_the_other_options_of_a_question_too(it: Served) -> None:
    question: dict[str, Any] = {"question": "Where did Anna walk?", "collection": "mine"}
    hits = called(it, "search", **question, k=3, kinds=["summary"])["rows"]
    assert {hit["kind"] for hit in hits} == {"summary"}
    assert called(it, "ask", **question, fill=False)["answer"]
    assert "greater than or equal to 1" in called(it, "ask", **question, k=0)
    result = called(it, "search", **question, conversation="new")
    assert "search has no argument 'conversation'." in result
    # A misspelled `until` would tell all of the book.
    result = called(it, "search", **question, untill="CHAPTER I")
    assert "search has no argument 'untill'. Did you mean until?" in result


def test_null_and_nothing_are_the_default_of_an_argument(it: Served) -> None:
    nothing = dict.fromkeys(("document", "until", "aspects", "kinds", "levels", "k", "rerank"))
    plain = called(it, "search", collection="mine", question="Who is Anna?")
    request: dict[str, Any] = {"collection": "mine", "question": "Who is Anna?"}
    found = called(it, "search", **request, **nothing, mode="")
    assert found["rows"] == plain["rows"]
    # A refusal is in words of ours, with no address of another site.
    refused = called(it, "search", **request, k="many")
    assert refused.startswith("search can't be called like this. 'k': ")
    assert "http" not in refused


def test_documents_are_resources(it: Served, book: str) -> None:
    async def read(client: Client) -> Any:
        whole = await client.read_resource(f"fabula://mine/{book}")
        part = await client.read_resource(f"fabula://mine/{book}/10-40")
        with pytest.raises(MCPError, match="There is no collection 'other'"):
            await client.read_resource("fabula://other/x")
        return whole.contents[0].text, part.contents[0].text  # type: ignore[union-attr]

    whole, part = in_memory(it, read)
    assert part == whole[10:40]


def test_prompts_name_the_tools_to_use(it: Served) -> None:
    async def prompts(client: Client) -> Any:
        names = {one.name for one in (await client.list_prompts()).prompts}
        prompt = await client.get_prompt("trace_character", {"name": "Anna"})
        return names, prompt.messages[0].content.text  # type: ignore[union-attr]

    names, told = in_memory(it, prompts)
    assert names == {"discuss_theme", "compare", "trace_character"}
    assert "Trace Anna" in told


@pytest.mark.journey
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http_a_key_decides_what_is_seen(it: Served, mode: Any) -> None:
    async def collections(key: str) -> Any:
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{it.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                result = await client.call_tool("list_collections", {})
                return [row["name"] for row in result.structured_content["rows"]]

    assert anyio.run(collections, it.key("read", ["mine"])) == ["mine"]
    assert anyio.run(collections, it.key("read", ["other"])) == ["other"]
    assert httpx2.post(f"{it.url}/mcp", json={}, timeout=120).status_code == 401


@pytest.mark.journey
def test_as_a_program_it_is_the_persons_own(
    it: Served, address: Address, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = {
        **server_variables(address),
        "FABULA_MODEL": OFFLINE,
        "FABULA_EMBEDDING_MODEL": STATIC,
        "FABULA_HOME": str(tmp_path_factory.mktemp("home")),
    }

    async def collections() -> Any:
        words = ["-m", "fabula", "mcp"]
        program = StdioServerParameters(command=sys.executable, args=words, env=own)
        async with Client(program) as client:
            result = await client.call_tool("list_collections", {})
            return {row["name"] for row in result.structured_content["rows"]}

    assert {"mine", "other"} <= anyio.run(collections)


def test_as_a_program_it_does_its_own_jobs_and_leaves_those_of_others(
    it: Served, address: Address, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    own = {
        **server_variables(address),
        "FABULA_MODEL": OFFLINE,
        "FABULA_EMBEDDING_MODEL": STATIC,
        "FABULA_HOME": str(home),
        "FABULA_CACHE": "false",
    }
    settings = Settings.read(
        **server_of(address),
        model=OFFLINE,
        embedding_model=STATIC,
        home=home,
    )
    with App(settings) as app:
        # As the program would make it itself, if it took the jobs of others.
        service_state = ServiceState(app)
        item = text_item(service_state.uploads, WINTER, "notes/theirs")
        theirs = begin_ingest(
            service_state.jobs, PERSON, app.collection("theirs"), [item], IngestOptions()
        )

    async def add() -> str:
        program = StdioServerParameters(
            command=sys.executable, args=["-m", "fabula", "mcp"], env=own
        )
        async with Client(program) as client:
            given = {"text": LIGHTHOUSE, "source": "notes/ours", "collection": "ours"}
            job = (await client.call_tool("add_text", given)).structured_content or {}
            with anyio.fail_after(240):
                while job["state"] in ("queued", "running"):
                    await anyio.sleep(0.2)
                    result = await client.call_tool("show_job", {"job": job["id"]})
                    job = result.structured_content or {}
            return str(job["state"])

    assert anyio.run(add) == "succeeded"
    left = it.state.jobs.find(PERSON, theirs.id)
    assert (left.state, left.attempts) == ("queued", 0)
    assert "chunk_tokens 200 (this one has 40)" in left.problem


def test_a_long_list_ends_with_a_count_and_goes_on(it: Served) -> None:
    mine = it.state.app.collection("paged")
    for number in range(55):
        mine.ingest_text(
            f"Winter {number} was cold.", source=f"{number}.txt", title=f"W{number:03}"
        )
    reader = Caller("ada", "Ada", "read", frozenset({"paged"}))
    titles: list[str] = []
    while len(titles) < 55:
        page = called(it, "list_documents", reader, collection="paged", first=len(titles))
        assert page["total"] == 55
        assert len(page["rows"]) >= 15, "so many fit into a result"
        titles += [row["title"] for row in page["rows"]]
    assert titles == [f"W{number:03}" for number in range(55)]
