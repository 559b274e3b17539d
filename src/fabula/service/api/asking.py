"""Questions: what is found, what is answered, and how modes compare."""

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
from fabula.service.http.dependencies import Reader, Stocked, TheHouse
from fabula.service.http.parameters import Key
from fabula.service.http.streams import KIND, EventStream, attended, wants

router = APIRouter(tags=["asking"])


@router.post("/collections/{collection}/search", summary="Find passages")
async def search(
    request: Request, house: TheHouse, shelf: Stocked, caller: Reader, question: Question
) -> Found:
    """Those that serve the question best, best first, and the way to them. No chat model writes
    anything, but where the mode, `rewrite` or `rerank` asks one.
    """
    stop = Stop()
    found = partial(asking.search, house.asking, shelf, caller, question, stop)
    return await attended(request, found, stop.set, house.asks)


@router.post(
    "/collections/{collection}/ask",
    summary="Ask a question",
    response_model=AnswerView,
    responses={
        200: {
            "description": "The answer; or, to who accepts text/event-stream, the events "
            "retrieval, passages, token (many), and answer or error.",
            "content": {KIND: {"schema": {"type": "string"}}},
        }
    },
)
async def ask(
    request: Request,
    house: TheHouse,
    shelf: Stocked,
    caller: Reader,
    question: Question,
    key: Key = None,
) -> Response:
    """The answer, with the passages it cites: whole, or as it is written to who accepts
    `text/event-stream`. The passages are found before the status is sent. Whoever leaves ends it.

    With the id of a conversation it is a turn of that, and may lean on those before it; under an
    Idempotency-Key the same question is one turn, and has the same answer for a day.
    """
    stop = Stop()
    if key is not None and question.conversation is None:
        raise Problem("An Idempotency-Key is for a turn: name a conversation, or leave it out.")
    once = Idempotency.of(key, caller, request.url.path, question.model_dump_json())
    begin = partial(asking.ask, house.asking, shelf, caller, question, once=once, stop=stop)
    answering = await attended(request, begin, stop.set, house.asks)
    if wants(request.headers.get("accept", ""), KIND):
        return EventStream(answering)
    view = await attended(request, answering.view, answering.close, house.asks)
    return Response(view.model_dump_json(), media_type="application/json")


@router.post("/collections/{collection}/compare", summary="Ask by several modes")
async def compare(
    request: Request, house: TheHouse, shelf: Stocked, caller: Reader, comparison: Comparison
) -> ComparisonView:
    """The answers of two to four modes side by side, and the passages that they share."""
    stop = Stop()
    compared = partial(asking.compare, house.asking, shelf, caller, comparison, stop)
    return await attended(request, compared, stop.set, house.asks)
