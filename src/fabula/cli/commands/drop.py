"""`fabula drop`: a graph out of documents."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant, opened
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import counted, echo
from fabula.config.settings import Settings


@click.command(
    "drop",
    cls=Command,
    examples=(
        'drop aspects "A Christmas Carol"',
        "drop aspects --dry-run",
    ),
)
@click.argument("graph")
@click.argument("documents", nargs=-1)
@click.option("--dry-run", is_flag=True, help="only say what would go")
@click.option("--yes", is_flag=True, help="don't ask")
@settings_flags(*GRAPH)
def command(
    graph: str, documents: tuple[str, ...], dry_run: bool, yes: bool, settings: Settings
) -> None:
    """Take GRAPH out of DOCUMENTS (ids, titles or files), or out of all of the collection.

    What rests on it goes, too; texts and other graphs stay. `fabula build` makes it again, and
    replies that are kept are not paid for twice.
    """
    # A graph goes out of all of a collection only where that is named, or is the usual one.
    with (meant if documents else opened)(settings) as fabula:
        found = fabula.drop(graph, *documents, dry=True)
        if not found:
            echo(f"No such document of collection {fabula.name!r} has the graph {graph}.")
            return
        others = sorted({name for _, names in found for name in names if name != graph})
        resting = f", and {', '.join(others)}, which rests on it," if others else ""
        if not (yes or dry_run):
            count = sum(entry is not None for entry, _ in found)
            of = f"{counted(count, 'document')} of " if count else ""
            click.confirm(f"Drop {graph}{resting} from {of}collection {fabula.name!r}?", abort=True)
        if not dry_run:
            found = fabula.drop(graph, *(entry.id for entry, _ in found if entry and documents))
        whole = f"collection {fabula.name!r} itself"
    done = "would drop" if dry_run else "dropped   "
    for entry, names in found:
        of = f"{entry.title} ({entry.id})" if entry else whole
        echo(f"{done} {', '.join(names)}: {of}")
