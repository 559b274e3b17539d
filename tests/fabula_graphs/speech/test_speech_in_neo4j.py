"""Quotations in the graph: built, listed, asked, drawn, explored, checked and removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from database import connect, cypher, name_server, wipe
from fabula import Fabula
from fabula.cli import main
from fabula.config.settings import Settings
from fabula.graph.explore import shipped_query
from fabula.operations.documents import drop_graph
from fabula.server import Address
from fabula.store import Store
from fabula.store.user_query import run_user_query
from offline import offline_settings

STORY = """CHAPTER I

"You are late," said Anna Hale to Captain Reed. "The mill is shut."

"I am late," said Captain Reed, and he looked at Anna Hale.

"And where is your brother, Captain Reed?"

"He is at Dunmore. He hates the mill."

CHAPTER II

"Good day," said Elias Stone to Anna Hale. Then Anna Hale went away.

"The bells of Dunmore are old," thought Elias Stone.

The storm came in the night. Nobody slept, and the boats broke. "So it goes," said Captain Reed.
"""


@pytest.fixture(scope="module")
def settings(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("speech")
    return offline_settings(address, home, graphs=("entities", "speech"))


@pytest.fixture(scope="module")
def fabula(settings: Settings, address: Address) -> Iterator[Fabula]:
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text(STORY, source="hale.txt", title="The Hales", language="en")
        yield fabula


@pytest.fixture
def run(fabula: Fabula, address: Address, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`fabula` with what follows it."""
    name_server(monkeypatch, address)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    return run


def explored(store: Store, query_name: str, /, **given: Any) -> list[dict[str, Any]]:
    query = shipped_query(query_name)
    table = run_user_query(store, query.statement, query.fill({"document": "Hales", **given}))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.mark.journey
def test_each_quotation_is_the_text_of_its_chunks_with_speaker_and_addressee(
    fabula: Fabula, address: Address
) -> None:
    with connect(address) as store:
        rows = cypher(
            store,
            "MATCH (n:Quotation) OPTIONAL MATCH (n)-[:SPOKEN_BY]->(who:Entity) "
            "RETURN n.text AS text, n.speaker AS speaker, n.addressee AS addressee, "
            "n.rule AS rule, n.manner AS manner, n.evidence AS evidence, "
            "who.name AS entity ORDER BY n.start",
        )
    said = [(row["speaker"], row["addressee"], row["rule"], row["text"]) for row in rows]
    assert said[:5] == [
        ("Anna Hale", "Captain Reed", "tag", '"You are late,"'),
        ("Anna Hale", "Captain Reed", "tag", '"The mill is shut."'),
        ("Captain Reed", "Anna Hale", "tag", '"I am late,"'),
        ("Anna Hale", "Captain Reed", "turns", '"And where is your brother, Captain Reed?"'),
        ("Captain Reed", "Anna Hale", "vocative", '"He is at Dunmore. He hates the mill."'),
    ]
    assert {row["text"]: row["manner"] for row in rows}[
        '"The bells of Dunmore are old,"'
    ] == "thought"
    assert all(row["entity"] == row["speaker"] for row in rows)
    assert rows[0]["evidence"] == "said Anna Hale"


def test_nothing_is_wrong_with_the_graph(fabula: Fabula) -> None:
    assert fabula.check().violations == ()


def test_a_question_finds_what_the_named_speaker_says_about_something(fabula: Fabula) -> None:
    result = fabula.query("What does Captain Reed say about how late it is?", mode="speech", k=1)
    [hit] = result.hits
    assert "I am late" in hit.text
    of_other = fabula.query("What does Anna Hale say about the mill?", mode="speech", k=1)
    assert "The mill is shut" in of_other.hits[0].text


def test_a_question_that_names_no_speaker_is_answered_as_hybrid_does(fabula: Fabula) -> None:
    plain = fabula.query("Which storm broke the boats?", mode="hybrid", k=2)
    answer = fabula.query("Which storm broke the boats?", mode="speech", k=2)
    assert [hit.id for hit in answer.hits] == [hit.id for hit in plain.hits]


def test_speech_lists_quotations_by_speaker_addressee_and_words(
    run: Any,
) -> None:
    result = run("speech", "The Hales", "--speaker", "captain reed", "--json")
    assert result.exit_code == 0, result.output
    sure = ['"I am late,"', '"So it goes,"']
    assert [row["text"] for row in json.loads(result.stdout)["rows"]] == sure
    more = run("speech", "The Hales", "--speaker", "captain reed", "--doubtful", "--json")
    assert {row["text"]: row["doubtful"] for row in json.loads(more.stdout)["rows"]} == {
        '"I am late,"': False,
        '"He is at Dunmore. He hates the mill."': True,
        '"So it goes,"': False,
    }
    to = run("speech", "The Hales", "--to", "Captain Reed", "--about", "mill", "--json")
    assert [row["text"] for row in json.loads(to.stdout)["rows"]] == ['"The mill is shut."']
    table = run("speech", "The Hales", "--speaker", "Elias Stone")
    assert "said Elias Stone" in table.stdout
    nobody = run("speech", "The Hales", "--speaker", "Napoleon")
    assert "Nothing was found" in nobody.output


def test_what_names_the_speaker_later_finds_nothing_before_it(run: Any, address: Address) -> None:
    until = ("--until", "CHAPTER II", "--json")

    def say(end: int) -> int:
        with connect(address) as store:
            [row] = cypher(
                store,
                "MATCH (n:Quotation {text: $text}) WITH n, n.mention_end AS before "
                "SET n.mention_end = $end RETURN before",
                text='"I am late,"',
                end=end,
            )
        return int(row["before"])

    def texts(*more: str) -> list[str]:
        rows = json.loads(run("speech", "The Hales", *more, *until).stdout)["rows"]
        return [row["text"] for row in rows]

    assert '"I am late,"' in texts("--speaker", "captain reed")
    before = say(10**6)
    try:
        assert '"I am late,"' not in texts("--speaker", "captain reed")
        rows = json.loads(run("speech", "The Hales", *until).stdout)["rows"]
        [row] = [row for row in rows if row["text"] == '"I am late,"']
        assert (row["speaker"], row["evidence"], row["speaker_id"]) == ("", "", None)
    finally:
        say(before)


def test_the_network_shows_who_speaks_to_whom(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "network.svg"
    result = run("plot", "The Hales", "--network", "--out", str(file))
    assert result.exit_code == 0, result.output
    drawn = file.read_text(encoding="utf-8")
    assert "Captain Reed" in drawn
    assert 'class="relation speaks"' in drawn
    # What is doubtful is left out.
    assert "3 quotations from one to the other" in drawn


def test_queries_say_who_speaks_to_whom_and_about_what(fabula: Fabula, address: Address) -> None:
    with connect(address) as store:
        pairs = explored(store, "conversations", name="anna hale")
        listed = explored(store, "said_about", speaker="Captain Reed", word="MILL", doubtful=True)
        subjects = explored(store, "subjects", speaker="Anna Hale", doubtful=True)
    assert [(row["speaker"], row["addressee"], row["quotations"]) for row in pairs] == [
        ("Anna Hale", "Captain Reed", 2),
        ("Captain Reed", "Anna Hale", 1),
        ("Elias Stone", "Anna Hale", 1),
    ]
    assert [row["text"] for row in listed] == ['"He is at Dunmore. He hates the mill."']
    assert [(row["about"], row["quotations"]) for row in subjects] == [("Captain Reed", 1)]


def test_an_edit_keeps_the_ids_of_what_did_not_change(fabula: Fabula, address: Address) -> None:
    def ids() -> set[str]:
        with connect(address) as store:
            return {row["id"] for row in cypher(store, "MATCH (n:Quotation) RETURN n.id AS id")}

    before = ids()
    fabula.ingest_text(
        STORY.replace('"So it goes,"', '"So it went,"'),
        source="hale.txt",
        title="The Hales",
        language="en",
    )
    assert len(before & ids()) >= len(before) - 3
    drop_graph(fabula, "speech")
    assert ids() == set()
