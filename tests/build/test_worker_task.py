"""Both ends of a worker's task: what its build wants of models, and what it is answered."""

from __future__ import annotations

import io
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from fabula.build import cluster, worker_task
from fabula.build.cluster import Ring, TaskFollower
from fabula.build.driver import Scoped
from fabula.build.worker_task import (
    PromptPickler,
    TaskCall,
    TaskReport,
    TaskResult,
    WorkerDriver,
    WorkerTask,
    exchange,
)
from fabula.errors import BadReply, ModelError, Stopped
from fabula.graph.builds import Build, ChatRequest, ChatStep, EmbedRequest, RejectRequest
from fabula.graphs.aspects.schemas import aspects_reply
from fabula.models import Prompt
from fabula.models.cache import chat_key
from fabula.models.counted import Meter
from fabula.models.endpoint.parameters import Parameters
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.replies import Rejected
from fabula.models.usage import Usage
from scripted import Models, Says

CHAT = ChatStep("model", "details", 1)
PATIENCE = 120.0


def prompt(text: str) -> Prompt:
    return Prompt(system="", user=text, max_tokens=10, temperature=0)


@dataclass
class Asked:
    """The models of a coordinator, and what they are asked."""

    says: Says
    workers: Workers = field(default_factory=lambda: Workers(4))

    def models(self, meter: Meter) -> Models:
        return Models(self.says, meter=meter)


class Steps:
    """Progress, as it is told."""

    def __init__(self) -> None:
        self.expected, self.completed = Counter[str](), Counter[str]()

    def expect(self, step: str, count: int) -> None:
        self.expected[step] += count

    def done(self, step: str, usage: Usage) -> None:
        self.completed[step] += 1


def followed(
    says: Says, meter: Meter, progress: Steps | None = None, workers: Any = None
) -> TaskFollower:
    asked: Any = Asked(says)
    return TaskFollower(workers, "book.txt", asked, meter, TaskGroup(asked.workers), progress)


def do(task: WorkerTask, build: Build[Any]) -> TaskResult:
    """What a worker does."""
    value, error = None, None
    try:
        with task.running(), TaskGroup(Workers(0), stop=task.stop) as job:
            scoped: Any = Scoped(build, Models(Says(str), meter=Meter(task.meter)))
            value = WorkerDriver(scoped, job, task, embeds=False).run()
    except Exception as raised:  # noqa: BLE001  as the task returns it
        error = raised
    return TaskResult(task.attempt, value, error, task.report(), task.own_usage())


def run(follower: TaskFollower, build: Build[Any], is_wanted: Callable[[], bool]) -> Any:
    """What comes of a build that a task runs in a thread, and a follower answers."""
    task = WorkerTask(lambda attempt: follower.inbox.put(Ring(attempt, "worker")), is_wanted)
    with ThreadPoolExecutor(1) as pool:
        future: Any = pool.submit(do, task, build)
        future.add_done_callback(lambda _: follower.inbox.put(None))
        while (ring := cluster._wait(follower.inbox, future)) is not None:
            follower.follow(ring)
        return follower.finish(future.result(PATIENCE))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((cluster, "POLL_SECONDS"), (worker_task, "REPORT_SECONDS")):
        monkeypatch.setattr(module, name, 0.02)
    monkeypatch.setattr(worker_task, "RING_AGAIN_SECONDS", 0.1)


def lose(monkeypatch: pytest.MonkeyPatch, is_lost: Callable[[int, str], bool]) -> None:
    """Exchange without a network: what is lost never arrives, or is never answered."""
    count = 0

    def call(_: object, worker: str, function: Callable[..., bytes], *values: Any) -> bytes:
        nonlocal count
        count += 1
        if is_lost(count, "request"):
            raise OSError("The connection broke.")
        answered = function(*values)
        if is_lost(count, "answer"):
            raise OSError("The connection broke.")
        return answered

    monkeypatch.setattr(cluster, "_call_on_worker", call)


def in_three_steps() -> Build[list[Any]]:
    first = yield [CHAT.ask(prompt(text), str) for text in "abc"]
    [vectors] = yield [EmbedRequest(["x", "y"])]
    last = yield from CHAT.ask(prompt("".join(first)), str)
    return [last, len(vectors)]


def test_each_call_is_made_once_though_exchanges_are_lost(
    soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(monkeypatch, lambda count, what: count % 3 == ("request", "answer").index(what))
    says, meter = Says(str.upper), Meter()
    assert run(followed(says, meter), in_three_steps(), lambda: True) == ["ABC", 2]
    assert sorted(each.user for each in says.prompts) == ["ABC", "a", "b", "c"]
    # Counted where they were made, and once; but the worker knows what each part has cost.
    assert meter.usage()["details"].calls == 4


def test_a_reply_of_no_use_is_asked_for_again(soon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    lose(monkeypatch, lambda count, what: False)
    says, meter = Says(lambda user: "2" if "again" in user or "last" in user else "two"), Meter()
    assert run(followed(says, meter), CHAT.ask(prompt("a number"), int_of), lambda: True) == 2
    assert meter.usage()["details"].faults == 1


def int_of(reply: str) -> int:
    if not reply.isdigit():
        raise BadReply("again: it is no number")
    return int(reply)


def test_an_error_of_a_model_ends_the_build_that_waits(
    soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(user: str) -> str:
        raise ModelError("The key is refused.", advice="Set another one.")

    lose(monkeypatch, lambda count, what: False)
    with pytest.raises(ModelError, match=r"The key is refused\.") as raised:
        run(followed(Says(fail), Meter()), in_three_steps(), lambda: True)
    assert "Set another one." in str(raised.value)


def test_a_task_that_nobody_wants_stops_while_it_waits(
    soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(monkeypatch, lambda count, what: False)
    is_asked, go = threading.Event(), threading.Event()

    def wait(user: str) -> str:
        is_asked.set()
        go.wait(PATIENCE)
        return user

    try:
        with pytest.raises(Stopped):
            run(followed(Says(wait), Meter()), in_three_steps(), lambda: not is_asked.is_set())
    finally:
        go.set()


def test_a_second_attempt_counts_no_step_twice(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    steps, meter = Steps(), Meter()
    follower = followed(Says(str), meter, steps)
    reports = [
        *("a", TaskReport({"details": 8}, {"details": 3}, ((30, "It is slow."),))),
        *("a", TaskReport({"details": 8}, {"details": 3}, ((30, "It is slow."),))),
        *("b", TaskReport({"details": 8}, {"details": 5})),
    ]
    for attempt, report in zip(reports[::2], reports[1::2], strict=True):
        monkeypatch.setattr(cluster, "_call_on_worker", lambda *_, r=report: pickle.dumps(r))
        follower.follow(Ring(str(attempt), "worker"))
    assert (steps.expected, steps.completed) == ({"details": 8}, {"details": 5})
    assert caplog.text.count("It is slow.") == 1
    assert caplog.text.count("its worker died, so another one begins it again") == 1
    # What its build saved is counted once it has ended.
    saved = {"summaries": Usage(saved=3)}
    made: Any = ["made"]
    assert follower.finish(TaskResult("b", made, None, TaskReport(), saved)) == made
    assert meter.usage() == saved


class SilentClient:
    """A client of Dask whose worker's machine is frozen."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def connect(self) -> SilentClient:
        return self

    def run(self, *_: object, **__: object) -> dict[str, bytes]:
        self.go.wait(PATIENCE)
        return {}


def test_a_worker_that_never_answers_does_not_hold_up_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "FETCH_SECONDS", 0.1)
    client: Any = SilentClient()
    follower = followed(Says(str), Meter(), workers=client)
    follower.follow(Ring("first", "tcp://1.2.3.4:5"))
    assert not client.go.is_set()
    client.go.set()


def test_a_prompt_is_the_same_at_the_coordinator() -> None:
    """Its schema may be a class made while the build ran, and its placeholder a closure."""
    schema = aspects_reply(("plot", "theme"))
    asked = Prompt("s", "u", 10, 0.5, schema, "again", 2, placeholder=lambda: "reply")
    requests: list[ChatRequest | RejectRequest] = [
        ChatRequest("model", "aspects", 1, asked),
        RejectRequest("model", "aspects", Rejected(asked, forget=True)),
    ]
    calls = tuple(TaskCall(number, 0, 1, each) for number, each in enumerate(requests))
    file = io.BytesIO()
    PromptPickler(file, protocol=5).dump(TaskReport(calls=calls))
    chat, rejected = [call.request for call in pickle.loads(file.getvalue()).calls]
    for prompt in (chat.prompt, rejected.rejected.prompt):
        assert chat_key("e", "m", prompt) == chat_key("e", "m", asked)
        sent = [Parameters().chat("m", each, stream=False) for each in (prompt, asked)]
        assert sent[0] == sent[1]
    # The same class each time, as what is remembered of a schema is remembered for its class.
    assert chat.prompt.schema is rejected.rejected.prompt.schema


def test_a_task_that_has_ended_exchanges_nothing() -> None:
    assert pickle.loads(exchange("ended", 0, pickle.dumps([]))) is None
