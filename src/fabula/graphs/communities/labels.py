"""The labels and edge types of communities, and of the entities that they are made from."""

from __future__ import annotations

from dataclasses import dataclass

ENTITIES, ENTITY, RELATION = "entities", "Entity", "Relation"
COMMUNITY, REPORT, CLAIM = "Community", "Report", "Claim"
HAS_MEMBER, PARENT_COMMUNITY = "HAS_MEMBER", "PARENT_COMMUNITY"
REPORTS, CITES = "REPORTS", "CITES"
FROM_CHUNK, SUBJECT, OBJECT = "FROM_CHUNK", "SUBJECT", "OBJECT"
CLAIMS = "claims"
"""The step that asks a model for claims; gaps carry this name."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The node labels that a graph uses for its communities and reports."""

    community: str = COMMUNITY
    report: str = REPORT
