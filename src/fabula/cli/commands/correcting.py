"""Correct who is whom: the actions of `fabula entities`, kept as decisions of the collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.table import Table

from fabula.cli.commands.ingest import make_graphs
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, WRITING, settings_flags
from fabula.cli.shared.screen import echo, local_time, print_json
from fabula.cli.shared.tables import print_table
from fabula.config.settings import Settings
from fabula.graph.decisions import Decision
from fabula.graph.installed import graph
from fabula.text.nouns import count_noun

if TYPE_CHECKING:
    from fabula.app.collection import Collection

ENTITIES = "entities"
SPLIT = "split"

_document = click.option(
    "--document", default="", help="only in this document: its id, title or file"
)
_later = click.option(
    "--later", is_flag=True, help="do not build the graphs again now: the next build follows it"
)


@click.command(
    "rename",
    cls=Command,
    examples=(
        'entities rename "Tiny Tim" "Tim Cratchit"',
        'entities rename Joe "Old Joe" --document "A Christmas Carol"',
    ),
)
@click.argument("name")
@click.argument("new_name")
@_document
@_later
@settings_flags(*GRAPH, *WRITING)
def rename(name: str, new_name: str, document: str, later: bool, settings: Settings) -> None:
    """Give the entity that is called NAME another name, NEW_NAME."""
    _decide(settings, "rename", (name, new_name), document, later)


@click.command(
    "merge", cls=Command, examples=("""entities merge "Jacob Marley" "Marley's Ghost\"""",)
)
@click.argument("name")
@click.argument("names", nargs=-1, required=True)
@_document
@_later
@settings_flags(*GRAPH, *WRITING)
def merge(
    name: str, names: tuple[str, ...], document: str, later: bool, settings: Settings
) -> None:
    """Make one entity of those that are called NAME and NAMES; it keeps the name of the first.

    If they are in different documents, the graph of identities joins them when it is built.
    """
    _decide(settings, "merge", (name, *names), document, later)


@click.command(
    "split",
    cls=Command,
    examples=('entities split "Jacob Marley" Jacob', "entities split John John"),
)
@click.argument("name")
@click.argument("names", nargs=-1, required=True)
@_document
@_later
@settings_flags(*GRAPH, *WRITING)
def split(
    name: str, names: tuple[str, ...], document: str, later: bool, settings: Settings
) -> None:
    """Make an entity of its own of NAMES, printed names that the entity NAME has by mistake.

    If the document has an entity of that name already, they become its names. If the names are of
    entities in different documents, the graph of identities keeps these apart when it is built:
    `fabula entities split John John` says that the John of each document is another one. An id of
    an entity may stand for its name.
    """
    _decide(settings, "split", (name, *names), document, later)


@click.command("undo", cls=Command, examples=("entities undo 1",))
@click.argument("number", type=click.IntRange(1))
@_later
@settings_flags(*GRAPH, *WRITING)
def undo(number: int, later: bool, settings: Settings) -> None:
    """Undo the correction of this NUMBER; `fabula entities decisions` lists them."""
    _carry_out(settings, lambda fabula: fabula.undo(number), later)


@click.command(
    "decisions", cls=Command, examples=("entities decisions", "entities decisions --all")
)
@click.option("--all", "every", is_flag=True, help="also those that were undone")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*GRAPH)
def decisions(every: bool, as_json: bool, settings: Settings) -> None:
    """List the corrections of a collection: what, who, when, and what became of them."""
    with open_for_reading(settings) as fabula:
        known = [
            decision
            for decision in fabula.decisions()
            if decision.graph == ENTITIES and (every or decision.is_in_force)
        ]
        effects = fabula.effects()
        titles = _titles(fabula, known)
    if as_json:
        print_json(
            [
                {**asdict(decision), "effects": effects.get(decision.number, {})}
                for decision in known
            ]
        )
    elif not known:
        echo(f"Nobody has corrected the entities of collection {fabula.name!r}.")
    else:
        print_table(_table(known, titles, effects))


SUBCOMMANDS: Sequence[click.Command] = (rename, merge, split, undo, decisions)


def describe(decision: Decision) -> str:
    """Return a decision in words."""
    rules = graph(decision.graph).decisions
    assert rules is not None
    return rules.words(decision)


def describe_corrections(
    known: Sequence[Decision], document: str, names: Sequence[str]
) -> Iterator[str]:
    """Yield a line on each correction in force that concerns some names of a document."""
    called = {name.casefold() for name in names}
    for decision in known:
        is_about = document in (decision.document, *decision.documents) or not decision.document
        if (
            decision.graph == ENTITIES
            and decision.is_in_force
            and is_about
            and any(name.casefold() in called for name in decision.names)
        ):
            yield (
                f"  corrected by {decision.by}, {local_time(decision.at)}: "
                f"{describe(decision)} (`fabula entities undo {decision.number}` takes it back)"
            )


def _decide(
    settings: Settings, kind: str, names: Sequence[str], document: str, later: bool
) -> None:
    def decide(fabula: Collection) -> Decision:
        return fabula.decide(ENTITIES, kind, *names, document=document)

    _carry_out(settings, decide, later)


def _carry_out(settings: Settings, decide: Callable[[Collection], Decision], later: bool) -> None:
    """Keep or undo a decision, and build again what it makes stale."""
    with open_for_reading(settings) as fabula:
        decision = decide(fabula)
        done = "is kept" if decision.is_in_force else f"is undone by {decision.undone_by}"
        echo(f"Decision {decision.number} {done}: {describe(decision)}.")
        by_decision, by_more = fabula.find_outdated(decision)
        for entry in by_more:
            echo(
                f"{entry.title} was built with other settings, so a model may have to read it "
                f"again: `fabula build {ENTITIES} {entry.id}` does that, and follows the decision."
            )
        if not decision.documents and decision.is_in_force:
            does = "keeps" if decision.kind == SPLIT else "joins"
            apart = " apart" if decision.kind == SPLIT else ""
            echo(
                f"No document has all of these names: `fabula build identities` {does} the "
                f"entities of different documents{apart}."
            )
        if not by_decision:
            return
        if later:
            count = count_noun(len(by_decision), "document")
            echo(f"{count} will follow it when `fabula build {ENTITIES}` builds the graph again.")
            return
        make_graphs(
            settings,
            lambda collection, listener: collection.follow(decision, listener=listener),
            opener=lambda _: nullcontext(fabula),
        )
        for line in _without_effect(fabula, decision):
            echo(line)


def _without_effect(fabula: Collection, decision: Decision) -> Iterator[str]:
    """Yield a line on each decision that has no effect in a document that this one concerns."""
    effects = fabula.effects()
    titles = {entry.title for entry in fabula.store.find_same(fabula.name, decision.documents)}
    for other in fabula.decisions():
        for title, effect in effects.get(other.number, {}).items():
            if other.is_in_force and title in titles and effect not in ("applied", "already so"):
                yield (
                    f"Decision {other.number} ({describe(other)}) has no effect in {title}: "
                    f"{effect}."
                )


def _titles(fabula: Collection, known: Sequence[Decision]) -> Mapping[str, str]:
    ids = sorted({decision.document for decision in known if decision.document})
    return {entry.id: entry.title for entry in fabula.store.find_same(fabula.name, ids)}


def _table(
    known: Sequence[Decision],
    titles: Mapping[str, str],
    effects: Mapping[int, Mapping[str, str]],
) -> Table:
    table = Table(show_edge=False)
    table.add_column("no.", justify="right")
    for heading in ("decision", "where", "by", "when", "effect"):
        table.add_column(heading)
    for decision in known:
        where = titles.get(decision.document, decision.document) or "the collection"
        if decision.is_in_force:
            became = effects.get(decision.number, {})
            effect = "; ".join(f"{title}: {text}" for title, text in became.items())
        else:
            when = local_time(decision.undone_at)
            effect = f"undone by {decision.undone_by}, {when}"
        table.add_row(
            str(decision.number),
            describe(decision),
            where,
            decision.by,
            local_time(decision.at),
            effect or "not built since",
        )
    return table
