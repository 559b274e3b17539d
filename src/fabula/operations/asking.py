"""Ask collections: search them, answer a question, and compare the answers of several modes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, StringConstraints

from fabula.ask.query import Query, query_options
from fabula.errors import FabulaError, Forbidden, SpaceError
from fabula.graph.trace import Trace
from fabula.models.counted import Meter
from fabula.models.stop import Stop
from fabula.models.usage import Usage
from fabula.operations.kit import Asker, Mark, Parameter, operation
from fabula.operations.shown_answer import (
    ShownAnswer,
    ShownHits,
    limited_place,
    show_answer,
    show_hits,
    used_modes,
)

if TYPE_CHECKING:
    from fabula.ask.answer import AnswerStream
    from fabula.ask.scope import AskedTurn
    from fabula.library.across import AnswerAcross
    from fabula.library.collection import Collection

GROUP = "Asking"
MAX_MODES = 4
"""How many modes can be compared."""
Name = Annotated[str, StringConstraints(max_length=2000)]
Names = tuple[Name, ...]
Level = Annotated[int, Field(ge=0, le=99)]


BOUNDED: Mapping[str, tuple[Any, Any, Mapping[str, int]]] = {
    "document": (Names, (), {"max_length": 100}),
    "where": (str, "", {"max_length": 2000}),
    "until": (str, "", {"max_length": 2000}),
    "aspects": (Names, (), {"max_length": 100}),
    "kinds": (Names, (), {"max_length": 100}),
    "levels": (tuple[Level, Level] | None, None, {}),
    "mode": (str | None, None, {"max_length": 2000}),
    "k": (int | None, None, {"ge": 1, "le": 200}),
    "context_tokens": (
        Annotated[int, Field(ge=16, le=200_000)] | Literal["auto"] | None,
        None,
        {},
    ),
    "knobs": (Mapping[str, Any], {}, {"max_length": 50}),
}
"""Options of a question that are bounded more closely for others than for a program: their types,
their defaults and their bounds."""


def _make_options() -> tuple[Parameter, ...]:
    """Return a parameter for each option of a question. One left out is as the settings say."""
    made = []
    for name, option in query_options().items():
        kind, *marks = get_args(option.annotation)
        kind, default, bounds = BOUNDED.get(name, (kind | None, None, {}))
        if name in BOUNDED:
            reads = [mark for mark in marks if isinstance(mark, BeforeValidator)]
            marks = [*reads, Field(description=option.description, **bounds)]
        if option.setting:
            marks.append(Mark.HAS_SETTING)
        made.append(Parameter(name, Annotated[kind, *marks], default))
    return tuple(made)


OPTIONS = _make_options()
"""The parameters of an operation that asks a question, beside the question."""
Question = Annotated[str, Field(min_length=1, max_length=20_000, description="the question")]
Collections = Annotated[
    Names, Field(max_length=100, description="names of collections; none for all that you may see")
]
WhoAsks = Annotated[Any, Field(description="who asks, and pays for it"), Mark.ASKER]
ask_by = partial(
    operation, group=GROUP, method="POST", is_question=True, has_screen=False, options=OPTIONS
)


class Inquiry:
    """A question under way, and who pays for what it asks of models.

    Attributes:
        path: The steps of its search.
        meter: What was asked of models.
        stop: Ends it.
    """

    def __init__(self, asker: Asker | None, collections: Sequence[Collection], what: str) -> None:
        """Raise BudgetSpent if the asker has spent a quota; `what` is booked in the ledger."""
        self._asker, self._began = asker, time.perf_counter()
        self._services = asker.services if asker else None
        self.path, self.meter, self.stop = Trace(), Meter(), (asker and asker.stop) or Stop()
        if asker and self._services:
            self._services.ledger.refuse_spent(asker.caller)
            names = ", ".join(sorted(each.name for each in collections))
            self.meter = Meter(self._services.ledger.account(asker.caller, names, what))

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.perf_counter() - self._began

    @contextmanager
    def search(self, mode: str) -> Iterator[None]:
        """Measure a search, and explain to a visitor that it needs a model at an endpoint."""
        try:
            yield
        except SpaceError as error:
            if not (self._asker and self._asker.is_visitor):
                raise
            raise Forbidden(
                "Questions to this collection need a model that costs money: sign in to ask it."
            ) from error
        if self._services:
            self._services.metrics.record_retrieval(used_modes(self.path) or mode, self.seconds)

    def record_beginning(self) -> None:
        """Measure how long it took until the answer began."""
        if self._services:
            self._services.metrics.first_token(self.seconds)


def describe_failures(asker: Asker | None, failures: Mapping[str, FabulaError]) -> dict[str, str]:
    """Return why collections or modes failed, as an asker may know it."""
    return {
        name: asker.describe_error(error) if asker else error.message
        for name, error in failures.items()
    }


@ask_by(
    "/collections/{collection}/search",
    positional=["question"],
    is_public=True,
    examples=('search "the weather"', 'search "the ghost of Marley" --kind chunk --json'),
)
def search(
    collection: Collection, question: Question, asker: WhoAsks = None, **options: Any
) -> ShownHits:
    """Find the passages that answer a question best, best first.

    They are parts of the text, summaries and details. A chat model is only asked if the mode,
    `rewrite` or `rerank` needs one.

    Raises:
        NotFound: There is no such document, aspect or kind.
        SettingsError: An option has a value that it can't have.
    """
    inquiry = Inquiry(asker, [collection], "search")
    query = Query.of(question, collection.settings, **options)
    with inquiry.search(query.mode):
        hits = collection.retrieve(query, meter=inquiry.meter, path=inquiry.path, stop=inquiry.stop)
        place = limited_place(collection.scope(query)) if query.until else None
    usage = inquiry.meter.usage()
    return show_hits(query, hits, collection.settings, inquiry.path, usage, place=place)


@ask_by(
    "/search",
    positional=["question"],
    examples=('search-across "Who drowned?"', 'search-across "Who sat?" --collection novels'),
)
def search_across(
    asker: Asker, question: Question, collections: Collections = (), **options: Any
) -> ShownHits:
    """Find the passages of several collections that answer a question best, merged by rank.

    Each names its `collection`. A collection that can't be searched is in `left_out`.

    Raises:
        NotFound: There is no such collection.
    """
    from fabula.library.across import retrieve_across

    among = asker.open_all(collections)
    inquiry = Inquiry(asker, among, "search")
    query = Query.of(question, among[0].settings, **options)
    with inquiry.search(query.mode):
        found = retrieve_across(among, query, inquiry.meter, inquiry.stop)
    left_out, usage = describe_failures(asker, found.failures), inquiry.meter.usage()
    settings = among[0].settings
    return show_hits(query, found.hits, settings, inquiry.path, usage, left_out=left_out)


class BegunAnswer:
    """An answer whose passages are found, and which is written while `read` yields it.

    Attributes:
        stream: The answer.
        path: The steps of its search.
        mode: The modes that found its passages.
        inquiry: The question.
    """

    def __init__(
        self,
        asker: Asker | None,
        query: Query,
        collections: Sequence[Collection],
        *,
        is_across: bool = False,
        history: Sequence[AskedTurn] = (),
    ) -> None:
        """Find the passages; with `is_across` of several collections, merged by rank."""
        self._asker, self._settings = asker, collections[0].settings
        self._across: AnswerAcross | None = None
        self.inquiry = inquiry = Inquiry(asker, collections, "ask")
        self.path = inquiry.path
        how: dict[str, Any] = {"meter": inquiry.meter, "path": self.path, "stop": inquiry.stop}
        with inquiry.search(query.mode):
            if is_across:
                from fabula.library.across import stream_across

                turns = [each.turn for each in history]
                self._across = stream_across(collections, query, history=turns, **how)
                self.stream: AnswerStream = self._across.stream
            else:
                self.stream = collections[0].stream(query, history=history, **how)
        # Each of several collections may leave out other modes: these are those asked for.
        self.mode = query.mode if is_across else used_modes(self.path)

    @cached_property
    def about_collections(self) -> dict[str, Any]:
        """Which of several collections were asked, and which were left out and why."""
        if self._across is None:
            return {}
        left_out = describe_failures(self._asker, self._across.failures)
        return {"collections": self._across.collections, "left_out": left_out}

    def read(self) -> Iterator[str]:
        """Yield the pieces of the answer."""
        is_first = True
        for piece in self.stream:
            if is_first and piece:
                self.inquiry.record_beginning()
                is_first = False
            yield piece

    def show(self, **more: Any) -> ShownAnswer:
        """Return the whole answer as it is shown, with further fields; what is left is read."""
        for _ in self.read():
            pass
        more = {"mode": self.mode, **self.about_collections, **more}
        answer = self.stream.answer
        return show_answer(answer, self._settings, self.path, self.inquiry.seconds, **more)


@ask_by(
    "/collections/{collection}/ask",
    command="query ask",
    is_public=True,
    has_command=False,
    has_route=False,
)
def ask(
    collection: Collection, question: Question, asker: WhoAsks = None, **options: Any
) -> ShownAnswer:
    """Answer a question from the passages that fit it best, with the passages it cites.

    Raises:
        NotFound: There is no such document, aspect or kind.
        ModelError: A model failed.
    """
    query = Query.of(question, collection.settings, **options)
    return BegunAnswer(asker, query, [collection]).show()


@ask_by(
    "/ask",
    command="query across",
    has_command=False,
    has_route=False,
)
def ask_across(
    asker: Asker, question: Question, collections: Collections = (), **options: Any
) -> ShownAnswer:
    """Answer a question from the passages of several collections, merged by rank.

    Each passage names its `collection`. A collection that can't be searched is in `left_out`.

    Raises:
        NotFound: There is no such collection.
        SettingsError: The question has a place up to which a text was read.
        ModelError: A model failed.
    """
    among = asker.open_all(collections)
    query = Query.of(question, among[0].settings, **options)
    return BegunAnswer(asker, query, among, is_across=True).show()


@dataclass(frozen=True)
class QuestionEstimate:
    """What an answer to a question would ask of models.

    Attributes:
        question: The question.
        mode: Its mode.
        usage: What it would ask, by step; at most, where replies decide.
        money: What that costs in US dollars, as far as prices are known; None if no price is.
        unpriced: The models whose price is not known: `money` is without them.
    """

    question: str
    mode: str
    usage: Mapping[str, Usage]
    money: float | None
    unpriced: tuple[str, ...]


@ask_by(
    "/collections/{collection}/ask/cost",
    command="query cost",
    is_public=True,
    has_command=False,
)
def estimate_answer(collection: Collection, question: Question, **options: Any) -> QuestionEstimate:
    """Estimate the calls, tokens and price that an answer would take; no model is asked.

    Replies are not known in advance: of modes that decide by replies how much they ask, it is about
    the most that they may ask.
    """
    return estimate_query(collection, Query.of(question, collection.settings, **options))


def estimate_query(collection: Collection, query: Query) -> QuestionEstimate:
    """Estimate what an answer to a question that has its options would take."""
    usage = collection.expect_query(query)
    cost = collection.settings.cost(usage)
    return QuestionEstimate(query.question, query.mode, usage, cost.money, cost.unpriced)


@dataclass(frozen=True)
class ComparedAnswer:
    """What a mode answered, or why it did not.

    Attributes:
        mode: The mode.
        answer: Its answer; None as long as there is none.
        problem: Why there is none; '' if there is one.
    """

    mode: str
    answer: ShownAnswer | None = None
    problem: str = ""

    @classmethod
    def of(
        cls, mode: str, outcome: ShownAnswer | FabulaError, asker: Asker | None
    ) -> ComparedAnswer:
        """Return what a mode answered or, as an asker may know it, why it did not."""
        if isinstance(outcome, FabulaError):
            return cls(mode, problem=describe_failures(asker, {mode: outcome})[mode])
        return cls(mode, outcome)


@dataclass(frozen=True)
class SharedPassage:
    """A passage that answers of several modes were given: its id, and the modes."""

    id: str
    modes: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Answers of several modes to a question, and the passages that they share."""

    question: str
    answers: tuple[ComparedAnswer, ...]
    shared: tuple[SharedPassage, ...]

    def to_text(self) -> str:
        """Return each answer below its mode, and how many passages they share."""
        texts = [
            f"{each.mode}\n{each.answer.answer.strip() if each.answer else each.problem}"
            for each in self.answers
        ]
        return "\n\n".join([*texts, f"Passages that several used: {len(self.shared)}."])

    def shorten(self) -> Comparison:
        """Return it with what an assistant needs of the answers."""
        answers = (
            replace(each, answer=each.answer and each.answer.shorten()) for each in self.answers
        )
        return replace(self, answers=tuple(answers))


@ask_by(
    "/collections/{collection}/compare",
    positional=["question"],
    is_public=True,
    options=[each for each in OPTIONS if each.name != "mode"],
    examples=('compare "Why does Scrooge change?" --mode hybrid --mode naive',),
)
def compare(
    collection: Collection,
    question: Question,
    modes: Annotated[
        Names, Field(min_length=2, max_length=MAX_MODES, description="two to four modes")
    ],
    asker: WhoAsks = None,
    **options: Any,
) -> Comparison:
    """Answer a question with several modes at once, and find the passages that they share.

    Raises:
        FabulaError: No mode could answer. If some could, the others have a `problem`.
    """
    outcomes = dict(answer_by_modes(collection, question, modes, asker, **options))
    failures = [each for each in outcomes.values() if isinstance(each, FabulaError)]
    if len(failures) == len(outcomes):
        raise failures[0]
    answers = [ComparedAnswer.of(mode, outcomes[mode], asker) for mode in dict.fromkeys(modes)]
    return Comparison(question, tuple(answers), find_shared_passages(answers))


def answer_by_modes(
    collection: Collection,
    question: str,
    modes: Sequence[str],
    asker: Asker | None,
    **options: Any,
) -> Iterator[tuple[str, ShownAnswer | FabulaError]]:
    """Answer a question with several modes at once; yield each mode as soon as it is answered.

    A mode comes with its answer, or with the error that it failed with.
    """

    def answer(mode: str) -> tuple[str, ShownAnswer | FabulaError]:
        try:
            return mode, ask(collection, question, asker=asker, **options, mode=mode)
        except FabulaError as error:
            if asker and asker.stop and asker.stop.is_set():
                raise
            return mode, error

    chosen = [*dict.fromkeys(modes)]
    # The models' own limit bounds their calls, as those of all answers.
    with ThreadPoolExecutor(len(chosen), "compare") as threads:
        # In the caller's context, so that the spans belong to its trace.
        futures = [threads.submit(copy_context().run, answer, mode) for mode in chosen]
        yield from (future.result() for future in as_completed(futures))


def find_shared_passages(answers: Sequence[ComparedAnswer]) -> tuple[SharedPassage, ...]:
    """Return the passages that several answers were given, in the order of the first of them."""
    modes_of: dict[str, list[str]] = {}
    for compared in answers:
        for passage in compared.answer.context if compared.answer else ():
            modes_of.setdefault(passage.id, []).append(compared.mode)
    return tuple(
        SharedPassage(id, tuple(modes)) for id, modes in modes_of.items() if len(modes) > 1
    )
