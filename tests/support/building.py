"""Run a build as a run does, with workers of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from fabula.build.driver import Scoped, run
from fabula.build.outcome import SilentProgress
from fabula.graph.builds import Build
from fabula.graph.method import BuildWork, Graph
from fabula.models import Chat
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.roles import Role

Out = TypeVar("Out")


@dataclass
class Chats:
    """Chat models by the steps that ask them, or one for all steps."""

    of_step: Callable[[str], Chat]
    meter: Meter = field(default_factory=Meter)

    def chat(self, role: Role, step: str) -> Chat:
        return self.of_step(step)


def at_once(build: Build[Out]) -> Out:
    """Return what a build returns that wants nothing."""
    with pytest.raises(StopIteration) as end:
        next(build)
    result: Out = end.value.value
    return result


def ask(build: Build[Out], chat: Chat | Callable[[str], Chat]) -> Out:
    """Return what a build returns that asks a chat, or those of its steps."""
    of_step = chat if callable(chat) else lambda step: chat
    return finish(build, Chats(of_step), BuildWork())


def finish(
    build: Build[Out],
    models: Any,
    work: BuildWork,
    progress: Any = None,
    count: int = 8,
) -> Out:
    """Return what a build returns, with at most `count` calls at once."""
    workers = Workers(count)
    try:
        with TaskGroup(workers) as job:
            return run(Scoped(build, models, work.saved), job, progress or SilentProgress())
    finally:
        workers.close()


def in_order(known: Sequence[Graph[Any]]) -> list[Graph[Any]]:
    """Those first that others rest on or use."""
    left = {graph.name: graph for graph in known}
    ordered: list[Graph[Any]] = []
    while left:
        for graph in [*left.values()]:
            if not {*graph.rests_on, *graph.uses} & left.keys():
                ordered.append(left.pop(graph.name))
    return ordered
