"""OpenAI's interface: clients of OpenAI's API ask a collection as if it were a model.

`fabula/<collection>` is a model, and `fabula/<collection>:<mode>` asks in that mode. Citations
appear in the text as [1], are listed under it with links to the page, and are annotations of the
message.
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

from fabula.app.collection import Collection
from fabula.ask.answer import CITATION
from fabula.ask.modes import modes
from fabula.ask.query import AUTO
from fabula.errors import FabulaError, NotFound, SettingsError
from fabula.models import Prompt, Turn
from fabula.models.counted import Meter
from fabula.models.replies import complete
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.service.core.asking import Answering, Question
from fabula.service.core.errors import describe_problem
from fabula.service.core.views import AnswerView, ReadView
from fabula.service.http.addresses import address
from fabula.service.http.dependencies import Caller, Reader, State
from fabula.service.http.streams import EventStream, run_while_connected
from fabula.service.state import ServiceState
from fabula.text.locator import name_labels
from fabula.text.names import quote_name

router = APIRouter(prefix="/v1", tags=["openai"])
PREFIX = "fabula/"
TASK = "### Task:"
"""How Open WebUI begins requests for its own use: titles, tags, follow-up questions."""
MAX_TASK_TOKENS = 500
"""Tokens of the reply to a task."""
MAX_TASK_CHARACTERS = 50_000
"""Characters of a task with its system message: enough for the last turns of a chat, not a book."""


MAX_MESSAGES = 10_000
"""Messages of one request; the last ones are the history of the question."""
MAX_PARTS = 1_000
"""Parts of one message."""


class ContentPart(BaseModel):
    """A part of a message; only its text is read."""

    model_config = ConfigDict(extra="ignore")

    type: str = "text"
    text: str = ""


class Message(BaseModel):
    """A message of a chat."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: (
        str | Annotated[list[ContentPart], Field(max_length=MAX_PARTS, fail_fast=True)] | None
    ) = None

    @property
    def text(self) -> str:
        """The text of all its parts."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class Completion(BaseModel):
    """A request; other parameters of clients, such as temperature, are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    fabula: bool = False
    """Whether the reply includes the context, usage by step, money and path (`extra_body`)."""


Chunks = Iterator[tuple[str, Mapping[str, Any]]]


@router.get("/models", summary="The collections, as models")
def list_models(state: State, caller: Reader) -> dict[str, Any]:
    """List the collections that your key may see. `:hybrid` after a name asks in that mode."""
    names = state.visible_collections(caller)
    return {"object": "list", "data": [_model(f"{PREFIX}{name}") for name in names]}


@router.get("/models/{name:path}", summary="A collection, as a model")
def find_model(name: str, state: State, caller: Reader) -> dict[str, Any]:
    """Return one of the collections as a model."""
    _find_collection(state, caller, name)
    return _model(name)


@router.post("/chat/completions", summary="An answer, as a model's", response_model=None)
async def complete_chat(
    body: Completion, state: State, caller: Reader, request: Request
) -> Response:
    """Answer the last user message from the collection that the model names.

    The messages before it are the history of the question. A message that begins with `### Task:`,
    such as Open WebUI's requests for titles and tags, goes to the chat model without a search.
    """
    places = [at for at, message in enumerate(body.messages) if message.role == "user"]
    if not places or not body.messages[places[-1]].text.strip():
        raise SettingsError("The request has no user message with text to answer.")
    question, history = body.messages[places[-1]].text, body.messages[: places[-1]]
    stop = Stop()
    begin: Callable[[], _CitedCompletion | _TaskCompletion]
    if question.lstrip().startswith(TASK):
        begin = partial(_TaskCompletion, state, caller, body, question)
    else:
        base = (state.serving.url or str(request.base_url)).rstrip("/")
        begin = partial(_CitedCompletion, state, caller, body, question, history, base, stop)
    completion: _CitedCompletion | _TaskCompletion = await run_while_connected(
        request, begin, stop.set, state.question_threads
    )
    if body.stream:
        return EventStream(completion, format=_write_event, make_error=_error_event)
    return JSONResponse(
        await run_while_connected(
            request, completion.whole, completion.close, state.question_threads
        )
    )


class _CitedCompletion:
    """An answer from a collection, with a list of its citations and annotations."""

    def __init__(
        self,
        state: ServiceState,
        caller: Caller,
        body: Completion,
        question: str,
        history: Sequence[Message],
        base: str,
        stop: Stop,
    ) -> None:
        collection, mode = _find_collection(state, caller, body.model)
        self._body, self._base, self._collection = body, base, collection.name
        self._format = _CompletionFormat(body.model)
        self._answering = Answering(
            state.asking_services,
            collection,
            caller,
            Question.made(question=question, mode=mode),
            _turns(history),
            None,
            stop,
        )

    def events(self) -> Chunks:
        """Yield the pieces of the answer, then the list of citations, and the annotations."""
        yield "", self._format.chunk({"role": "assistant", "content": ""})
        for name, data in self._answering.events():
            if name == "token":
                yield "", self._format.chunk({"content": data["text"]})
            elif name == "error":
                yield "", {"error": _error(data)}
            elif name == "answer":
                yield from self._last_chunks(AnswerView.model_validate(data))
        yield "done", {}

    def _last_chunks(self, answer: AnswerView) -> Chunks:
        citations = self._citation_list(answer)
        annotations = {"annotations": self._annotations(answer)}
        yield "", self._format.chunk(({"content": citations} if citations else {}) | annotations)
        last = self._format.chunk({}, "stop")
        yield "", last | ({"fabula": self._details(answer)} if self._body.fabula else {})
        if self._body.stream_options.include_usage:
            yield "", self._format.chunk(None) | {"usage": _usage(_total_usage(answer))}

    def whole(self) -> dict[str, Any]:
        """Return the whole completion. Raises ModelError."""
        answer = self._answering.view()
        message = {
            "role": "assistant",
            "content": answer.answer + self._citation_list(answer),
            "refusal": None,
            "annotations": self._annotations(answer),
        }
        completion = self._format.whole(message, _total_usage(answer))
        return completion | ({"fabula": self._details(answer)} if self._body.fabula else {})

    def close(self) -> None:
        """Stop writing the answer."""
        self._answering.close()

    def _cited_passages(self, answer: AnswerView) -> list[ReadView]:
        by_number = {passage.number: passage for passage in answer.context}
        return [by_number[number] for number in answer.cited]

    def _url(self, passage: ReadView) -> str:
        chars = f"{passage.start}-{passage.end}"
        return self._base + address("c", self._collection, "d", passage.document, chars=chars)

    def _citation_list(self, answer: AnswerView) -> str:
        """Format the cited passages as a Markdown list with links, which any client can show."""
        lines = []
        for passage in self._cited_passages(answer):
            labels = (name_labels("page", passage.pages), name_labels("line", passage.lines))
            title = " · ".join(filter(None, (passage.title, passage.section, *labels)))
            label = " ".join(title.replace("]", "").replace("[", "").split())
            lines.append(f"- [{passage.number}] [{label}]({self._url(passage)})")
        return "\n\n" + "\n".join(lines) if lines else ""

    def _annotations(self, answer: AnswerView) -> list[dict[str, Any]]:
        """Return an annotation for each citation, with its characters in the answer; [] if none."""
        cited = {passage.number: passage for passage in self._cited_passages(answer)}
        annotations = []
        for match in CITATION.finditer(answer.answer):
            for number in map(int, match[1].replace(";", ",").split(",")):
                if number in cited:
                    citation = {
                        "start_index": match.start(),
                        "end_index": match.end(),
                        "url": self._url(cited[number]),
                        "title": cited[number].title,
                    }
                    annotations.append({"type": "url_citation", "url_citation": citation})
        return annotations

    def _details(self, answer: AnswerView) -> dict[str, Any]:
        return answer.model_dump(include={"context", "usage", "money", "unpriced", "path"})


class _TaskCompletion:
    """The chat model's reply to a client's own task; nothing is searched for it."""

    def __init__(self, state: ServiceState, caller: Caller, body: Completion, prompt: str) -> None:
        self._state, self._caller, self._body = state, caller, body
        self._collection, _ = _find_collection(state, caller, body.model)
        if state.app.settings.offline:
            raise SettingsError(
                "This service has no chat model, so it can only answer questions about the books."
            )
        state.ledger.refuse_spent(caller)
        system = next((message.text for message in body.messages if message.role == "system"), "")
        if (size := len(system) + len(prompt)) > MAX_TASK_CHARACTERS:
            raise SettingsError(
                f"The task has {size:,} characters; at most {MAX_TASK_CHARACTERS:,} are passed on."
            )
        self._prompt = Prompt(system, prompt, max_tokens=MAX_TASK_TOKENS, temperature=0.0)
        self._format = _CompletionFormat(body.model)

    def events(self) -> Chunks:
        """Yield the reply in one piece."""
        text, usage = self._ask_model()
        yield "", self._format.chunk({"role": "assistant", "content": text})
        yield "", self._format.chunk({}, "stop")
        if self._body.stream_options.include_usage:
            yield "", self._format.chunk(None) | {"usage": _usage(usage)}
        yield "done", {}

    def whole(self) -> dict[str, Any]:
        """Return the whole completion. Raises ModelError."""
        text, usage = self._ask_model()
        return self._format.whole({"role": "assistant", "content": text, "annotations": []}, usage)

    def close(self) -> None:
        """Do nothing: the call is short, and is paid for once it has begun."""

    def _ask_model(self) -> tuple[str, Usage]:
        """Ask the chat model, which is a paid call."""
        meter = Meter(self._state.ledger.account(self._caller, self._collection.name, "task"))
        return complete(self._collection.models.chat(meter, "task"), self._prompt), meter.total()


class _CompletionFormat:
    """Formats all chunks of one completion, or the whole of it, with the same id and time."""

    def __init__(self, model: str) -> None:
        self._head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": model,
        }

    def chunk(self, delta: Mapping[str, Any] | None, finish: str | None = None) -> dict[str, Any]:
        """Return a chunk of a stream; without a delta, one that only has room for the usage."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        choices = [] if delta is None else [choice]
        return self._head | {"object": "chat.completion.chunk", "choices": choices}

    def whole(self, message: Mapping[str, Any], usage: Usage) -> dict[str, Any]:
        """Return the whole completion."""
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return self._head | {
            "object": "chat.completion",
            "choices": [choice],
            "usage": _usage(usage),
        }


def _find_collection(state: ServiceState, caller: Caller, model: str) -> tuple[Collection, str]:
    """Return the collection and the mode that a model's name refers to. Raises NotFound."""
    if not model.startswith(PREFIX):
        raise NotFound(f"There is no model {quote_name(model)}: GET /v1/models lists them.")
    name = model.removeprefix(PREFIX)
    # A collection's own name may contain a colon: only a mode's name after it is a mode.
    head, colon, mode = name.rpartition(":")
    if colon and (mode in modes() or mode == AUTO):
        return state.filled_collection(head, caller), mode
    return state.filled_collection(name, caller), AUTO


def _turns(messages: Sequence[Message]) -> list[Turn]:
    """Return the questions and answers of a chat; a question without an answer is left out."""
    turns = []
    question = ""
    for message in messages:
        if message.role == "user":
            question = message.text
        elif message.role == "assistant" and question and message.text:
            turns.append(Turn(question, message.text))
            question = ""
    return turns


def _total_usage(answer: AnswerView) -> Usage:
    """Return the usage of all steps of an answer."""
    return sum((Usage.read(step.model_dump()) for step in answer.usage.values()), Usage())


def _usage(usage: Usage) -> dict[str, Any]:
    sent, written = usage.prompt_tokens, usage.completion_tokens
    return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "fabula"}


def _error_event(error: FabulaError) -> tuple[str, Mapping[str, Any]]:
    """Return the event of a stream that failed, where OpenAI's clients look for an error."""
    return "", {"error": _error(describe_problem(error))}


def _error(problem: Mapping[str, Any]) -> dict[str, Any]:
    return {"message": problem["detail"], "type": problem["title"], "code": problem["status"]}


def _write_event(name: str, data: Mapping[str, Any], id: str = "") -> str:
    """Format an event as OpenAI's clients read it."""
    text = "[DONE]" if name == "done" else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n"
