"""`fabula drop`: remove a graph from documents."""

from __future__ import annotations

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_collection, open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings
from fabula.text.nouns import count_noun


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
@click.option("--dry-run", is_flag=True, help="only show what would be removed")
@click.option("--yes", is_flag=True, help="do not ask for confirmation")
@settings_flags(*GRAPH)
def command(
    graph: str, documents: tuple[str, ...], dry_run: bool, yes: bool, settings: Settings
) -> None:
    """Remove GRAPH from DOCUMENTS (ids, titles or files), or from all of the collection.

    Graphs that were built on it are removed too; texts and other graphs stay. `fabula build`
    builds it again, and cached replies are not paid for twice.
    """
    # Without documents, the collection must be named or the usual one: no guess.
    with (open_for_reading if documents else open_collection)(settings) as fabula:
        dropped = fabula.drop(graph, *documents, dry=True)
        if not dropped:
            echo(f"No such document of collection {fabula.name!r} has the graph {graph}.")
            return
        dependents = sorted({name for _, names in dropped for name in names if name != graph})
        built_on = f", and {', '.join(dependents)}, built on it," if dependents else ""
        if not (yes or dry_run):
            count = sum(entry is not None for entry, _ in dropped)
            which = f"{count_noun(count, 'document')} of " if count else ""
            target = f"{which}collection {fabula.name!r}"
            click.confirm(f"Drop {graph}{built_on} from {target}?", abort=True)
        if not dry_run:
            ids = [entry.id for entry, _ in dropped if entry and documents]
            dropped = fabula.drop(graph, *ids)
        whole = f"collection {fabula.name!r} itself"
    verb = "would drop" if dry_run else "dropped   "
    for entry, names in dropped:
        target = f"{entry.title} ({entry.id})" if entry else whole
        echo(f"{verb} {', '.join(names)}: {target}")
