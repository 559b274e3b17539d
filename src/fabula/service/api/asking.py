"""Questions: search, answers, and the comparison of modes."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from fabula.app.shown_answer import ShownAnswer, ShownHits, format_json
from fabula.jobs.idempotency import Idempotency
from fabula.models.stop import Stop
from fabula.service.core import asking
from fabula.service.core.asking import (
    Comparison,
    ComparisonView,
    Question,
    QuestionAcross,
    QuestionEstimate,
)
from fabula.service.core.errors import Problem
from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.http.parameters import Key
from fabula.service.http.route_rules import declare
from fabula.service.http.streams import MEDIA_TYPE, EventStream, accepts, run_while_connected

LINKED_DATA = "application/ld+json"
router = APIRouter(tags=["asking"])


@router.post("/collections/{collection}/search", summary="Find passages")
@declare(is_question=True, is_public=True)
async def search(
    request: Request, state: State, collection: FilledCollection, caller: Reader, question: Question
) -> ShownHits:
    """Return the passages that best answer the question, best first, and the steps of the search.

    A chat model is only called if the mode, `rewrite` or `rerank` needs one.
    """
    stop = Stop()
    search = partial(asking.search, state.asking_services, collection, caller, question, stop)
    return await run_while_connected(request, search, stop.set, state.question_threads)


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
        state.asking_services,
        collection,
        caller,
        question,
        idempotency=idempotency,
        stop=stop,
    )
    answering = await run_while_connected(request, begin, stop.set, state.question_threads)
    return await _respond(request, state, answering)


@router.post("/collections/{collection}/ask/cost", summary="Estimate what an answer would cost")
@declare(is_question=True, is_public=True)
async def estimate(
    request: Request, state: State, collection: FilledCollection, caller: Reader, question: Question
) -> QuestionEstimate:
    """Return the calls, tokens and price that an answer would take; no model is asked.

    Replies are not known in advance: of modes that decide by replies how much they ask, it is about
    the most that they may ask.
    """
    estimate = partial(asking.estimate, collection, question)
    return await run_while_connected(request, estimate, lambda: None, state.question_threads)


@router.post("/collections/{collection}/compare", summary="Ask by several modes")
@declare(is_question=True, is_public=True)
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


@router.post("/search", summary="Find passages in several collections")
@declare(is_question=True)
async def search_across(
    request: Request, state: State, caller: Reader, question: QuestionAcross
) -> ShownHits:
    """Return the passages of several collections that best answer the question, merged by rank.

    Each passage names its `collection`. A collection that can't be searched, as its model can't be
    used, is in `left_out`.
    """
    stop = Stop()

    def search() -> ShownHits:
        among = state.collections(question.collections, caller)
        return asking.search(state.asking_services, among[0], caller, question, stop, among)

    return await run_while_connected(request, search, stop.set, state.question_threads)


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
    request: Request, state: State, caller: Reader, question: QuestionAcross
) -> Response:
    """Return an answer that is written from the passages of several collections, merged by rank.

    Each passage names its `collection`, and `left_out` says which could not be searched. A place up
    to which a text was read (`until`) and a conversation belong to one collection.
    """
    stop = Stop()

    def begin() -> asking.Answering | asking.RepeatedAnswer:
        among = state.collections(question.collections, caller)
        services = state.asking_services
        return asking.ask(services, among[0], caller, question, stop=stop, among=among)

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
