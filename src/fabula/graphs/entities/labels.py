"""The labels and edge types of the entity graph."""

from __future__ import annotations

ENTITY, RELATION, TRIPLE = "Entity", "Relation", "Triple"
FROM_CHUNK, SOURCE, TARGET = "FROM_CHUNK", "SOURCE", "TARGET"
SUBJECT, OBJECT, RELATES_TO = "SUBJECT", "OBJECT", "RELATES_TO"
