"""`fabula list`: the documents that the graph holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant, opened
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.progress import RETRY
from fabula.cli.shared.screen import counted, echo, print_json, print_table
from fabula.config.settings import Settings
from fabula.graph import TEXT, Record
from fabula.graph.entries import Entry

if TYPE_CHECKING:
    from fabula.app.collection import Settled

Stale = Mapping[str, list[str]]
"""What each graph of a document would be made from otherwise now, by the graphs' names."""


@click.command(
    "list",
    cls=Command,
    examples=(
        "list",
        "list --all",
    ),
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.option("--all", "everywhere", is_flag=True, help="of all collections")
@settings_flags(*GRAPH)
def command(as_json: bool, everywhere: bool, settings: Settings) -> None:
    """List the documents of a collection, or of all, and the graphs of each.

    A graph is stale where the settings in force, or this version of Fabula, would make it from
    something else than it was made from. A gap is a piece of it that the model did not give.
    """
    with (opened if everywhere else meant)(settings) as fabula:
        app = fabula.app
        names = app.collections() if everywhere else [fabula.name]
        found = [
            (entry, collection.stale(entry))
            for collection in map(app.collection, names)
            for entry in collection.documents()
        ]
        settled = [(name, one) for name in names for one in app.collection(name).settled()]
        others = 0 if everywhere else fabula.store.count(fabula.name)[1] - len(found)
    if as_json:
        documents = [entry_json(entry, stale) for entry, stale in found]
        print_json([*documents, *(_settled_json(name, one) for name, one in settled)])
        return
    if found:
        print_table(_table(found))
        for line in (*_differing(found), *_lacking(entry for entry, _ in found)):
            echo(line)
        for name, one in settled:
            echo(_told(name, one))
    elif everywhere:
        echo("Every collection is empty: run `fabula ingest BOOK`.")
    else:
        echo(f"Collection {fabula.name!r} is empty: run `fabula ingest BOOK`.")
    if others:
        echo(f"{others} more in other collections: --all shows them.")


def entry_json(entry: Entry, stale: Stale) -> dict[str, Any]:
    """All that is known of a document."""
    graphs = {name: _record_json(record) for name, record in entry.graphs.items()}
    usage = {step: one.row for step, one in entry.usage.items()}
    return asdict(entry) | {"graphs": graphs, "usage": usage, "stale": dict(stale)}


def _record_json(record: Record) -> dict[str, Any]:
    """What is known of one graph of a document, or of a collection."""
    return asdict(record) | {"usage": {step: one.row for step, one in record.usage.items()}}


def _settled_json(collection: str, settled: Settled) -> dict[str, Any]:
    """All that is known of a graph of a collection itself; it has a `graph`, and no `id`."""
    told = _record_json(settled.record)
    return {"collection": collection, "graph": settled.graph, **told, "stale": settled.stale}


def _told(collection: str, settled: Settled) -> str:
    """A line for a graph of a collection itself."""
    at = settled.record.updated_at[:16].replace("T", " ")
    told = f"{settled.graph} of collection {collection!r}, made of all its documents {at}"
    build = f"`fabula build {settled.graph}`"
    if settled.stale:
        told += f", is stale; what differs: {', '.join(settled.stale)}. {build} makes it anew."
    elif settled.record.gaps:
        told += f", has {counted(settled.record.gaps, 'gap')}: {build} asks for them again."
    return told


def _table(found: Iterable[tuple[Entry, Stale]]) -> Table:
    table = Table(show_edge=False)
    for heading in ("id", "collection", "title", "author", "language"):
        table.add_column(heading)
    table.add_column("tokens", justify="right")
    for heading in ("graphs", "updated"):
        table.add_column(heading)
    for entry, stale in found:
        # Every document has its text: that is told only where it is stale.
        graphs = ", ".join(
            _graph(name, name in stale, entry.graphs[name].gaps)
            for name in sorted(entry.graphs, key=lambda name: (name != TEXT, name))
            if name != TEXT or name in stale
        )
        facts = (entry.id, entry.collection, entry.title, entry.author, entry.language)
        updated = entry.updated_at[:16].replace("T", " ")
        table.add_row(*facts, f"{entry.tokens:,}", graphs, updated)
    return table


def _graph(name: str, is_stale: bool, gaps: int) -> str:
    said = ["stale"] * is_stale + [counted(gaps, "gap")] * (gaps > 0)
    return f"{name} ({', '.join(said)})" if said else name


def _lacking(entries: Iterable[Entry]) -> Iterable[str]:
    """A line on the gaps of all, if there are any, with the cure."""
    lacking = [entry for entry in entries if entry.gaps]
    if lacking:
        gaps = counted(sum(entry.gaps for entry in lacking), "gap")
        documents = counted(len(lacking), "document")
        yield f"{gaps} in {documents}: {RETRY} asks for them again, `fabula show` tells where."


def _differing(found: Iterable[tuple[Entry, Stale]]) -> Iterable[str]:
    """A line for each graph that is stale, with what differs, and one with the cure."""
    documents: dict[str, int] = {}
    differing: dict[str, set[str]] = {}
    for _, stale in found:
        for name, differences in stale.items():
            documents[name] = documents.get(name, 0) + 1
            differing.setdefault(name, set()).update(differences)
    for name, count in documents.items():
        what = ", ".join(sorted(differing[name]))
        yield f"{name} is stale in {counted(count, 'document')}; what differs: {what}."
    if TEXT in documents:
        yield "`fabula ingest FILE` makes the text of a document, and all its graphs, anew."
    elif documents:
        yield "`fabula ingest FILE` brings a document up to date, `fabula build GRAPH` a graph."
