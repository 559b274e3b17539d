"""Pacing keeps an endpoint busy, not hammered: simulated, thousands of calls in no time."""

from __future__ import annotations

import pytest

from fabula.providers.pacing import Pacing
from simulated import TRIP, Bucket, Fixed, RetryAfter, Sliding, World

REFUSED = 0.02
TIMES = 1.2
CALLS = 1500


@pytest.mark.parametrize("retry_after", ["right", "one", "none"])
@pytest.mark.parametrize("latency", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("callers", [16, 64])
def test_a_limit_on_calls_at_once_is_found_and_kept(
    retry_after: RetryAfter, latency: float, callers: int
) -> None:
    world = World(Pacing(callers), CALLS, callers, latency, None, 8, retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * CALLS * (latency + TRIP) / 8 + latency


@pytest.mark.parametrize("retry_after", ["right", "one", "none"])
@pytest.mark.parametrize("at_once", [8, 1000])
@pytest.mark.parametrize("limit", [Sliding, Fixed])
def test_a_limit_by_the_minute_is_found_and_kept(
    limit: type[Sliding | Fixed], at_once: int, retry_after: RetryAfter
) -> None:
    allows = limit(120, 60.0)
    world = World(Pacing(16), CALLS, 16, 0.5, allows, at_once, retry_after).run()
    assert world.refused_share() <= REFUSED
    assert world.now <= TIMES * (CALLS // 120) * 60


@pytest.mark.parametrize("limit", [Bucket(60, 60.0, 60), Bucket(600, 60.0, 600)])
def test_a_bucket_of_tokens_is_emptied_as_fast_as_it_fills(limit: Bucket) -> None:
    world = World(Pacing(16), CALLS, 16, 0.5, limit, 8, "right").run()
    assert world.refused_share() <= 2 * REFUSED
    assert world.now <= TIMES * CALLS * max(0.504 / 8, 1 if limit.count == 60 else 0.1)


@pytest.mark.parametrize("share", [0.01, 0.02, 0.03])
@pytest.mark.parametrize("retry_after", ["right", "none"])
@pytest.mark.parametrize(("callers", "latency"), [(16, 0.5), (16, 0.05), (64, 0.5)])
def test_a_refusal_now_and_then_is_no_limit(
    share: float, retry_after: RetryAfter, callers: int, latency: float
) -> None:
    world = World(
        Pacing(callers), CALLS, callers, latency, by_chance=share, retry_after=retry_after
    ).run()
    assert world.now <= TIMES * CALLS * (latency + TRIP) / callers


def test_pacing_says_nothing_of_an_endpoint_without_limits() -> None:
    pacing = Pacing(16)
    world = World(pacing, CALLS, 16, 0.05).run()
    assert (pacing.ceiling, pacing.window, world.refusals) == (16, None, [])
