"""Write files for other programs: texts, graphs, annotations and notes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import Field

from fabula.errors import BadValue
from fabula.export.annotation_formats import find_format, write_annotation_files, write_annotations
from fabula.export.export_formats import ExportFormat, export_formats
from fabula.export.files import Written, replace_file
from fabula.graph.annotations import NOTES
from fabula.operations.annotations import GROUP as ANNOTATIONS
from fabula.operations.kit import FileResult, Mark, operation
from fabula.operations.notes import NoteWords, write_markdown
from fabula.operations.parameters import Document, ForVisitor, NamedDocument
from fabula.text.names import file_name
from fabula.text.nouns import count_noun

# What imports Neo4j's driver is imported in the functions: help has to be shown without it.
if TYPE_CHECKING:
    from fabula.library import App
    from fabula.library.collection import Collection

TEXT, JSON_LINES, GRAPHML = "txt", "jsonl", "graphml"
MARKDOWN = ("", "md", "markdown")
WEB_ANNOTATION = "webannotation"
ABOUT = "or the name of a file that ends as its files do"


def _write_text(collection: Collection, document: str, path: Path) -> Written:
    with replace_file(path) as stream:
        rows = collection.open_store().find_chunks(collection.document(document))
        return Written(sum(stream.write(row["text"]) for row in rows), 0)


def _write_graph(format: str, collection: Collection, document: str, path: Path) -> Written:
    return collection.export(path, document, format=format)


OWN_FORMATS = {
    TEXT: ExportFormat(
        "the text as it was read, in UTF-8",
        _write_text,
        ".txt",
        "character",
        "text/plain; charset=utf-8",
    ),
    JSON_LINES: ExportFormat(
        "all nodes and relationships, as Neo4j's apoc.export.json has them",
        partial(_write_graph, JSON_LINES),
        ".jsonl",
        media="application/x-ndjson",
    ),
    GRAPHML: ExportFormat(
        "the same for Gephi, yEd and NetworkX",
        partial(_write_graph, GRAPHML),
        ".graphml",
        media="application/graphml+xml",
    ),
}


def list_export_formats() -> Mapping[str, ExportFormat]:
    """Return the formats of `export` by name, Fabula's own and those of other packages."""
    return OWN_FORMATS | {**export_formats()}


@operation(
    "/collections/{collection}/export",
    group="Export",
    positional=["document"],
    hides_unread=True,
    is_public=True,
    has_screen=False,
    has_tool=False,
    examples=(
        'export "A Christmas Carol" --out carol.jsonl',
        "export --all --out everything.graphml",
        'export "A Christmas Carol" --out carol.ttl',
        "export --whole --collection novels --out novels.jsonl",
        'export "A Christmas Carol" --format obsidian --out vault',
    ),
)
def export(
    collection: Collection,
    document: Document = "",
    format: Annotated[
        str,
        Field(max_length=1000, description=f"jsonl, graphml, txt, ttl, nt or obsidian, {ABOUT}"),
    ] = "",
    embeddings: Annotated[
        bool,
        Field(description="with the embeddings, as lists; only in JSONL"),
        Mark.AT_THIS_MACHINE,
    ] = False,
    all: Annotated[bool, Field(description="all collections"), Mark.AT_THIS_MACHINE] = False,
    whole: Annotated[
        bool,
        Field(description="all that the collection holds, for `fabula import`; only JSONL"),
        Mark.AT_THIS_MACHINE,
    ] = False,
    for_visitor: ForVisitor = False,
) -> FileResult:
    """Write the text or the graph of a document, or the graph of a collection, to a file.

    JSONL has one object per line: all nodes, then all relationships, in the format of Neo4j's
    apoc.export.json. GraphML is for Gephi, yEd and NetworkX; it has no embeddings, and no control
    characters, which XML can't contain. RDF (.ttl, .nt) has facts, events and discourse relations,
    and needs fabula[rdf]. An existing file is replaced. `--whole` writes what `fabula import` takes
    in: all of one collection, with its embeddings, corrections and annotations, as it is.
    """
    from fabula.operations.public_content import export_public

    name = format.rpartition(".")[2].lower() or JSON_LINES
    chosen = list_export_formats().get(name)
    if whole and (
        document or all or embeddings or collection.place or (chosen and name != JSON_LINES)
    ):
        raise BadValue("--whole is all of one collection, as JSONL: leave the rest out.")
    if all and (document or collection.place):
        raise BadValue("Name a document or give --all, not both.")
    if name == TEXT and not (document or collection.place):
        raise BadValue("The text of a collection is written document by document: name one.")
    entry = collection.document(document) if document else None

    def write(path: Path) -> str:
        id = entry.id if entry else ""
        if whole:
            written = collection.export_whole(path)
        elif all:
            written = cast("App", collection.app).export(path, format=name, embeddings=embeddings)
        elif for_visitor and name in (JSON_LINES, GRAPHML):
            written = export_public(collection, entry, path, name)
        elif chosen and not embeddings:
            written = chosen.write(collection, id, path)
        else:
            written = collection.export(path, id, format=name, embeddings=embeddings)
        links = f", {count_noun(written.relationships, 'relationship')}"
        is_graph = written.relationships or name in (JSON_LINES, GRAPHML)
        noun = chosen.noun if chosen else "node"
        return f"{path}: {count_noun(written.nodes, noun)}{links if is_graph else ''}"

    stem = file_name(entry.title, entry.id) if entry else file_name(collection.name, "graph")
    suffix, media = (chosen.suffix, chosen.media) if chosen else ("", "")
    return FileResult(f"{stem}{suffix}", media, write)


@operation(
    "/collections/{collection}/documents/{document}/annotations/export",
    group=ANNOTATIONS,
    command="annotations export",
    positional=["document"],
    hides_unread=True,
    is_large=True,
    has_screen=False,
    has_tool=False,
    examples=(
        'annotations export "A Christmas Carol" --out carol.jsonld',
        "annotations export Carol --what entities --out carol.jsonld",
    ),
)
def export_annotations(
    collection: Collection,
    document: NamedDocument,
    format: Annotated[
        str,
        Field(
            max_length=1000,
            description=f"webannotation, webannotation-utf16, booknlp, catma or tei, {ABOUT}",
        ),
    ] = WEB_ANNOTATION,
    what: Annotated[
        tuple[str, ...],
        Field(
            max_length=50,
            description="entities, quotations, events, or the name of a layer such as notes",
        ),
    ] = (),
) -> FileResult:
    """Write what is marked in a document to a file: what graphs found, and layers.

    Raises:
        NotFound: There is no such document, or nothing is marked in it.
        SettingsError: There is no such format.
    """
    from fabula.library.annotating import read_annotated

    entry = collection.document(document)
    found = find_format("", Path(format)) if "." in format else find_format(format)
    files = write_annotations(read_annotated(collection.open_store(), entry), found, what)
    stem = file_name(entry.title, entry.id)
    end = next(iter(files)) if len(files) == 1 else f".{found.name}"

    def write(path: Path) -> str:
        return "\n".join(map(str, write_annotation_files(files, path)))

    return FileResult(f"{stem}{end}", found.media, write)


@operation(
    "/collections/{collection}/notes/export",
    group=ANNOTATIONS,
    command="notes export",
    positional=["document"],
    hides_unread=True,
    is_large=True,
    has_screen=False,
    has_tool=False,
    examples=(
        "notes export --out notes.md",
        'notes export "A Christmas Carol" --out notes.jsonld',
    ),
)
def export_notes(
    collection: Collection,
    document: Document = "",
    words: NoteWords = "",
    format: Annotated[
        str,
        Field(
            max_length=1000,
            description=f"md for Markdown; of one document also a format of annotations; {ABOUT}",
        ),
    ] = "md",
) -> FileResult:
    """Write the notes on a document as Markdown or as annotations; those on all as Markdown.

    Raises:
        NotFound: There are no notes, or there is no such document.
    """
    if format.rpartition(".")[2].lower() not in MARKDOWN:
        if not document:
            raise BadValue("Name a document, or write Markdown: notes.md.")
        return export_annotations(collection, document, format, (NOTES,))
    entry = collection.document(document) if document else None
    content = write_markdown(collection, document, words)

    def write(path: Path) -> str:
        with replace_file(path) as stream:
            stream.write(content)
        return str(path)

    stem = file_name(entry.title, entry.id) if entry else file_name(collection.name, "collection")
    return FileResult(f"{stem}-notes.md", "text/markdown; charset=utf-8", write)
