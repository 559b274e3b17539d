"""The page of the graph's schema: a diagram for each graph, from what each graph declares.

What Neo4j's own `db.schema.visualization()` draws is one picture of all labels, in which each node
is there several times (as Passage, PassageText, Passage256 and Chunk).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from docs_site.text import cell, code, join_page
from fabula.graph import CHUNK, GAP, LACKS
from fabula.graph.installed import graphs
from fabula.graph.method import Graph

CORE = (
    (CHUNK, "FROM_DOCUMENT", "Document"),
    ("Document", "FIRST_CHUNK", CHUNK),
    (CHUNK, "NEXT_CHUNK", CHUNK),
    ("Part", "PART_OF", "Document"),
    (GAP, LACKS, "Passage or Element"),
)
"""What the core writes itself (cypher/core/), whatever graphs there are."""
INTRODUCTION = """\
# Schema of each graph

One diagram for each graph: its nodes by their labels, and what its edges connect. Nodes with a
double border are passages, which every mode finds; nodes with a dashed border belong to another
graph. The sign ↻ marks edges between two nodes of that label. [The graph in Neo4j](../graph.md)
describes every property and index.

`fabula show` lists the graphs of a document. In Neo4j Browser the same is a query, for any graph:

```cypher
MATCH (from {graph: 'entities'})-[edge]->(to)
RETURN DISTINCT [label IN labels(from) WHERE NOT label =~ '(Passage|Element).*'] AS from,
  type(edge) AS edge, [label IN labels(to) WHERE NOT label =~ '(Passage|Element).*'] AS to
ORDER BY from, edge, to
```
"""
CORE_ABOUT = """\
Every document has these, whatever graphs are built. A `Part` stands for one graph of one document,
and records what it was made from and what it cost. A `Gap` stands for a piece that no model
provided; `Replies` keep what models replied. `Collection`, `Decision`, `Replies`, `Schema` and
`Lock` have no edges.
"""


def make_pages() -> dict[str, str]:
    """Return the page."""
    owners = {
        label: name
        for name, graph in graphs().items()
        for label in (*graph.passages, *graph.elements)
    }
    parts = [INTRODUCTION, "## text", CORE_ABOUT, draw_edges(CORE, (CHUNK,), ())]
    for name, graph in graphs().items():
        parts.append(_section(name, graph, owners))
    return {"reference/schema.md": join_page(*parts)}


def _section(name: str, graph: Graph[Any], owners: Mapping[str, str]) -> str:
    own = (*graph.passages, *graph.elements)
    foreign = [
        label
        for label in dict.fromkeys(end for edge in graph.connects for end in (edge[0], edge[2]))
        if label not in own
    ]
    below = []
    for label in foreign:
        owner = "the text" if label == CHUNK else f"[`{owners[label]}`](#{owners[label]})"
        below.append(f"`{label}` is of {owner}")
    facts = [
        ("Belongs to", "each collection" if graph.build_collection else "each document"),
        ("Rests on", ", ".join(code(other) for other in graph.rests_on)),
        ("Uses, where it is built", ", ".join(code(other) for other in graph.uses)),
        ("Passages", ", ".join(code(label) for label in graph.passages)),
        ("Elements", ", ".join(code(label) for label in graph.elements)),
        ("Modes", ", ".join(code(mode) for mode in graph.modes)),
        ("Nodes of other graphs", "; ".join(below)),
    ]
    return join_page(
        f"## {name}",
        f"{cell(graph.about[:1].upper() + graph.about[1:])}.",
        draw_edges(graph.connects, graph.passages, foreign),
        "\n".join(f"- {name}: {what}" for name, what in facts if what),
    )


def draw_edges(
    edges: Iterable[tuple[str, str, str]], passages: Sequence[str], foreign: Sequence[str]
) -> str:
    """Return a diagram in Mermaid: one arrow for all types between the same two labels."""
    arrows: dict[tuple[str, str], list[str]] = {}
    # An arrow from a node to itself lies on its neighbour's words: it stands in the node instead.
    loops: dict[str, list[str]] = {}
    labels: dict[str, None] = {}
    for start, type, end in edges:
        labels |= {start: None, end: None}
        if start == end:
            loops.setdefault(start, []).append(type)
        else:
            arrows.setdefault((start, end), []).append(type)
    lines = ["flowchart LR"]
    for label in labels:
        name = label.replace(" ", "_")
        left, right = ("[[", "]]") if label in passages else ("(", ")")
        words = "<br>".join([label, *(f"↻ {type}" for type in loops.get(label, ()))])
        lines.append(f'  {name}{left}"{words}"{right}{":::foreign" if label in foreign else ""}')
    for (start, end), types in arrows.items():
        words = "<br>".join(types)
        lines.append(f'  {start.replace(" ", "_")} -- "{words}" --> {end.replace(" ", "_")}')
    lines.append("  classDef foreign stroke-dasharray:4 3")
    return "```mermaid\n" + "\n".join(lines) + "\n```"
