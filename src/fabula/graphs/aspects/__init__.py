"""The aspect graph: a tree of summaries for each narrative aspect of a book, and details.

An extension of RAPTOR (Sarthi et al. 2024, arXiv 2401.18059), whose one tree of general summaries
becomes a tree for each aspect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula.graphs.aspects import labels, prompts
from fabula.graphs.aspects.modes import MODES
from fabula.graphs.aspects.options import CHAT_ONLY, Options


def _settings(options: Options, offline: bool) -> Mapping[str, Any]:
    """Return the options that the result depends on, with the aspect set written out.

    So another set in a file of the same name is seen as a change.
    """
    from fabula.graphs.aspects.sets import read_aspects

    aspects = {
        aspect.name: [aspect.description, aspect.focus] for aspect in read_aspects(options.set)
    }
    left_out = set(CHAT_ONLY) if offline else None
    return options.model_dump(mode="json", exclude=left_out) | {"set": aspects}


def _aspects(options: Options) -> Mapping[str, str]:
    from fabula.graphs.aspects.sets import read_aspects

    return {aspect.name: aspect.description for aspect in read_aspects(options.set)}


def _describe(facts: Mapping[str, Any]) -> Sequence[str]:
    if not facts.get("assigned"):
        return ()
    names = ", ".join(facts["assigned"])
    return (f"found in no cluster, so assigned to the nearest one: {names}",)


GRAPH = Graph(
    name="aspects",
    about="a tree of summaries for each narrative aspect, and details",
    version=1,
    options=Options,
    build=LazyFunction(f"{__name__}.build:build"),
    passages=(labels.SUMMARY, labels.DETAIL),
    edges=(labels.SUMMARIZES, labels.DETAILS),
    modes=MODES,
    prompts=prompts.FOLDER,
    cypher=FOLDER / "aspects",
    settings=_settings,
    describe=_describe,
    aspects=_aspects,
)
