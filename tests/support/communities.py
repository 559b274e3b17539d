"""Entities and replies about their communities, for the tests of the graph of communities."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from building import finish
from fabula.graph import Node, Part
from fabula.graph.method import BuildWork, Built, Known
from fabula.graph.parts import known_of, part_of
from fabula.graphs.communities import GRAPH
from fabula.graphs.communities.build import build
from fabula.graphs.communities.options import Options
from fabula.graphs.entities import GRAPH as ENTITIES
from fabula.text.document import Chunk
from scripted import Models, Says, entity, made_chunks, relation, script, told
from scripted import built as built_entities
from stories import HOUSE, MILL

TEXTS = (
    *(
        f"{one} spoke with {other} in the house. "
        for one in HOUSE
        for other in HOUSE
        if one < other
    ),
    *(f"{one} worked with {other} at the mill. " for one in MILL for other in MILL if one < other),
    "Anna met Ulrich on the road. ",
)
"""Two groups of four, everybody in each with everybody, and one who knows one of the other."""
CHUNKS = made_chunks(*TEXTS)


def entities(chunks: Sequence[Chunk] = CHUNKS, **told_of: str) -> Part:
    """The entities of chunks of which each has a sentence about two people, as a model says them.

    `told_of` is what is said of somebody instead of the usual.
    """
    said = {}
    for chunk in chunks:
        names = re.findall(r"\b[A-Z]\w+", chunk.text)
        listed = [entity(name, 1, **about(name, told_of)) for name in names]
        ties = [relation(*names, 1, strength=5)] if len(names) > 1 else []
        said[chunk.text.strip()] = {"entities": listed, "relations": ties}
    made, _ = built_entities(chunks, Models(script(said)), window_tokens=100, gleanings=0)
    return part_of(ENTITIES, told(chunks), made, {}, {})


def about(name: str, told_of: Mapping[str, str]) -> dict[str, str]:
    return {"description": told_of[name]} if name in told_of else {}


def report(user: str, **other: Any) -> dict[str, Any]:
    """A report on all lines of a prompt, as a model writes it."""
    numbers = [int(one) for one in re.findall(r"(?m)^\[(\d+)\]", user)]
    names = list(dict.fromkeys(re.findall(r"(?m)^\[\d+\] (\w+) \(", user))) or ["Groups"]
    return {
        "title": " and ".join(names[:2]),
        "summary": f"{names[0]} is among {len(numbers)} lines.",
        "findings": [{"summary": "They know each other.", "explanation": "", "refs": numbers}],
        "importance": 6,
        "why": "they are many",
        **other,
    }


def writes(say: Callable[[str], Any] = report) -> Says:
    """A chat that writes what `say` makes of each prompt, as JSON, and claims nothing."""

    def reply(user: str) -> str:
        return json.dumps({"claims": []} if "Which claims" in user else say(user))

    return Says(reply)


def built(
    models: Models,
    chunks: Sequence[Chunk] = CHUNKS,
    below: Part | None = None,
    known: Known | None = None,
    **knobs: Any,
) -> Built:
    """What a build makes of chunks and their entities, with a worker for each call."""
    text = replace(told(chunks), below={"entities": below or entities(chunks)})
    work = BuildWork()
    return finish(build(text, Options(**knobs), models, known or Known(), work), models, work)


def known_from(made: Built, chunks: Sequence[Chunk] = CHUNKS) -> Known:
    """What the next build of the same document knows."""
    return known_of(part_of(GRAPH, told(chunks), made, {}, {}), tuple(chunks), {})


def labelled(made: Built, label: str) -> list[Node]:
    return [node for node in made.nodes if node.label == label]
