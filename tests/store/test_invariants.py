"""Each invariant is broken with one statement, and the checker names it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from breaks import Undone, put_sound
from cases import for_each
from database import connect, wipe
from fabula.graph.installed import graphs
from fabula.server import Address
from fabula.store import Store
from fabula.store.integrity import check

pytestmark = pytest.mark.replans

BREAKS = {
    "check_chunk_order": [
        "MATCH (c:Chunk {index: 3}) SET c.index = 7",
        "MATCH (c:Chunk {index: 3}) SET c.index = 2",
        "MATCH (c:Chunk {index: 0}) DETACH DELETE c",
    ],
    "check_chunk_tokens": [
        "MATCH (c:Chunk {index: 3}) OPTIONAL MATCH (d:Detail)-->(c) DETACH DELETE c, d",
    ],
    "check_chunk_chain": [
        "MATCH ()-[r:FIRST_CHUNK]->() DELETE r",
        "MATCH (d:Document), (c:Chunk {index: 1}) CREATE (d)-[:FIRST_CHUNK]->(c)",
        "MATCH (:Chunk {index: 1})-[r:NEXT_CHUNK]->() DELETE r",
        "MATCH (a:Chunk {index: 0}), (b:Chunk {index: 2}) CREATE (a)-[:NEXT_CHUNK]->(b)",
        "MATCH (a:Chunk {index: 3}), (b:Chunk {index: 0}) CREATE (a)-[:NEXT_CHUNK]->(b)",
    ],
    "check_chunk_tiling": [
        "MATCH (c:Chunk {index: 0}) SET c.start = 1",
        "MATCH (c:Chunk {index: 2}) SET c.start = c.start + 1",
        "MATCH (c:Chunk {index: 2}) SET c.start = c.start - 1",
        "MATCH (c:Chunk {index: 3}) SET c.end = c.start",
        "MATCH (c:Chunk {index: 3}) REMOVE c.end",
    ],
    "check_chunk_documents": [
        "MATCH (:Chunk {index: 2})-[r:FROM_DOCUMENT]->() DELETE r",
        "MATCH (c:Chunk {index: 2}) CREATE (c)-[:FROM_DOCUMENT]->(:Other)",
        "MATCH (c:Chunk) DETACH DELETE c",
    ],
    "check_orphans": [
        "MATCH (d:Document) DETACH DELETE d",
        "MATCH (n:Detail) WITH n LIMIT 1 SET n.document = 'nowhere'",
        "MATCH (n:Summary) WITH n LIMIT 1 REMOVE n.document",
        "MATCH (p:Part {graph: 'aspects'}) DETACH DELETE p",
    ],
    "check_summary_members": [
        "MATCH (:Summary {level: 1, aspect: 'plot'})-[r:SUMMARIZES]->() DELETE r",
        "MATCH (n:Summary {level: 1, aspect: 'plot'}) DETACH DELETE n",
    ],
    "check_summary_levels": [
        "MATCH (n:Summary {level: 2, aspect: 'plot'}) SET n.level = 1",
        "MATCH (n:Summary {level: 1, aspect: 'plot'}) SET n.level = 2",
        "MATCH (n:Summary {level: 2}), (c:Chunk) CREATE (n)-[:SUMMARIZES {weight: 1}]->(c)",
        "MATCH (n:Summary {level: 1}), (d:Detail) CREATE (n)-[:SUMMARIZES {weight: 1}]->(d)",
    ],
    "check_summary_aspects": [
        "MATCH (n:Summary {level: 2, aspect: 'plot'}) SET n.aspect = 'theme'"
    ],
    "check_weights": [
        "MATCH (:Summary {level: 2})-[r]->() SET r.weight = 0",
        "MATCH (:Summary {level: 2})-[r]->() SET r.weight = 1.1",
        "MATCH (:Summary {level: 2})-[r]->() REMOVE r.weight",
    ],
    "check_aspects": [
        "MATCH (n:Summary {aspect: 'plot'}) DETACH DELETE n",
    ],
    "check_searchable": [
        "MATCH (s:Collection) SET s.aspects = ['', 'theme']",
        "MATCH (s:Collection) SET s.kinds = ['chunk', 'summary']",
        "MATCH (s:Collection) REMOVE s.element_kinds",
        "MATCH (n:Name) SET n.aspect = 'unheard'",
    ],
    "check_sources": [
        "MATCH (d:Detail {ordinal: 1}) SET d.sources = []",
        "MATCH (d:Detail {ordinal: 1}) REMOVE d.sources",
        "MATCH (d:Detail {ordinal: 1}), (o:Detail {ordinal: 0}) SET d.sources = [o.id]",
        "MATCH (s:Summary {level: 2}), (c:Chunk {index: 0}) SET s.sources = s.sources + c.id",
    ],
    "check_details": [
        "MATCH (:Detail {ordinal: 1})-[r:DETAILS]->() DELETE r",
        "MATCH (d:Detail {ordinal: 1}), (c:Chunk {index: 3}) CREATE (d)-[:DETAILS]->(c)",
    ],
    "check_detail_counts": [
        "MATCH (c:Chunk {index: 0}), (d:Detail) CREATE (d)-[:DETAILS]->(c)",
        "MATCH (d:Detail) SET d.ordinal = 0",
    ],
    "check_embeddings": [
        "MATCH (n:Detail) REMOVE n.embedding",
        "MATCH (n:Summary {level: 2}) SET n.embedding = [1.0, 0.0]",
        "MATCH (n:Detail {ordinal: 1}) SET n.embedding = [one IN n.embedding | 0.0]",
        "MATCH (n:Detail {ordinal: 1}) SET n.embedding = [one IN n.embedding | 0.0 / 0.0]",
        "MATCH (n:Detail) REMOVE n:Passage8",
        "MATCH (n:Element8) REMOVE n.embedding",
        "MATCH (n:Name {text: 'name 1'}) SET n.embedding = [1.0, 0.0]",
        "MATCH (n:Name {text: 'name 1'}) SET n.embedding = [one IN n.embedding | 0.0]",
        "MATCH (n:Name) REMOVE n:Element8",
        "MATCH (s:Collection) DELETE s",
    ],
    "check_ids": [
        "MATCH (d:Document), (c:Chunk {index: 0}) WHERE c.document = d.id SET d.id = c.id",
        "MATCH (d:Detail) REMOVE d.id",
    ],
    "check_properties": [
        "MATCH (n:Chunk) SET n.collection = 'another'",
        "MATCH (n:Chunk) SET n.kind = 'detail'",
        "MATCH (n:Chunk {index: 0}) SET n.aspect = 'plot'",
        "MATCH (n:Chunk) REMOVE n.level",
        "MATCH (n:Name) SET n.kind = 'chunk'",
        "MATCH (n:Name) REMOVE n.level",
    ],
    "check_summary_properties": [
        "MATCH (n:Detail) SET n.aspect = 'plot'",
        "MATCH (n:Summary) SET n.aspect = ''",
    ],
    "check_gaps": [
        "MATCH (p:Part {graph: 'aspects'}) SET p.gaps = 1",
        "MATCH (d:Detail {ordinal: 0}) REMOVE d:Passage SET d:Element:Gap",
    ],
    "check_texts": [
        "MATCH (n:Detail) SET n.tokens = 0",
        "MATCH (n:Summary) SET n.text = ' '",
        "MATCH (n:Chunk) REMOVE n.text",
        "MATCH (n:Name) REMOVE n.tokens",
    ],
    "check_words": [
        "MATCH (n:Detail) REMOVE n.search_terms",
        "MATCH (n:Name) REMOVE n.search_text",
        "MATCH (n:Summary) REMOVE n.tenant",
        "MATCH (n:Chunk {index: 0}) REMOVE n:PassageText",
        "MATCH (n:Chunk {index: 0}) REMOVE n.search_length",
    ],
    "check_places": [
        "MATCH (n:Detail) REMOVE n.last",
        "MATCH (n:Name) REMOVE n.since",
        "MATCH (n:Summary) SET n.last = 1, n.since = 1",
    ],
    "find_indexes": [
        "DROP INDEX passage_texts",
        "DROP INDEX passage_vectors_8",
        "DROP INDEX element_texts",
        "DROP INDEX element_vectors_8",
        "MATCH (s:Collection) SET s.dimensions = 17",
    ],
}
"""Statements that break an invariant, by its name."""


@pytest.fixture(scope="module")
def sound(address: Address) -> Iterator[Store]:
    """A sound graph, which stays so: what a test does to it is rolled back."""
    with connect(address) as store:
        wipe(store)
        put_sound(store)
        yield store
        assert invariants(store) == set(), "what a test did was not rolled back"
        wipe(store)


def invariants(store: Store) -> set[str]:
    """The invariants of the core and of aspects that the checker finds broken."""
    return {violation.invariant for violation in check(store, [graphs()["aspects"]]).violations}


FIRST = [(name, first) for name, (first, *_) in BREAKS.items()]
OTHERS = [(name, statement) for name, (_, *others) in BREAKS.items() for statement in others]


@pytest.mark.statement
@for_each(("invariant", "statement"), FIRST)
def test_an_invariant_that_is_broken_is_found(sound: Store, invariant: str, statement: str) -> None:
    assert invariant in break_and_check(sound, statement)


@for_each(("invariant", "statement"), OTHERS)
def test_each_way_to_break_an_invariant_is_found(
    sound: Store, invariant: str, statement: str
) -> None:
    assert invariant in break_and_check(sound, statement)


def break_and_check(sound: Store, statement: str) -> set[str]:
    """Return the invariants that are broken after a statement, which is rolled back."""
    # Making the graph anew for each statement took three times as long as the check itself.
    with sound.session() as session, session.begin_transaction() as transaction:
        undone = Undone(transaction, sound)
        undone.run(statement)
        found = invariants(undone)
        transaction.rollback()
    return found
