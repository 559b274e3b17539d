"""The documents of a collection: list them and their fields, show, edit and remove one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, StringConstraints

from fabula.config.settings import OFFLINE
from fabula.errors import BadValue, NotFound, SettingsError
from fabula.graph import TEXT, Gap, Owner, Record
from fabula.graph.entries import Entry, Layer
from fabula.graph.installed import graph as find_graph
from fabula.graph.installed import graphs
from fabula.graph.recipes import with_dependents
from fabula.load.left_out import describe as describe_left_out
from fabula.load.version import READING_VERSION
from fabula.models.usage import Usage, describe_usage
from fabula.operations.kit import Column, Hidden, Mark, operation
from fabula.operations.parameters import DryRun, First, ForVisitor, Limit, NamedDocument
from fabula.text.folding import fold_name
from fabula.text.metadata import (
    MAX_FIELDS,
    PREFIX,
    Value,
    format_metadata,
    list_assignments,
    read_assignments,
)
from fabula.text.names import quote_name, source_name
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.library import App
    from fabula.library.collection import Collection

GROUP = "Documents"
RETRY = "`fabula renew`"
MAX_NAMED = 5
"""How many of the documents that an earlier version read are named."""
MAX_GAPS = 5
"""How many gaps of a graph are described; JSON has all."""
PRIVATE_FACT = "layers"
"""The fact that lists the layers of annotations, which may have people's names."""
Order = Literal["title", "author", "language", "length", "updated"]


def public_record(record: Record) -> Record:
    """Return the record of a graph as visitors see it: no costs, settings and people's names."""
    facts = {name: value for name, value in record.facts.items() if name != PRIVATE_FACT}
    return replace(record, made_from={}, usage={}, facts=facts)


def _public_entry(entry: Entry) -> Entry:
    shown = {name: public_record(record) for name, record in entry.graphs.items()}
    return replace(entry, source=source_name(entry.source), graphs=shown)


# Listing


@dataclass(frozen=True)
class DescribedDocument:
    """What every list and description of a document has.

    Attributes:
        id: Its id.
        collection: The collection that it is in.
        title: Its title.
        author: Its author; '' if unknown.
        published: The date or year of the text; '' if unknown.
        language: Its language; '' if unknown.
        tokens: How long its text is.
        gaps: How many pieces of its graphs no model gave, or a rule failed on.
        stale: What has changed since its graphs were built, by the graphs' names.
        metadata: Its other fields.
        is_off: Whether questions to the collection leave it out.
        outdated_reading: Whether an earlier version of Fabula read its file, so that another ingest
            of the file may read it better.
        source: Its file or address.
        updated_at: When it was written last.
    """

    id: str
    collection: str
    title: str
    author: str
    published: Annotated[str, Hidden]
    language: str
    tokens: int
    gaps: int
    stale: Mapping[str, tuple[str, ...]]
    metadata: Annotated[Mapping[str, Value], Hidden]
    is_off: Annotated[bool, Hidden]
    outdated_reading: Annotated[bool, Hidden]
    source: Annotated[str, Hidden]
    updated_at: Annotated[str, Hidden]


@dataclass(frozen=True)
class ListedDocument(DescribedDocument):
    """A document in a list; `graphs` are those that it has beside its text."""

    graphs: tuple[str, ...]


@dataclass(frozen=True)
class DocumentList:
    """Documents in the order that was asked for."""

    total: int
    rows: tuple[ListedDocument, ...]

    def to_notes(self) -> Iterator[str]:
        """Yield what is wrong with the documents, and how to mend it."""
        if not self.total:
            yield "There are no documents here: `fabula ingest BOOK` adds some."
        yield from _describe_stale(self.rows)
        if off := [quote_name(row.title) for row in self.rows if row.is_off]:
            more = f" and {len(off) - MAX_NAMED} more" if off[MAX_NAMED:] else ""
            yield f"Left out of questions: {', '.join(off[:MAX_NAMED])}{more}."
        if lacking := [row for row in self.rows if row.gaps]:
            gaps = count_noun(sum(row.gaps for row in lacking), "gap")
            yield (
                f"{gaps} in {count_noun(len(lacking), 'document')}: {RETRY} asks for them again, "
                "`fabula show` shows where they are."
            )
        if old := [row for row in self.rows if row.outdated_reading]:
            names = ", ".join(quote_name(row.title) for row in old[:MAX_NAMED])
            more = f" and {len(old) - MAX_NAMED} more" if old[MAX_NAMED:] else ""
            yield (
                f"{count_noun(len(old), 'document')} read by an earlier version: {names}{more}. "
                "`fabula ingest FILE` reads a file as this version does."
            )


def _describe_stale(rows: Iterable[ListedDocument]) -> Iterator[str]:
    """Yield a line for each stale graph with what changed, and one with the cure."""
    differing: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        for name, differences in row.stale.items():
            differing.setdefault(name, []).append(differences)
    for name, found in differing.items():
        what = ", ".join(sorted({each for differences in found for each in differences}))
        yield f"{name} is stale in {count_noun(len(found), 'document')}; what differs: {what}."
    if TEXT in differing:
        yield "`fabula ingest FILE` builds the text of a document, and all its graphs, anew."
    elif differing:
        yield "`fabula ingest FILE` updates a document, `fabula build GRAPH` a graph."


def find_documents(
    collection: Collection, words: str, language: str, order: Order, first: int, limit: int
) -> tuple[list[Entry], dict[str, tuple[int, int]]]:
    """Return a page of documents, and counts of all documents by their languages.

    A pair of counts has all documents of a language, and those that have the words.
    """
    from fabula.store.rows import read_entry

    search = {"collection": collection.name, "words": fold_name(words)}
    place = {"language": language, "order": order, "skip": first, "limit": limit}
    rows = collection.open_store().entry_rows("core/find_document_page", {**search, **place})
    counts = collection.open_store().rows("core/count_document_page", **search)
    by_language = {row["language"]: (row["documents"], row["fitting"]) for row in counts}
    return [read_entry(row) for row in rows], by_language


@operation(
    "/collections/{collection}/documents",
    command="list",
    group=GROUP,
    is_public=True,
    has_screen=False,
    examples=("list", "list --words dickens --order length", "list --all"),
)
def list_documents(
    collection: Collection,
    words: Annotated[
        str, Field(max_length=200, description="part of a title or of an author's name")
    ] = "",
    language: Annotated[str, Field(max_length=100, description="only this language")] = "",
    order: Annotated[Order, Field(description="by what the documents are sorted")] = "title",
    first: First = 0,
    limit: Limit = 100,
    all: Annotated[
        bool, Field(description="those of all collections"), Mark.AT_THIS_MACHINE
    ] = False,
    for_visitor: ForVisitor = False,
) -> DocumentList:
    """List the documents of a collection and their graphs.

    A graph is stale if the present settings, or this version of Fabula, would build it from
    something else. A gap is a piece that the model did not provide, or that a rule failed on.

    A document that an earlier version of Fabula read is named: its file may be read better now.
    Nothing is built anew before the file is ingested again.
    """
    shelves = [collection]
    if all:
        app = cast("App", collection.app)
        shelves = [app.collection(name) for name in app.collections()]
    rows: list[ListedDocument] = []
    total = 0
    for shelf in shelves:
        skip = max(first - total, 0)
        entries, counts = find_documents(shelf, words, language, order, skip, limit - len(rows))
        total += sum(pair[1] for name, pair in counts.items() if language in ("", name))
        stale = {} if for_visitor else shelf.stale_of(entries)
        rows += [
            _list(shelf, each, stale.get(each.id, {}), for_visitor=for_visitor) for each in entries
        ]
    return DocumentList(total, tuple(rows))


def _list(
    collection: Collection,
    entry: Entry,
    stale: Mapping[str, Sequence[str]],
    *,
    for_visitor: bool,
) -> ListedDocument:
    own: dict[str, Any] = {
        "graphs": tuple(name for name in sorted(entry.graphs) if name != TEXT),
        "stale": _name_stale(stale),
        "outdated_reading": entry.reading < READING_VERSION,
        "source": source_name(entry.source) if for_visitor else entry.source,
    }
    names = [field.name for field in fields(ListedDocument) if field.name not in own]
    return ListedDocument(**{name: getattr(entry, name) for name in names}, **own)


def _name_stale(stale: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(found) for name, found in stale.items()}


# Showing


@dataclass(frozen=True)
class DocumentDetails(DescribedDocument):
    """Everything that is known of a document.

    Attributes:
        edition: The edition that its file was made from; '' if unknown.
        sha256: The hash of its text.
        created_at: When it was added.
        left_out: How many characters of its file are not in the text, by kind.
        warnings: What was wrong with its file.
        graphs: What each of its graphs was made from and cost, by the graphs' names.
        usage: What each step of all graphs asked of models.
        money: What that cost in US dollars, as far as prices are known; None if no price is.
        unpriced: The models that were used and whose price is not known.
        layers: How many passages it has by kind, aspect and level.
        missing: The pieces that are gaps, by the graphs' names.
    """

    edition: str
    sha256: str
    created_at: str
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]
    graphs: Mapping[str, Record]
    usage: Mapping[str, Usage]
    money: float | None
    unpriced: tuple[str, ...]
    layers: tuple[Layer, ...]
    missing: Mapping[str, tuple[Gap, ...]]

    def to_text(self) -> str:
        """Return its passages by aspect and level, and how each of its graphs was built."""
        lines = [
            self.title,
            *_describe_layers(self.layers),
            "",
            f"id {self.id}, collection {self.collection}, language {self.language or 'unknown'}",
            f"author {self.author or 'unknown'}, from {self.source}",
            f"{self.tokens:,} tokens of text; updated {format_time(self.updated_at)}",
        ]
        lines += [f"{name}: {format_metadata(value)}" for name, value in self.metadata.items()]
        if self.is_off:
            lines.append("left out of questions: `fabula edit --questions on` ends that")
        if self.left_out:
            lines.append(f"left out of its file: {describe_left_out(self.left_out)}")
        lines += [f"warning: {warning}" for warning in self.warnings]
        lines.append(f"cost: {_describe_cost(self.usage)}")
        for name in sorted(self.graphs, key=lambda name: (name != TEXT, name)):
            lines += ["", *describe_graph(name, self.graphs[name], self.stale.get(name, ()))]
            lines += _describe_gaps(self.missing.get(name, ()))
        return "\n".join(lines)


def format_time(moment: str) -> str:
    """Return a time of ISO 8601 in UTC, as the graph has them, to the minute."""
    return f"{moment[:16].replace('T', ' ')} UTC"


def _describe_layers(layers: Sequence[Layer]) -> Iterator[str]:
    """Yield a table: a line for each aspect or kind, a column for each level."""
    counts: dict[str, dict[int, int]] = {}
    for layer in layers:
        counts.setdefault(layer.aspect or f"{layer.kind}s", {})[layer.level] = layer.passages
    levels = range(max((layer.level for layer in layers), default=0) + 1)
    width = max(map(len, ["aspect", *counts]))
    yield "  ".join(["aspect".ljust(width), *(f"level {level}" for level in levels)])
    for name in sorted(counts, key=lambda name: (name not in ("chunks", "details"), name)):
        cells = [f"{counts[name].get(level, ''):>7}" for level in levels]
        yield "  ".join([name.ljust(width), *cells]).rstrip()


def describe_graph(name: str, record: Record, differences: Sequence[str]) -> Iterator[str]:
    """Yield lines on what a graph was made from, what it cost, and what would differ now."""
    made_from = record.made_from
    models = _describe_models(made_from.get("models", {}))
    yield f"{name}{' (stale)' if differences else ''}: {models}"
    if settings := made_from.get("settings", {}):
        yield f"  made with {', '.join(f'{key} {_value(settings[key])}' for key in settings)}"
    yield f"  cost: {_describe_cost(record.usage)}"
    yield from (f"    {step}: {describe_usage(usage)}" for step, usage in record.usage.items())
    if name in graphs() and record.facts:
        yield from (f"  {line}" for line in graphs()[name].describe(record.facts))
    if differences:
        yield f"  what differs now: {', '.join(differences)}"


def _describe_gaps(gaps: Sequence[Gap]) -> Iterator[str]:
    """Yield lines on the first gaps: what is missing, where, and why."""
    if gaps:
        yield f"  {count_noun(len(gaps), 'gap')}, asked for again by {RETRY}:"
    for gap in gaps[:MAX_GAPS]:
        aspect, level = gap.properties.get("aspect"), gap.properties.get("level")
        what = f"{gap.step} ({aspect}, level {level})" if aspect else gap.step
        start, end = gap.properties["start"], gap.properties["end"]
        section = gap.properties.get("section")
        place = [*([section] if section else []), f"characters {start}-{end}"]
        yield f"    {what} · {' · '.join(place)}: {gap.why}"
    if len(gaps) > MAX_GAPS:
        yield f"    and {len(gaps) - MAX_GAPS:,} more"


def _describe_models(models: Mapping[str, Any]) -> str:
    """Return the models of a graph in words."""
    parts = [f"embedded by {models['embedding_model']}"] if "embedding_model" in models else []
    if writer := models.get("model"):
        parts.insert(0, f"written by {'extraction, offline' if writer == OFFLINE else writer}")
    if (judge := models.get("aspect_model")) and judge != models.get("model"):
        parts.append(f"aspects found by {judge}")
    return ", ".join(parts)


def _value(value: Any) -> str:
    """Return the value of a setting; of a table or list only the names."""
    if isinstance(value, Mapping | list):
        return f"({', '.join(map(str, value))})"
    return "" if value is None else str(value)


def _describe_cost(steps: Mapping[str, Usage]) -> str:
    return describe_usage(sum(steps.values(), Usage()))


@operation(
    "/collections/{collection}/documents/{document}",
    command="show",
    group=GROUP,
    positional=["document"],
    is_public=True,
    has_screen=False,
    examples=('show "A Christmas Carol"',),
)
def show_document(
    collection: Collection, document: NamedDocument, for_visitor: ForVisitor = False
) -> DocumentDetails:
    """Show the graphs of a document and what they cost.

    It has the passages by aspect and level, and for each graph the models and settings, the cost,
    the gaps, and what would differ with the present settings.

    Raises:
        NotFound: There is no such document.
    """
    entry = collection.document(document)
    shown = _public_entry(entry) if for_visitor else entry
    cost = collection.settings.cost(shown.usage)
    gaps = {} if for_visitor else collection.open_store().gaps(collection.name, entry.id)
    own: dict[str, Any] = {
        "outdated_reading": entry.reading < READING_VERSION,
        "money": cost.money,
        "unpriced": tuple(cost.unpriced),
        "layers": tuple(collection.open_store().layers(collection.name, entry.id)),
        "stale": {} if for_visitor else _name_stale(collection.stale(entry)),
        "missing": {name: tuple(found) for name, found in gaps.items()},
    }
    names = [field.name for field in fields(DocumentDetails) if field.name not in own]
    return DocumentDetails(**{name: getattr(shown, name) for name in names}, **own)


# Changing


@dataclass(frozen=True)
class EditedDocument:
    """What a document is called and described by now.

    Attributes:
        document: Its id.
        title: Its title.
        author: Its author; '' if there is none.
        published: The year or date of the text; '' if there is none.
        metadata: Its other fields.
        is_off: Whether questions to the collection leave it out.
    """

    document: str
    title: str
    author: str
    published: str
    metadata: Mapping[str, Value]
    is_off: bool

    @property
    def audited(self) -> Mapping[str, object]:
        """What the audit says of it."""
        return {"title": self.title, "author": self.author, "published": self.published}

    def to_text(self) -> str:
        """Return it as a line, and its fields below."""
        by = f" by {self.author}" if self.author else ""
        date = f" ({self.published})" if self.published else ""
        off = ", left out of questions" if self.is_off else ""
        lines = [f"{self.document}: {self.title}{by}{date}{off}"]
        lines += [f"  {name} = {format_metadata(self.metadata[name])}" for name in self.metadata]
        return "\n".join(lines)


@operation(
    "/collections/{collection}/documents/{document}",
    command="edit",
    group=GROUP,
    title="Edit",
    role="write",
    method="PATCH",
    positional=["document", "title"],
    examples=(
        'edit carol.txt "A Christmas Carol"',
        'edit "A Christmas Carol" --author "Charles Dickens" --published 1843',
        'edit "A Christmas Carol" --meta genre=ghosts --meta place=London',
        'edit "A Christmas Carol" --questions off',
    ),
)
def edit_document(
    collection: Collection,
    document: NamedDocument,
    title: Annotated[str | None, Field(max_length=500, description="the new title")] = None,
    author: Annotated[
        str | None, Field(max_length=500, description="the new author; '' for none")
    ] = None,
    published: Annotated[
        str | None,
        Field(max_length=100, description="the new year or date of the text; '' for none"),
    ] = None,
    meta: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=4000)], ...],
        BeforeValidator(list_assignments),
        Field(
            max_length=MAX_FIELDS,
            description="a field of its metadata as name=value; 'name=' removes it, and one that "
            "is repeated is a list",
        ),
    ] = (),
    questions: Annotated[
        Literal["", "on", "off"],
        Field(description="off leaves it out of questions that do not name it; on ends that"),
    ] = "",
) -> EditedDocument:
    """Give a document another title, author or year, and metadata of your own.

    The text and its graphs stay, and so does what is not given: nothing is built or embedded, and
    the next question finds it by its new metadata. If the file is ingested again with another text,
    title, author and year are those of the file again; other fields stay.

    Raises:
        BadValue: Nothing is given, the title is empty, or a value can't be kept.
        NotFound: There is no such document.
    """
    described = {"title": title, "author": author, "published": published}
    changes = read_assignments(meta)
    changes |= {name: text.strip() for name, text in described.items() if text is not None}
    if not (changes or questions):
        raise BadValue("Give a new title, author or date, metadata, or whether it is asked.")
    if changes.get("title", "a title") == "":
        raise BadValue("The title is empty: give it at least one character.")
    entry = collection.document(document)
    has_changed = True
    if changes:
        has_changed = collection.open_store().set_metadata(entry, changes)
    if questions and has_changed:
        has_changed = collection.open_store().switch_document(entry, is_off=questions == "off")
    if not has_changed:
        raise NotFound(f"The document {quote_name(entry.id)} has been removed.")
    now = collection.document(entry.id)
    return EditedDocument(now.id, now.title, now.author, now.published, now.metadata, now.is_off)


@dataclass(frozen=True)
class MetadataField:
    """A field that documents have.

    Attributes:
        name: Its name, as conditions have it.
        documents: How many documents have it.
        different: How many different values it has.
        values: The most frequent ones, as people write them: a year has no comma.
    """

    name: str
    documents: int
    different: Annotated[int, Column("different values")]
    values: Annotated[tuple[str, ...], Column("most frequent")]


@dataclass(frozen=True)
class MetadataFields:
    """The fields of a collection's documents, by name."""

    total: int
    rows: tuple[MetadataField, ...]

    def to_notes(self) -> Iterator[str]:
        """Yield what else there is."""
        yield "Every document has: title, author, published, year, language, edition, source."


@operation(
    "/collections/{collection}/fields",
    command="fields",
    group=GROUP,
    is_public=True,
    has_screen=False,
    examples=("fields", "fields --values 20"),
)
def list_fields(
    collection: Collection,
    values: Annotated[
        int, Field(ge=1, le=1000, description="how many values of a field are shown")
    ] = 10,
    limit: Limit = 1000,
) -> MetadataFields:
    """List the metadata of a collection's documents: the fields, and their most frequent values.

    A question is restricted by them, as in `--where "genre = gothic"`.
    """
    found = collection.open_store().find_fields(collection.name, values)
    rows = [
        MetadataField(
            row["name"].removeprefix(PREFIX),
            row["documents"],
            row["different"],
            tuple(map(format_metadata, row["values"])),
        )
        for row in found
    ]
    return MetadataFields(len(rows), tuple(rows[:limit]))


# Removing


@dataclass(frozen=True)
class RemovedDocument:
    """A document that was removed, or would be, and what goes with it.

    Attributes:
        document: Its id.
        title: Its title.
        tokens: How long its text was.
        graphs: The graphs that it had, beside its text.
        passages: How many passages they had, with their embeddings.
        corrections: How many corrections were of this document alone.
        money: What models wrote for it cost in US dollars, as far as prices are known.
        dry_run: Whether nothing was removed.
    """

    document: str
    title: str
    tokens: int
    graphs: tuple[str, ...]
    passages: int
    corrections: int
    money: float | None
    dry_run: bool

    @property
    def audited(self) -> Mapping[str, object]:
        """What the audit says of it."""
        return {"title": self.title}

    @property
    def losses(self) -> list[str]:
        """What goes, in words."""
        losses = [f"its text of {self.tokens:,} tokens"]
        if self.graphs:
            losses.append(f"its graphs ({', '.join(self.graphs)})")
        losses.append(f"{self.passages:,} passages with their embeddings")
        if self.corrections:
            losses.append(f"{count_noun(self.corrections, 'correction')} of this document alone")
        if self.money:
            losses.append(f"what models wrote for ${self.money:,.2f}")
        return losses

    def to_text(self) -> str:
        """Return what was removed, or would be."""
        if not self.dry_run:
            return f"removed    {self.title} ({self.document})"
        return f"would remove {self.title} ({self.document}): {', '.join(self.losses)}"


@operation(
    "/collections/{collection}/documents/{document}",
    command="remove",
    group=GROUP,
    title="Remove",
    role="write",
    method="DELETE",
    positional=["document"],
    examples=(
        'remove "A Christmas Carol" --dry-run',
        "remove carol.txt alice.epub --yes",
    ),
)
def remove_document(
    collection: Collection, document: NamedDocument, dry_run: DryRun = False
) -> RemovedDocument:
    """Remove a document with all its graphs.

    That is possible even while a graph of it is being built.

    Raises:
        NotFound: There is no such document.
    """
    entry = collection.document(document)
    layers = collection.open_store().layers(collection.name, entry.id)
    own = [each for each in collection.decisions() if each.document == entry.id]
    removed = RemovedDocument(
        entry.id,
        entry.title,
        entry.tokens,
        tuple(name for name in sorted(entry.graphs) if name != TEXT),
        sum(layer.passages for layer in layers),
        sum(not each.undone_at for each in own),
        collection.settings.cost(entry.usage).money,
        dry_run,
    )
    if not dry_run:
        collection.open_store().remove(collection.name, entry.id)
    return removed


@dataclass(frozen=True)
class DroppedFrom:
    """The graphs that were removed, or would be, from a document.

    Attributes:
        document: The id of the document; '' for the collection itself.
        title: Its title, or the name of the collection.
        graphs: The graph, and those that were built on it.
    """

    document: str
    title: str
    graphs: tuple[str, ...]


@dataclass(frozen=True)
class DroppedGraph:
    """A graph that was removed, or would be, from documents.

    Attributes:
        graph: The graph.
        dry_run: Whether nothing was removed.
        total: From how many it is, with the collection itself.
        rows: The documents that had it.
    """

    graph: str
    dry_run: bool
    total: int
    rows: tuple[DroppedFrom, ...]

    @property
    def audited(self) -> Mapping[str, object]:
        """What the audit says of it."""
        return {"graph": self.graph}

    def to_text(self) -> str:
        """Return a line for each document."""
        verb = "would drop" if self.dry_run else "dropped   "
        return "\n".join(
            f"{verb} {', '.join(row.graphs)}: "
            + (f"{row.title} ({row.document})" if row.document else f"collection {row.title!r}")
            for row in self.rows
        )


@operation(
    "/collections/{collection}/graphs/{graph}",
    command="drop",
    group=GROUP,
    title="Drop",
    role="write",
    method="DELETE",
    positional=["graph", "document"],
    examples=(
        'drop episodes "A Christmas Carol" --dry-run',
        "drop entities --dry-run",
        "drop aspects carol.txt alice.epub --yes",
    ),
)
def drop_graph(
    collection: Collection,
    graph: Annotated[str, Field(max_length=200, description="the name of the graph")],
    document: Annotated[
        str | None,
        Field(min_length=1, max_length=2000, description="a document's id, title or file"),
        Mark.NAMES_DOCUMENT,
    ] = None,
    dry_run: DryRun = False,
) -> DroppedGraph:
    """Remove a graph from a document, or from all of a collection.

    Graphs that were built on it are removed too; texts and other graphs stay. Without a document,
    graphs of the whole collection that rest on it go as well. `fabula build` builds it again, and
    cached replies are not paid for twice.

    Raises:
        NotFound: There is no such document, or none has the graph.
        SettingsError: There is no such graph, or it is the text.
    """
    if graph == TEXT:
        raise SettingsError(
            "The text cannot be dropped, as all graphs rest on it; `fabula remove` removes the "
            "whole document."
        )
    entries = [collection.document(document)] if document else list(collection.documents())
    installed, store = graphs(), collection.open_store()
    of_collection = store.collection_parts(collection.name)
    built = {name for entry in entries for name in entry.graphs}
    if graph not in {*installed, *of_collection, *built}:
        find_graph(graph)  # raises the error that names the nearest graph
    if document and graph in of_collection:
        raise SettingsError(f"{graph} belongs to the whole collection: name no document.")
    removed = with_dependents(installed, {graph})
    found = [(entry.id, entry.title, entry.graphs.keys()) for entry in entries]
    if not document:
        found.append(("", collection.name, of_collection.keys()))
    rows = tuple(
        DroppedFrom(id, title, tuple(sorted(removed & names)))
        for id, title, names in found
        if removed & names
    )
    if not rows:
        raise NotFound(f"There is no graph {quote_name(graph)} here to be dropped.")
    if not dry_run:
        for row in rows:
            store.drop([Owner(collection.name, name, row.document) for name in row.graphs])
    return DroppedGraph(graph, dry_run, len(rows), rows)
