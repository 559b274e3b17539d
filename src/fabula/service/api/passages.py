"""A passage, and what stands above, below and beside it."""

from __future__ import annotations

from fastapi import APIRouter

from fabula.service import around
from fabula.service.access import Reader, Stocked
from fabula.service.around import Direction, NeighbourView, PassageWhole

router = APIRouter(tags=["passages"])


@router.get("/collections/{collection}/passages/{passage}", summary="A passage")
def show_passage(shelf: Stocked, caller: Reader, passage: str) -> PassageWhole:
    """A chunk, a summary, a detail or what else can be cited, and the chunks that it rests on."""
    return around.find_passage(shelf, passage)


@router.get(
    "/collections/{collection}/passages/{passage}/neighbours", summary="What is around a passage"
)
def list_neighbours(
    shelf: Stocked, caller: Reader, passage: str, direction: Direction = "up"
) -> list[NeighbourView]:
    """Up: the summaries above it; down: what a summary rests on, and a chunk's details; beside:
    what comes before and after. With the weight of each tie.
    """
    return around.neighbours(shelf, passage, direction)
