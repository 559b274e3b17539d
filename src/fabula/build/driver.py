"""Run builds (`fabula.graph.builds`): models are asked in threads, builds go on in one.

As soon as all that a build waits for is answered, it goes on, whatever else is still asked. Where
replies come by a batch (`Rounds`), all builds go as far as they can, and rest until more are there.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fabula.errors import BadReply
from fabula.graph.builds import (
    Build,
    ChatRequest,
    EmbedRequest,
    Piece,
    RejectRequest,
    Request,
    Start,
    Started,
)
from fabula.models import Embeddings, Reply
from fabula.models.batching import warn_of_cut_texts
from fabula.models.parallel import TaskGroup
from fabula.models.progress import Progress
from fabula.models.replies import read_text
from fabula.models.roles import Models
from fabula.models.usage import Usage

if TYPE_CHECKING:
    from fabula.models.batched import BatchCalls

Out = TypeVar("Out")
EMBED = 0
"""The priority of embeddings: everything else may depend on them."""
BEGUN = 0.5
"""By how much further calls of a build go before the first ones of others of their priority."""


@dataclass(frozen=True, slots=True)
class Scoped(Generic[Out]):
    """A build with models of its own, as that of one part: it fails without what goes on beside it.

    Attributes:
        build: The build.
        models: They answer its requests, and their meter counts these.
        saved: The calls that the build has made unnecessary, by step; counted once it has ended.
        places: Where the texts are that it embeds, by text, for warnings.
    """

    build: Build[Out]
    models: Models
    saved: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)


def run(scoped: Scoped[Out], job: TaskGroup, progress: Progress) -> Out:
    """Return what a build returns; all that it wants of models is asked side by side.

    Args:
        scoped: The build.
        job: Runs the calls; once it has failed, the build ends with its failure.
        progress: Told of each piece of a step.

    Raises:
        BaseException: What the build raises, or has begun and not waited for.
    """
    result: Out = Driver(scoped, job, progress).run()
    return result


def answer(models: Models, request: ChatRequest | EmbedRequest) -> Reply | Embeddings | BadReply:
    """Ask a model. A reply of no use is returned: what goes on beside it does not end with it."""
    if isinstance(request, EmbedRequest):
        return models.embedder.embed(request.texts, "passage")
    try:
        return models.chat(request.role, request.step).complete(request.prompt)
    except BadReply as error:
        return error


def answer_later(
    batches: BatchCalls, models: Models, request: ChatRequest | EmbedRequest
) -> Reply | Embeddings | BadReply | None:
    """Answer as `answer` does; with None if a batch is to bring the answer."""
    if isinstance(request, EmbedRequest):
        return batches.embed(models, request.texts)
    try:
        return batches.complete(models, request.role, request.step, request.prompt)
    except BadReply as error:
        return error


Ask = Callable[[Models, ChatRequest | EmbedRequest], Reply | Embeddings | BadReply | None]
"""Answers a request; with None if the answer comes in a later round."""


def reject(models: Models, request: RejectRequest) -> None:
    """Report a reply of no use to its chat."""
    rejected = request.rejected
    models.chat(request.role, request.step).reject(rejected.prompt, forget=rejected.forget)


@dataclass(eq=False, slots=True)
class Scope:
    """A `Scoped` build that is under way.

    Attributes:
        scoped: The build and its models.
        job: Runs its calls, and ends with it.
        root: The build.
        cut: The texts of which only the beginning was embedded, with how many tokens that has.
        is_over: Whether it has ended, well or not.
    """

    scoped: Scoped[Any]
    job: TaskGroup
    root: _Running
    cut: dict[str, int] = field(default_factory=dict)
    is_over: bool = False


@dataclass(eq=False, slots=True)
class _Running(Started[Any]):
    """A build that is under way."""

    build: Build[Any] | None = None
    scope: Scope | None = None
    step: str = ""
    waiting: list[tuple[_Wait, int]] = field(default_factory=list)
    """Who waits for its result, and for which answer."""
    has_asked: bool = False
    """Whether it has asked a model before."""
    error: BaseException | None = None


@dataclass(eq=False, slots=True)
class _Wait:
    """A build that waits for answers."""

    running: _Running
    answers: list[Any]
    missing: int
    is_over: bool = False


class Driver:
    """Drives a build: its calls are made in threads."""

    def __init__(self, scoped: Scoped[Any], job: TaskGroup, progress: Progress) -> None:
        self._job, self._progress = job, progress
        self._ready: deque[tuple[_Running, Any, BaseException | None]] = deque()
        self._paused: deque[tuple[_Running, Any, BaseException | None]] = deque()
        self._arrived: SimpleQueue[tuple[_Wait, int, Future[Any]]] = SimpleQueue()
        self._asked = 0
        self.whole = self._open(scoped)
        self._ready.append((self.whole, None, None))

    def run(self) -> Any:
        """Return what the build returns, or raise what it raises."""
        self.go()
        assert self.whole.is_done, "A build waits for nothing."
        return self.whole.outcome[0]

    def go(self) -> None:
        """Go on until the build has ended, or waits for nothing that is asked."""
        while not self.whole.is_done:
            while waiting := self._ready or self._paused:
                self._advance(*waiting.popleft())
            if self.whole.is_done or not self._asked:
                return
            self._take_in(*self._arrived.get())

    def _open(self, scoped: Scoped[Any]) -> _Running:
        running = _Running(build=scoped.build)
        running.scope = Scope(scoped, self._job.part(), running)
        return running

    def _advance(self, running: _Running, value: Any, error: BaseException | None) -> None:
        assert running.build and running.scope
        if self._job.failure is not None:
            raise self._job.failure
        scope = running.scope
        if scope.is_over:
            return
        if scope.job.failure is not None:
            # One of its calls has failed, so that no other one is made.
            self._fail(scope.root, scope.job.failure)
            return
        try:
            wanted = running.build.send(value) if error is None else running.build.throw(error)
        except StopIteration as end:
            self._end(running, end.value)
        except BaseException as failure:  # noqa: BLE001  whoever waits for it gets it
            self._fail(running, failure)
        else:
            if isinstance(wanted, Start):
                started = _Running(build=wanted.build, scope=scope)
                self._ready.append((started, None, None))
                self._ready.append((running, started, None))
            else:
                self._want(running, wanted)

    def _fail(self, running: _Running, failure: BaseException) -> None:
        if not running.waiting:
            raise failure
        running.error = failure
        scope = running.scope
        if scope is not None and scope.root is running:
            scope.is_over = True
            scope.job.fail(failure)
            self._warn(scope)
        for wait, _ in running.waiting:
            self._throw(wait, failure)

    def _end(self, running: _Running, result: Any) -> None:
        running.outcome.append(result)
        scope = running.scope
        assert scope
        meter = scope.scoped.models.meter
        if scope.root is running:
            scope.is_over = True
            for step, calls in scope.scoped.saved.items():
                if calls:
                    meter.add(step, Usage(saved=calls))
            self._warn(scope)
        if running.step:
            self._progress.done(running.step, meter.total())
        for wait, row in running.waiting:
            self._answer(wait, row, result)

    def _warn(self, scope: Scope) -> None:
        if scope.cut:
            models, places = scope.scoped.models, scope.scoped.places
            warn_of_cut_texts(scope.cut, models.embedder.model, places)

    def _want(
        self,
        running: _Running,
        wanted: Sequence[Request | Piece[Any] | Scoped[Any] | Started[Any] | Build[Any]],
    ) -> None:
        wait = _Wait(running, [None] * len(wanted), len(wanted))
        scope = running.scope
        assert scope
        if not wanted:
            self._paused.append((running, [], None))
        pieces = Counter(each.step for each in wanted if isinstance(each, Piece))
        for step, count in pieces.items():
            self._progress.expect(step, count)
        for row, each in enumerate(wanted):
            match each:
                case RejectRequest():
                    self.reject(scope, each)
                    self._answer(wait, row, None)
                case ChatRequest() | EmbedRequest():
                    self._ask(scope, each, wait, row)
                case _Running():
                    self._await(each, wait, row)
                case Piece():
                    self._begin(_Running(build=each.build, scope=scope, step=each.step), wait, row)
                case Scoped():
                    self._begin(self._open(each), wait, row)
                case Generator():
                    self._begin(_Running(build=each, scope=scope), wait, row)
                case _:
                    raise TypeError(f"A build can't want {each!r}.")

    def _begin(self, running: _Running, wait: _Wait, row: int) -> None:
        running.waiting.append((wait, row))
        self._ready.append((running, None, None))

    def _await(self, running: _Running, wait: _Wait, row: int) -> None:
        if running.is_done:
            self._answer(wait, row, running.outcome[0])
        elif running.error is not None:
            self._throw(wait, running.error)
        else:
            running.waiting.append((wait, row))

    def _answer(self, wait: _Wait, row: int, value: Any) -> None:
        wait.answers[row] = value
        wait.missing -= 1
        if not wait.missing and not wait.is_over:
            self._ready.append((wait.running, wait.answers, None))

    def _throw(self, wait: _Wait, error: BaseException) -> None:
        """Raise an error where a build waits; further answers come too late."""
        if not wait.is_over:
            wait.is_over = True
            self._ready.append((wait.running, None, error))

    def _ask(
        self, scope: Scope, request: ChatRequest | EmbedRequest, wait: _Wait, row: int
    ) -> None:
        priority: float = EMBED
        if isinstance(request, ChatRequest):
            # What was begun is ended first: a hopeless model fails before all is asked for once.
            priority = request.priority - BEGUN * wait.running.has_asked
            wait.running.has_asked = True
        self._asked += 1
        future = self.submit(scope, priority, request)
        future.add_done_callback(lambda done: self._arrived.put((wait, row, done)))

    def submit(
        self, scope: Scope, priority: float, request: ChatRequest | EmbedRequest
    ) -> Future[Any]:
        """Have a request answered; nothing waits for it here."""
        return scope.job.submit(priority, answer, scope.scoped.models, request)

    def reject(self, scope: Scope, request: RejectRequest) -> None:
        """Report a reply of no use."""
        reject(scope.scoped.models, request)

    def _take_in(self, wait: _Wait, row: int, future: Future[Any]) -> None:
        self._asked -= 1
        try:
            answered = future.result()
        except BaseException as error:  # noqa: BLE001  the build may have something to close
            self._throw(wait, error)
        else:
            self._settle(wait, row, answered)

    def _settle(self, wait: _Wait, row: int, answered: Reply | Embeddings | BadReply) -> None:
        if isinstance(answered, Embeddings):
            scope = wait.running.scope
            assert scope
            scope.cut.update(answered.cut)
            self._answer(wait, row, list(answered.vectors))
            return
        try:
            if isinstance(answered, BadReply):
                raise answered
            self._answer(wait, row, read_text(answered))
        except BadReply as error:
            self._throw(wait, error)


class Rounds(Driver):
    """Runs a build as far as there are replies, round after round; between them it rests.

    Models are asked in the thread that runs it. What they do not answer at once is asked for again
    in the next round.
    """

    def __init__(
        self, scoped: Scoped[Any], job: TaskGroup, progress: Progress, ask: Ask = answer
    ) -> None:
        super().__init__(scoped, job, progress)
        self._answer_now = ask
        self._later: list[tuple[Scope, ChatRequest | EmbedRequest, _Wait, int]] = []

    def resume(self, job: TaskGroup) -> Started[Any]:
        """Do a round in a job; the result is there once the build has ended.

        Raises:
            BaseException: What the build raises, or has begun and not waited for.
        """
        self._job = job
        asked, self._later = self._later, []
        for each in asked:
            self._ask(*each)
        self.go()
        return self.whole

    def _ask(
        self, scope: Scope, request: ChatRequest | EmbedRequest, wait: _Wait, row: int
    ) -> None:
        if self._job.failure is not None:
            raise self._job.failure
        if scope.is_over or scope.job.failure is not None:
            return
        try:
            answered = self._answer_now(scope.scoped.models, request)
        except BaseException as error:  # noqa: BLE001  the build may have something to close
            scope.job.fail(error)
            self._throw(wait, error)
        else:
            if answered is None:
                self._later.append((scope, request, wait, row))
            else:
                self._settle(wait, row, answered)
