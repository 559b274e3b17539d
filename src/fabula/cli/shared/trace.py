"""The path of a retrieval as a tree on the screen, and as JSON."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from rich.tree import Tree

from fabula.cli.shared.screen import console
from fabula.graph.hits import Hit, place
from fabula.graph.path import Path, Step

SHOWN = 10
"""Hits of one step on the screen; JSON has them all."""


def print_path(path: Path) -> None:
    """Each step with its milliseconds and what it found, what went on ticked."""
    tree = Tree(Text("question"))
    for step in path.root.steps:
        _grow(tree, step)
    console().print(tree)


def path_json(path: Path) -> list[dict[str, Any]]:
    """The steps of a path, each with those inside it."""
    return [_step_json(step) for step in path.root.steps]


def _grow(tree: Tree, step: Step) -> None:
    said = f"{step.name}: {step.note}" if step.note else step.name
    if step.hits:
        said += f" · {len(step.kept)} of {len(step.hits)} kept"
    branch = tree.add(Text(f"{said} · {1000 * step.seconds:.1f} ms"))
    for inner in step.steps:
        _grow(branch, inner)
    for hit in step.hits[:SHOWN]:
        branch.add(_line(hit, hit.id in step.kept))
    if len(step.hits) > SHOWN:
        branch.add(Text(f"and {len(step.hits) - SHOWN} more", style="dim"))


def _line(hit: Hit, is_kept: bool) -> Text:
    mark = "✓" if is_kept else "✗"
    return Text(f"{mark} {hit.score:.3f} {place(hit)}", style="" if is_kept else "dim")


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "step": step.name,
        "note": step.note,
        "seconds": round(step.seconds, 6),
        "hits": [
            {"id": hit.id, "score": hit.score, "kept": hit.id in step.kept} for hit in step.hits
        ],
        "steps": [_step_json(inner) for inner in step.steps],
    }
