"""Facts, events and discourse relations are written as one RDF file and read back as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib.namespace import DCTERMS, PROV, RDF, RDFS

from fabula.export.export_formats import find_export_format
from fabula_graphs.rdf import N_TRIPLES, TURTLE, TypedRows, write_rdf

BASE = "urn:fabula:books:d1"
PLACE: dict[str, Any] = {
    "document": "d1",
    "title": "A <Carol>",
    "language": "en",
    "section": "I",
    "start": 10,
    "end": 90,
}
EVENT: dict[str, Any] = {
    **PLACE,
    "id": "v1",
    "chunk": "c1",
    "text": "Scrooge; refuse; Fred's dinner",
    "slots": {
        "who": "Scrooge",
        "predicate": "refuse",
        "what": 'Fred\'s "dinner"',
        "when": None,
        "where": "London",
        "why": None,
        "how": None,
    },
    "entities": [{"slot": "who", "id": "e1", "name": "Ebenezer Scrooge"}],
}
LINK: dict[str, Any] = {
    **PLACE,
    "id": "l1",
    "arg1": "c1",
    "arg2": "c2",
    "sense": "Contingency.Cause+Belief.Reason+Belief",
    "form": "explicit",
    "connective": "because",
    "cause": "arg2",
}


def iri(*parts: str) -> rdflib.URIRef:
    return rdflib.URIRef(":".join((BASE, *parts)))


def word(name: str) -> rdflib.URIRef:
    return rdflib.URIRef(f"urn:fabula:vocabulary:{name}")


@pytest.mark.parametrize(("ending", "format"), [("nt", "nt"), ("ttl", "turtle")])
def test_events_and_relations_read_back_as_they_were(
    tmp_path: Path, ending: str, format: str
) -> None:
    file = tmp_path / f"carol.{ending}"
    written = write_rdf(TypedRows((), [EVENT], [LINK]), "books", file, ending)
    assert (written.nodes, written.relationships) == (1, 1)
    graph = rdflib.Graph().parse(file, format=format)
    event = iri("event", "v1")
    assert graph.value(event, RDF.type) == word("Event")
    assert str(graph.value(event, word("what"))) == 'Fred\'s "dinner"'
    assert graph.value(event, word("when")) is None
    assert graph.value(event, PROV.wasDerivedFrom) == iri("chunk", "c1")
    assert graph.value(event, word("whoEntity")) == iri("entity", "e1")
    assert str(graph.value(iri("entity", "e1"), RDFS.label)) == "Ebenezer Scrooge"
    sense = rdflib.URIRef("urn:fabula:sense:Contingency.Cause%2BBelief.Reason%2BBelief")
    assert graph.value(iri("chunk", "c1"), sense) == iri("chunk", "c2")
    link = iri("link", "l1")
    assert graph.value(link, RDF.predicate) == sense
    assert str(graph.value(link, word("connective"))) == "because"
    assert str(graph.value(link, word("cause"))) == "arg2"
    assert graph.value(iri("chunk", "c2"), DCTERMS.isPartOf) == rdflib.URIRef(BASE)
    assert str(graph.value(rdflib.URIRef(BASE), DCTERMS.title)) == "A <Carol>"


def test_the_format_is_named_or_is_the_suffix() -> None:
    assert find_export_format(Path("a.ttl")) is TURTLE
    assert find_export_format(Path("a.txt"), "nt") is N_TRIPLES
    assert find_export_format(Path("a.csv")) is None
    assert find_export_format(Path("a.jsonl")) is None
