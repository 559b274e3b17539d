"""The analysts' queries, and an admin's own Cypher."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.statements import MAX_CHARACTERS
from fabula.service.core import queries
from fabula.service.core.queries import QueryView, TableView
from fabula.service.http.dependencies import AdminOfAll, Reader, Stocked, TheHouse

router = APIRouter(tags=["queries"])


class Given(BaseModel):
    """What a query is given; what is left out has its default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parameters: dict[str, Any] = Field({}, max_length=50)


class Statement(Given):
    """A statement of Cypher, and a value for each `$name` in it."""

    statement: str = Field(min_length=1, max_length=MAX_CHARACTERS)


@router.get("/queries", summary="The analysts' queries")
def list_queries(caller: Reader) -> list[QueryView]:
    """By name, each with what it is for and its parameters."""
    return queries.queries()


@router.get("/queries/{name}", summary="A query of the analysts'")
def show_query(caller: Reader, name: str) -> QueryView:
    """What it is for, its parameters, and its statement, to be put into Neo4j Browser."""
    return queries.find_query(name)


@router.post("/collections/{collection}/queries/{name}", summary="Put a query to a collection")
def run_query(
    house: TheHouse, shelf: Stocked, caller: Reader, name: str, given: Given
) -> TableView:
    """What it finds there: 1,000 rows at most, in 30 seconds at most."""
    return queries.run_query(house.query_slots, shelf, name, given.parameters)


@router.post("/cypher", summary="Put Cypher of your own to the graph")
def run_statement(house: TheHouse, caller: AdminOfAll, statement: Statement) -> TableView:
    """What it finds in the whole graph, of all collections; what its plan does beside reading is
    refused. 1,000 rows at most, in 30 seconds at most.
    """
    return queries.run_statement(
        house.query_slots, house.app.store, statement.statement, statement.parameters
    )
