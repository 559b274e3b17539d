"""OpenAI's interface: clients of OpenAI's API ask a collection as if it were a model.

`fabula/<collection>` is a model, and `fabula/<collection>:<mode>` asks in that mode;
`fabula/<collection>,<collection>` asks several together. Citations
appear in the text as [1], are listed under it with links to the page, and are annotations of the
message.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from fabula.ask.answer import CITATION
from fabula.ask.modes import modes
from fabula.ask.query import USUAL_MODE
from fabula.ask.scope import AskedTurn, QuestionScope
from fabula.errors import FabulaError, NotFound, SettingsError, did_you_mean
from fabula.export.markdown import describe_quotations
from fabula.library.collection import Collection
from fabula.models import Prompt, Turn
from fabula.models.counted import Meter
from fabula.models.replies import CutReply, complete
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.operations.shown_answer import ShownAnswer, ShownPassage, to_json
from fabula.service.core.asking import Answering, Question
from fabula.service.core.client_tasks import is_client_task
from fabula.service.core.errors import Problem, describe_problem
from fabula.service.http.addresses import address, origin_of
from fabula.service.http.dependencies import Caller, Reader, State
from fabula.service.http.route_rules import declare
from fabula.service.http.streams import EventStream, run_while_connected
from fabula.service.state import ServiceState
from fabula.text.locator import name_labels
from fabula.text.names import quote_name

router = APIRouter(prefix="/v1", tags=["openai"])
PREFIX = "fabula/"
READ_SO_FAR = "- Read so far: "
"""How the line of an answer begins that says up to where its reader had read. A client sends its
answers back as the history of the next question, and this line is all that says what each may tell.
"""
READ_LINE = re.compile(rf"^{READ_SO_FAR}.*$", re.MULTILINE)
READ_LINK = re.compile(r"/d/([^/?()\s]+)(?:\?chars=\d+-(\d+))?\)")
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


NEUTRAL: Mapping[str, Sequence[Any]] = {
    "n": (1,),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "modalities": (["text"],),
    "audio": (),
    "web_search_options": (),
}
"""Parameters that change what a reply is and are not supported, with the values beside null that
ask for what is done anyway. Others, such as temperature, max_tokens and stop, are ignored."""


class Completion(BaseModel):
    """A request; other parameters of clients, such as temperature, are ignored."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, values: Any) -> Any:
        """Take null for what is left out, as OpenAI does."""
        if not isinstance(values, dict):
            return values
        return {name: value for name, value in values.items() if value is not None}

    model: str
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    fabula: bool = False
    """Whether the reply includes the context, quotations, the reader's place, usage by step, money
    and path (`extra_body`)."""
    document: str | list[str] = Field("", max_length=2000)
    """Ask only this document, or these (`extra_body`)."""
    where: str = Field("", max_length=2000)
    """Ask only documents whose metadata fulfil this condition (`extra_body`)."""
    until: str = Field("", max_length=2000)
    """Up to where the reader has read the document, as the option of a question (`extra_body`)."""

    def refuse_unsupported(self) -> None:
        """Raise Problem for a parameter that would change the reply and is not supported."""
        for name, value in (self.model_extra or {}).items():
            if name in NEUTRAL and value is not None and value not in NEUTRAL[name]:
                raise Problem(
                    f"{name} is not supported: leave it out. An answer is one text with citations."
                )


DETAILS = (
    *("context", "usage", "money", "unpriced", "path", "quotations", "weak_citations"),
    "missing_citations",
    *("document", "place", "brief", "note", "warning"),
)
"""What a reply includes of an answer if the request asks for `fabula`."""
Chunks = Iterator[tuple[str, Mapping[str, Any]]]


@router.get("/models", summary="The collections, as models")
def list_models(state: State, caller: Reader) -> dict[str, Any]:
    """List the collections that your key may see. `:hybrid` after a name asks in that mode."""
    names = state.visible_collections(caller)
    return {"object": "list", "data": [_model(f"{PREFIX}{name}") for name in names]}


@router.get("/models/{name:path}", summary="A collection, as a model")
def find_model(name: str, state: State, caller: Reader) -> dict[str, Any]:
    """Return one of the collections as a model."""
    _find_collections(state, caller, name)
    return _model(name)


@router.post("/chat/completions", summary="An answer, as a model's", response_model=None)
@declare(is_question=True)
async def complete_chat(
    body: Completion, state: State, caller: Reader, request: Request
) -> Response:
    """Answer the last user message from the collection that the model names.

    The messages before it are the history of the question. What a client asks for itself, such as a
    title of the chat, goes to the chat model without a search.
    """
    body.refuse_unsupported()
    places = [at for at, message in enumerate(body.messages) if message.role == "user"]
    if not places or not body.messages[places[-1]].text.strip():
        raise SettingsError("The request has no user message with text to answer.")
    question, history = body.messages[places[-1]].text, body.messages[: places[-1]]
    stop = Stop()
    begin: Callable[[], _CitedCompletion | _TaskCompletion]
    if is_client_task([message.text for message in body.messages]):
        begin = partial(_TaskCompletion, state, caller, body)
    else:
        base = origin_of(state.serving.url or str(request.base_url))
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
        collections, mode = _find_collections(state, caller, body.model)
        self._body, self._base, self._collection = body, base, collections[0].name
        self._format = _CompletionFormat(body.model)
        asked = Question.parse_values(
            question=question,
            mode=mode,
            document=body.document,
            where=body.where,
            until=body.until,
        )
        self._answering = Answering(
            state.asker(caller, stop),
            collections,
            asked.query(collections[0]),
            is_across=len(collections) > 1,
            history=read_turns(history),
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
                yield from self._last_chunks(data)
        yield "done", {}

    def _last_chunks(self, answer: ShownAnswer) -> Chunks:
        citations = self._citation_list(answer)
        annotations = {"annotations": self._annotations(answer)}
        yield "", self._format.chunk(({"content": citations} if citations else {}) | annotations)
        last = self._format.chunk({}, _finish_reason(cut=answer.cut))
        yield "", last | ({"fabula": self._details(answer)} if self._body.fabula else {})
        if self._body.stream_options.include_usage:
            yield (
                "",
                self._format.chunk(None) | {"usage": _usage(answer.total_usage)},
            )

    def whole(self) -> dict[str, Any]:
        """Return the whole completion. Raises ModelError."""
        answer = self._answering.view()
        message = {
            "role": "assistant",
            "content": answer.answer + self._citation_list(answer),
            "refusal": None,
            "annotations": self._annotations(answer),
        }
        completion = self._format.whole(message, answer.total_usage, cut=answer.cut)
        return completion | ({"fabula": self._details(answer)} if self._body.fabula else {})

    def close(self) -> None:
        """Stop writing the answer."""
        self._answering.close()

    def _cited_passages(self, answer: ShownAnswer) -> list[ShownPassage]:
        by_number = {passage.number: passage for passage in answer.context}
        return [by_number[number] for number in answer.cited]

    def _url(self, passage: ShownPassage) -> str:
        chars = f"{passage.start}-{passage.end}"
        of = passage.collection or self._collection
        return self._base + address("c", of, "d", passage.document, chars=chars)

    def _citation_list(self, answer: ShownAnswer) -> str:
        """Format the cited passages as a Markdown list with links, which any client can show."""
        lines = []
        for passage in self._cited_passages(answer):
            labels = (name_labels("page", passage.pages), name_labels("line", passage.lines))
            parts = (passage.collection, passage.title, passage.section, *labels)
            title = " · ".join(filter(None, parts))
            label = " ".join(title.replace("]", "").replace("[", "").split())
            lines.append(f"- [{passage.number}] [{label}]({self._url(passage)})")
        # Clients show nothing but the text, so what is not in the books is said there.
        lines += [f"- {line}" for line in describe_quotations(answer.quotations)]
        weak = dict.fromkeys(each.number for each in answer.weak_citations)
        lines += [f"- Weak citation: [{number}] has no word of its sentence." for number in weak]
        if answer.warning:
            lines.append(f"- {answer.warning}")
        lines += [f"- Left out: collection {name}. {why}" for name, why in answer.left_out.items()]
        if answer.place:
            name = " ".join(answer.place.name.replace("]", "").replace("[", "").split())
            lines.append(f"{READ_SO_FAR}{name}. {self._links_to_place(answer.place)}")
        return "\n\n" + "\n".join(lines) if lines else ""

    def _links_to_place(self, place: QuestionScope) -> str:
        """Return links to what was read; `_scope_of` reads the place from them again."""
        read = {f"Volume {at}": (id, "") for at, id in enumerate(place.volumes, start=1)}
        if place.until:
            # The last character that was read, as the page highlights it.
            read = {"Here": (place.document, f"{place.until - 1}-{place.until}")}
        return " ".join(
            f"[{name}]({self._base}{address('c', self._collection, 'd', document, chars=chars)})"
            for name, (document, chars) in read.items()
        )

    def _annotations(self, answer: ShownAnswer) -> list[dict[str, Any]]:
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

    def _details(self, answer: ShownAnswer) -> dict[str, Any]:
        return {name: value for name, value in to_json(answer).items() if name in DETAILS}


class _TaskCompletion:
    """The chat model's reply to a client's own task; nothing is searched for it."""

    def __init__(self, state: ServiceState, caller: Caller, body: Completion) -> None:
        self._state, self._caller, self._body = state, caller, body
        [self._collection, *_], _ = _find_collections(state, caller, body.model)
        if state.app.settings.offline:
            raise SettingsError(
                "This service has no chat model, so it can only answer questions about the books."
            )
        state.ledger.refuse_spent(caller)
        *before, last = body.messages
        system = next((message.text for message in before if message.role == "system"), "")
        # Some clients ask about the messages before, and others write these into their request.
        chat = [f"{each.role}: {each.text}" for each in before if each.role != "system"]
        prompt = "\n\n".join((*chat, last.text))
        if (size := len(system) + len(prompt)) > MAX_TASK_CHARACTERS:
            raise SettingsError(
                f"The task has {size:,} characters; at most {MAX_TASK_CHARACTERS:,} are passed on."
            )
        self._prompt = Prompt(system, prompt, max_tokens=MAX_TASK_TOKENS, temperature=0.0)
        self._format = _CompletionFormat(body.model)

    def events(self) -> Chunks:
        """Yield the reply in one piece."""
        text, is_cut, usage = self._ask_model()
        yield "", self._format.chunk({"role": "assistant", "content": text})
        yield "", self._format.chunk({}, _finish_reason(cut=is_cut))
        if self._body.stream_options.include_usage:
            yield "", self._format.chunk(None) | {"usage": _usage(usage)}
        yield "done", {}

    def whole(self) -> dict[str, Any]:
        """Return the whole completion. Raises ModelError."""
        text, is_cut, usage = self._ask_model()
        message = {"role": "assistant", "content": text, "annotations": []}
        return self._format.whole(message, usage, cut=is_cut)

    def close(self) -> None:
        """Do nothing: the call is short, and is paid for once it has begun."""

    def _ask_model(self) -> tuple[str, bool, Usage]:
        """Ask the chat model, a paid call; the second value is whether the text was cut."""
        meter = Meter(self._state.ledger.account(self._caller, self._collection.name, "task"))
        chat = self._collection.models.chat(meter, "task")
        try:
            return complete(chat, self._prompt), False, meter.total()
        except CutReply as reply:
            return reply.text, True, meter.total()


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

    def whole(self, message: Mapping[str, Any], usage: Usage, *, cut: bool) -> dict[str, Any]:
        """Return the whole completion."""
        finish = _finish_reason(cut=cut)
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        return self._head | {
            "object": "chat.completion",
            "choices": [choice],
            "usage": _usage(usage),
        }


def _finish_reason(*, cut: bool) -> str:
    """Return why a completion ended, as clients of OpenAI's interface read it."""
    return "length" if cut else "stop"


def _find_collections(
    state: ServiceState, caller: Caller, model: str
) -> tuple[list[Collection], str]:
    """Return the collections and the mode of a model's name, as `fabula/novels,plays:hybrid`."""
    if not model.startswith(PREFIX):
        raise NotFound(f"There is no model {quote_name(model)}: GET /v1/models lists them.")
    # No name of a collection may have a colon or a comma in it.
    names, _, mode = model.removeprefix(PREFIX).partition(":")
    several = [each.strip() for each in names.split(",") if each.strip()]
    if len(several) > 1:
        collections = state.collections(several, caller)
    else:
        collections = [state.filled_collection(names, caller)]
    if mode and mode not in modes():
        hint = did_you_mean(mode, modes(), f"There are: {', '.join(modes())}.")
        raise NotFound(f"There is no mode {quote_name(mode)}. {hint}")
    return collections, mode or USUAL_MODE


def read_turns(messages: Sequence[Message]) -> list[AskedTurn]:
    """Return the questions and answers of a chat; a question without an answer is left out."""
    turns = []
    question = ""
    for message in messages:
        if message.role == "user":
            question = message.text
        elif message.role == "assistant" and question and message.text:
            scope = _scope_of(message.text)
            answer = READ_LINE.sub("", message.text).rstrip()
            turns.append(AskedTurn(Turn(question, answer), scope))
            question = ""
    return turns


def _scope_of(answer: str) -> QuestionScope:
    """Return what an answer was asked of, as its own last line says; everything without one."""
    lines = READ_LINE.findall(answer)
    # The links follow the name of the place, which has no brackets.
    links = READ_LINK.findall(lines[-1].rpartition(". [")[2]) if lines else []
    if len(links) == 1 and links[0][1]:
        [(document, until)] = links
        return QuestionScope(unquote(document), int(until))
    return QuestionScope(volumes=tuple(unquote(document) for document, _ in links))


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


def _write_event(name: str, data: Mapping[str, Any], id: str) -> str:
    """Format an event as OpenAI's clients read it."""
    text = "[DONE]" if name == "done" else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n"
