"""Ask a collection: search it, answer a question, and compare the answers of several modes.

The API, the page, MCP and the OpenAI interface all use these functions.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from fabula.app.asking import Query
from fabula.app.collection import Collection
from fabula.ask.quotes import quote_cited
from fabula.errors import FabulaError, first_problem
from fabula.graph.path import Path
from fabula.models import Turn
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.service.core import errors
from fabula.service.core.views import (
    MoneyView,
    PassageView,
    QuoteView,
    ReadView,
    StepView,
    UsageByStep,
    View,
    money,
    usage_view,
)
from fabula.service.core.write_behind import write_behind

if TYPE_CHECKING:
    from fabula.service.core.accounts import Ledger
    from fabula.service.core.callers import Caller
    from fabula.service.core.conversations import Conversations, Retaken
    from fabula.service.core.idempotency import Idempotency
    from fabula.service.observe.metrics import Metrics
from fabula.service.core.views import AnswerView

LOG = logging.getLogger("fabula.service")


Event = tuple[Literal["retrieval", "passages", "token", "answer", "error"], dict[str, Any]]


Name = Annotated[str, StringConstraints(max_length=2000)]


Names = Annotated[list[Name], Field(max_length=100)]


Level = Annotated[int, Field(ge=0, le=99)]


NEW = "new"
"""The `conversation` of a question that begins one."""


NOT_SAVED = (
    "The answer is complete, but could not be saved in its conversation yet, as Neo4j does not "
    "accept it. The service tries again for about two minutes: copy what you need."
)


class Asking(BaseModel):
    """How a question is asked; what is left out is as the settings say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document: Name = Field("", description="only this one: its id, title or file")
    aspects: Names = Field([], description="only summaries of these; '' is chunks and details")
    kinds: Names = Field([], description="only these: chunk, summary, detail, ...")
    levels: tuple[Level, Level] | None = Field(None, description="the lowest and the highest")
    k: int | None = Field(None, ge=1, le=200, description="passages that are shown")
    context_tokens: int | None = Field(
        None, ge=16, le=200_000, description="tokens that an answer is given to read"
    )
    rewrite: Literal["none", "queries", "answer"] | None = Field(
        None, description="what is searched with beside the question"
    )
    rerank: bool | None = Field(None, description="have a model put what is found in order")
    diversity: float | None = Field(None, ge=0, le=1, description="0: the best; 1: unlike ones")
    expand: Literal["none", "parents", "neighbours"] | None = Field(
        None, description="what stands above or beside what is found, too"
    )
    context: Literal["auto", "passages", "sentences"] | None = Field(
        None, description="whole passages are read, or the best sentences of many"
    )
    knobs: dict[str, Any] = Field(
        {}, max_length=50, description="the mode's own, as {'hippo.damping': 0.5}"
    )

    @classmethod
    def made(cls, **given: Any) -> Self:
        """That of what came in otherwise than as JSON. Raises Problem for what it can't hold."""
        try:
            return cls(**given)
        except ValidationError as error:
            raise errors.Problem(f"That can't be asked: {first_problem(error)}.") from error


class Question(Asking):
    """A question, and how it is asked."""

    question: str = Field(min_length=1, max_length=20_000)
    mode: Name | None = Field(
        None, description="a mode's name, several as 'hippo,hybrid', or 'auto'"
    )
    conversation: str | None = Field(
        None,
        max_length=64,
        description="the id of the conversation that the question is part of; 'new' begins one",
    )
    note: str = Field("", max_length=2000, description="kept with the turn; no model sees it")

    def query(self, collection: Collection) -> Query:
        """It as the library asks it. Raises FabulaError for what can't be asked."""
        own = self.model_dump(exclude={"question", "conversation", "note"}, exclude_defaults=True)
        return Query.of(self.question, collection.settings, **own)


class Comparison(Asking):
    """A question for several modes."""

    question: str = Field(min_length=1, max_length=20_000)
    modes: list[Name] = Field(min_length=2, max_length=4)

    def questions(self) -> list[Question]:
        """The question once for each mode; the same mode twice is asked once."""
        own = self.model_dump(exclude={"modes"}, exclude_defaults=True)
        return [Question(**own, mode=mode) for mode in dict.fromkeys(self.modes)]


class Found(MoneyView):
    """The passages that serve a question best, best first, and the way to them."""

    question: str
    hits: list[PassageView]
    path: list[StepView]
    usage: UsageByStep


class Compared(View):
    """What one mode answered; or why it did not, as a problem says it."""

    mode: str
    answer: AnswerView | None = None
    problem: dict[str, Any] | None = None


class Shared(View):
    """A passage that answers of several modes were given."""

    id: str
    modes: list[str]


class ComparisonView(View):
    """The answers side by side, and the passages that more than one of them was given."""

    question: str
    answers: list[Compared]
    shared: list[Shared]


@dataclass(frozen=True, slots=True)
class AskingServices:
    """What answering questions needs of the service."""

    ledger: Ledger
    metrics: Metrics
    conversations: Conversations


def search(
    services: AskingServices,
    collection: Collection,
    caller: Caller,
    question: Question,
    stop: Stop | None = None,
) -> Found:
    """Return the passages that answer a question best.

    Args:
        services: What answering needs of the service.
        collection: What is searched.
        caller: Who asks, and pays.
        question: The question.
        stop: Ends the search once it is set, from any thread.

    """
    services.ledger.refuse_spent(caller)
    meter = Meter(services.ledger.account(caller, collection.name, "search"))
    path, began = Path(), time.perf_counter()
    hits = collection.retrieve(question.query(collection), meter=meter, path=path, stop=stop)
    services.metrics.retrieved(_mode(path), time.perf_counter() - began)
    return Found(
        question=question.question,
        hits=[PassageView.of(hit) for hit in hits],
        path=_steps(path),
        usage=usage_view(meter.usage()),
        **money(collection.settings, meter.usage()),
    )


def ask(
    services: AskingServices,
    collection: Collection,
    caller: Caller,
    question: Question,
    *,
    idempotency: Idempotency | None = None,
    stop: Stop | None = None,
) -> Answering | Answered:
    """Find the passages for an answer, and return the answer that is to be written from them.

    A question with a `conversation` becomes a turn of it, and is answered with its earlier turns.

    Args:
        services: What answering needs of the service.
        collection: What is asked.
        caller: Who asks, and pays.
        question: The question; its conversation may be NEW.
        idempotency: The Idempotency-Key of a question in a conversation: for a day, the same
            request gets the same answer.
        stop: Ends the search and the answer once it is set, from any thread.

    Raises:
        NotFound: The caller has no such conversation.

    """
    if question.conversation is None:
        return Answering(services, collection, caller, question, stop=stop)
    # Checked first, so that an invalid question does not become a turn.
    question.query(collection)
    known = (
        services.conversations.find_answer(collection.name, idempotency) if idempotency else None
    )
    if isinstance(known, AnswerView):
        return Answered(known)
    if known:
        return _ask_again(services, collection, caller, question, known, stop)
    conversation = question.conversation
    if conversation == NEW:
        conversation = services.conversations.begin(caller, collection.name).id
        question = question.model_copy(update={"conversation": conversation})
    history = services.conversations.history(caller, collection.name, conversation)
    options = question.model_dump(
        exclude={"question", "conversation", "note"}, exclude_defaults=True
    )
    turn = services.conversations.begin_turn(
        caller,
        collection.name,
        conversation,
        question.question,
        options,
        question.note,
        idempotency,
    )
    try:
        return Answering(services, collection, caller, question, history, turn, stop)
    except BaseException:
        _drop_turn(services, collection, turn)
        raise


def _ask_again(
    services: AskingServices,
    collection: Collection,
    caller: Caller,
    question: Question,
    turn: Retaken,
    stop: Stop | None,
) -> Answering:
    """Answer a turn again whose answer was incomplete, with the turns before it.

    The first answer was not finished in the background: when a reader leaves, the model's call is
    ended, so that nothing is paid for that nobody reads.
    """
    try:
        history = services.conversations.history(
            caller, collection.name, turn.conversation, before=turn.number
        )
        question = question.model_copy(update={"conversation": turn.conversation})
        return Answering(services, collection, caller, question, history, turn.id, stop)
    except BaseException:
        _drop_turn(services, collection, turn.id)
        raise


def _drop_turn(services: AskingServices, collection: Collection, turn: str) -> bool:
    drop = partial(services.conversations.drop_turn, collection.name, turn)
    return write_behind(drop, f"The deletion of turn {turn}, which has no answer,")


class Answering:
    """An answer that is being written: read its `events`, or its `view` once it is complete.

    `close` ends it from any thread; the part that was written by then is saved.
    """

    def __init__(
        self,
        services: AskingServices,
        collection: Collection,
        caller: Caller,
        question: Question,
        history: Sequence[Turn] = (),
        turn: str | None = None,
        stop: Stop | None = None,
    ) -> None:
        services.ledger.refuse_spent(caller)
        self._services, self._collection, self._caller = services, collection, caller
        self._question, self._turn = question, turn
        self._path = Path()
        self._began = time.perf_counter()
        self._is_closed = False
        self._ending = threading.Lock()
        self._is_ended = False
        self._is_complete = False
        """Whether the whole answer of the model was read."""
        self._is_saved: bool | None = None
        self._view: AnswerView | None = None
        # The ledger counts each call when it is answered, also if the reader leaves then.
        query, meter = (
            question.query(collection),
            Meter(services.ledger.account(caller, collection.name, "ask")),
        )
        self._stream = collection.stream(
            query, history=history, meter=meter, path=self._path, stop=stop
        )
        services.metrics.retrieved(_mode(self._path), time.perf_counter() - self._began)

    def events(self) -> Iterator[Event]:
        """Yield the retrieval, the passages, the pieces of the answer, and then the whole answer.

        If a model fails, the last event is the problem instead.
        """
        stream = self._stream
        steps = [step.model_dump() for step in _steps(self._path)]
        ids = {"conversation": self._question.conversation, "turn": self._turn}
        yield (
            "retrieval",
            {"mode": _mode(self._path), "sought": stream.sought, "path": steps} | ids,
        )
        context = [ReadView.of_passage(passage).model_dump() for passage in stream.context]
        yield "passages", {"context": context}
        try:
            for piece in self._pieces():
                yield "token", {"text": piece}
            if self._is_complete:
                # Saved before the event, so that whoever has read it finds the turn. A Neo4j that
                # is down delays the event by at most two seconds, and is no error.
                self._end()
                yield "answer", self._final().model_dump()
        except FabulaError as error:
            yield "error", errors.describe_problem(error)
        finally:
            self._end()

    def view(self) -> AnswerView:
        """Wait for the whole answer, and return it. Raises ModelError if a model fails."""
        try:
            for _ in self._pieces():
                pass
        finally:
            self._end()
        return self._final()

    def close(self) -> None:
        """End the model's call, and save the part that was written."""
        self._is_closed = True
        self._stream.close()
        self._end()

    def _pieces(self) -> Iterator[str]:
        """Yield the pieces of the answer."""
        is_first = True
        for piece in self._stream:
            if is_first:
                self._services.metrics.first_token(time.perf_counter() - self._began)
                is_first = False
            yield piece
        self._is_complete = not self._is_closed

    def _final(self) -> AnswerView:
        """Return the whole answer, with whether it was saved."""
        update = {"kept": self._is_saved, "warning": NOT_SAVED if self._is_saved is False else ""}
        return self._answer_view().model_copy(update=update)

    def _answer_view(self) -> AnswerView:
        """Return the answer after its end: the same for the reader and for the turn."""
        if self._view is None:
            self._view = self._make_view()
        return self._view

    def _make_view(self) -> AnswerView:
        answer, settings = self._stream.answer, self._collection.settings
        return AnswerView(
            question=answer.question,
            sought=self._stream.sought,
            answer=answer.text,
            mode=_mode(self._path),
            model=settings.model,
            offline=settings.offline,
            cited=list(answer.cited),
            context=[ReadView.of_passage(passage) for passage in answer.context],
            quotes=[QuoteView.of_quote(quote) for quote in answer.quotes or quote_cited(answer)],
            hits=[PassageView.of(hit) for hit in answer.hits],
            path=_steps(self._path),
            usage=usage_view(answer.usage),
            **money(settings, answer.usage),
            seconds=round(time.perf_counter() - self._began, 3),
            conversation=self._question.conversation,
            turn=self._turn,
        )

    def _end(self) -> None:
        """Save the turn, once, also if the reader has left."""
        with self._ending:
            if self._is_ended:
                return
            self._is_ended = True
        if self._turn is None:
            return
        # '' if a model failed: then there is no answer to save.
        if not self._stream.said:
            _drop_turn(self._services, self._collection, self._turn)
            return
        save = partial(
            self._services.conversations.end_turn,
            self._collection.name,
            self._turn,
            self._answer_view().model_copy(update={"kept": True}),
            left=not self._is_complete,
        )
        self._is_saved = write_behind(save, f"The answer of turn {self._turn}")


class Answered:
    """An answer that was given before, with the interface of `Answering`."""

    def __init__(self, view: AnswerView) -> None:
        self._view = view

    def events(self) -> Iterator[Event]:
        """Yield the events of `Answering`, with the answer in one piece."""
        view = self._view.model_dump()
        names = ("mode", "sought", "path", "conversation", "turn")
        yield "retrieval", {name: view[name] for name in names}
        yield "passages", {"context": view["context"]}
        yield "token", {"text": view["answer"]}
        yield "answer", view

    def view(self) -> AnswerView:
        """Return the whole answer."""
        return self._view

    def close(self) -> None:
        """Do nothing: no call is under way."""


def compare(
    services: AskingServices,
    collection: Collection,
    caller: Caller,
    comparison: Comparison,
    stop: Stop | None = None,
) -> ComparisonView:
    """Answer a question with several modes, and find the passages that their answers share.

    Args:
        services: What answering needs of the service.
        collection: What is asked.
        caller: Who asks, and pays.
        comparison: The question and the modes.
        stop: Ends the answers once it is set, from any thread.

    Raises:
        FabulaError: No mode could answer. If some could, the others have a `problem`.

    """
    answers: list[Compared] = []
    failures: list[FabulaError] = []
    stop = stop or Stop()
    for question in comparison.questions():
        mode = str(question.mode)
        try:
            view = ask(services, collection, caller, question, stop=stop).view()
            answers.append(Compared(mode=mode, answer=view))
        except FabulaError as error:
            if stop.is_set():
                raise
            failures.append(error)
            answers.append(Compared(mode=mode, problem=errors.describe_problem(error)))
    if len(failures) == len(answers):
        raise failures[0]
    return ComparisonView(question=comparison.question, answers=answers, shared=share(answers))


def share(answers: Sequence[Compared]) -> list[Shared]:
    """Return the passages that several answers were given, in the order of the first of them."""
    modes_of: dict[str, list[str]] = {}
    for compared in answers:
        for passage in compared.answer.context if compared.answer else ():
            modes_of.setdefault(passage.id, []).append(compared.mode)
    return [Shared(id=id, modes=modes) for id, modes in modes_of.items() if len(modes) > 1]


def _mode(path: Path) -> str:
    """Return the modes that were used, as the trace of the retrieval names them."""
    return next((step.note for step in path.root.steps if step.name == "retrieve"), "")


def _steps(path: Path) -> list[StepView]:
    return [StepView.of(step) for step in path.root.steps]
