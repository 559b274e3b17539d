"""What the graphs that can be measured find in one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.config.model_factory import ModelFactory
from fabula.graph import TEXT
from fabula.graph.findings import Findings
from fabula.graph.installed import graphs
from fabula.graph.method import BuildText, Graph
from fabula.graph.recipes import with_bases
from fabula.models.counted import Meter
from fabula.models.usage import Usage
from fabula.text.document import Document
from fabula_bench.building import build_parts, text_chunks


def measured_graphs(*, offline: bool = False) -> list[Graph[Any]]:
    """Return the graphs that declare how they are measured, and all that they rest on.

    Those that need a chat model are left out where there is none (`offline`).
    """
    installed = {
        name: graph for name, graph in graphs().items() if not (offline and graph.needs_model)
    }
    return with_bases(installed, [name for name, graph in installed.items() if graph.find])


def find_in(document: Document, models: ModelFactory) -> tuple[Findings, Mapping[str, Usage]]:
    """Build the measured graphs of a document, and return what they found and what that cost."""
    used = measured_graphs(offline=models.offline)
    meter = Meter()
    parts = build_parts(document, used, models, meter)
    chunks = text_chunks(parts[TEXT])
    found = []
    for graph in used:
        below = {name: parts[name] for name in (*graph.rests_on, *graph.uses) if name in parts}
        if graph.find:
            found.append(graph.find(BuildText(document, chunks, below), parts[graph.name]))
    return merge(found), meter.usage()


def merge(found: Sequence[Findings]) -> Findings:
    """Return the findings of several graphs as one."""
    return Findings(
        tuple(entity for findings in found for entity in findings.entities),
        tuple(pair for findings in found for pair in findings.scenes),
        tuple(quotation for findings in found for quotation in findings.quotations),
        tuple(event for findings in found for event in findings.events),
        any(findings.finds_quotations for findings in found),
        any(findings.finds_events for findings in found),
    )
