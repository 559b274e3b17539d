"""Ask a collection: search it, answer a question, and compare the answers of several modes.

The API, the page, MCP and the OpenAI interface all use these functions.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
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
from fabula.app.shown_answer import (
    ShownAnswer,
    ShownHits,
    ShownPassage,
    ShownStep,
    limited_place,
    list_steps,
    show_answer,
    show_hits,
    used_modes,
)
from fabula.ask.query import Query, query_options
from fabula.ask.scope import AskedTurn
from fabula.errors import (
    FabulaError,
    Forbidden,
    SpaceError,
    first_problem,
)
from fabula.export.citations import citations_json, cite_quotes
from fabula.graph.trace import Trace
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.service.core import errors
from fabula.service.core.errors import describe_failures
from fabula.service.core.views import View
from fabula.service.core.write_behind import write_behind

if TYPE_CHECKING:
    from fabula.app.across import AnswerAcross
    from fabula.jobs.callers import Caller
    from fabula.jobs.idempotency import Idempotency
    from fabula.jobs.ledger import Ledger
    from fabula.service.core.conversations import Conversations, Retaken
    from fabula.service.observe.metrics import Metrics

LOG = logging.getLogger("fabula.service")
Event = tuple[Literal["retrieval", "passages", "step", "token", "answer", "error"], Any]
"""An event of an answer that is being written, and its values. A `step` is one of a mode that
searches on while it answers; the `answer` is a ShownAnswer."""
Name = Annotated[str, StringConstraints(max_length=2000)]
Names = Annotated[list[Name], Field(max_length=100)]
Level = Annotated[int, Field(ge=0, le=99)]
NEW = "new"
"""The `conversation` of a question that begins one."""
NOT_SAVED = (
    "The answer is complete, but could not be saved in its conversation yet, as Neo4j does not "
    "accept it. The service tries again for about two minutes: copy what you need."
)
BOUNDED: dict[str, tuple[Any, Any]] = {
    "document": (Name, ""),
    "until": (Name, ""),
    "aspects": (Names, []),
    "kinds": (Names, []),
    "levels": (tuple[Level, Level] | None, None),
    "k": (Annotated[int, Field(ge=1, le=200)] | None, None),
    "context_tokens": (Annotated[int, Field(ge=16, le=200_000)] | Literal["auto"] | None, None),
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
    def parse_values(cls, **given: Any) -> Self:
        """Make it of values that did not come as JSON. Raises Problem for what it can't hold."""
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

    def query(self, collection: Collection) -> Query:
        """Convert to a library `Query`. Raises FabulaError for what can't be asked."""
        own = self.model_dump(include={*query_options()}, exclude_defaults=True)
        return Query.of(self.question, collection.settings, **own)


class QuestionAcross(Question):
    """A question to several collections, whose passages are merged by rank."""

    collections: list[Name] = Field(
        [], max_length=100, description="their names; empty for all that your key may see"
    )

    def query(self, collection: Collection) -> Query:
        """Convert to a library `Query`. Raises FabulaError for what can't be asked."""
        if self.conversation is not None:
            raise errors.Problem(
                "A conversation belongs to one collection: leave it out to ask several."
            )
        return super().query(collection)


class Comparison(Asking):
    """A question for several modes."""

    question: str = Field(min_length=1, max_length=20_000)
    modes: list[Name] = Field(min_length=2, max_length=4)

    def questions(self) -> list[Question]:
        """Return the question once for each different mode."""
        own = self.model_dump(exclude={"modes"}, exclude_defaults=True)
        return [Question(**own, mode=mode) for mode in dict.fromkeys(self.modes)]


class ComparedAnswer(View):
    """What one mode answered; or why it did not, as a problem says it."""

    mode: str
    answer: ShownAnswer | None = None
    problem: dict[str, Any] | None = None

    @classmethod
    def of(cls, mode: str, outcome: ShownAnswer | FabulaError) -> Self:
        """Return what a mode answered, or why it did not."""
        if isinstance(outcome, FabulaError):
            return cls(mode=mode, problem=errors.describe_problem(outcome))
        return cls(mode=mode, answer=outcome)


class SharedPassage(View):
    """A passage that answers of several modes were given."""

    id: str
    modes: list[str]


class ComparisonView(View):
    """The answers side by side, and the passages that more than one of them was given."""

    question: str
    answers: list[ComparedAnswer]
    shared: list[SharedPassage]


@dataclass(frozen=True, slots=True)
class QuestionEstimate:
    """What an answer to a question would ask of models, by step; at most, where replies decide.

    `money` is in US dollars, as far as prices are known, and `unpriced` are the other models.
    """

    question: str
    mode: str
    usage: Mapping[str, Usage]
    money: float | None
    unpriced: tuple[str, ...]


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
    among: Sequence[Collection] = (),
) -> ShownHits:
    """Return the passages that answer a question best.

    Args:
        services: What answering needs of the service.
        collection: What is searched.
        caller: Who asks, and pays.
        question: The question.
        stop: Ends the search once it is set, from any thread.
        among: The collections that are searched together, where these are several, the first one
            among them. Their passages are merged by rank; one that can't be searched is left out.

    """
    services.ledger.refuse_spent(caller)
    meter = Meter(services.ledger.account(caller, _name_all(among or [collection]), "search"))
    path, began = Trace(), time.perf_counter()
    query = question.query(collection)
    more: dict[str, Any] = {}
    with _explain_to_visitor(caller):
        if among:
            from fabula.app.across import retrieve_across

            found = retrieve_across(among, query, meter, stop)
            hits, more["left_out"] = found.hits, describe_failures(found.failures)
        else:
            hits = collection.retrieve(query, meter=meter, path=path, stop=stop)
            more["place"] = limited_place(collection.scope(query)) if query.until else None
    services.metrics.record_retrieval(used_modes(path) or query.mode, time.perf_counter() - began)
    return show_hits(query, hits, collection.settings, path, meter.usage(), **more)


def _name_all(collections: Sequence[Collection]) -> str:
    """Return what usage is booked under that several collections have caused."""
    return ", ".join(sorted(each.name for each in collections))


@contextmanager
def _explain_to_visitor(caller: Caller) -> Iterator[None]:
    """Tell a visitor otherwise than an operator that a question needs a model at an endpoint."""
    try:
        yield
    except SpaceError as error:
        if not caller.is_visitor:
            raise
        raise Forbidden(
            "Questions to this collection need a model that costs money: sign in to ask it."
        ) from error


def estimate(collection: Collection, question: Question) -> QuestionEstimate:
    """Return what an answer to a question would ask of models; no model is asked, nothing is paid.

    Args:
        collection: What would be asked.
        question: The question. Its conversation is not read: previous turns are not counted.

    """
    query = question.query(collection)
    usage = collection.expect_query(query)
    cost = collection.settings.cost(usage)
    return QuestionEstimate(query.question, query.mode, usage, cost.money, cost.unpriced)


def ask(
    services: AskingServices,
    collection: Collection,
    caller: Caller,
    question: Question,
    *,
    idempotency: Idempotency | None = None,
    stop: Stop | None = None,
    among: Sequence[Collection] = (),
) -> Answering | RepeatedAnswer:
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
        among: The collections that are asked together, where these are several.

    Raises:
        NotFound: The caller has no such conversation.

    """
    if question.conversation is None:
        return Answering(services, collection, caller, question, stop=stop, among=among)
    if caller.is_visitor:
        raise Forbidden("Conversations are kept for those who have signed in: ask without one.")
    # Checked first, so that an invalid question does not become a turn.
    question.query(collection)
    known = (
        services.conversations.find_answer(collection.name, idempotency) if idempotency else None
    )
    if isinstance(known, ShownAnswer):
        return RepeatedAnswer(known)
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


def citations(view: ShownAnswer) -> dict[str, Any]:
    """Return the words that an answer cites as W3C Web Annotations."""
    quotes = [each.quote for each in view.quotes]
    return citations_json(view.question, cite_quotes(quotes, view.question, view.answer))


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
        history: Sequence[AskedTurn] = (),
        turn: str | None = None,
        stop: Stop | None = None,
        among: Sequence[Collection] = (),
    ) -> None:
        services.ledger.refuse_spent(caller)
        self._services, self._collection, self._caller = services, collection, caller
        self._question, self._turn = question, turn
        self._path = Trace()
        self._began = time.perf_counter()
        self._is_closed = False
        self._ending = threading.Lock()
        self._is_ended = False
        self._is_complete = False
        """Whether the whole answer of the model was read."""
        self._is_saved: bool | None = None
        self._view: ShownAnswer | None = None
        self._across: AnswerAcross | None = None
        # The ledger counts each call when it is answered, also if the reader leaves then.
        query = question.query(collection)
        meter = Meter(services.ledger.account(caller, _name_all(among or [collection]), "ask"))
        with _explain_to_visitor(caller):
            if among:
                from fabula.app.across import stream_across

                turns = [each.turn for each in history]
                self._across = stream_across(
                    among, query, history=turns, meter=meter, path=self._path, stop=stop
                )
                self._stream = self._across.stream
            else:
                self._stream = collection.stream(
                    query, history=history, meter=meter, path=self._path, stop=stop
                )
        # Each of several collections may leave out other modes: these are those asked for.
        self._mode = query.mode if among else used_modes(self._path)
        services.metrics.record_retrieval(self._mode, time.perf_counter() - self._began)

    def events(self) -> Iterator[Event]:
        """Yield the retrieval, the passages, the pieces of the answer, and then the whole answer.

        If a model fails, the last event is the problem instead.
        """
        stream = self._stream
        known = list_steps(self._path)
        retrieval = {
            "mode": self._mode,
            "sought": stream.sought,
            "path": known,
            "document": stream.scope.document,
            "place": limited_place(stream.scope),
            "note": stream.note,
            "conversation": self._question.conversation,
            "turn": self._turn,
        }
        yield "retrieval", retrieval | self._describe_collections()
        yield "passages", {"context": [*map(ShownPassage.of, stream.context)]}
        try:
            shown = len(known)
            for piece in self._pieces():
                # A mode that searches on yields an empty piece after each of its steps.
                new = self._path.root.steps[shown:]
                shown += len(new)
                for step in new:
                    yield "step", ShownStep.of(step)
                if piece:
                    yield "token", {"text": piece}
            if self._is_complete:
                # Saved before the event, so that whoever has read it finds the turn. A Neo4j that
                # is down delays the event by at most two seconds, and is no error.
                self._end()
                yield "answer", self._final()
        except FabulaError as error:
            yield "error", errors.describe_problem(error)
        finally:
            self._end()

    def view(self) -> ShownAnswer:
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
            if is_first and piece:
                self._services.metrics.first_token(time.perf_counter() - self._began)
                is_first = False
            yield piece
        self._is_complete = not self._is_closed

    def _final(self) -> ShownAnswer:
        """Return the whole answer, with whether it was saved."""
        view = self._answer_view()
        warnings = [view.warning, NOT_SAVED if self._is_saved is False else ""]
        return replace(view, kept=self._is_saved, warning=" ".join(filter(None, warnings)))

    def _answer_view(self) -> ShownAnswer:
        """Return the answer after its end: the same for the reader and for the turn."""
        if self._view is None:
            self._view = show_answer(
                self._stream.answer,
                self._collection.settings,
                self._path,
                time.perf_counter() - self._began,
                mode=self._mode,
                conversation=self._question.conversation,
                turn=self._turn,
                **self._describe_collections(),
            )
        return self._view

    def _describe_collections(self) -> dict[str, Any]:
        """Return which of several collections were asked, and which were left out and why."""
        if self._across is None:
            return {}
        left_out = describe_failures(self._across.failures)
        return {"collections": self._across.collections, "left_out": left_out}

    def _end(self) -> None:
        """Save the turn, once, also if the reader has left."""
        with self._ending:
            if self._is_ended:
                return
            self._is_ended = True
        if self._turn is None:
            return
        # '' if a model failed: then there is no answer to save.
        if not self._stream.text:
            _drop_turn(self._services, self._collection, self._turn)
            return
        save = partial(
            self._services.conversations.end_turn,
            self._collection.name,
            self._turn,
            replace(self._answer_view(), kept=True),
            left=not self._is_complete,
        )
        self._is_saved = write_behind(save, f"The answer of turn {self._turn}")


class RepeatedAnswer:
    """An answer that was given before, with the interface of `Answering`."""

    def __init__(self, view: ShownAnswer) -> None:
        self._view = view

    def events(self) -> Iterator[Event]:
        """Yield the events of `Answering`, with the answer in one piece."""
        names = ("mode", "sought", "path", "document", "place", "note", "conversation", "turn")
        yield "retrieval", {name: getattr(self._view, name) for name in names}
        yield "passages", {"context": self._view.context}
        yield "token", {"text": self._view.answer}
        yield "answer", self._view

    def view(self) -> ShownAnswer:
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
    """Answer a question with several modes at once, and find the passages that they share.

    Args:
        services: What answering needs of the service.
        collection: What is asked.
        caller: Who asks, and pays.
        comparison: The question and the modes.
        stop: Ends the answers once it is set, from any thread.

    Raises:
        FabulaError: No mode could answer. If some could, the others have a `problem`.

    """
    outcomes = dict(answer_by_modes(services, collection, caller, comparison, stop))
    failures = [each for each in outcomes.values() if isinstance(each, FabulaError)]
    if len(failures) == len(outcomes):
        raise failures[0]
    modes = [str(question.mode) for question in comparison.questions()]
    answers = [ComparedAnswer.of(mode, outcomes[mode]) for mode in modes]
    return ComparisonView(
        question=comparison.question, answers=answers, shared=find_shared_passages(answers)
    )


def answer_by_modes(
    services: AskingServices,
    collection: Collection,
    caller: Caller,
    comparison: Comparison,
    stop: Stop | None = None,
) -> Iterator[tuple[str, ShownAnswer | FabulaError]]:
    """Answer a question with several modes at once; yield each mode as soon as it is answered.

    The arguments are those of `compare`. A mode comes with its answer, or with the error that it
    failed with.
    """
    stop = stop or Stop()

    def answer(question: Question) -> tuple[str, ShownAnswer | FabulaError]:
        try:
            view = ask(services, collection, caller, question, stop=stop).view()
        except FabulaError as error:
            if stop.is_set():
                raise
            return str(question.mode), error
        return str(question.mode), view

    questions = comparison.questions()
    # The models' own limit bounds their calls, as those of all answers.
    with ThreadPoolExecutor(len(questions), "compare") as threads:
        # In the caller's context, so that the spans belong to its trace.
        futures = [threads.submit(copy_context().run, answer, each) for each in questions]
        yield from (future.result() for future in as_completed(futures))


def find_shared_passages(answers: Sequence[ComparedAnswer]) -> list[SharedPassage]:
    """Return the passages that several answers were given, in the order of the first of them."""
    modes_of: dict[str, list[str]] = {}
    for compared in answers:
        for passage in compared.answer.context if compared.answer else ():
            modes_of.setdefault(passage.id, []).append(compared.mode)
    return [SharedPassage(id=id, modes=modes) for id, modes in modes_of.items() if len(modes) > 1]
