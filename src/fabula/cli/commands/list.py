"""`fabula list`: list the documents and their graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import choose_collection, open_app
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.progress import RETRY_COMMAND
from fabula.cli.shared.screen import echo, local_time, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.graph import TEXT, Record
from fabula.graph.entries import Entry
from fabula.load.version import READING_VERSION
from fabula.text.names import quote_name
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app import App
    from fabula.app.collection import CollectionGraph
    from fabula.app.rereading import ReadingChange

Stale = Mapping[str, list[str]]
"""What has changed since each graph of a document was built, by the names of the graphs."""
MAX_NAMED_DOCUMENTS = 5
"""How many of the documents that an earlier version read are named."""


@click.command(
    "list",
    cls=Command,
    examples=(
        "list",
        "list --all",
    ),
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.option("--all", "everywhere", is_flag=True, help="all collections")
@click.option(
    "--reading",
    is_flag=True,
    help="read the files again, where they are, and show what an ingest would change in the texts",
)
@settings_flags(*GRAPH)
def command(as_json: bool, everywhere: bool, reading: bool, settings: Settings) -> None:
    """List the documents of a collection, or of all, and the graphs of each.

    A graph is stale if the present settings, or this version of Fabula, would build it from
    something else. A gap is a piece that the model did not provide, or that a rule
    failed on.

    A document that an earlier version of Fabula read is named: its file may be read better now.
    Nothing is built anew before the file is ingested again.
    """
    with open_app(settings) as app:
        names = app.collections() if everywhere else [choose_collection(app).name]
        documents = [
            (entry, collection.stale(entry))
            for collection in map(app.collection, names)
            for entry in collection.documents()
        ]
        graphs = [
            (name, graph) for name in names for graph in app.collection(name).collection_graphs()
        ]
        changes = _read_again(app, [entry for entry, _ in documents]) if reading else {}
        others = 0 if everywhere else app.count_documents() - len(documents)
    if as_json:
        rows = [
            entry_json(entry, stale)
            | ({"reading_change": _change_json(changes.get(entry.id))} if reading else {})
            for entry, stale in documents
        ]
        print_json([*rows, *(_collection_graph_json(name, graph) for name, graph in graphs)])
        return
    if documents:
        print_table(_table(documents))
        gaps = _describe_all_gaps(entry for entry, _ in documents)
        entries = [entry for entry, _ in documents]
        read = _describe_changes(entries, changes) if reading else _describe_reading(entries)
        for line in (*_describe_stale(documents), *gaps, *read):
            echo(line)
        for name, graph in graphs:
            echo(_describe_collection_graph(name, graph))
    elif everywhere:
        echo("Every collection is empty: run `fabula ingest BOOK`.")
    else:
        echo(f"Collection {names[0]!r} is empty: run `fabula ingest BOOK`.")
    if others:
        echo(f"{others} more in other collections: --all shows them.")


def _read_again(app: App, entries: Iterable[Entry]) -> dict[str, ReadingChange]:
    """Read the files of documents again; those that are not at hand are left out."""
    changes = ((entry.id, app.collection(entry.collection).read_again(entry)) for entry in entries)
    return {id: change for id, change in changes if change}


def _change_json(change: ReadingChange | None) -> dict[str, Any] | None:
    return None if change is None else asdict(change) | {"changes": change.describe()}


def _describe_reading(entries: Iterable[Entry]) -> Iterable[str]:
    """Yield a line on the documents that an earlier version read, if there are any."""
    old = [entry for entry in entries if entry.reading < READING_VERSION]
    if old:
        names = ", ".join(quote_name(entry.title) for entry in old[:MAX_NAMED_DOCUMENTS])
        more = f" and {len(old) - MAX_NAMED_DOCUMENTS} more" if old[MAX_NAMED_DOCUMENTS:] else ""
        yield (
            f"{count_noun(len(old), 'document')} read by an earlier version: {names}{more}. "
            "`fabula ingest FILE` reads a file as this version does; `fabula list --reading` shows "
            "what would change."
        )


def _describe_changes(
    entries: Iterable[Entry], changes: Mapping[str, ReadingChange]
) -> Iterable[str]:
    """Yield a line for each document with what another ingest of its file would change."""
    for entry in entries:
        change = changes.get(entry.id)
        if change is None:
            yield f"{entry.title}: its file {entry.source} is not here."
        elif change.error:
            yield f"{entry.title}: {change.error}"
        else:
            what = "; ".join(change.describe()) or "the same text"
            yield f"{entry.title}: `fabula ingest {entry.source}` would bring {what}."


def entry_json(entry: Entry, stale: Stale) -> dict[str, Any]:
    """Return everything that is known of a document."""
    graphs = {name: _record_json(record) for name, record in entry.graphs.items()}
    usage = {step: step_usage.row for step, step_usage in entry.usage.items()}
    return asdict(entry) | {"graphs": graphs, "usage": usage, "stale": dict(stale)}


def _record_json(record: Record) -> dict[str, Any]:
    """Return what is known of one graph of a document or of a collection."""
    return asdict(record) | {"usage": {step: usage.row for step, usage in record.usage.items()}}


def _collection_graph_json(collection: str, graph: CollectionGraph) -> dict[str, Any]:
    """Return what is known of a collection's own graph; it has a `graph` and no `id`."""
    record = _record_json(graph.record)
    return {"collection": collection, "graph": graph.graph, **record, "stale": graph.stale}


def _describe_collection_graph(collection: str, graph: CollectionGraph) -> str:
    at = local_time(graph.record.updated_at)
    line = f"{graph.graph} of collection {collection!r}, built from all its documents {at}"
    build = f"`fabula build {graph.graph}`"
    if graph.stale:
        line += f", is stale; what differs: {', '.join(graph.stale)}. {build} builds it anew."
    elif graph.record.gaps:
        line += f", has {count_noun(graph.record.gaps, 'gap')}: {build} asks for them again."
    return line


def _table(documents: Iterable[tuple[Entry, Stale]]) -> Table:
    table = Table(show_edge=False)
    for heading in ("id", "collection", "title", "author", "language"):
        table.add_column(heading)
    table.add_column("tokens", justify="right")
    for heading in ("graphs", "updated"):
        table.add_column(heading)
    for entry, stale in documents:
        # Every document has a text, which is listed only if it is stale.
        graphs = ", ".join(
            _graph(name, name in stale, entry.graphs[name].gaps)
            for name in sorted(entry.graphs, key=lambda name: (name != TEXT, name))
            if name != TEXT or name in stale
        )
        facts = (entry.id, entry.collection, entry.title, entry.author, entry.language)
        updated = local_time(entry.updated_at)
        table.add_row(*facts, f"{entry.tokens:,}", graphs, updated)
    return table


def _graph(name: str, is_stale: bool, gaps: int) -> str:
    notes = ["stale"] * is_stale + [count_noun(gaps, "gap")] * (gaps > 0)
    return f"{name} ({', '.join(notes)})" if notes else name


def _describe_all_gaps(entries: Iterable[Entry]) -> Iterable[str]:
    """Yield a line on the gaps of all documents, if there are any, with the cure."""
    with_gaps = [entry for entry in entries if entry.gaps]
    if with_gaps:
        gaps = count_noun(sum(entry.gaps for entry in with_gaps), "gap")
        documents = count_noun(len(with_gaps), "document")
        yield (
            f"{gaps} in {documents}: {RETRY_COMMAND} asks for them again, `fabula show` shows "
            "where they are."
        )


def _describe_stale(documents: Iterable[tuple[Entry, Stale]]) -> Iterable[str]:
    """Yield a line for each stale graph with what changed, and one with the cure."""
    counts: dict[str, int] = {}
    differing: dict[str, set[str]] = {}
    for _, stale in documents:
        for name, differences in stale.items():
            counts[name] = counts.get(name, 0) + 1
            differing.setdefault(name, set()).update(differences)
    for name, count in counts.items():
        what = ", ".join(sorted(differing[name]))
        yield f"{name} is stale in {count_noun(count, 'document')}; what differs: {what}."
    if TEXT in counts:
        yield "`fabula ingest FILE` builds the text of a document, and all its graphs, anew."
    elif counts:
        yield "`fabula ingest FILE` updates a document, `fabula build GRAPH` a graph."
