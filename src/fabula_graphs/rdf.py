"""Write facts, events and discourse relations for other programs, as RDF.

RDF is written by rdflib, which the extra `rdf` installs, as N-Triples or Turtle. Each fact becomes
a triple, and a statement about the triple (rdf:Statement) has its proof and place in the text. Each
event has its who, what, when and so on, and each discourse relation is a triple of two passages
with a statement about its form and connective: the published chunk graph that `discourse` follows
is RDF, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fabula.errors import NotFound, SettingsError
from fabula.export.export_formats import ExportFormat
from fabula.export.files import replace_file
from fabula.export.graph_xml import FORBIDDEN, Written
from fabula.graph.hits import ALL_ROWS
from fabula.graph.queries import read_statement
from fabula.graphs.entities.triples import phrase_key
from fabula.text.names import quote_name

if TYPE_CHECKING:
    from rdflib import Graph, URIRef

    from fabula.library.collection import Collection

FORMATS = {"nt": "nt", "ttl": "turtle"}
"""Suffixes of files, with the name of the format in rdflib."""
STATEMENTS = (
    "fabula_graphs/facts/find_facts",
    "fabula_graphs/discourse/find_events",
    "fabula_graphs/discourse/find_links",
)
BASE = "urn:fabula:"


@dataclass(frozen=True)
class TypedRows:
    """All that a collection, or one of its documents, has for RDF.

    Attributes:
        facts: Rows of `cypher/fabula_graphs/facts/find_facts.cypher`.
        events: Rows of `cypher/fabula_graphs/discourse/find_events.cypher`.
        links: Rows of `cypher/fabula_graphs/discourse/find_links.cypher`.
    """

    facts: Sequence[Mapping[str, Any]] = ()
    events: Sequence[Mapping[str, Any]] = ()
    links: Sequence[Mapping[str, Any]] = ()


def write_rdf(rows: TypedRows, collection: str, file: Path, format: str) -> Written:
    """Write facts, events and discourse relations to a file.

    Args:
        rows: What there is.
        collection: The name of the collection, which becomes part of all IRIs.
        file: What to write. An existing file is replaced only once the new one is complete.
        format: "nt" or "ttl".

    Returns:
        How many facts and events there are as nodes, and how many discourse relations.

    Raises:
        SettingsError: rdflib isn't installed.
        FabulaError: The file can't be written.
    """
    graph = graph_of(rows.facts, collection)
    _add_events(graph, rows.events, collection)
    _add_links(graph, rows.links, collection)
    _serialize(graph, file, format)
    return Written(len(rows.facts) + len(rows.events), len(rows.links))


def _read_rows(collection: Collection, document: str) -> TypedRows:
    known = collection.filters(document)
    facts, events, links = map(read_statement, STATEMENTS)
    within, read = known.document, collection.open_store().read
    rows = TypedRows(
        read(facts, known, document=within, name="", relation="", limit=ALL_ROWS),
        read(events, known, document=within),
        read(links, known, document=within),
    )
    if not (rows.facts or rows.events or rows.links):
        name = f"Collection {collection.name!r}"
        if document:
            name = quote_name(collection.document(document).title)
        raise NotFound(
            "RDF has facts, events and discourse relations, which the graphs 'facts' and "
            f"'discourse' find. {name} has none of them.",
            advice="Run `fabula build facts` or `fabula build discourse` first.",
        )
    return rows


def _export(format: str, collection: Collection, document: str, file: Path) -> Written:
    return write_rdf(_read_rows(collection, document), collection.name, file, format)


TURTLE = ExportFormat(
    "facts, events and discourse relations as RDF, in Turtle",
    partial(_export, "ttl"),
    ".ttl",
    media="text/turtle",
)
N_TRIPLES = ExportFormat(
    "the same RDF as N-Triples, one triple a line",
    partial(_export, "nt"),
    ".nt",
    media="application/n-triples",
)


def _serialize(graph: Graph, file: Path, format: str) -> None:
    written = graph.serialize(format=FORMATS[format])
    if format == "nt":
        written = "".join(sorted(written.splitlines(keepends=True)))
    with replace_file(file) as stream:
        stream.write(written)


def _empty_graph() -> Graph:
    try:
        from rdflib import Graph
        from rdflib.namespace import PROV
    except ImportError as error:
        raise SettingsError(
            "RDF is written by rdflib, which isn't installed: run `pip install 'fabula[rdf]'`."
        ) from error
    graph = Graph()
    graph.bind("fabula", _iri("vocabulary", ""))
    graph.bind("relation", _iri("relation", ""))
    graph.bind("sense", _iri("sense", ""))
    graph.bind("prov", PROV)
    return graph


def _add_events(graph: Graph, events: Iterable[Mapping[str, Any]], collection: str) -> None:
    """Add each event with its slots: who and where as entities where they are known, else words."""
    from rdflib import Literal
    from rdflib.namespace import PROV, RDF, RDFS

    for row in events:
        within = (collection, row["document"])
        event = _iri(*within, "event", row["id"])
        graph.add((event, RDF.type, _word("Event")))
        graph.add((event, RDFS.label, Literal(_clean(row["text"]))))
        graph.add((event, PROV.wasDerivedFrom, _passage(graph, row, row["chunk"], within)))
        for slot, value in row["slots"].items():
            if value:
                graph.add((event, _word(slot), Literal(_clean(value))))
        for entity in row["entities"]:
            iri = _iri(*within, "entity", entity["id"])
            graph.add((iri, RDFS.label, Literal(_clean(entity["name"]))))
            graph.add((event, _word(f"{entity['slot']}Entity"), iri))


def _add_links(graph: Graph, links: Iterable[Mapping[str, Any]], collection: str) -> None:
    """Add each discourse relation as a triple of two passages, and a statement about it."""
    from rdflib import Literal
    from rdflib.namespace import RDF

    for row in links:
        within = (collection, row["document"])
        arg1, arg2 = (_passage(graph, row, row[end], within) for end in ("arg1", "arg2"))
        link, sense = _iri(*within, "link", row["id"]), _iri("sense", row["sense"])
        graph.add((arg1, sense, arg2))
        for name, value in (
            (RDF.type, RDF.Statement),
            (RDF.subject, arg1),
            (RDF.predicate, sense),
            (RDF.object, arg2),
            (_word("form"), Literal(row["form"])),
            (_word("start"), Literal(row["start"])),
            (_word("end"), Literal(row["end"])),
        ):
            graph.add((link, name, value))
        for field in ("connective", "cause"):
            if row[field]:
                graph.add((link, _word(field), Literal(_clean(row[field]))))


def _passage(graph: Graph, row: Mapping[str, Any], chunk: str, within: tuple[str, str]) -> URIRef:
    """The IRI of a chunk, which the graph then has as part of its document."""
    from rdflib import Literal
    from rdflib.namespace import DCTERMS, RDF

    passage, document = _iri(*within, "chunk", chunk), _iri(*within)
    graph.add((passage, RDF.type, _word("Passage")))
    graph.add((passage, DCTERMS.isPartOf, document))
    graph.add((document, DCTERMS.title, Literal(_clean(row["title"]))))
    return passage


def _word(name: str) -> URIRef:
    return _iri("vocabulary", name)


def graph_of(facts: Sequence[Mapping[str, Any]], collection: str) -> Graph:
    """Return facts as an RDF graph. Raise SettingsError if rdflib isn't installed."""
    graph = _empty_graph()
    from rdflib import Literal
    from rdflib.namespace import DCTERMS, PROV, RDF, RDFS

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
            (_word("section"), Literal(_clean(row["section"]))),
            (_word("start"), Literal(row["start"])),
            (_word("end"), Literal(row["end"])),
            (_word("chunks"), Literal(row["chunks"])),
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
