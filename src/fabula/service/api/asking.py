"""Questions: search, answers, and the comparison of modes."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fabula.models.stop import Stop
from fabula.service.core import asking
from fabula.service.core.asking import Comparison, ComparisonView, Found, Question
from fabula.service.core.errors import Problem
from fabula.service.core.idempotency import Idempotency
from fabula.service.core.views import AnswerView
from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.http.parameters import Key
from fabula.service.http.streams import MEDIA_TYPE, EventStream, run_while_connected, wants

router = APIRouter(tags=["asking"])


@router.post("/collections/{collection}/search", summary="Find passages")
async def search(
    request: Request, state: State, collection: FilledCollection, caller: Reader, question: Question
) -> Found:
    """Return the passages that best answer the question, best first, and the steps of the search.

    A chat model is only called if the mode, `rewrite` or `rerank` needs one.
    """
    stop = Stop()
    search = partial(asking.search, state.asking_services, collection, caller, question, stop)
    return await run_while_connected(request, search, stop.set, state.question_threads)


@router.post(
    "/collections/{collection}/ask",
    summary="Ask a question",
    response_model=AnswerView,
    responses={
        200: {
            "description": "The answer. If the request accepts text/event-stream: the events "
            "retrieval, passages, token (many), and answer or error.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        }
    },
)
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
    done before the status is sent. Closing the connection stops the answer.

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
        state.asking_services,
        collection,
        caller,
        question,
        idempotency=idempotency,
        stop=stop,
    )
    answering = await run_while_connected(request, begin, stop.set, state.question_threads)
    if wants(request.headers.get("accept", ""), MEDIA_TYPE):
        return EventStream(answering)
    view = await run_while_connected(
        request, answering.view, answering.close, state.question_threads
    )
    return Response(view.model_dump_json(), media_type="application/json")


@router.post("/collections/{collection}/compare", summary="Ask by several modes")
async def compare(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Reader,
    comparison: Comparison,
) -> ComparisonView:
    """Return the answers of two to four modes, and the passages that they share."""
    stop = Stop()
    compare = partial(asking.compare, state.asking_services, collection, caller, comparison, stop)
    return await run_while_connected(request, compare, stop.set, state.question_threads)
