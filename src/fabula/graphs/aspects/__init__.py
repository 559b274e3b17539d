"""The aspect graph: a tree of summaries for each narrative aspect of a book, and details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.graph.method import Graph, Lazy
from fabula.graph.queries import FOLDER
from fabula.graphs.aspects import border, prompts
from fabula.graphs.aspects.knobs import CHAT_ONLY, Knobs
from fabula.graphs.aspects.modes import MODES
from fabula.graphs.aspects.sets import read_aspects


def _settings(knobs: Knobs, offline: bool) -> Mapping[str, Any]:
    """The knobs, the aspect set written out: another text under the same name is another set."""
    aspects = {one.name: [one.description, one.focus] for one in read_aspects(knobs.set)}
    left_out = set(CHAT_ONLY) if offline else None
    return knobs.model_dump(mode="json", exclude=left_out) | {"set": aspects}


def _tell(facts: Mapping[str, Any]) -> Sequence[str]:
    if not facts.get("assigned"):
        return ()
    names = ", ".join(facts["assigned"])
    return (f"found in no cluster, so given to the nearest: {names}",)


GRAPH = Graph(
    name="aspects",
    about="a tree of summaries for each narrative aspect, and details",
    version=1,
    knobs=Knobs,
    build=Lazy(f"{__name__}.build:build"),
    passages=(border.SUMMARY, border.DETAIL),
    edges=(border.SUMMARIZES, border.DETAILS),
    modes=MODES,
    prompts=prompts.FOLDER,
    cypher=FOLDER / "aspects",
    settings=_settings,
    tell=_tell,
)
