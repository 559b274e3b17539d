"""The screens Ask and Compare: an answer beside its passages, and several modes side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import ImmutableMultiDict

from fabula.ask.query import query_options
from fabula.config.embedding_space import for_questions
from fabula.errors import FabulaError, SettingsError, SpaceError
from fabula.graph import TEXT
from fabula.graph.installed import graphs
from fabula.library.collection import Collection
from fabula.models.prefixes import split_space_name
from fabula.models.stop import Stop
from fabula.operations import asking as operations
from fabula.operations.asking import MAX_MODES, ComparedAnswer, find_shared_passages
from fabula.operations.choices import TEXT_MODES, list_aspects, list_modes
from fabula.operations.conversations import (
    ConversationSummary,
    ConversationTurn,
    WholeConversation,
    list_conversations,
    remove_conversation,
    show_conversation,
)
from fabula.operations.example_questions import ExampleQuestion, suggest_questions
from fabula.operations.kit import Asker, find_operation
from fabula.operations.shown_answer import ShownAnswer
from fabula.service.core import asking
from fabula.service.core.asking import Question
from fabula.service.http.addresses import address
from fabula.service.http.admission import is_cross_site
from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.http.route_rules import declare
from fabula.service.http.streams import EventStream, run_while_connected
from fabula.service.page.answers import AnswerLayout, lay_out, lay_out_context
from fabula.service.page.document_choices import list_choices
from fabula.service.page.rendering import render_part, show

router = APIRouter()
KINDS = ("chunk", "summary", "detail")
MAX_CONVERSATIONS = 20
"""Previous conversations that are listed."""

PLACE = ("document", "where", "until")
"""Options that say what is asked."""
REPEATED = {"aspects": "aspect", "kinds": "kind"}
"""The names in forms and addresses of options that may have several values."""
QueryText = Annotated[str, Query(max_length=20_000)]
QueryName = Annotated[str, Query(max_length=2000)]
QueryNames = Annotated[list[str], Query(max_length=20)]
FormText = Annotated[str, Form(max_length=20_000)]
PartEvents = Iterator[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class PartSource:
    """The source of a stream of events that have parts of the screen as HTML."""

    events: Callable[[], PartEvents]
    close: Callable[[], None]


@router.get("/c/{collection}/ask")
@declare(is_question=True, is_public=True)
async def ask(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Reader,
    q: QueryText = "",
    draft: QueryText = "",
    conversation: Annotated[str, Query(max_length=64)] = "",
    plain: bool = False,
) -> Response:
    """Show a question with its answer, or a conversation with a form for the next question.

    `plain` is for browsers without scripts: the answer is part of the page. The question is only
    put into the form, and not asked, in two cases: without scripts in a conversation, whose
    questions are stored and therefore posted (`continue_conversation`); and if a page of another
    site led here, as its author must not be able to spend the caller's quota by a link.
    """
    if is_cross_site(request) or (plain and conversation):
        q, draft = "", q or draft
    history = (
        show_conversation(collection, conversation, asker=state.asker(caller))
        if conversation
        else None
    )
    chosen = _read_options(request.query_params)
    place = {name: chosen.get(name, "") for name in PLACE}
    place["document"] = _document_id(collection, place["document"])
    options = chosen | place | {"question": q.strip(), "conversation": conversation}
    options = {name: value for name, value in options.items() if value}
    stop = Stop()

    def draw() -> Response:
        answer = None
        if q.strip() and plain:
            question = Question.parse_values(**options)
            asker = state.asker(caller, stop)
            view = asking.ask(state.conversations, asker, collection, question).view()
            answer = lay_out(view, collection.name)
        values = {
            "collection": collection.name,
            "q": q.strip(),
            "draft": draft,
            "options": options,
            "answer": answer,
            "aspects": [each.name for each in list_aspects(collection).rows if each.there],
            "chosen_aspects": chosen.get("aspects", ()),
            "kinds": KINDS,
            "chosen_kinds": chosen.get("kinds", ()),
            "conversation": history and history.conversation,
            "turns": [_turn(turn, collection.name) for turn in history.turns] if history else [],
            "hidden_fields": _hidden_fields(options, history),
            "conversations": []
            if q or history or caller.is_visitor
            else _previous_conversations(collection, state.asker(caller)),
            "examples": []
            if q or history
            else _suggest(collection, place["document"], place["until"]),
            **_choices(collection, place["document"]),
            "mode": chosen.get("mode", collection.settings.mode),
            **place,
        }
        return show(request, "ask.html", values)

    return await run_while_connected(request, draw, stop.set, state.question_threads)


@router.post("/c/{collection}/ask")
@declare(is_question=True)
async def continue_conversation(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Reader,
    q: FormText,
    conversation: Annotated[str, Form(max_length=64)] = "",
    first: FormText = "",
) -> Response:
    """Ask the next question of a conversation.

    Without scripts the first question was asked outside a conversation. It is asked again here as
    `first`, so that the conversation has it.
    """
    options = _read_options(await request.form())
    questions = [
        Question.parse_values(question=text, **options) for text in (first, q) if text.strip()
    ]
    stop = Stop()

    def answer() -> str:
        id = conversation
        for question in questions[-1:] if conversation else questions:
            turn = question.model_copy(update={"conversation": id or asking.NEW})
            asker = state.asker(caller, stop)
            view = asking.ask(state.conversations, asker, collection, turn).view()
            id = str(view.conversation)
        return id

    id = await run_while_connected(request, answer, stop.set, state.question_threads)
    to = address("c", collection.name, "ask", conversation=id)
    return RedirectResponse(f"{to}#latest", 303)


@router.post("/c/{collection}/ask/forget")
def forget(
    state: State,
    collection: FilledCollection,
    caller: Reader,
    conversation: Annotated[str, Form(max_length=64)],
) -> Response:
    """Delete a conversation and all of its turns."""
    remove_conversation(collection, conversation, asker=state.asker(caller))
    return RedirectResponse(address("c", collection.name, "ask"), 303)


@router.post("/c/{collection}/ask/stream")
@declare(is_question=True, is_public=True)
async def stream_answer(
    request: Request, state: State, collection: FilledCollection, caller: Reader, question: Question
) -> Response:
    """Ask a question, and send the parts of the screen as they get known, for its script to show.

    As of the API's stream, the search is done before the status is sent, and closing the connection
    stops the answer.
    """
    stop = Stop()
    asker = state.asker(caller, stop)
    begin = partial(asking.ask, state.conversations, asker, collection, question)
    answering = await run_while_connected(request, begin, stop.set, state.question_threads)
    events = partial(_render_events, answering, collection.name, question.question)
    return EventStream(PartSource(events, answering.close))


def _render_events(
    answering: asking.Answering | asking.RepeatedAnswer, collection: str, question: str
) -> PartEvents:
    """Yield the events of an answer with parts of the screen; tokens and errors as they are."""
    for name, data in answering.events():
        part: Any = data
        # `doing` says what is done after the event.
        if name == "retrieval":
            part = {"doing": f"Searched with {data['mode']} …"}
        elif name == "passages":
            cards = lay_out_context(data["context"], collection, question)
            html = render_part("passages.html", {"collection": collection, "cards": cards})
            part = {"doing": "Reading …", "html": html}
        elif name == "step":
            html = render_part("step.html", {"step": data})
            part = {"doing": f"Reading on: {data.step} …", "html": html}
        elif name == "answer":
            answer = lay_out(data, collection)
            html = render_part("answer.html", {"collection": collection, "answer": answer})
            part = {"html": html, "conversation": data.conversation}
        yield name, part


@router.get("/c/{collection}/compare")
@declare(is_question=True, is_public=True)
async def compare(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Reader,
    q: QueryText = "",
    modes: QueryNames = [],  # noqa: B006
    document: QueryName = "",
    where: QueryName = "",
    until: QueryName = "",
    plain: bool = False,
) -> Response:
    """Show the answers of two to four modes to a question.

    The modes are given one by one, or as "a,b". `plain` is for browsers without scripts: the
    answers are part of the page.
    """
    names = (name for value in modes for name in value.split(",") if name)
    chosen = list(dict.fromkeys(names))[:MAX_MODES]
    is_led = is_cross_site(request)
    comparison: dict[str, Any] | None = None
    place = {"document": _document_id(collection, document), "where": where, "until": until}
    if q.strip() and len(chosen) > 1 and not is_led:
        comparison = {"question": q.strip(), "modes": chosen}
        comparison |= {name: value for name, value in place.items() if value}
        find_operation("compare").check(comparison)
    stop = Stop()

    def draw() -> Response:
        columns = {}
        if comparison and plain:
            view = operations.compare(collection, **comparison, asker=state.asker(caller, stop))
            columns = _lay_out_columns(view.answers, collection.name)
        values = {
            "collection": collection.name,
            "q": q.strip(),
            "chosen": chosen,
            "comparison": comparison,
            **place,
            "is_led": is_led,
            "marked": address("c", collection.name, "ask"),
            **columns,
            **_choices(collection, place["document"]),
        }
        return show(request, "compare.html", values)

    return await run_while_connected(request, draw, stop.set, state.question_threads)


@router.post("/c/{collection}/compare/stream")
@declare(is_question=True, is_public=True)
async def stream_comparison(
    state: State, collection: FilledCollection, caller: Reader, comparison: dict[str, Any]
) -> Response:
    """Ask by several modes, and send the columns whenever one more has its answer."""
    values = find_operation("compare").check(comparison)
    stop = Stop()
    asker = state.asker(caller, stop)
    answers = operations.answer_by_modes(collection, **values | {"asker": asker})
    columns = {mode: ComparedAnswer(mode) for mode in values["modes"]}
    render = partial(_render_columns, answers, columns, asker, collection.name)
    return EventStream(PartSource(render, stop.set))


def _render_columns(
    answers: Iterator[tuple[str, ShownAnswer | FabulaError]],
    columns: dict[str, ComparedAnswer],
    asker: Asker,
    collection: str,
) -> PartEvents:
    """Yield all columns, at first without answers, whenever one more has its answer or problem."""

    def render() -> Mapping[str, Any]:
        values = _lay_out_columns([*columns.values()], collection)
        is_answered = all(column.answer for column in columns.values())
        html = render_part("columns.html", values)
        return {"html": html, "is_complete": values["is_complete"], "is_answered": is_answered}

    yield "columns", render()
    for mode, outcome in answers:
        columns[mode] = ComparedAnswer.of(mode, outcome, asker)
        yield "columns", render()


def _lay_out_columns(answers: Sequence[ComparedAnswer], collection: str) -> dict[str, Any]:
    """Return the values of the template: a column for each mode, and the shared passages."""
    columns = [
        {
            "mode": compared.mode,
            "problem": compared.problem,
            "answer": lay_out(compared.answer, collection) if compared.answer else None,
        }
        for compared in answers
    ]
    # Several columns may have a card of the same passage; any of them serves as a link to it.
    cards = {
        card.passage.id: card
        for column in columns
        if isinstance(answer := column["answer"], AnswerLayout)
        for card in (*answer.cited, *answer.uncited)
    }
    shared = find_shared_passages(answers)
    return {
        "columns": columns,
        "shared": {passage.id: number for number, passage in enumerate(shared, start=1)},
        "shared_cards": [(passage, cards.get(passage.id)) for passage in shared],
        "is_complete": all(compared.answer or compared.problem for compared in answers),
    }


def _turn(turn: ConversationTurn, collection: str) -> dict[str, Any]:
    """Return the template's values of a turn of a conversation."""
    return {"turn": turn, "answer": lay_out(turn.answer, collection) if turn.answer else None}


def _read_options(given: ImmutableMultiDict[str, Any]) -> dict[str, Any]:
    """Return the options of a question that an address or a form has, but for empty ones."""
    options: dict[str, Any] = {name: given.get(name, "") for name in query_options()}
    options |= {name: [*filter(None, given.getlist(REPEATED[name]))] for name in REPEATED}
    return {name: value for name, value in options.items() if value}


def _hidden_fields(
    options: Mapping[str, Any], history: WholeConversation | None
) -> list[tuple[str, str]]:
    """Return form fields by which the next question has the options of the current or last one."""
    values = dict(options)
    if history and history.turns and "question" not in options:
        values = dict(history.turns[-1].asked)
    fields = {name: name for name in ("mode", *PLACE)} | REPEATED
    return [
        (field, value)
        for name, field in fields.items()
        for value in ([values[name]] if isinstance(values.get(name), str) else values.get(name, ()))
    ]


def _previous_conversations(collection: Collection, asker: Asker) -> list[ConversationSummary]:
    """Return somebody's last conversations about a collection."""
    found = list_conversations(collection, MAX_CONVERSATIONS, asker=asker)
    return [conversation for conversation in found.rows if conversation.turns]


def _suggest(collection: Collection, document: str, until: str) -> Sequence[ExampleQuestion]:
    """Return example questions; none about a document or place that there is not."""
    try:
        return suggest_questions(collection.as_read(document, until), document).rows
    except FabulaError:
        return []


def _document_id(collection: Collection, document: str) -> str:
    """Return the id of a document that was typed, as the reader's bookmarks are kept by ids."""
    try:
        return collection.document(document).id if document else ""
    except FabulaError:
        # What is no document is left for the question to be refused with.
        return document


def _explain_unready(collection: Collection) -> dict[str, str]:
    """Return the model that questions lack here, and why; empty if the collection can be asked."""
    space = collection.space()
    if space is None:
        return {}
    # The model that embedded the collection decides, not the settings; a local one needs no key.
    try:
        for_questions(collection.models.settings, space.model, collection.name)
    except SpaceError:
        lack = "endpoint"
    except SettingsError:
        lack = "package"
    else:
        return {}
    return {
        "model": split_space_name(space.model)[0],
        "lack": lack,
        "other": collection.settings.embedding_model,
    }


def _choices(collection: Collection, document: str) -> dict[str, Any]:
    """Return the modes with their descriptions, and the documents, to choose from."""
    groups: dict[str, list[tuple[str, str]]] = {TEXT_MODES: []}
    for mode in list_modes(collection).rows:
        if mode.ready:
            groups.setdefault(mode.group, []).append((mode.name, mode.sentence))
    return {
        "unready": _explain_unready(collection),
        "modes": list(groups.items()),
        "documents": list_choices(collection, document),
        "version": collection.open_store().collection_version(collection.name, [TEXT, *graphs()]),
    }
