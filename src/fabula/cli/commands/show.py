"""`fabula show`: one document's graphs, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from fabula.cli.commands.list import Stale, entry_json
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.progress import RETRY
from fabula.cli.shared.screen import counted, echo, outline, print_json, print_table, spent
from fabula.config.settings import OFFLINE, Settings
from fabula.graph import TEXT, Gap, Record
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.models.usage import Usage

Gaps = Mapping[str, Sequence[Gap]]
"""What no model gave of a document, by the names of its graphs."""
MOST_GAPS = 5
"""Gaps of a graph that are told one by one; --json has all."""


@click.command(
    "show",
    cls=Command,
    examples=('show "A Christmas Carol"',),
)
@click.argument("document")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@settings_flags(*GRAPH)
def command(document: str, as_json: bool, settings: Settings) -> None:
    """Show DOCUMENT (its id, title or file): passages by aspect and level, and its cost.

    And for each of its graphs what that was made from, what it cost, what the model did not give of
    it, and what would be otherwise with the settings in force.
    """
    with meant(settings) as fabula:
        entry = fabula.document(document)
        layers = fabula.layers(entry.id)
        stale = fabula.stale(entry)
        gaps = fabula.gaps(entry.id)
    if as_json:
        told = {"layers": [asdict(layer) for layer in layers]}
        told["gaps"] = [
            {"graph": name, **asdict(gap)} for name, found in gaps.items() for gap in found
        ]
        print_json(entry_json(entry, stale) | told)
        return
    print_table(outline(entry, layers))
    echo(facts(entry, stale, gaps))


def facts(entry: Entry, stale: Stale, gaps: Gaps) -> str:
    """Where a document is from, and how each of its graphs was made, and what it lacks."""
    lines = [
        "",
        f"id {entry.id}, collection {entry.collection}, language {entry.language or 'unknown'}",
        f"author {entry.author or 'unknown'}, from {entry.source}",
        f"{entry.tokens:,} tokens of text; updated {entry.updated_at[:16].replace('T', ' ')}",
        f"cost: {_cost(entry.usage)}",
    ]
    for name in sorted(entry.graphs, key=lambda name: (name != TEXT, name)):
        lines += ["", *_graph(name, entry.graphs[name], stale.get(name, []))]
        lines += _lacking(gaps.get(name, ()))
    return "\n".join(lines)


def _graph(name: str, record: Record, differing: list[str]) -> Iterator[str]:
    made_from = record.made_from
    yield f"{name}{' (stale)' if differing else ''}: {_makers(made_from.get('models', {}))}"
    if settings := made_from.get("settings", {}):
        yield f"  made with {', '.join(f'{one} {_value(settings[one])}' for one in settings)}"
    yield f"  cost: {_cost(record.usage)}"
    yield from (f"    {step}: {spent(usage)}" for step, usage in record.usage.items())
    if name in graphs():
        yield from (f"  {told}" for told in graphs()[name].tell(record.facts))
    if differing:
        yield f"  what differs now: {', '.join(differing)}"


def _lacking(gaps: Sequence[Gap]) -> Iterator[str]:
    """The first gaps, each with what it is, where, and why."""
    if gaps:
        yield f"  {counted(len(gaps), 'gap')}, asked for again by {RETRY}:"
    for gap in gaps[:MOST_GAPS]:
        aspect, level = gap.properties.get("aspect"), gap.properties.get("level")
        what = f"{gap.step} ({aspect}, level {level})" if aspect else gap.step
        start, end = gap.properties["start"], gap.properties["end"]
        section = gap.properties.get("section")
        place = [*([section] if section else []), f"characters {start}-{end}"]
        yield f"    {what} · {' · '.join(place)}: {gap.why}"
    if len(gaps) > MOST_GAPS:
        yield f"    and {len(gaps) - MOST_GAPS:,} more"


def _makers(models: Mapping[str, Any]) -> str:
    """The models of a graph in words."""
    said = [f"embedded by {models['embedding_model']}"] if "embedding_model" in models else []
    if writer := models.get("model"):
        said.insert(0, f"written by {'extraction, offline' if writer == OFFLINE else writer}")
    if (judge := models.get("aspect_model")) and judge != models.get("model"):
        said.append(f"aspects found by {judge}")
    return ", ".join(said)


def _value(value: Any) -> str:
    """A setting's value; of what is written out, the names alone."""
    if isinstance(value, Mapping | list):
        return f"({', '.join(map(str, value))})"
    return "" if value is None else str(value)


def _cost(steps: Mapping[str, Usage]) -> str:
    return spent(sum(steps.values(), Usage()))
