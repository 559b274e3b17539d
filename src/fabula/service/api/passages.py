"""A passage, and what stands above, below and beside it."""

from __future__ import annotations

from fastapi import APIRouter

from fabula.service.core import passages
from fabula.service.core.passages import Direction, NeighbourView, PassageWhole
from fabula.service.http.dependencies import Reader, Stocked

router = APIRouter(tags=["passages"])


@router.get("/collections/{collection}/passages/{passage}", summary="A passage")
def show_passage(shelf: Stocked, caller: Reader, passage: str) -> PassageWhole:
    """A chunk, a summary, a detail or what else can be cited, and the chunks that it rests on."""
    return passages.find_passage(shelf, passage)


@router.get(
    "/collections/{collection}/passages/{passage}/neighbours", summary="What is around a passage"
)
def list_neighbours(
    shelf: Stocked, caller: Reader, passage: str, direction: Direction = "up"
) -> list[NeighbourView]:
    """Up: the summaries above it; down: what a summary rests on, and a chunk's details; beside:
    what comes before and after. With the weight of each tie.
    """
    return passages.neighbours(shelf, passage, direction)
