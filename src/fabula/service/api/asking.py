"""Questions whose answers may come as a stream; others are operations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Body, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from fabula.ask.query import Query
from fabula.jobs.idempotency import Idempotency
from fabula.models.stop import Stop
from fabula.operations.kit import find_operation
from fabula.operations.shown_answer import ShownAnswer, format_json
from fabula.service.core import asking
from fabula.service.core.asking import Question
from fabula.service.core.errors import Problem
from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.http.parameters import Key
from fabula.service.http.route_rules import declare
from fabula.service.http.streams import MEDIA_TYPE, EventStream, accepts, run_while_connected

if TYPE_CHECKING:  # a type checker cannot follow a model that is made at run time
    Across = BaseModel
else:
    Across = find_operation("query.across").body
LINKED_DATA = "application/ld+json"
router = APIRouter(tags=["asking"])


@router.post(
    "/collections/{collection}/ask",
    summary="Ask a question",
    response_model=ShownAnswer,
    responses={
        200: {
            "description": "The answer. If the request accepts text/event-stream: the events "
            "retrieval, passages, token (many), and answer or error. If it accepts "
            "application/ld+json: the words that the answer cites, as W3C Web Annotations.",
            "content": {
                MEDIA_TYPE: {"schema": {"type": "string"}},
                LINKED_DATA: {"schema": {"type": "object"}},
            },
        }
    },
)
@declare(is_question=True, is_public=True)
async def ask(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Reader,
    question: Question,
    key: Key = None,
) -> Response:
    """Return the answer with the passages it cites.

    A request that accepts `text/event-stream` gets the answer while it is written. The search is
    done before the status is sent. Closing the connection stops the answer. One that accepts
    `application/ld+json` gets the words that the answer cites as an AnnotationCollection.

    With the id of a conversation the question is a turn of it, and may refer to previous turns.
    With an Idempotency-Key the same question is stored as one turn, and has the same answer for 24
    hours.
    """
    stop = Stop()
    if key is not None and question.conversation is None:
        raise Problem(
            "An Idempotency-Key needs a conversation: name a conversation, or leave out the key."
        )
    idempotency = Idempotency.of(key, caller, request.url.path, question.model_dump_json())
    begin = partial(
        asking.ask,
        state.conversations,
        state.asker(caller, stop),
        collection,
        question,
        idempotency=idempotency,
    )
    answering = await run_while_connected(request, begin, stop.set, state.question_threads)
    return await _respond(request, state, answering)


@router.post(
    "/ask",
    summary="Ask several collections",
    response_model=ShownAnswer,
    responses={
        200: {
            "description": "The answer, its events, or the words that it cites as W3C Web "
            "Annotations, as of a question to one collection.",
            "content": {
                MEDIA_TYPE: {"schema": {"type": "string"}},
                LINKED_DATA: {"schema": {"type": "object"}},
            },
        }
    },
)
@declare(is_question=True)
async def ask_across(
    request: Request, state: State, caller: Reader, question: Annotated[Across, Body()]
) -> Response:
    """Return an answer that is written from the passages of several collections, merged by rank.

    Each passage names its `collection`, and `left_out` says which could not be searched. A place up
    to which a text was read (`until`) and a conversation belong to one collection.
    """
    stop = Stop()

    def begin() -> asking.Answering:
        values = question.model_dump(exclude_defaults=True)
        among = state.collections(values.pop("collections", ()), caller)
        query = Query.of(values.pop("question"), among[0].settings, **values)
        return asking.Answering(state.asker(caller, stop), among, query, is_across=True)

    answering = await run_while_connected(request, begin, stop.set, state.question_threads)
    return await _respond(request, state, answering)


async def _respond(
    request: Request, state: State, answering: asking.Answering | asking.RepeatedAnswer
) -> Response:
    """Return an answer in the form that the request accepts."""
    if accepts(request.headers.get("accept", ""), MEDIA_TYPE):
        return EventStream(answering)
    view = await run_while_connected(
        request, answering.view, answering.close, state.question_threads
    )
    if accepts(request.headers.get("accept", ""), LINKED_DATA):
        return JSONResponse(asking.citations(view), media_type=LINKED_DATA)
    return Response(format_json(view), media_type="application/json")
