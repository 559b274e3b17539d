"""The labels and edge types of identities."""

from __future__ import annotations

ENTITIES, ENTITY = "entities", "Entity"
IDENTITY, SAME, APART = "Identity", "SAME", "APART"
