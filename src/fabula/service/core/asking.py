"""Questions to a collection: what is found, what is answered, how modes compare.

The API, the page, MCP and OpenAI's interface all ask by these.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
)

from fabula.app.collection import Collection
from fabula.ask.query import Query, query_options
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
"""What a question says whose conversation begins with it."""


NOT_KEPT = (
    "The answer is complete, but it could not be kept in its conversation yet, as Neo4j does not "
    "take it. The service tries again for about two minutes: copy what you need."
)


BOUNDED: dict[str, tuple[Any, Any]] = {
    "document": (Name, ""),
    "aspects": (Names, []),
    "kinds": (Names, []),
    "levels": (tuple[Level, Level] | None, None),
    "k": (Annotated[int, Field(ge=1, le=200)] | None, None),
    "context_tokens": (Annotated[int, Field(ge=16, le=200_000)] | None, None),
    "knobs": (Annotated[dict[str, Any], Field(max_length=50)], {}),
}
"""Options whose values are bounded more closely for clients of the service than in the library."""


def _options_model() -> type[BaseModel]:
    """Return a model with the options of a `Query`, but for the mode; each may be left out."""
    fields = {}
    for name, option in query_options().items():
        if name != "mode":  # a comparison has several
            annotation, default = BOUNDED.get(name, (option.annotation | None, None))
            fields[name] = (annotation, Field(default, description=option.description))
    config = ConfigDict(frozen=True, extra="forbid")
    made: type[BaseModel] = create_model("Options", __config__=config, **cast(Any, fields))
    return made


if TYPE_CHECKING:  # a type checker cannot follow a model that is made at run time
    Options = BaseModel
else:
    Options = _options_model()


class Asking(Options):
    """How a question is asked; what is left out is as the settings say."""

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
    mode: Name | None = Field(None, description=query_options()["mode"].description)
    conversation: str | None = Field(
        None,
        max_length=64,
        description="the id of the conversation that the question is part of; 'new' begins one",
    )
    note: str = Field("", max_length=2000, description="kept with the turn; no model sees it")

    def query(self, shelf: Collection) -> Query:
        """It as the library asks it. Raises FabulaError for what can't be asked."""
        own = self.model_dump(exclude={"question", "conversation", "note"}, exclude_defaults=True)
        return Query.of(self.question, shelf.settings, **own)


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
class AskingParts:
    """What answering a question needs of the service: who pays, what is measured, what was said."""

    ledger: Ledger
    metrics: Metrics
    conversations: Conversations


def search(
    parts: AskingParts,
    shelf: Collection,
    caller: Caller,
    question: Question,
    stop: Stop | None = None,
) -> Found:
    """The passages that serve a question best; `stop`, set from any thread, ends what it asks."""
    parts.ledger.refuse_spent(caller)
    meter = Meter(parts.ledger.account(caller, shelf.name, "search"))
    path, began = Path(), time.perf_counter()
    hits = shelf.retrieve(question.query(shelf), meter=meter, path=path, stop=stop)
    parts.metrics.retrieved(_mode(path), time.perf_counter() - began)
    return Found(
        question=question.question,
        hits=[PassageView.of(hit) for hit in hits],
        path=_steps(path),
        usage=usage_view(meter.usage()),
        **money(shelf.settings, meter.usage()),
    )


def ask(
    parts: AskingParts,
    shelf: Collection,
    caller: Caller,
    question: Question,
    *,
    once: Idempotency | None = None,
    stop: Stop | None = None,
) -> Answering | Answered:
    """An answer that is to be written; what it is written from is found before this returns.

    A question with a `conversation` leans on what was said in it, and is a turn of it then: under
    an Idempotency-Key, `once`, one turn for a day. NEW begins one. `stop`, set from any thread,
    ends it, also while it is looked for. Raises NotFound for a conversation that is not the
    caller's.
    """
    if question.conversation is None:
        return Answering(parts, shelf, caller, question, stop=stop)
    # Before anything is asked: what can't be is no turn.
    question.query(shelf)
    known = parts.conversations.answered(shelf.name, once) if once else None
    if isinstance(known, AnswerView):
        return Answered(known)
    if known:
        return _ask_again(parts, shelf, caller, question, known, stop)
    talk = question.conversation
    if talk == NEW:
        talk = parts.conversations.begin(caller, shelf.name).id
        question = question.model_copy(update={"conversation": talk})
    history = parts.conversations.history(caller, shelf.name, talk)
    asked = question.model_dump(exclude={"question", "conversation", "note"}, exclude_defaults=True)
    turn = parts.conversations.begin_turn(
        caller, shelf.name, talk, question.question, asked, question.note, once
    )
    try:
        return Answering(parts, shelf, caller, question, history, turn, stop)
    except BaseException:
        _drop_turn(parts, shelf, turn)
        raise


def _ask_again(
    parts: AskingParts,
    shelf: Collection,
    caller: Caller,
    question: Question,
    turn: Retaken,
    stop: Stop | None,
) -> Answering:
    """Answer a turn whose answer never became whole, with what was said before it and no more.

    It is asked again, and not finished behind a reader who left: whoever leaves ends the model's
    call, so that nothing is paid for that nobody reads.
    """
    try:
        history = parts.conversations.history(
            caller, shelf.name, turn.conversation, before=turn.number
        )
        question = question.model_copy(update={"conversation": turn.conversation})
        return Answering(parts, shelf, caller, question, history, turn.id, stop)
    except BaseException:
        _drop_turn(parts, shelf, turn.id)
        raise


def _drop_turn(parts: AskingParts, shelf: Collection, turn: str) -> bool:
    drop = partial(parts.conversations.drop_turn, shelf.name, turn)
    return write_behind(drop, f"That turn {turn} came to nothing")


class Answering:
    """An answer as it is written: read its `events`, or its `view` at once; then it is counted.

    `close` ends it from any thread; what was said until then is what is kept of it.
    """

    def __init__(
        self,
        parts: AskingParts,
        shelf: Collection,
        caller: Caller,
        question: Question,
        history: Sequence[Turn] = (),
        turn: str | None = None,
        stop: Stop | None = None,
    ) -> None:
        parts.ledger.refuse_spent(caller)
        self._parts, self._shelf, self._caller = parts, shelf, caller
        self._question, self._turn = question, turn
        self._path = Path()
        self._began = time.perf_counter()
        self._is_closed = False
        self._ending = threading.Lock()
        self._is_ended = False
        self._is_complete = False
        """Whether the model's last piece was read."""
        self._is_kept: bool | None = None
        self._whole: AnswerView | None = None
        # The ledger counts each call as it is answered, also where a reader left or a model failed.
        query, meter = question.query(shelf), Meter(parts.ledger.account(caller, shelf.name, "ask"))
        self._stream = shelf.stream(query, history=history, meter=meter, path=self._path, stop=stop)
        parts.metrics.retrieved(_mode(self._path), time.perf_counter() - self._began)

    def events(self) -> Iterator[Event]:
        """What is told, in this order: the retrieval, the passages, the answer's pieces, and then
        the whole answer or, where a model failed, the problem.
        """
        stream = self._stream
        steps = [one.model_dump() for one in _steps(self._path)]
        made = {"conversation": self._question.conversation, "turn": self._turn}
        yield (
            "retrieval",
            {"mode": _mode(self._path), "sought": stream.sought, "path": steps} | made,
        )
        context = [ReadView.read(one).model_dump() for one in stream.context]
        yield "passages", {"context": context}
        try:
            for piece in self._pieces():
                yield "token", {"text": piece}
            if self._is_complete:
                # Kept before it is told, so that whoever has read it finds it; but a Neo4j that
                # does not take it neither holds it up for long nor makes an error of it.
                self._end()
                yield "answer", self._final().model_dump()
        except FabulaError as error:
            yield "error", errors.describe_problem(error)
        finally:
            self._end()

    def view(self) -> AnswerView:
        """The whole answer. Raises ModelError where a model failed."""
        try:
            for _ in self._pieces():
                pass
        finally:
            self._end()
        return self._final()

    def close(self) -> None:
        """Ends it: what was said until now is what is kept, and the model is asked for no more."""
        self._is_closed = True
        self._stream.close()
        self._end()

    def _pieces(self) -> Iterator[str]:
        """The answer's pieces."""
        is_first = True
        for piece in self._stream:
            if is_first:
                self._parts.metrics.first_token(time.perf_counter() - self._began)
                is_first = False
            yield piece
        self._is_complete = not self._is_closed

    def _final(self) -> AnswerView:
        """The whole answer, and whether it is kept."""
        update = {"kept": self._is_kept, "warning": NOT_KEPT if self._is_kept is False else ""}
        return self._told().model_copy(update=update)

    def _told(self) -> AnswerView:
        """What is told of it, once it has ended: the same to its reader and to the turn."""
        if self._whole is None:
            self._whole = self._tell()
        return self._whole

    def _tell(self) -> AnswerView:
        answer, settings = self._stream.answer, self._shelf.settings
        return AnswerView(
            question=answer.question,
            sought=self._stream.sought,
            answer=answer.text,
            mode=_mode(self._path),
            model=settings.model,
            offline=settings.offline,
            cited=list(answer.cited),
            context=[ReadView.read(one) for one in answer.context],
            quotes=[QuoteView.quoted(one) for one in answer.quotes or quote_cited(answer)],
            hits=[PassageView.of(hit) for hit in answer.hits],
            path=_steps(self._path),
            usage=usage_view(answer.usage),
            **money(settings, answer.usage),
            seconds=round(time.perf_counter() - self._began, 3),
            conversation=self._question.conversation,
            turn=self._turn,
        )

    def _end(self) -> None:
        """Keeps the turn, once: also of a reader who left."""
        with self._ending:
            if self._is_ended:
                return
            self._is_ended = True
        if self._turn is None:
            return
        # '' where a model failed: a part is no answer.
        if not self._stream.text:
            _drop_turn(self._parts, self._shelf, self._turn)
            return
        keep = partial(
            self._parts.conversations.end_turn,
            self._shelf.name,
            self._turn,
            self._told().model_copy(update={"kept": True}),
            left=not self._is_complete,
        )
        self._is_kept = write_behind(keep, f"The answer of turn {self._turn}")


class Answered:
    """An answer that was given before, told again as if it were written."""

    def __init__(self, view: AnswerView) -> None:
        self._view = view

    def events(self) -> Iterator[Event]:
        """What `Answering` tells, the answer in one piece."""
        view = self._view.model_dump()
        told = ("mode", "sought", "path", "conversation", "turn")
        yield "retrieval", {name: view[name] for name in told}
        yield "passages", {"context": view["context"]}
        yield "token", {"text": view["answer"]}
        yield "answer", view

    def view(self) -> AnswerView:
        """The whole answer."""
        return self._view

    def close(self) -> None:
        """Nothing is under way."""


def compare(
    parts: AskingParts,
    shelf: Collection,
    caller: Caller,
    comparison: Comparison,
    stop: Stop | None = None,
) -> ComparisonView:
    """One question by several modes, and what their answers were made of in common.

    A mode that can't be asked does not keep the others from answering, unless none can.
    """
    answers: list[Compared] = []
    failures: list[FabulaError] = []
    stop = stop or Stop()
    for question in comparison.questions():
        mode = str(question.mode)
        try:
            view = ask(parts, shelf, caller, question, stop=stop).view()
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
    """The passages that answers of several modes were given, in the order of the first of them."""
    given: dict[str, list[str]] = {}
    for one in answers:
        for passage in one.answer.context if one.answer else ():
            given.setdefault(passage.id, []).append(one.mode)
    return [Shared(id=id, modes=modes) for id, modes in given.items() if len(modes) > 1]


def _mode(path: Path) -> str:
    """The modes that were asked, as the path of retrieval names them."""
    return next((step.note for step in path.root.steps if step.name == "retrieve"), "")


def _steps(path: Path) -> list[StepView]:
    return [StepView.of(step) for step in path.root.steps]
