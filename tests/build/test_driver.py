"""Builds yield what they want of models, and go on as soon as all of it is answered."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from building import Chats, ask, at_once, finish
from fabula.build.driver import Rounds, Scoped, answer, run
from fabula.build.outcome import SilentProgress
from fabula.errors import BadReply
from fabula.graph.builds import Build, ChatStep, EmbedRequest, Piece, Start, settle
from fabula.graph.method import BuildWork
from fabula.models import Prompt
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.usage import Usage
from scripted import Models, Says

CHAT = ChatStep("model", "summaries", 1)


def prompt(text: str) -> Prompt:
    return Prompt(system="", user=text, max_tokens=10, temperature=0)


def say(text: str) -> Build[str]:
    return CHAT.ask(prompt(text), str)


def test_answers_come_in_the_order_of_the_list() -> None:
    second_is_answered = threading.Event()

    def reply(user: str) -> str:
        if user == "first":
            assert second_is_answered.wait(10), "they are asked side by side"
        second_is_answered.set()
        return user.upper()

    def build() -> Build[list[str]]:
        answers: list[str] = yield [say("first"), say("second")]
        return answers

    assert ask(build(), Says(reply)) == ["FIRST", "SECOND"]


def test_each_build_goes_on_when_its_own_answers_are_there() -> None:
    all_of_one = threading.Event()

    def reply(user: str) -> str:
        if user == "other":
            assert all_of_one.wait(10), "it waits for nothing of the other"
        if user == "one, again":
            all_of_one.set()
        return user

    def twice(text: str) -> Build[str]:
        [first] = yield [say(text)]
        return (yield from say(f"{first}, again"))

    def build() -> Build[list[str]]:
        answers: list[str] = yield [twice("one"), twice("other")]
        return answers

    assert ask(build(), Says(reply)) == ["one, again", "other, again"]


def test_what_was_begun_is_ended_before_others_begin() -> None:
    order: list[str] = []

    def reply(user: str) -> str:
        order.append(user)
        return user

    def twice(text: str) -> Build[str]:
        yield from say(text)
        return (yield from say(f"{text}, again"))

    def build() -> Build[None]:
        yield [twice("one"), twice("two"), twice("three")]

    finish(build(), Chats(lambda step: Says(reply)), BuildWork(), count=1)
    assert order.index("one, again") < order.index("three")
    assert order.index("two, again") < order.index("three, again")


def test_what_is_started_goes_on_beside_and_is_waited_for_when_it_is_wanted() -> None:
    def build() -> Build[list[Any]]:
        started = yield Start(say("beside"))
        assert not started.is_done
        mine = yield from say("mine")
        [beside] = yield [started]
        again = yield [started]
        return [mine, beside, *again]

    assert ask(build(), Says(str)) == ["mine", "beside", "beside"]


def test_an_error_is_raised_where_the_build_waits() -> None:
    def build() -> Build[list[str]]:
        try:
            yield [say("good"), CHAT.ask(prompt("bad"), read, attempts=1)]
        except BadReply as error:
            return [str(error), (yield from say("instead"))]
        raise AssertionError

    def read(reply: str) -> str:
        raise BadReply("It says nothing.")

    [why, instead] = ask(build(), Says(str))
    assert "It says nothing." in why
    assert instead == "instead"


def test_what_is_started_and_fails_is_raised_wherever_it_is_waited_for() -> None:
    def fail() -> Build[None]:
        yield from say("something")
        raise ZeroDivisionError

    def build() -> Build[int]:
        started = yield Start(fail())
        for count in range(2):
            try:
                yield [started]
            except ZeroDivisionError:
                caught = count + 1
        return caught

    assert ask(build(), Says(str)) == 2


def test_what_fails_beside_and_nobody_waits_for_ends_the_build() -> None:
    def fail() -> Build[None]:
        yield from say("something")
        raise ZeroDivisionError

    def build() -> Build[str]:
        yield Start(fail())
        while True:
            yield from say("more")

    with pytest.raises(ZeroDivisionError):
        ask(build(), Says(str))


def test_a_build_that_wants_nothing_of_models_asks_none() -> None:
    def build() -> Build[list[Any]]:
        nothing = yield []
        made = yield [settle(1), settle(2)]
        return [nothing, made]

    assert at_once(settle(3)) == 3
    assert ask(build(), Says(str)) == [[], [1, 2]]


def test_what_a_job_has_failed_for_ends_the_build() -> None:
    workers, models = Workers(1), Models(Says(str))

    def build() -> Build[str]:
        job.fail(KeyboardInterrupt())
        return (yield from say("more"))

    job = TaskGroup(workers)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(Scoped(build(), models), job, SilentProgress())
    finally:
        workers.close()


@dataclass
class Heard:
    """Progress, as it is told."""

    expected: dict[str, int] = field(default_factory=dict)
    done_: list[str] = field(default_factory=list)

    def expect(self, step: str, count: int) -> None:
        self.expected[step] = self.expected.get(step, 0) + count

    def done(self, step: str, usage: Usage) -> None:
        self.done_.append(step)


def test_pieces_count_to_their_steps_and_saved_calls_to_the_meter() -> None:
    models, heard, work = Models(Says(str)), Heard(), BuildWork()

    def build() -> Build[Any]:
        work.saved["summaries"] += 3
        work.saved["details"] += 0
        return (yield [Piece("summaries", say(text)) for text in "abc"])

    assert finish(build(), models, work, heard) == ["a", "b", "c"]
    assert (heard.expected, heard.done_) == ({"summaries": 3}, ["summaries"] * 3)
    usage = models.meter.usage()
    assert (usage["summaries"].calls, usage["summaries"].saved) == (3, 3)
    assert "details" not in usage


def test_texts_are_embedded_as_passages() -> None:
    def build() -> Build[Any]:
        [vectors] = yield [EmbedRequest(["a", "b"])]
        return vectors

    models = Models(Says(str))
    assert len(finish(build(), models, BuildWork())) == 2
    assert models.embedder.sent == ["a", "b"]


def test_what_is_answered_later_is_asked_again_and_nothing_else_is() -> None:
    def then(text: str) -> Build[str]:
        first = yield from say(text)
        return (yield from say(f"{first}, then"))

    def build() -> Build[list[str]]:
        answers: list[str] = yield [then("one"), then("later"), then("two")]
        return answers

    chat, workers, has_come = Says(str), Workers(1), False

    def ask_now(models: Any, request: Any) -> Any:
        reply = answer(models, request)
        return reply if has_come or "later" not in request.prompt.user else None

    with TaskGroup(workers) as job:
        rounds = Rounds(Scoped(build(), Models(chat)), job, SilentProgress(), ask_now)
        assert not rounds.resume(job).is_done
        assert [prompt.user for prompt in chat.prompts] == [
            *("one", "later", "two"),
            *("one, then", "two, then"),
        ]
        has_come = True
        assert rounds.resume(job).outcome == [["one, then", "later, then", "two, then"]]
        assert [prompt.user for prompt in chat.prompts[5:]] == ["later", "later, then"]
    workers.close()


def test_what_has_models_of_its_own_is_counted_and_fails_alone() -> None:
    one, other = (Models(Says(str.upper)) for _ in range(2))

    def fail() -> Build[None]:
        yield Start(say("beside"))
        raise ZeroDivisionError

    def build() -> Build[list[Any]]:
        good = yield Start(twice())
        try:
            yield [Scoped(fail(), other, {"summaries": 2})]
        except ZeroDivisionError:
            return [*(yield [good]), (yield [Scoped(say("d"), other)])]
        raise AssertionError

    def twice() -> Build[list[str]]:
        answers: list[str] = yield [Scoped(say(text), one, {"summaries": 1}) for text in "ab"]
        return answers

    assert finish(build(), Chats(lambda step: Says(str)), BuildWork()) == [["A", "B"], ["D"]]
    assert (one.meter.usage()["summaries"].calls, one.meter.usage()["summaries"].saved) == (2, 2)
    # What fails has saved nothing, and what it has begun is not waited for.
    assert other.meter.usage()["summaries"].saved == 0
