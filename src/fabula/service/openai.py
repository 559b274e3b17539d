"""OpenAI's interface: whoever speaks it asks a collection as if it were a model.

`fabula/<collection>` is a model, `fabula/<collection>:<mode>` asks in that mode. Citations stand in
the text as [1], are listed under it with links to the page, and are annotations of the message.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from fabula.ask.answer import CITED
from fabula.ask.modes import modes
from fabula.ask.query import AUTO
from fabula.errors import FabulaError, NotFound, SettingsError
from fabula.models import Prompt, Turn
from fabula.models.counted import Meter
from fabula.models.replies import said
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.service.core.asking import Answering, Question
from fabula.service.core.errors import describe_problem
from fabula.service.core.views import AnswerView, ReadView
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Caller, Reader, TheHouse
from fabula.service.http.streams import EventStream, attended
from fabula.service.state import House
from fabula.text.names import quoted

router = APIRouter(prefix="/v1", tags=["openai"])
PREFIX = "fabula/"
TASK = "### Task:"
"""How Open WebUI begins what it wants for itself: titles, tags, follow-up questions."""
TASK_TOKENS = 500
TASK_CHARACTERS = 50_000
"""That a task may have with its system's text: a chat's last turns, not a book to be read."""


MAX_MESSAGES = 10_000
"""Messages of one request; a question leans on the last of them."""
MAX_PARTS = 1_000
"""Parts of one message."""


class Part(BaseModel):
    """A part of a message; only its text is read."""

    model_config = ConfigDict(extra="ignore")

    type: str = "text"
    text: str = ""


class Message(BaseModel):
    """Something that was said."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | Annotated[list[Part], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None

    @property
    def text(self) -> str:
        """All that it says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """What a stream is to tell."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class Completion(BaseModel):
    """A request; what else clients send, as temperature, is the settings' to say."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    fabula: bool = False
    """Whether the context and the usage by step are told, too (`extra_body`)."""


Chunks = Iterator[tuple[str, Mapping[str, Any]]]


@router.get("/models", summary="The collections, as models")
def list_models(house: TheHouse, caller: Reader) -> dict[str, Any]:
    """Each collection that the caller may see; with `:hybrid` behind its name, in that mode."""
    names = house.collections(caller)
    return {"object": "list", "data": [_model(f"{PREFIX}{name}") for name in names]}


@router.get("/models/{name:path}", summary="A collection, as a model")
def find_model(name: str, house: TheHouse, caller: Reader) -> dict[str, Any]:
    """One of them. Raises NotFound."""
    _shelf(house, caller, name)
    return _model(name)


@router.post("/chat/completions", summary="An answer, as a model's", response_model=None)
async def complete(
    asked: Completion, house: TheHouse, caller: Reader, request: Request
) -> Response:
    """Answers the user's last message from the collection that the model names.

    The messages before it are what it may lean on. What begins with `### Task:`, as the titles and
    tags that Open WebUI asks for, goes to the chat model alone.
    """
    places = [at for at, one in enumerate(asked.messages) if one.role == "user"]
    if not places or not asked.messages[places[-1]].text.strip():
        raise SettingsError("There is no message of the user's to answer.")
    last, before = asked.messages[places[-1]].text, asked.messages[: places[-1]]
    stop = Stop()
    begin: Callable[[], _Cited | _Task]
    if last.lstrip().startswith(TASK):
        begin = partial(_Task, house, caller, asked, last)
    else:
        base = (house.serving.url or str(request.base_url)).rstrip("/")
        begin = partial(_Cited, house, caller, asked, last, before, base, stop)
    work: _Cited | _Task = await attended(request, begin, stop.set, house.asks)
    if asked.stream:
        return EventStream(work, write=_line, name_error=_error_chunk)
    return JSONResponse(await attended(request, work.whole, work.close, house.asks))


class _Cited:
    """An answer from a collection; its citations are listed under it and annotated."""

    def __init__(
        self,
        house: House,
        caller: Caller,
        asked: Completion,
        question: str,
        before: Sequence[Message],
        base: str,
        stop: Stop,
    ) -> None:
        shelf, mode = _shelf(house, caller, asked.model)
        self._asked, self._base, self._collection = asked, base, shelf.name
        self._form = _Form(asked.model)
        own = Question.made(question=question, mode=mode)
        self._answering = Answering(house.asking, shelf, caller, own, _turns(before), None, stop)

    def events(self) -> Chunks:
        """The pieces as they come, then the list of what is cited, and the annotations."""
        yield "", self._form.chunk({"role": "assistant", "content": ""})
        for name, data in self._answering.events():
            if name == "token":
                yield "", self._form.chunk({"content": data["text"]})
            elif name == "error":
                yield "", {"error": _error(data)}
            elif name == "answer":
                yield from self._end(AnswerView.model_validate(data))
        yield "done", {}

    def _end(self, answer: AnswerView) -> Chunks:
        listed = self._listed(answer)
        noted = {"annotations": self._annotations(answer)}
        yield "", self._form.chunk(({"content": listed} if listed else {}) | noted)
        last = self._form.chunk({}, "stop")
        yield "", last | ({"fabula": self._more(answer)} if self._asked.fabula else {})
        if self._asked.stream_options.include_usage:
            usage = [Usage.read(one) for one in _counts(answer)]
            yield "", self._form.chunk(None) | {"usage": _usage(sum(usage, Usage()))}

    def whole(self) -> dict[str, Any]:
        """All of it at once. Raises ModelError."""
        answer = self._answering.view()
        message = {
            "role": "assistant",
            "content": answer.answer + self._listed(answer),
            "refusal": None,
            "annotations": self._annotations(answer),
        }
        usage = sum((Usage.read(one) for one in _counts(answer)), Usage())
        told = self._form.whole(message, usage)
        return told | ({"fabula": self._more(answer)} if self._asked.fabula else {})

    def close(self) -> None:
        """Ends it."""
        self._answering.close()

    def _cited(self, answer: AnswerView) -> list[ReadView]:
        by_number = {one.number: one for one in answer.context}
        return [by_number[number] for number in answer.cited]

    def _link(self, one: ReadView) -> str:
        where = address("c", self._collection, "d", one.document, chars=f"{one.start}-{one.end}")
        return f"{self._base}{where}"

    def _listed(self, answer: AnswerView) -> str:
        """What is cited, as a list with links: any client shows that."""
        lines = []
        for one in self._cited(answer):
            title = " · ".join(filter(None, (one.title, one.section))).replace("]", "")
            named = " ".join(title.replace("[", "").split())
            lines.append(f"- [{one.number}] [{named}]({self._link(one)})")
        return "\n\n" + "\n".join(lines) if lines else ""

    def _annotations(self, answer: AnswerView) -> list[dict[str, Any]]:
        """Where the answer cites, by its characters, and what; always there, if empty."""
        cited = {one.number: one for one in self._cited(answer)}
        found = []
        for mark in CITED.finditer(answer.answer):
            for number in map(int, mark[1].replace(";", ",").split(",")):
                if number in cited:
                    place = {"start_index": mark.start(), "end_index": mark.end()}
                    one = cited[number]
                    place |= {"url": self._link(one), "title": one.title}  # type: ignore[dict-item]
                    found.append({"type": "url_citation", "url_citation": place})
        return found

    def _more(self, answer: AnswerView) -> dict[str, Any]:
        told = answer.model_dump(include={"context", "usage", "money", "unpriced", "path"})
        return dict(told)


class _Task:
    """What a client wants of the chat model for itself; nothing is looked up for it."""

    def __init__(self, house: House, caller: Caller, asked: Completion, prompt: str) -> None:
        self._house, self._caller, self._asked = house, caller, asked
        self._shelf, _ = _shelf(house, caller, asked.model)
        if house.app.settings.offline:
            raise SettingsError("No model is set here, so that nothing but questions is answered.")
        house.ledger.refuse_spent(caller)
        system = next((one.text for one in asked.messages if one.role == "system"), "")
        if (size := len(system) + len(prompt)) > TASK_CHARACTERS:
            raise SettingsError(
                f"The task has {size:,} characters; at most {TASK_CHARACTERS:,} are passed on."
            )
        self._prompt = Prompt(system, prompt, max_tokens=TASK_TOKENS, temperature=0.0)
        self._form = _Form(asked.model)

    def events(self) -> Chunks:
        """All of it in one piece."""
        text, usage = self._said()
        yield "", self._form.chunk({"role": "assistant", "content": text})
        yield "", self._form.chunk({}, "stop")
        if self._asked.stream_options.include_usage:
            yield "", self._form.chunk(None) | {"usage": _usage(usage)}
        yield "done", {}

    def whole(self) -> dict[str, Any]:
        """All of it at once. Raises ModelError."""
        text, usage = self._said()
        return self._form.whole({"role": "assistant", "content": text, "annotations": []}, usage)

    def close(self) -> None:
        """Nothing: it is short, and paid for."""

    def _said(self) -> tuple[str, Usage]:
        meter = Meter(self._house.ledger.account(self._caller, self._shelf.name, "task"))
        return said(self._shelf.kit.chat(meter, "task"), self._prompt), meter.total()


class _Form:
    """The members that all parts of one answer have."""

    def __init__(self, model: str) -> None:
        self._head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": model,
        }

    def chunk(self, delta: Mapping[str, Any] | None, finish: str | None = None) -> dict[str, Any]:
        """A piece of a stream; None is one that only counts."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        choices = [] if delta is None else [choice]
        return self._head | {"object": "chat.completion.chunk", "choices": choices}

    def whole(self, message: Mapping[str, Any], usage: Usage) -> dict[str, Any]:
        """The whole answer."""
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        told = {"object": "chat.completion", "choices": [choice], "usage": _usage(usage)}
        return self._head | told


def _shelf(house: House, caller: Caller, model: str) -> tuple[Any, str]:
    """The collection and the mode that a model's name means. Raises NotFound."""
    if not model.startswith(PREFIX):
        raise NotFound(f"There is no model {quoted(model)}: GET /v1/models lists them.")
    name = model.removeprefix(PREFIX)
    head, colon, mode = name.rpartition(":")
    if colon and (mode in modes() or mode == AUTO):
        return house.stocked(head, caller), mode
    return house.stocked(name, caller), AUTO


def _turns(messages: Sequence[Message]) -> list[Turn]:
    """What was asked and answered before; a question without an answer is left out."""
    turns = []
    question = ""
    for one in messages:
        if one.role == "user":
            question = one.text
        elif one.role == "assistant" and question and one.text:
            turns.append(Turn(question, one.text))
            question = ""
    return turns


def _counts(answer: AnswerView) -> list[dict[str, int]]:
    return [one.model_dump() for one in answer.usage.values()]


def _usage(usage: Usage) -> dict[str, Any]:
    sent, written = usage.prompt_tokens, usage.completion_tokens
    return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "fabula"}


def _error_chunk(error: FabulaError) -> tuple[str, Mapping[str, Any]]:
    """What a stream tells of an error, where OpenAI's clients look."""
    return "", {"error": _error(describe_problem(error))}


def _error(problem: Mapping[str, Any]) -> dict[str, Any]:
    return {"message": problem["detail"], "type": problem["title"], "code": problem["status"]}


def _line(name: str, data: Mapping[str, Any], id: str = "") -> str:
    """A chunk as OpenAI's clients read it."""
    told = "[DONE]" if name == "done" else json.dumps(data, ensure_ascii=False)
    return f"data: {told}\n\n"
