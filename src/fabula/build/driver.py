"""Run builds (`fabula.graph.builds`): models are asked in threads, builds go on in one.

As soon as all that a build waits for is answered, it goes on, whatever else is still asked. Where
replies come by a batch, all builds go on as far as they can without them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

from fabula.errors import BadReply, ReplyPending
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
from fabula.graph.method import BuildWork
from fabula.models import Chat
from fabula.models.batching import warn_of_cut_texts
from fabula.models.parallel import TaskGroup
from fabula.models.progress import Progress
from fabula.models.replies import complete
from fabula.models.roles import Models, Role
from fabula.models.usage import Usage
from fabula.text.document import Vector

Out = TypeVar("Out")
EMBED = 0
"""The priority of embeddings: everything else may depend on them."""
BEGUN = 0.5
"""By how much further calls of a build go before the first ones of others of their priority."""


def run(
    build: Build[Out], work: BuildWork, models: Models, job: TaskGroup, progress: Progress
) -> Out:
    """Return what a build returns; all that it wants of models is asked side by side.

    Args:
        build: The build.
        work: What the build was given; the calls that it has saved are counted.
        models: The models that are asked.
        job: Runs the calls; once it has failed, the build ends with its failure.
        progress: Told of each piece of a step.

    Raises:
        ReplyPending: Replies come by a batch, and the build can't go on without them.
        BaseException: What the build raises, or has begun and not waited for.

    """
    result = _Driver(models, job, progress).run(build)
    for step, calls in work.saved.items():
        if calls:
            models.meter.add(step, Usage(saved=calls))
    return result


@dataclass(eq=False, slots=True)
class _Running(Started[Any]):
    """A build that is under way."""

    build: Build[Any] | None = None
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


class _Driver:
    def __init__(self, models: Models, job: TaskGroup, progress: Progress) -> None:
        self._models, self._job, self._progress = models, job, progress
        self._ready: deque[tuple[_Running, Any, BaseException | None]] = deque()
        self._arrived: SimpleQueue[tuple[_Wait, int, Future[Any]]] = SimpleQueue()
        self._chats: dict[tuple[Role, str], Chat] = {}
        self._asked = 0
        self._pending: ReplyPending | None = None

    def run(self, build: Build[Out]) -> Out:
        whole = _Running(build=build)
        self._ready.append((whole, None, None))
        while not whole.is_done:
            while self._ready:
                self._advance(*self._ready.popleft())
            if whole.is_done:
                break
            if not self._asked:
                assert self._pending, "A build waits for nothing."
                raise self._pending
            self._take_in(*self._arrived.get())
        result: Out = whole.outcome[0]
        return result

    def _advance(self, running: _Running, value: Any, error: BaseException | None) -> None:
        if self._job.failure is not None:
            raise self._job.failure
        assert running.build
        try:
            wanted = running.build.send(value) if error is None else running.build.throw(error)
        except StopIteration as end:
            self._end(running, end.value)
        except BaseException as failure:
            if not running.waiting:
                raise
            running.error = failure
            for wait, _ in running.waiting:
                self._throw(wait, failure)
        else:
            if isinstance(wanted, Start):
                started = _Running(build=wanted.build)
                self._ready.append((started, None, None))
                self._ready.append((running, started, None))
            else:
                self._want(running, wanted)

    def _end(self, running: _Running, result: Any) -> None:
        running.outcome.append(result)
        if running.step:
            self._progress.done(running.step, self._models.meter.total())
        for wait, row in running.waiting:
            self._answer(wait, row, result)

    def _want(
        self, running: _Running, wanted: Sequence[Request | Piece[Any] | Started[Any] | Build[Any]]
    ) -> None:
        wait = _Wait(running, [None] * len(wanted), len(wanted))
        if not wanted:
            self._ready.append((running, [], None))
        pieces = Counter(each.step for each in wanted if isinstance(each, Piece))
        for step, count in pieces.items():
            self._progress.expect(step, count)
        for row, each in enumerate(wanted):
            match each:
                case RejectRequest():
                    chat = self._chat(each)
                    chat.reject(each.rejected.prompt, forget=each.rejected.forget)
                    self._answer(wait, row, None)
                case ChatRequest() | EmbedRequest():
                    self._ask(each, wait, row)
                case _Running():
                    self._await(each, wait, row)
                case Piece():
                    self._begin(_Running(build=each.build, step=each.step), wait, row)
                case Generator():
                    self._begin(_Running(build=each), wait, row)
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

    def _ask(self, request: ChatRequest | EmbedRequest, wait: _Wait, row: int) -> None:
        priority: float = EMBED
        if isinstance(request, ChatRequest):
            # What was begun is ended first: a hopeless model fails before all is asked for once.
            priority = request.priority - BEGUN * wait.running.has_asked
            wait.running.has_asked = True
        self._asked += 1
        future = self._job.submit(priority, self._do, request)
        future.add_done_callback(lambda done: self._arrived.put((wait, row, done)))

    def _take_in(self, wait: _Wait, row: int, future: Future[Any]) -> None:
        self._asked -= 1
        try:
            answer = future.result()
        except ReplyPending as error:
            self._pending = error
        except BaseException as error:  # noqa: BLE001  the build may have something to close
            self._throw(wait, error)
        else:
            if isinstance(answer, BadReply):
                self._throw(wait, answer)
            else:
                self._answer(wait, row, answer)

    def _do(self, request: ChatRequest | EmbedRequest) -> Any:
        """Ask a model; on a worker. A reply of no use is returned: the job goes on."""
        if isinstance(request, EmbedRequest):
            return self._embed(request.texts)
        try:
            return complete(self._chat(request), request.prompt)
        except BadReply as error:
            return error

    def _chat(self, request: ChatRequest | RejectRequest) -> Chat:
        """Return the chat of a step; two threads may make it, and either will do."""
        key = (request.role, request.step)
        if key not in self._chats:
            self._chats[key] = self._models.chat(*key)
        return self._chats[key]

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        embedder = self._models.embedder
        embeddings = embedder.embed(texts, "passage")
        warn_of_cut_texts(embeddings.cut, embedder.model, {})
        return list(embeddings.vectors)
