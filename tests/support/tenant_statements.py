"""Statements that name a collection, and those that need none."""

from __future__ import annotations

from fabula.graph.queries import FOLDER

BEYOND = {
    "core/clear_retired": "sweeps the whole graph",
    "core/clear_staged": "sweeps the whole graph",
    "core/clear_staging": "sweeps the whole graph",
    "core/count_run": "a run's name is its own",
    "core/count_words": "its queries and its locks are those of one collection's token",
    "core/find_constraint_makers": "tells of the server",
    "core/find_indexes": "tells of the server",
    "core/find_runs": "sweeps the whole graph",
    "core/find_schema": "tells of the whole graph",
    "core/find_spaces": "lists the collections",
    "core/find_time": "tells of the server",
    "core/find_turns": "tells of the server",
    "core/find_version": "tells of the server",
    "core/find_written": "lists the collections",
    "core/save_schema": "tells of the whole graph",
    "core/stage_edges": "a run's name is its own",
    "core/stage_nodes": "a run's name is its own",
    "core/stage_passages": "a run's name is its own",
    "core/switch_in": "a run's name is its own",
    "core/take_locks": "takes locks",
    "core/terminate_query": "a query's tag is its own",
}
"""Statements that name no collection, and why that is right; the schema's are all such."""
ROOMS = (
    *("core", "aspects", "collection_communities", "communities", "discourse", "entities"),
    *("episodes", "facts", "identities", "speech"),
)
STATEMENTS = [
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for path in sorted(FOLDER.rglob("*.cypher"))
    if path.parent.name in ROOMS and not path.stem.startswith("schema_")
]
WITHIN = [name for name in STATEMENTS if name not in BEYOND]
