"""A document's passages as the graph has them, without their embeddings."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fabula.graphs.aspects.values import Detail, Earlier, Member, Summary
from fabula.model import Chunk, Entry
from fabula.store import Store
from fabula.store.export import Exported, Node


def read(store: Store, entry: Entry) -> Earlier:
    """All passages of a document. Raises StoreError where it is replaced meanwhile."""
    exported = Exported(store, [entry])
    nodes = list(exported.nodes())
    members: dict[str, list[Member]] = defaultdict(list)
    chunks: dict[str, str] = {}
    for one in exported.relationships():
        if one.label == "SUMMARIZES":
            members[one.start].append(Member(one.end, one.properties["weight"]))
        elif one.label == "DETAILS":
            chunks[one.start] = one.end
    return Earlier(
        chunks=tuple(
            Chunk(**_place(node), index=node.properties["index"]) for node in _of(nodes, "chunk")
        ),
        summaries=tuple(
            Summary(
                **_place(node),
                aspect=node.properties["aspect"],
                level=node.properties["level"],
                members=tuple(members[node.id]),
            )
            for node in _of(nodes, "summary")
        ),
        details=tuple(
            Detail(**_place(node), chunk=chunks[node.id], ordinal=node.properties["ordinal"])
            for node in _of(nodes, "detail")
            if node.id in chunks
        ),
    )


def _of(nodes: list[Node], kind: str) -> list[Node]:
    return [node for node in nodes if node.properties.get("kind") == kind]


def _place(node: Node) -> dict[str, Any]:
    shared = ("section", "start", "end", "text", "tokens")
    return {name: node.properties[name] for name in shared} | {"id": node.id}
