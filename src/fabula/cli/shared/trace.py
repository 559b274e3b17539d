"""Show the trace of a retrieval as a tree."""

from __future__ import annotations

from rich.text import Text
from rich.tree import Tree

from fabula.cli.shared.tables import console
from fabula.graph.hits import Hit, describe_place
from fabula.graph.trace import Trace, TraceStep

MAX_HITS = 10
"""How many hits of a step the tree shows; JSON has all."""


def print_trace(trace: Trace) -> None:
    """Print each step with its time and its hits; hits that went on have a tick."""
    tree = Tree(Text("question"))
    for step in trace.root.steps:
        _add_step(tree, step)
    console().print(tree)


def _add_step(tree: Tree, step: TraceStep) -> None:
    text = f"{step.name}: {step.note}" if step.note else step.name
    if step.hits:
        text += f" · {len(step.passed_on)} of {len(step.hits)} kept"
    branch = tree.add(Text(f"{text} · {1000 * step.seconds:.1f} ms"))
    for inner in step.steps:
        _add_step(branch, inner)
    for hit in step.hits[:MAX_HITS]:
        branch.add(_format_hit(hit, hit.id in step.passed_on))
    if len(step.hits) > MAX_HITS:
        branch.add(Text(f"and {len(step.hits) - MAX_HITS} more", style="dim"))


def _format_hit(hit: Hit, is_kept: bool) -> Text:
    mark = "✓" if is_kept else "✗"
    return Text(f"{mark} {hit.score:.3f} {describe_place(hit)}", style="" if is_kept else "dim")
