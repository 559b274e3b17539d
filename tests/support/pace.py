"""Whether the time of some work grows with its size and no faster, on a machine that others use."""

from __future__ import annotations

import time
from collections.abc import Callable

SHORTEST, LONGEST = 0.02, 0.2
"""Seconds of CPU that can be compared with others, and that are more than enough for it."""
MIN_SIZE, TRIES = 100, 5


def keeps_pace(
    work: Callable[[int], object], size: int, clock: Callable[[], float] = time.thread_time
) -> bool:
    """Whether `work` takes less than ten times as long for four times the size.

    CPU time of this thread alone. Four times the size takes a linear one four times as long, and
    a quadratic one sixteen times. The size is doubled until there is a time to measure: what takes
    none has no growth. It is halved where there is more than enough. Where others slow the CPU
    down, it is for a while: the next try compares with the small size as it is after the large one.
    """

    def seconds(size: int) -> float:
        began = clock()
        work(size)
        return clock() - began

    work(100)
    while seconds(size) > LONGEST and size > MIN_SIZE:
        size //= 2
    while (small := min(seconds(size) for _ in range(3))) < SHORTEST:
        size *= 2
    for _ in range(TRIES):
        large = seconds(4 * size)
        if large < 10 * small:
            return True
        small = max(small, min(seconds(size) for _ in range(2)))
        if large < 10 * small:
            return True
    return False
