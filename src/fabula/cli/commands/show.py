"""`fabula show`: show the graphs of a document and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from fabula.cli.commands.list import Stale, entry_json
from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.progress import RETRY_COMMAND
from fabula.cli.shared.screen import describe_usage, echo, local_time, print_json
from fabula.cli.shared.tables import outline_table, print_table
from fabula.config.settings import OFFLINE, Settings
from fabula.graph import TEXT, Gap, Record
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.load.left_out import describe as describe_left_out
from fabula.models.usage import Usage
from fabula.text.nouns import count_noun

Gaps = Mapping[str, Sequence[Gap]]
"""The gaps of a document, by the names of its graphs."""
MAX_GAPS = 5
"""How many gaps of a graph are listed; --json has all."""


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

    For each of its graphs it shows the models and settings, the cost, the gaps, and what would
    differ with the present settings.
    """
    with open_for_reading(settings) as fabula:
        entry = fabula.document(document)
        layers = fabula.layers(entry.id)
        stale = fabula.stale(entry)
        gaps = fabula.gaps(entry.id)
    if as_json:
        details = {"layers": [asdict(layer) for layer in layers]}
        details["gaps"] = [
            {"graph": name, **asdict(gap)} for name, part in gaps.items() for gap in part
        ]
        print_json(entry_json(entry, stale) | details)
        return
    print_table(outline_table(entry, layers))
    echo(describe_document(entry, stale, gaps))


def describe_document(entry: Entry, stale: Stale, gaps: Gaps) -> str:
    """Return lines on a document: its source, and how each of its graphs was built."""
    lines = [
        "",
        f"id {entry.id}, collection {entry.collection}, language {entry.language or 'unknown'}",
        f"author {entry.author or 'unknown'}, from {entry.source}",
        f"{entry.tokens:,} tokens of text; updated {local_time(entry.updated_at)}",
        *([f"left out of its file: {describe_left_out(entry.left_out)}"] if entry.left_out else []),
        *(f"warning: {warning}" for warning in entry.warnings),
        f"cost: {_cost(entry.usage)}",
    ]
    for name in sorted(entry.graphs, key=lambda name: (name != TEXT, name)):
        lines += ["", *_describe_graph(name, entry.graphs[name], stale.get(name, []))]
        lines += _describe_gaps(gaps.get(name, ()))
    return "\n".join(lines)


def _describe_graph(name: str, record: Record, differences: list[str]) -> Iterator[str]:
    made_from = record.made_from
    models = _describe_models(made_from.get("models", {}))
    yield f"{name}{' (stale)' if differences else ''}: {models}"
    if settings := made_from.get("settings", {}):
        yield f"  made with {', '.join(f'{key} {_value(settings[key])}' for key in settings)}"
    yield f"  cost: {_cost(record.usage)}"
    yield from (f"    {step}: {describe_usage(usage)}" for step, usage in record.usage.items())
    if name in graphs() and record.facts:
        yield from (f"  {line}" for line in graphs()[name].describe(record.facts))
    if differences:
        yield f"  what differs now: {', '.join(differences)}"


def _describe_gaps(gaps: Sequence[Gap]) -> Iterator[str]:
    """Yield lines on the first gaps: what is missing, where, and why."""
    if gaps:
        yield f"  {count_noun(len(gaps), 'gap')}, asked for again by {RETRY_COMMAND}:"
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


def _cost(steps: Mapping[str, Usage]) -> str:
    return describe_usage(sum(steps.values(), Usage()))
