"""Identities: which entities of the documents of a collection are one and the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabula.graph.method import Graph, LazyFunction
from fabula.graph.queries import FOLDER
from fabula_graphs.identities import labels
from fabula_graphs.identities.options import Options

PROMPTS = Path(__file__).parent / "prompts"


def _describe(facts: Mapping[str, Any]) -> Sequence[str]:
    lines = [f"{facts['identities']:,} in several of {facts['documents']:,} documents"]
    if told_apart := facts["told_apart"]:
        lines.append(f"{told_apart:,} pairs told apart")
    return lines


GRAPH = Graph(
    name="identities",
    title="Who is whom in several books",
    about="who is whom across the documents of a collection",
    version=3,
    options=Options,
    build_collection=LazyFunction(f"{__name__}.build:build_collection"),
    not_in_prompts=frozenset({"keep_apart", "join"}),
    elements=(labels.IDENTITY,),
    edges=(labels.SAME, labels.APART),
    connects=(
        (labels.IDENTITY, labels.SAME, labels.ENTITY),
        (labels.IDENTITY, labels.APART, labels.IDENTITY),
    ),
    rests_on=(labels.ENTITIES,),
    follows=labels.ENTITIES,
    prompts=PROMPTS,
    cypher=FOLDER / "fabula_graphs/identities",
    describe=_describe,
    find_others=LazyFunction(f"{__name__}.others:find_others"),
)
