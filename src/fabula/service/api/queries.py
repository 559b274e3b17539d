"""Queries for analysts, and Cypher statements of admins."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.statements import MAX_CHARACTERS
from fabula.service.core import queries
from fabula.service.core.queries import QueryView, TableView
from fabula.service.http.dependencies import AdminOfAll, FilledCollection, Reader, State

router = APIRouter(tags=["queries"])


class QueryParameters(BaseModel):
    """Values of a query's parameters; those that are left out have their defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parameters: dict[str, Any] = Field({}, max_length=50)


class CypherStatement(QueryParameters):
    """A Cypher statement, a value for each `$name` in it, and where it is run.

    It is run on the graph that `collection` is in; without one, on that of the settings.
    """

    collection: str = Field("", max_length=1000)
    statement: str = Field(min_length=1, max_length=MAX_CHARACTERS)


@router.get("/queries", summary="List queries")
def list_queries(caller: Reader) -> list[QueryView]:
    """List the queries for analysts by name, with their purpose and parameters."""
    return queries.queries()


@router.get("/queries/{name}", summary="A query")
def show_query(caller: Reader, name: str) -> QueryView:
    """Return the purpose, parameters and statement of a query; it also runs in Neo4j Browser."""
    return queries.find_query(name)


@router.post("/collections/{collection}/queries/{name}", summary="Run a query on a collection")
def run_query(
    state: State, collection: FilledCollection, caller: Reader, name: str, body: QueryParameters
) -> TableView:
    """Return the result of a query: at most 1,000 rows, within 30 seconds."""
    return queries.run_query(state.query_slots, collection, name, body.parameters)


@router.post("/cypher", summary="Run a Cypher statement")
def run_statement(state: State, caller: AdminOfAll, statement: CypherStatement) -> TableView:
    """Return the result of a statement on the graph of all collections: at most 1,000 rows, within
    30 seconds. A statement that does more than read is refused.
    """
    app, name = state.app, statement.collection
    store = state.collection(name, caller).store if name else app.connect()
    return queries.run_statement(
        state.query_slots, store, statement.statement, statement.parameters
    )
