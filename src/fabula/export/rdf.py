"""Write facts as a file for other programs: RDF, as N-Triples or Turtle, or CSV.

RDF is written by rdflib, which the extra `rdf` installs. Each fact becomes a triple, and a
statement about the triple (rdf:Statement) has its proof and place in the text.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fabula.errors import FabulaError
from fabula.export.files import escape_formula, replace_file
from fabula.export.graph_xml import FORBIDDEN
from fabula.graphs.entities.triples import phrase_key

if TYPE_CHECKING:
    from rdflib import Graph, URIRef

FORMATS = {"nt": "nt", "ttl": "turtle", "csv": ""}
"""Suffixes of files, with the name of the format in rdflib."""
BASE = "urn:fabula:"
COLUMNS = (
    *("subject", "predicate", "object", "subject_type", "object_type", "proof", "section"),
    *("start", "end", "chunks", "by", "title", "document", "subject_id", "object_id", "id"),
)


def write_facts(facts: Sequence[Mapping[str, Any]], collection: str, file: Path) -> int:
    """Write facts to a file and return how many they are.

    Args:
        facts: Rows of `cypher/facts/find_facts.cypher`.
        collection: The name of their collection, which becomes part of their IRIs.
        file: What to write; its suffix is one of FORMATS. An existing file is replaced only once
            the new one is complete.

    Raises:
        FabulaError: The suffix is another one, rdflib isn't installed, or the file can't be
            written.
    """
    format = file.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise FabulaError(
            f"Facts are written as {', '.join(FORMATS)}: end the file in "
            f".{', .'.join(FORMATS)}, not as {file.name!r} does."
        )
    if format == "csv":
        with replace_file(file) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows([_field(row[name]) for name in COLUMNS] for row in facts)
        return len(facts)
    written = graph_of(facts, collection).serialize(format=FORMATS[format])
    if format == "nt":
        written = "".join(sorted(written.splitlines(keepends=True)))
    with replace_file(file) as stream:
        stream.write(written)
    return len(facts)


def graph_of(facts: Sequence[Mapping[str, Any]], collection: str) -> Graph:
    """Return facts as an RDF graph. Raise FabulaError if rdflib isn't installed."""
    try:
        from rdflib import Graph, Literal, Namespace
        from rdflib.namespace import DCTERMS, PROV, RDF, RDFS
    except ImportError as error:
        raise FabulaError(
            "RDF is written by rdflib, which isn't installed: run `pip install 'fabula[rdf]'`, or "
            "end the file in .csv."
        ) from error
    graph = Graph()
    words = Namespace(f"{BASE}vocabulary:")
    for prefix, namespace in (
        ("fabula", words),
        ("relation", _iri("relation", "")),
        ("prov", PROV),
    ):
        graph.bind(prefix, namespace)
    for row in facts:
        within = (collection, row["document"])
        document, fact = _iri(*within), _iri(*within, "fact", row["id"])
        ends: list[URIRef] = []
        for end in ("subject", "object"):
            id = row[f"{end}_id"]
            iri = _iri(*within, *(("entity", id) if id else ("name", phrase_key(row[end]))))
            graph.add((iri, RDFS.label, Literal(_clean(row[end]))))
            graph.add((iri, RDF.type, _iri("class", row[f"{end}_type"])))
            ends.append(iri)
        relation = _iri("relation", row["predicate"])
        graph.add((ends[0], relation, ends[1]))
        graph.add((document, DCTERMS.title, Literal(_clean(row["title"]))))
        for name, value in (
            (RDF.type, RDF.Statement),
            (RDF.subject, ends[0]),
            (RDF.predicate, relation),
            (RDF.object, ends[1]),
            (RDFS.label, Literal(_clean(row["text"]))),
            (PROV.wasDerivedFrom, document),
            (words.section, Literal(_clean(row["section"]))),
            (words.start, Literal(row["start"])),
            (words.end, Literal(row["end"])),
            (words.chunks, Literal(row["chunks"])),
            (words.by, Literal(row["by"])),
        ):
            graph.add((fact, name, value))
        if row["proof"]:
            graph.add((fact, PROV.value, Literal(_clean(row["proof"]))))
    return graph


def _iri(*parts: str) -> URIRef:
    """Return an IRI of parts, which may contain any characters."""
    from rdflib import URIRef

    return URIRef(BASE + ":".join(quote(part, safe="", errors="surrogatepass") for part in parts))


def _clean(value: str) -> str:
    return FORBIDDEN.sub("", value)


def _field(value: Any) -> Any:
    return escape_formula(_clean(value)) if isinstance(value, str) else value
