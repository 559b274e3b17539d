"""A passage, and the passages above, below and beside it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from fabula.app.collection import Collection
from fabula.service.core import passages
from fabula.service.core.passages import Direction, NeighbourView, PassageWhole
from fabula.service.http.dependencies import FilledCollection, Reader
from fabula.service.http.parameters import ReadUntil
from fabula.service.http.route_rules import declare

router = APIRouter(tags=["passages"])


def _as_read(collection: FilledCollection, passage: str, until: ReadUntil = "") -> Collection:
    return passages.as_read(collection, passage, until)


ReadPassage = Annotated[Collection, Depends(_as_read)]
"""The collection, as read up to a place of the document that the passage of the path is of."""


@router.get("/collections/{collection}/passages/{passage}", summary="A passage")
@declare(is_public=True)
def show_passage(collection: ReadPassage, caller: Reader, passage: str) -> PassageWhole:
    """Return a chunk, a summary, a detail or another passage, and the chunks it is based on. One
    that rests on text after `until` is not found.
    """
    return passages.find_passage(collection, passage)


@router.get(
    "/collections/{collection}/passages/{passage}/neighbours",
    summary="The passages around a passage",
)
@declare(is_public=True)
def list_neighbours(
    collection: ReadPassage,
    caller: Reader,
    passage: str,
    direction: Direction = "up",
) -> list[NeighbourView]:
    """Return the passages around a passage, with their weights.

    `up` are the summaries above it; `down` are the members of a summary and the details of a chunk;
    `beside` are the passages before and after it.
    """
    return passages.neighbours(collection, passage, direction)
