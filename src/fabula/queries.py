"""Cypher by name: every statement Fabula sends is a file of `cypher/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_INSTALLED = Path(__file__).parent / "cypher"
_CHECKOUT = Path(__file__).parents[2] / "cypher"
FOLDER = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
SCHEMA = (
    "schema_document_id",
    "schema_chunk_id",
    "schema_summary_id",
    "schema_detail_id",
    "schema_staged_id",
    "schema_embedding_space_id",
    "schema_chunk_document",
    "schema_summary_document",
    "schema_detail_document",
    "schema_passage_texts",
)
"""The statements that need no parameter and that every graph has carried out."""


@cache
def query(name: str) -> str:
    """The statement in `cypher/<name>.cypher`."""
    return (FOLDER / f"{name}.cypher").read_text(encoding="utf-8")
