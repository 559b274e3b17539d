"""The queries for analysts over entities, and `fabula entities`, on two stories read by rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import pytest
from click.testing import CliRunner, Result

from database import connect, name_server, wipe
from fabula import Fabula
from fabula.cli import main
from fabula.graph import Owner
from fabula.graph.explore import shipped_query
from fabula.graph.parts import chunks_of
from fabula.server import Address
from fabula.store import Store
from fabula.store.part_reader import read_part
from fabula.store.user_query import run_user_query
from graphs import in_space, put, small_communities
from offline import offline_settings
from stories import LIGHTHOUSE

FERRY = """CHAPTER I

The ferry left Dunmore at six, and Captain Reed stood at the rail. "You are late," said Mr. John
Hale to Anna. "I am never late," said Anna, and she laughed at John Hale. The people of Dunmore
came down to look at them.

CHAPTER II

"Is there a letter?" asked Hale. "There is one from Dunmore," said Anna. Old Captain Reed gave it to
Mr. Hale without a word. In Dunmore the bells began, and Anna heard them in Dunmore for the last
time.

CHAPTER III

"Then we go to Elias," said Hale. "I keep the light," said Elias, "and I keep my word."
Reed told Anna that Elias had said so to him before.
"""


@pytest.fixture(scope="module")
def graph(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    settings = offline_settings(address, tmp_path_factory.mktemp("entities"), graphs=("entities",))
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        ferry = fabula.ingest_text(FERRY, source="ferry.txt", title="The Ferry", language="en")
        fabula.ingest_text(LIGHTHOUSE, source="lighthouse.txt", title="The Lighthouse")
        cast = read_part(store, Owner("default", "entities", ferry.document))
        text = read_part(store, Owner("default", "text", ferry.document))
        chunks = sorted(chunks_of(text), key=lambda chunk: chunk.index)
        space = store.space("default")
        assert space is not None
        communities = small_communities(cast, [chunk.id for chunk in chunks])
        put(store, in_space([communities], space.dimensions), space.model)
        yield store


def found(graph: Store, name: str, /, **given: Any) -> list[dict[str, Any]]:
    query = shipped_query(name)
    table = run_user_query(graph, query.statement, query.fill({"document": "Ferry", **given}))
    assert len(set(table.columns)) == len(table.columns)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.fixture
def typed(graph: Store, address: Address, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A command with what follows it."""
    name_server(monkeypatch, address)

    def run(*given: str) -> Result:
        return CliRunner().invoke(main, given)

    return run


def test_the_cast_is_told_by_weight_with_all_names(graph: Store) -> None:
    rows = found(graph, "cast", type="person")
    assert {row["name"] for row in rows} == {"Anna", "Hale", "Captain Reed", "Elias"}
    by_name = {row["name"]: row for row in rows}
    assert set(by_name["Hale"]["also"]) == {"John Hale", "Mr. John Hale", "Mr. Hale"}
    assert rows == sorted(rows, key=lambda row: (-row["mentions"], -row["chunks"], row["name"]))


def test_someone_is_followed_through_the_text_by_any_name(graph: Store) -> None:
    rows = found(graph, "appearances", name="mr. hale")
    assert [row["section"] for row in rows] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert {row["name"] for row in rows} == {"Hale"}
    assert [row["mentions"] for row in rows] == [2, 2, 1]


def test_who_meets_whom_is_told_with_the_first_and_the_last_time(graph: Store) -> None:
    [row] = [
        row for row in found(graph, "meetings") if {row["one"], row["other"]} == {"Anna", "Hale"}
    ]
    assert row["first_section"] == "CHAPTER I"
    assert row["first"] <= row["last"]


def test_what_two_are_to_each_other_is_told_part_by_part(graph: Store) -> None:
    rows = found(graph, "between", first="Anna", second="elias")
    assert [row["section"] for row in rows] == ["CHAPTER III"]
    assert "Elias" in rows[0]["said"]
    turned = found(graph, "between", first="Elias", second="anna")
    assert [row["said"] for row in turned] == [row["said"] for row in rows]


def test_a_place_is_told_with_who_is_there(graph: Store) -> None:
    [row] = found(graph, "places")
    assert row["name"] == "Dunmore"
    assert "Anna" in row["who"]


def test_names_that_were_taken_for_one_are_told_with_the_reason(graph: Store) -> None:
    rows = {row["form"]: row["why"] for row in found(graph, "merged")}
    assert (rows["John Hale"], rows["Mr. John Hale"]) == ("family", "title")


def test_what_two_books_share_is_told_once(graph: Store) -> None:
    query = shipped_query("shared_names")
    table = run_user_query(graph, query.statement, query.fill({}))
    assert [(row[0], row[-1]) for row in table.rows] == [("Elias", ["The Ferry", "The Lighthouse"])]


def test_communities_are_told_level_by_level_with_their_members(graph: Store) -> None:
    rows = found(graph, "communities")
    assert [row["level"] for row in rows] == [0, 1, 1]
    assert rows[0]["size"] == sum(row["size"] for row in rows[1:])
    assert set(rows[0]["members"]) >= {"Anna", "Hale", "Elias", "Dunmore"}
    assert (rows[0]["importance"], rows[0]["community"][:9]) == (5.0, "Report of")
    assert [row["level"] for row in found(graph, "communities", level=1)] == [1, 1]


def test_a_part_is_about_those_whom_it_names_more_than_the_book_does(graph: Store) -> None:
    rows = found(graph, "communities_by_part", level=1, parts=3, most=1)
    assert {row["part"] for row in rows} <= {1, 2, 3}
    assert rows
    for row in rows:
        assert row["percent"] == round(100 * row["found"] / row["chunks"])
        assert row["percent"] >= row["of_the_book"]
    assert len({row["part"] for row in rows}) == len(rows)


def test_a_report_is_told_with_whom_it_cites_and_with_its_characters(graph: Store) -> None:
    rows = found(graph, "report")
    assert [row["what"] for row in rows[:1]] == ["report"]
    assert {"entity", "relation", "chunk"} <= {row["what"] for row in rows}
    [chunk] = [row for row in rows if row["what"] == "chunk"]
    first, last = chunk["first_character"], chunk["last_character"]
    assert chunk["text"] == FERRY[first:last].replace("\n", " ")[:160]
    other = found(graph, "communities", level=1)[0]
    assert other["id"] in {one["id"] for one in found(graph, "communities")}
    assert found(graph, "report", report=other["id"])[0]["title"] == other["community"]


def test_the_network_is_a_picture_of_ties(graph: Store) -> None:
    rows = found(graph, "network", least=1)
    assert rows
    assert all("RELATES_TO" in json.dumps(row["path"]) for row in rows)


def test_the_entities_of_a_document_are_listed(typed: Any) -> None:
    listed = typed("entities", "The Ferry", "--type", "person").stdout
    assert "John Hale" in listed
    assert "Dunmore" not in listed
    assert "document" not in listed, "where there is one document"
    everyone = typed("entities")
    assert "The Lighthouse" in everyone.output
    assert everyone.stderr == "types name 1, person 6, place 1\n"
    assert len(typed("entities", "--limit", "1").stdout.splitlines()) == 3


def test_one_is_told_by_any_name(typed: Any) -> None:
    output = typed("entity", "mr john hale").output
    assert output.startswith("Hale · person · The Ferry\n")
    assert "Hale 2, John Hale 1 (family), Mr. Hale 1 (title), Mr. John Hale 1 (title)" in output
    assert "CHAPTER III" in output
    [row] = json.loads(typed("entity", "Hale", "--json").output)["rows"]
    assert {relation["name"] for relation in row["relations"]} >= {"Anna"}
    assert json.loads(typed("entity", row["id"], "--json").output)["rows"] == [row]
    [first] = json.loads(typed("entity", "Hale", "--most", "1", "--json").output)["rows"]
    assert first["relations"] == row["relations"][:1]
    both = json.loads(typed("entity", "Elias", "--json").output)
    assert [row["title"] for row in both["rows"]] == ["The Ferry", "The Lighthouse"]
    assert (
        json.loads(typed("entity", "Elias", "--document", "Ferry", "--json").output)["total"] == 1
    )


def test_a_name_is_typed_with_accents_or_without(typed: Any) -> None:
    for name in ("Mr. Jóhn Hále", "JÓHN HÁLE", "jóhn  hále"):
        assert typed("entity", name).output.startswith("Hale · person · The Ferry\n"), name
    shown = typed("entity", "Elías", "--document", "Férry").output
    assert shown.startswith("Elias · person · The Ferry\n")


def test_who_is_not_there_is_told_with_what_is(typed: Any) -> None:
    result = typed("entity", "Nobody")
    assert result.exit_code == 1
    assert "`fabula entities` lists them" in result.output
    assert "`fabula entity 'Hale'` shows one of this name" in typed("entities", "Hale").output
    assert "of type 'ghost'; there are: " in typed("entities", "--type", "ghost").output
    assert "John Hale" in typed("entities", "--type", "Person").output
    elsewhere = typed("entity", "Hale", "--document", "The Lighthouse")
    assert (elsewhere.exit_code, "is called 'Hale'" in elsewhere.output) == (1, True)


@pytest.mark.parametrize(
    ("name", "reading"), [("n.gexf", networkx.read_gexf), ("n.graphml", networkx.read_graphml)]
)
def test_the_network_alone_is_written_for_other_programs(
    typed: Any, tmp_path: Path, name: str, reading: Any
) -> None:
    file = str(tmp_path / name)
    result = typed("entities", "The Ferry", "--type", "person", "--limit", "1", "--out", file)
    assert result.output.splitlines()[-1].endswith("4 nodes, 6 relations"), result.output
    network = reading(tmp_path / name)
    names = {one["label"] for _, one in network.nodes(data=True)}
    assert names == {"Anna", "Hale", "Captain Reed", "Elias"}
    assert all(one["weight"] >= 1 for *_, one in network.edges(data=True))


def test_a_network_is_written_in_no_other_format(typed: Any, tmp_path: Path) -> None:
    result = typed("entities", "The Ferry", "--out", str(tmp_path / "n.dot"))
    assert result.exit_code == 2
    assert ".gexf or .graphml" in result.output
