"""Decisions of people about the graphs of a collection: list, make, undo."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from fabula.service.core import decisions
from fabula.service.core.decisions import DecidedView, DecisionView
from fabula.service.core.views import document_of
from fabula.service.http.dependencies import FilledCollection, Reader, State, Writer

router = APIRouter(tags=["decisions"])
Number = Annotated[int, Path(ge=1, le=10**9)]


class NewDecision(BaseModel):
    """What is to be done with which names, such as `rename` with an entity's name and a new one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    graph: str = Field(max_length=200, description="the graph that it is about")
    kind: str = Field(max_length=50, description="what is to be done: rename, merge or split")
    names: list[str] = Field(
        min_length=2,
        max_length=50,
        description="rename: the name and the new one; merge: the name of the entity that stays, "
        "and those of the others; split: the name of the entity, and those that leave it",
    )
    document: str = Field(
        "", max_length=200, description="the id of the only document that it is about"
    )


@router.get("/collections/{collection}/decisions", summary="List decisions")
def list_decisions(collection: FilledCollection, caller: Reader) -> list[DecisionView]:
    """List what people decided about the graphs of a collection, undone decisions included."""
    return decisions.list_decisions(collection)


@router.post("/collections/{collection}/decisions", status_code=201, summary="Decide")
def decide(
    state: State, collection: FilledCollection, caller: Writer, body: NewDecision
) -> DecidedView:
    """Correct a graph: rename, merge or split entities. The decision is kept at once and followed
    by later builds; a job builds the graph again in the documents that it concerns.
    """
    document = document_of(collection, body.document).id if body.document else ""
    return decisions.decide(
        state.jobs,
        state.audit,
        caller,
        collection,
        body.graph,
        body.kind,
        body.names,
        document,
    )


@router.post("/collections/{collection}/decisions/{number}/undo", summary="Undo a decision")
def undo(state: State, collection: FilledCollection, caller: Writer, number: Number) -> DecidedView:
    """Undo a decision. The others stay in force, and are applied as if it had never been made."""
    return decisions.undo(state.jobs, state.audit, caller, collection, number)
