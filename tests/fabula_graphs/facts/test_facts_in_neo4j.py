"""Facts in the graph: found by `triples`, walked by `hippo`, listed, written, explored, removed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import rdflib
from click.testing import CliRunner, Result

from database import connect, cypher, name_server, wipe
from fabula import Fabula
from fabula.cli import main
from fabula.config.settings import Settings
from fabula.graph.explore import shipped_query
from fabula.graph.hits import Filters
from fabula.graph.trace import Trace as Steps
from fabula.graphs.entities.retrieval import _read
from fabula.operations.documents import drop_graph
from fabula.server import Address
from fabula.store import Store
from fabula.store.user_query import run_user_query
from fabula_graphs.facts.options import TriplesOptions
from offline import offline_settings
from stated_facts import state_facts

STORY = """CHAPTER I

"You are late," said Anna Hale to Captain Reed. "I am late," said Captain Reed, and he looked at
Anna Hale. Captain Reed was the brother of Elias Stone, and the bells of Dunmore rang.

CHAPTER II

"Good day," said Elias Stone to Anna Hale. Then Anna Hale, the daughter of Martin Hale, went away.
In Dunmore Martin Hale waited. "Who is it?" asked Martin Hale. "It is Anna Hale," said Elias Stone.

CHAPTER III

The storm came in the night. Nobody slept, and the boats in Dunmore broke. In the morning there was
nothing to be seen of them, and "So it goes," said Captain Reed.
"""


STATED = (
    ("Captain Reed", "brother of", "Elias Stone"),
    ("Anna Hale", "daughter of", "Martin Hale"),
)


@pytest.fixture(scope="module")
def settings(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("facts")
    return offline_settings(address, home, graphs=("entities",))


@pytest.fixture(scope="module")
def fabula(settings: Settings, address: Address) -> Iterator[Fabula]:
    with connect(address) as store, Fabula(settings) as fabula:
        wipe(store)
        fabula.ingest_text(STORY, source="hale.txt", title="The Hales", language="en")
        state_facts(fabula, "The Hales", STATED)
        yield fabula


@pytest.fixture
def typed(fabula: Fabula, address: Address, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`fabula facts` with what follows it."""
    name_server(monkeypatch, address)

    def run(*given: str) -> Result:
        return CliRunner().invoke(main, ["facts", *given])

    return run


def explored(store: Store, query_name: str, /, **given: Any) -> list[dict[str, Any]]:
    query = shipped_query(query_name)
    table = run_user_query(store, query.statement, query.fill({"document": "Hales", **given}))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def siblings(rows: Sequence[Mapping[str, Any]]) -> str:
    """Which of the two is first hangs on their ids."""
    [row] = [row for row in rows if row["predicate"] == "sibling_of"]
    assert {row["subject"], row["object"]} == {"Captain Reed", "Elias Stone"}
    return f"{row['subject']} is a sibling of {row['object']}"


@pytest.mark.journey
def test_facts_are_listed_with_what_proves_them(typed: Any) -> None:
    rows = json.loads(typed("The Hales", "--json").stdout)["rows"]
    assert {row["text"] for row in rows} == {
        siblings(rows),
        "Martin Hale is a parent of Anna Hale",
    }
    [parent] = [row for row in rows if row["predicate"] == "parent_of"]
    assert "Anna Hale, the daughter of Martin Hale, went away." in parent["proof"]
    assert parent["section"] == "CHAPTER II"
    listed = typed("The Hales", "--name", "anna hale").output
    assert "Martin" in listed
    assert "sibling" not in listed


def test_a_name_is_typed_with_accents_or_without(typed: Any) -> None:
    plain = typed("The Hales", "--name", "Anna Hale", "--json").output
    assert json.loads(plain)["total"] == 1
    for name in ("Ánna Hále", "ANNA  HÁLE"):
        assert typed("The Hales", "--name", name, "--json").output == plain
    assert "Nothing was found" in typed("The Hales", "--name", "Ánna Nobody").output
    assert "Nothing was found" in typed("The Hales", "--relation", "kills").output


def test_facts_are_written_as_rdf(typed: Any, tmp_path: Path) -> None:
    file = tmp_path / "hales.ttl"
    written = CliRunner().invoke(
        main, ["export", "The Hales", "--format", "ttl", "--out", str(file)]
    )
    assert written.exit_code == 0, written.output
    statements = rdflib.Graph().parse(file).subjects(rdflib.RDF.type, rdflib.RDF.Statement)
    assert len(list(statements)) == 2


@pytest.mark.journey
def test_triples_finds_the_passage_that_states_the_nearest_fact(fabula: Fabula) -> None:
    steps = Steps()
    question = "Who is a parent of Anna Hale?"
    [first, *_] = fabula.retrieve(question, mode="triples", kinds=["chunk"], path=steps)
    assert "the daughter of Martin Hale" in " ".join(first.text.split())
    facts = fabula.retrieve(question, mode="triples", kinds=["fact"])
    assert facts[0].text == "Martin Hale is a parent of Anna Hale"
    assert {hit.kind for hit in facts} == {"fact"}


def test_without_a_near_fact_it_falls_back_on_who_is_named(
    fabula: Fabula, settings: Settings
) -> None:
    steps = Steps()
    far = {**settings.tables, "triples": TriplesOptions(least=1.0)}
    with Fabula(settings.model_copy(update={"tables": far})) as other:
        [first, *_] = other.retrieve("Where did Martin Hale wait?", mode="triples", path=steps)
    assert "Martin Hale" in " ".join(first.text.split())
    assert "no fact is near" in str(steps.root)


def test_hippo_walks_the_facts_in_place_of_relations(fabula: Fabula) -> None:
    class Reads:
        store = fabula.open_store()

        def read(self, statement: str, filters: Filters, **given: Any) -> list[dict[str, Any]]:
            return fabula.open_store().read(statement, filters, **given)

    network = _read(Filters(fabula.name), Reads())  # type: ignore[arg-type]
    assert len(network.linked.ids) == len(network.facts.ids) == 2
    assert network.relations.ids


def test_facts_are_explored_with_what_proves_them(fabula: Fabula) -> None:
    store = fabula.open_store()
    added = {"lives_in": "Dunmore", "owns": "a boat", "resembles": "a heron"}
    cypher(
        store,
        "MATCH (fact:Fact {predicate: 'parent_of'}) WITH fact LIMIT 1 "
        "UNWIND keys($added) AS predicate "
        "CREATE (other:Element:Fact) SET other = fact {.*, id: predicate, predicate: predicate, "
        "object: $added[predicate], proof: 'So it is.'}",
        added=added,
    )
    found = {
        about: explored(store, "facts", about=about, name="martin hale")
        for about in ("", "kinship", "dwellings", "possessions")
    }
    stated = {
        about: {(row["subject"], row["predicate"], row["object"]) for row in rows}
        for about, rows in found.items()
    }
    assert stated["kinship"] == {("Martin Hale", "parent_of", "Anna Hale")}
    assert stated["dwellings"] == {("Martin Hale", "lives_in", "Dunmore")}
    assert stated["possessions"] == {("Martin Hale", "owns", "a boat")}
    assert stated[""] >= {("Martin Hale", "resembles", "a heron")}.union(
        *(stated[about] for about in ("kinship", "dwellings", "possessions"))
    )
    assert "daughter of Martin Hale" in found["kinship"][0]["proof"]
    assert {row["proof"] for row in found["dwellings"]} == {"So it is."}
    assert {row["predicate"] for row in explored(store, "facts")} > {*added}
    cypher(store, "MATCH (n:Fact) WHERE n.id IN keys($added) DETACH DELETE n", added=added)


def test_the_graph_is_sound_and_goes_as_a_whole(fabula: Fabula) -> None:
    assert fabula.check().violations == ()
    drop_graph(fabula, "facts", "The Hales")
    assert cypher(fabula.open_store(), "MATCH (n:Fact) RETURN n") == []
    assert fabula.check().violations == ()
    # What walked facts does without them, and knows that they went.
    assert fabula.retrieve("Where is Martin Hale?", mode="hippo")
