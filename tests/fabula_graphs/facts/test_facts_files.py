"""Facts are written as RDF, and read back as they were."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import rdflib
from rdflib.namespace import PROV, RDF, RDFS

from fabula.errors import FabulaError
from fabula_graphs.rdf import TypedRows, write_rdf

COLLECTION = "my books/<a>"
PROOF = 'He said: "Tiny Tim is the son of Bob\\Cratchit." \U0001f600'
ROW: dict[str, Any] = {
    "id": "f1",
    "document": "d 1",
    "title": "A Christmas Carol",
    "language": "en",
    "subject": "Bob Cratchit",
    "predicate": "parent_of",
    "object": "=cmd|' /C calc'!A0",
    "subject_type": "person",
    "object_type": "person",
    "subject_id": "e1",
    "object_id": None,
    "text": "Bob Cratchit is a parent of Tiny Tim",
    "proof": PROOF,
    "section": "STAVE THREE",
    "start": 10,
    "end": 90,
    "chunks": 2,
}
ROWS = [ROW, {**ROW, "id": "f2", "predicate": "owned by\n>", "object": "\x00né", "proof": ""}]


@pytest.mark.parametrize(("ending", "format"), [("nt", "nt"), ("ttl", "turtle")])
def test_rdf_reads_back_as_it_was(tmp_path: Path, ending: str, format: str) -> None:
    file = tmp_path / f"facts.{ending}"
    assert write_rdf(TypedRows(ROWS), COLLECTION, file, ending).nodes == 2
    again = write_rdf(TypedRows(ROWS[::-1]), COLLECTION, tmp_path / f"again.{ending}", ending)
    assert again.nodes == 2
    assert file.read_text() == (tmp_path / f"again.{ending}").read_text()
    graph = rdflib.Graph().parse(file, format=format)
    fact = rdflib.URIRef("urn:fabula:my%20books%2F%3Ca%3E:d%201:fact:f1")
    assert str(graph.value(fact, PROV.value)) == PROOF
    bob = rdflib.URIRef("urn:fabula:my%20books%2F%3Ca%3E:d%201:entity:e1")
    assert graph.value(fact, RDF.subject) == bob
    assert str(graph.value(bob, RDFS.label)) == "Bob Cratchit"
    relation = rdflib.URIRef("urn:fabula:relation:parent_of")
    assert graph.value(bob, relation) == graph.value(fact, RDF.object)
    assert graph.value(fact, rdflib.URIRef("urn:fabula:vocabulary:start")) == rdflib.Literal(10)
    assert len(list(graph.subjects(RDF.type, RDF.Statement))) == 2


def test_an_end_without_an_entity_is_one_however_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "facts.nt"
    spelt = ("the  old-mill", "The old mill", "the old mill")
    rows = [{**ROW, "id": name, "object": name} for name in spelt]
    write_rdf(TypedRows(rows), COLLECTION, file, "nt")
    graph = rdflib.Graph().parse(file, format="nt")
    assert len(set(graph.objects(None, RDF.object))) == 1


def test_without_rdflib_what_to_install_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(FabulaError, match=r"pip install 'fabula\[rdf\]'"):
        write_rdf(TypedRows(ROWS), COLLECTION, tmp_path / "facts.nt", "nt")
