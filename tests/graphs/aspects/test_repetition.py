"""Repeating while an aspect is missing: the question alone, or all of clustering and detection."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from building import at_once
from fabula.graph.builds import Build
from fabula.graph.method import BuildText, Known
from fabula.graphs.aspects import GRAPH
from fabula.graphs.aspects.detection import Attempt, Rounds, repeat_all
from fabula.graphs.aspects.values import Aspect
from fabula.models import Chat, Prompt, Reply
from fabula.models.counted import CountedChat
from fabula.models.placeholders import PlaceholderChat
from fabula.models.roles import Role
from small_models import SmallModels, as_known, build
from small_models import read as read_story
from stories import WINTER

ASPECTS = tuple(Aspect(name, f"What {name} is.", "Tell it.") for name in ("plot", "style", "theme"))
NARRATIVE = 7
in_two_steps = partial(build, aspects_with_summaries=False)
"""Aspects are asked for by calls of their own, which can be counted."""


@pytest.fixture(scope="module")
def text() -> BuildText:
    return read_story(WINTER, Known())


# The rule alone


def attempts(
    *found: Sequence[Collection[str]] | None,
) -> Callable[[int], Build[Attempt[str] | None]]:
    def attempt(number: int) -> Build[Attempt[str] | None]:
        yield from ()
        detected = found[number]
        if detected is None:
            return None
        return Attempt([f"cluster {number}.{row}" for row in range(len(detected))], detected)

    return attempt


def test_all_is_repeated_until_nothing_is_missing() -> None:
    log = Rounds()
    made = attempts([{"plot"}], [{"plot"}, {"style"}], [{"plot", "style"}, {"theme"}], [{"plot"}])
    number, best = at_once(repeat_all(ASPECTS, 3, made, log))
    assert (number, best.groups) == (2, ["cluster 2.0", "cluster 2.1"])
    assert log.count == 3
    assert log.missing == [(1, "style"), (1, "theme"), (2, "theme")]


def test_the_attempt_with_the_fewest_missing_is_kept_and_it_ends() -> None:
    log = Rounds()
    made = attempts(
        [{"plot"}], [{"plot", "style"}], [{"plot", "theme"}], [{"plot", "style", "theme"}]
    )
    number, best = at_once(repeat_all(ASPECTS, 2, made, log))
    assert (number, best.detected) == (1, [{"plot", "style"}])
    assert log.count == 3


def test_it_ends_where_nothing_else_can_come() -> None:
    log = Rounds()
    assert at_once(repeat_all(ASPECTS, 5, attempts([{"plot"}], None), log))[0] == 0
    assert log.count == 1


# In a build


class Detector:
    """A model that finds every aspect but some in the first calls for each, by their samples."""

    def __init__(self, chat: Chat, hidden: Collection[str], until: int) -> None:
        self.chat, self.hidden, self.until = chat, hidden, until
        self.calls: list[tuple[int, int]] = []

    def complete(self, prompt: Prompt) -> Reply:
        names = re.findall(r"^- ([^:\n]+):", prompt.user.partition("</aspects>")[0], re.MULTILINE)
        self.calls.append((prompt.sample, len(names)))
        if prompt.sample < self.until:
            names = [name for name in names if name not in self.hidden]
        return Reply(json.dumps({"aspects": names}))

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Nothing is kept."""


@dataclass
class Detecting(SmallModels):
    """Models whose aspect model leaves out `hidden` until the round `until`, from 0."""

    hidden: tuple[str, ...] = ("style",)
    until: int = 1
    calls: list[tuple[int, int]] = field(default_factory=list)

    def chat(self, role: Role, step: str) -> Any:
        if step != "aspects":
            return super().chat(role, step)
        detector = Detector(PlaceholderChat(), self.hidden, self.until)
        detector.calls = self.calls
        return CountedChat(detector, self.meter, step, "any")  # type: ignore[arg-type]


def test_by_default_only_what_is_missing_is_asked_for_again(text: BuildText) -> None:
    models = Detecting(offline=False)
    built = in_two_steps(text, models, cluster_size=8)
    clusters = sum(sample == 0 for sample, _ in models.calls)
    assert models.calls.count((1, 1)) == clusters, "one name in the second round"
    assert (built.facts["rounds"], built.facts["missed"], built.facts["missed_in"]) == (
        2,
        ["style"],
        [1],
    )
    assert built.facts["assigned"] == []


def test_with_all_every_cluster_is_asked_for_every_aspect_again(text: BuildText) -> None:
    models = Detecting(offline=False)
    built = in_two_steps(text, models, cluster_size=8, repeat="all")
    clusters = sum(sample == 0 for sample, _ in models.calls)
    assert models.calls.count((0, NARRATIVE)) == clusters
    assert models.calls.count((1, NARRATIVE)) == clusters, "PCA gives the same clusters again"
    assert built.facts["rounds"] == 2
    assert built.facts["missed"] == ["style"]
    assert built.facts["assigned"] == []


def test_what_stays_missing_is_given_to_the_nearest_cluster_and_noted(text: BuildText) -> None:
    models = Detecting(offline=False, until=9)
    built = in_two_steps(text, models, cluster_size=8, repeat="all")
    assert built.facts["rounds"] == 3
    assert (built.facts["missed"], built.facts["missed_in"]) == (["style"] * 3, [1, 2, 3])
    assert built.facts["assigned"] == ["style"]
    assert "style" in built.facts["aspects"]
    lines = GRAPH.describe(built.facts)
    assert lines[0] == (
        "aspects looked for in 3 rounds: 1 missing after round 1, 1 missing after round 2, "
        "1 missing after round 3 (style)"
    )
    assert lines[1].startswith("found in no cluster, so assigned to the nearest one: style")


def test_that_nothing_was_missing_is_noted_too(text: BuildText) -> None:
    built = in_two_steps(text, Detecting(offline=False, hidden=()), repeat="all", cluster_size=8)
    assert (built.facts["rounds"], built.facts["missed"]) == (1, [])
    assert list(GRAPH.describe(built.facts)) == ["aspects looked for in 1 round: none was missing"]


def test_one_aspect_is_not_looked_for(text: BuildText) -> None:
    built = build(text, SmallModels(offline=False), set="general")
    assert "rounds" not in built.facts


@pytest.mark.parametrize("repeat", ["missing", "all"])
def test_what_was_missing_stays_known_as_long_as_the_clusters_do(
    text: BuildText, repeat: str
) -> None:
    built = in_two_steps(text, Detecting(offline=False), cluster_size=8, repeat=repeat)
    known = as_known(text, built)
    edited = read_story(WINTER.replace("on day 7 of", "on day seven of", 1), known)
    again = in_two_steps(edited, Detecting(offline=False), known, cluster_size=8, repeat=repeat)
    assert again.facts["changed"] == 1
    assert (again.facts["rounds"], again.facts["missed"]) == (2, ["style"])


def test_offline_the_same_clusters_are_not_looked_at_again(text: BuildText) -> None:
    built = build(text, SmallModels(), repeat="all", cluster_size=8)
    assert built.facts["rounds"] == 1
