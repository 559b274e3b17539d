"""What every graph is made of: nodes and edges, in parts that are replaced as a whole.

A graph knows no database, and the store knows a graph by these values only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fabula.models.usage import COUNTS, Usage
from fabula.text.document import Vector

TEXT = "text"
"""The graph that all others rest on: documents and the chunks that tile their texts."""
CHUNK = "Chunk"
"""The label of its chunks, on which the nodes of all other graphs rest."""
RESERVED = frozenset(
    {"id", "name", "collection", "graph", "document", "fingerprint", "made_from", "usage"}
    | {"updated_at", "gaps", *COUNTS}
)
"""What the node that stands for a part has beside its facts."""
GAP, LACKS = "Gap", "LACKS"
"""The label of what stands for a gap, and the type of the edges to what it would rest on."""
REPLIES = "Replies"
"""The label of what keeps replies of models for the next build, and is shown to no reader."""


class Owner(NamedTuple):
    """What is replaced at once: one graph of one document, or one of a whole collection.

    `document` is an id; '' for what belongs to the collection itself.
    """

    collection: str
    graph: str
    document: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A node. Its label is out of its graph's closed list, and so are its edges' types.

    `sources` are ids of the chunks that it rests on: none is without. `embedding` is a unit vector
    of the collection's space, which every passage has, and an element may have. It is of the
    property `text`, or of `embedded_text` where there is one, and is made of that again when the
    collection is given another model. The store adds `id`, `document`, `collection`, `kind` and,
    where there is none, `name` to the properties. One of a collection's own part has in `of` the
    ids of the documents' parts that it tells of (`COLLECTION/GRAPH/DOCUMENT`), and goes with each.
    """

    id: str
    label: str
    properties: Mapping[str, Any]
    sources: tuple[str, ...]
    embedding: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed edge between two nodes, by their ids; the end may be in another part."""

    type: str
    start: str
    end: str
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gap:
    """A piece of a graph that no model gave or a rule failed on; all else of the graph is there.

    `step` is that of the build which asked for it, and `why` what went wrong, in a sentence.
    `sources` are ids of the chunks that it is about. `rests_on` are the ids of the nodes, chunks
    or the graph's own, that it would rest on, each with its weight. `properties` are what its graph
    has to know to ask for it again; the core adds `section`, `start` and `end`.
    """

    step: str
    why: str
    sources: tuple[str, ...]
    rests_on: Mapping[str, float]
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """What a part was made from and what that cost, as the graph keeps it beside the part.

    `made_from` is all that the part depends on, as JSON holds it: the text, settings, models,
    prompts, the method's version, and what it rests on. `facts` are what the graph itself tells of
    the part: lists, numbers and texts. `gaps` is how many pieces of it no model gave. `updated_at`
    is when the store took it in.
    """

    made_from: Mapping[str, Any]
    usage: Mapping[str, Usage] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    gaps: int = 0
    updated_at: str = ""

    @property
    def fingerprint(self) -> str:
        """16 hex digits; the same for all that is made from the same."""
        return fingerprint(self.made_from)


@dataclass(frozen=True, slots=True)
class Part:
    """All that one owner holds, or a piece of it.

    A piece has some of the nodes and edges of a part that is still being made, exactly as the whole
    part will have them, and no record. `is_whole` is False for it.

    `elements` are labels of nodes that are elements though they have an embedding. `growing` are
    labels of elements that are known from the first chunk on that they rest on (`Graph.growing`),
    and `inherits` types of edges along which a node also rests on what the other one rests on.
    """

    owner: Owner
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    record: Record
    elements: frozenset[str] = field(default=frozenset(), compare=False)
    growing: frozenset[str] = field(default=frozenset(), compare=False)
    inherits: frozenset[str] = field(default=frozenset(), compare=False)
    is_whole: bool = field(default=True, compare=False)

    def is_passage(self, node: Node) -> bool:
        """Return whether this node of the part is found by the core's own modes."""
        return node.embedding is not None and node.label not in self.elements


def fingerprint(made_from: Mapping[str, Any]) -> str:
    """Return 16 hex digits of what a part is made from."""
    written = json.dumps(made_from, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def differences(was: Mapping[str, Any], now: Mapping[str, Any], within: str = "") -> list[str]:
    """Return the names of what differs in two recipes, such as ['settings.levels', 'prompts']."""
    names: list[str] = []
    for name in sorted({*was, *now}):
        before, after = was.get(name), now.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            names += differences(before, after, f"{within}{name}.")
        elif before != after:
            names.append(f"{within}{name}")
    return names
