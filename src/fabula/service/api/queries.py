"""Cypher statements of admins."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from fabula.graph.statements import MAX_CHARACTERS
from fabula.operations.queries import MAX_QUERY_BODY_BYTES, QueryResult, run_statement
from fabula.service.http.dependencies import AdminOfAll, State
from fabula.service.http.route_rules import declare

router = APIRouter(tags=["queries"])


class CypherStatement(BaseModel):
    """A Cypher statement, a value for each `$name` in it, and where it is run.

    It is run on the graph that `collection` is in; without one, on that of the settings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    collection: str = Field("", max_length=1000)
    statement: str = Field(min_length=1, max_length=MAX_CHARACTERS)
    parameters: dict[str, Any] = Field({}, max_length=50)


@router.post("/cypher", summary="Run a Cypher statement")
@declare(max_body_bytes=MAX_QUERY_BODY_BYTES)
def run_cypher(state: State, caller: AdminOfAll, statement: CypherStatement) -> QueryResult:
    """Return the result of a statement on the graph of all collections: at most 1,000 rows, within
    30 seconds. A statement that does more than read is refused.
    """
    app, name = state.app, statement.collection
    store = state.collection(name, caller).store if name else app.connect()
    with state.query_turn():
        return run_statement(store, statement.statement, statement.parameters)
