"""Identities: who is whom across the documents of a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.graph.method import Graph, Lazy
from fabula.graph.queries import FOLDER
from fabula.graphs.identities import border, prompts
from fabula.graphs.identities.knobs import Knobs


def _tell(facts: Mapping[str, Any]) -> Sequence[str]:
    found, apart = facts["identities"], facts["told_apart"]
    told = f"{found:,} in several of {facts['documents']:,} documents"
    return [told, *([f"{apart:,} pairs told apart"] if apart else [])]


GRAPH = Graph(
    name="identities",
    about="who is whom across the documents of a collection",
    version=2,
    knobs=Knobs,
    settle=Lazy(f"{__name__}.settle:settle"),
    unasked=frozenset({"keep_apart", "join"}),
    elements=(border.IDENTITY,),
    edges=(border.SAME, border.APART),
    rests_on=(border.ENTITIES,),
    prompts=prompts.FOLDER,
    cypher=FOLDER / "identities",
    tell=_tell,
)
