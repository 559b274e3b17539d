"""Asking: the answer on the left, what it rests on at the right, and modes side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from fabula.app.collection import Collection
from fabula.ask.query import AUTO, query_options
from fabula.graph import TEXT
from fabula.graph.installed import graphs
from fabula.models.stop import Stop
from fabula.service.core import asking
from fabula.service.core.asking import Compared, Comparison, Question, share
from fabula.service.core.choices import aspects_of, modes_of
from fabula.service.core.conversations import ConversationView, ConversationWhole, TurnView
from fabula.service.core.views import AnswerView, ReadView
from fabula.service.http.addresses import address
from fabula.service.http.admission import is_from_elsewhere
from fabula.service.http.dependencies import Caller, Reader, Stocked, TheHouse
from fabula.service.http.streams import attended
from fabula.service.page.answers import (
    MAX_PASSAGES,
    Shown,
    lay_out,
    lay_out_context,
    refuse_large,
    refuse_many_spans,
    refuse_many_values,
)
from fabula.service.page.rendering import show, show_part
from fabula.service.state import House

router = APIRouter()
MOST_LISTED = 300
"""Documents that a list to choose from has; beyond them one is named in the address."""
KINDS = ("chunk", "summary", "detail")
AT_ONCE = 4
"""Modes that are compared."""
LAST = 20
"""Conversations that are listed."""

Words = Annotated[str, Query(max_length=20_000)]
Name = Annotated[str, Query(max_length=2000)]
Names = Annotated[list[str], Query(max_length=20)]
Said = Annotated[str, Form(max_length=20_000)]
Word = Annotated[str, Form(max_length=2000)]


class Context(BaseModel):
    """The passages that an answer is being written from, as the API streams them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str
    context: Annotated[list[ReadView], BeforeValidator(refuse_many_values)] = Field(
        max_length=MAX_PASSAGES
    )

    @field_validator("context")
    @classmethod
    def _refuse_many_spans(cls, context: list[ReadView]) -> list[ReadView]:
        refuse_many_spans([one.spans for one in context])
        return context


Posted = Annotated[AnswerView, BeforeValidator(refuse_many_values), AfterValidator(refuse_large)]
"""An answer as the page posts it back, to be drawn."""


class Column(Compared):
    """What one mode answered, as the page posts it back."""

    answer: Posted | None = None


class Columns(BaseModel):
    """What modes answered, as the API gave it; of one that is being asked, neither."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    answers: list[Column] = Field(max_length=AT_ONCE)


@router.get("/c/{collection}/ask")
async def ask(
    request: Request,
    house: TheHouse,
    collection: Stocked,
    caller: Reader,
    q: Words = "",
    draft: Words = "",
    mode: Name = "",
    document: Name = "",
    aspect: Names = [],  # noqa: B006
    kind: Names = [],  # noqa: B006
    conversation: Annotated[str, Query(max_length=64)] = "",
    plain: bool = False,
) -> Response:
    """A question, or a conversation and what is asked next in it.

    `plain` is for who has no scripts: the answer comes with the page. A question of a conversation
    is kept, so those without scripts send it by `go_on`, and here it stands in the form. Nobody is
    made to spend by a link on another site's page: what it asks stands in the form, too.
    """
    if is_from_elsewhere(request) or (plain and conversation):
        q, draft = "", q or draft
    said = house.conversations.find(caller, collection.name, conversation) if conversation else None
    given: dict[str, Any] = {
        "question": q.strip(),
        "mode": mode or None,
        "document": document,
        "aspects": [one for one in aspect if one],
        "kinds": [one for one in kind if one],
        "conversation": conversation,
    }
    given = {name: one for name, one in given.items() if one}
    others = query_options().keys() - {"mode", "document", "aspects", "kinds"}
    given |= {name: value for name, value in request.query_params.items() if name in others}
    stop = Stop()

    def draw() -> Response:
        shown = None
        if q.strip() and plain:
            asked = Question.made(**given)
            view = asking.ask(house.asking, collection, caller, asked, stop=stop).view()
            shown = lay_out(view, collection.name)
        values = {
            "collection": collection.name,
            "q": q.strip(),
            "draft": draft,
            "given": given,
            "shown": shown,
            "aspects": [one.name for one in aspects_of(collection) if one.there],
            "chosen_aspects": aspect,
            "kinds": KINDS,
            "chosen_kinds": kind,
            "conversation": said and said.conversation,
            "turns": [_turn(one, collection.name) for one in said.turns] if said else [],
            "how": _how(given, said),
            "talks": [] if q or said else _talks(house, collection, caller),
            **_choices(collection, document),
            "mode": mode or collection.settings.mode,
            "document": document,
        }
        return show(request, "ask.html", values)

    return await attended(request, draw, stop.set, house.asks)


@router.post("/c/{collection}/ask")
async def go_on(
    request: Request,
    house: TheHouse,
    collection: Stocked,
    caller: Reader,
    q: Said,
    conversation: Annotated[str, Form(max_length=64)] = "",
    first: Said = "",
    mode: Word = "",
    document: Word = "",
    aspect: Annotated[list[str], Form(max_length=20)] = [],  # noqa: B006
    kind: Annotated[list[str], Form(max_length=20)] = [],  # noqa: B006
) -> Response:
    """Asks what is next in a conversation; where there is none yet, it begins with `first`."""
    how = {"mode": mode or None, "document": document, "aspects": aspect, "kinds": kind}
    asked = [Question.made(question=one, **how) for one in (first, q) if one.strip()]
    stop = Stop()

    def answer() -> str:
        talk = conversation
        for one in asked[-1:] if conversation else asked:
            own = one.model_copy(update={"conversation": talk or asking.NEW})
            talk = str(
                asking.ask(house.asking, collection, caller, own, stop=stop).view().conversation
            )
        return talk

    talk = await attended(request, answer, stop.set, house.asks)
    to = address("c", collection.name, "ask", conversation=talk)
    return RedirectResponse(f"{to}#latest", 303)


@router.post("/c/{collection}/ask/forget")
def forget(
    house: TheHouse,
    collection: Stocked,
    caller: Reader,
    conversation: Annotated[str, Form(max_length=64)],
) -> Response:
    """Takes a conversation out, with all that was said in it."""
    house.conversations.remove(caller, collection.name, conversation)
    return RedirectResponse(address("c", collection.name, "ask"), 303)


@router.post("/c/{collection}/ask/answer")
def draw_answer(request: Request, collection: Stocked, caller: Reader, answer: Posted) -> Response:
    """An answer that the API has streamed, drawn as the page draws it."""
    values = {"collection": collection.name, "shown": lay_out(answer, collection.name)}
    return show_part(request, "answer.html", values)


@router.post("/c/{collection}/ask/passages")
def draw_passages(
    request: Request, collection: Stocked, caller: Reader, found: Context
) -> Response:
    """The passages of an answer that is being written."""
    cards = lay_out_context(found.context, collection.name, found.question)
    return show_part(request, "passages.html", {"collection": collection.name, "cards": cards})


@router.get("/c/{collection}/compare")
async def compare(
    request: Request,
    house: TheHouse,
    collection: Stocked,
    caller: Reader,
    q: Words = "",
    modes: Names = [],  # noqa: B006
    document: Name = "",
    plain: bool = False,
) -> Response:
    """A question by two to four modes; each may be given alone, or all as 'a,b'.

    `plain` is for who has no scripts: the answers come with the page.
    """
    chosen = list(dict.fromkeys(one for each in modes for one in each.split(",") if one))[:AT_ONCE]
    is_led = is_from_elsewhere(request)
    asked = None
    if q.strip() and len(chosen) > 1 and not is_led:
        asked = Comparison.made(question=q.strip(), modes=chosen, document=document)
    stop = Stop()

    def draw() -> Response:
        drawn = {}
        if asked and plain:
            found = asking.compare(house.asking, collection, caller, asked, stop)
            drawn = _lay_out_columns(found.answers, collection.name)
        values = {
            "collection": collection.name,
            "q": q.strip(),
            "chosen": chosen,
            "asked": asked.model_dump(exclude_defaults=True) if asked else None,
            "document": document,
            "is_led": is_led,
            **drawn,
            **_choices(collection, document),
        }
        return show(request, "compare.html", values)

    return await attended(request, draw, stop.set, house.asks)


@router.post("/c/{collection}/compare/columns")
def draw_columns(
    request: Request, collection: Stocked, caller: Reader, answers: Columns
) -> Response:
    """Answers side by side, as far as they are there, drawn as the page draws them."""
    return show_part(request, "columns.html", _lay_out_columns(answers.answers, collection.name))


def _lay_out_columns(answers: Sequence[Compared], collection: str) -> dict[str, Any]:
    """Each mode's answer, and what several of them were given, as the template draws them."""
    columns = [
        {
            "mode": one.mode,
            "problem": one.problem,
            "shown": lay_out(one.answer, collection) if one.answer else None,
        }
        for one in answers
    ]
    # The card of the last column that has a passage: any would do.
    cards = {
        card.passage.id: card
        for one in columns
        if isinstance(shown := one["shown"], Shown)
        for card in (*shown.cited, *shown.others)
    }
    shared = share(answers)
    return {
        "columns": columns,
        "shared": {one.id: number for number, one in enumerate(shared, start=1)},
        "in_common": [(one, cards.get(one.id)) for one in shared],
        "is_whole": all(one.answer or one.problem for one in answers),
    }


def _turn(turn: TurnView, collection: str) -> dict[str, Any]:
    """A turn that was answered before, as the template draws it."""
    return {"turn": turn, "shown": lay_out(turn.answer, collection) if turn.answer else None}


def _how(given: Mapping[str, Any], said: ConversationWhole | None) -> list[tuple[str, str]]:
    """How what comes next is asked, as fields of a form: as what was asked last."""
    asked = dict(given)
    if said and said.turns and "question" not in given:
        asked = dict(said.turns[-1].asked)
    names = {"mode": "mode", "document": "document", "aspects": "aspect", "kinds": "kind"}
    return [
        (field, one)
        for name, field in names.items()
        for one in ([asked[name]] if isinstance(asked.get(name), str) else asked.get(name, ()))
    ]


def _talks(house: House, collection: Collection, caller: Caller) -> list[ConversationView]:
    """The caller's last conversations about a collection."""
    found = house.conversations.page(caller, collection.name, LAST, "").items
    return [one for one in found if one.turns]


def _choices(collection: Collection, document: str) -> dict[str, Any]:
    """The modes that can be asked, as sentences, and the documents, to choose from."""
    listed = [(one.id, one.title) for one in islice(collection.documents(), MOST_LISTED + 1)]
    if len(listed) > MOST_LISTED:
        listed = []
    elif document and document not in {id for id, _ in listed}:
        listed.append((document, document))
    ready = [(one.name, one.about) for one in modes_of(collection) if one.ready]
    return {
        "modes": [(AUTO, "the way that suits the question"), *ready],
        "documents": listed,
        "version": collection.store.collection_version(collection.name, [TEXT, *graphs()]),
    }
