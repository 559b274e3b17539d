"""The labels and edge types of communities, and of the entities that they are made from."""

from __future__ import annotations

from dataclasses import dataclass

ENTITIES, ENTITY, RELATION = "entities", "Entity", "Relation"
COMMUNITY, REPORT = "Community", "Report"
HAS_MEMBER, PARENT_COMMUNITY = "HAS_MEMBER", "PARENT_COMMUNITY"
REPORTS, CITES = "REPORTS", "CITES"


@dataclass(frozen=True, slots=True)
class Labels:
    """The node labels that a graph uses for its communities and reports."""

    community: str = COMMUNITY
    report: str = REPORT
