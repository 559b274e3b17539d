"""What staging a part in pieces saves: a novel, ingested with and without, in turn on one server.

Both ingests of a pair make the same calls to an endpoint that takes 200 ms a call, into collections
of their own. What counts is the time from the model's last reply to the end, and the ratio of the
two in each pair: other programs on the machine slow both. Without pieces, whole parts are staged
while others are made, and so the aspect graph at the end.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fabula.build import make
from fabula_bench.speed.books import STORY
from fabula_bench.speed.report import Figure
from fabula_bench.speed.waiting import ingest_once, run_with_novel

WORDS = 30_000
PAIRS = 5
GOAL = 0.7
"""The most that the pieces may leave of the time after the last reply."""


def measure(books: Path | None, words: int = WORDS, pairs: int = PAIRS) -> list[Figure]:
    """The seconds after the last reply with and without pieces, and their ratio in pairs."""
    measured = run_with_novel("fabula_bench.speed.pieces", words, str(pairs))
    without, pieces, whole, all_pieces = zip(*measured, strict=True)
    ratios = [new / old for old, new, *_ in measured]
    note = f"{pairs} pairs, {min(ratios):.2f} to {max(ratios):.2f}"
    return [
        Figure(f"{words:,} words, whole parts: after the last reply", statistics.median(without)),
        Figure(f"{words:,} words, pieces: after the last reply", statistics.median(pieces)),
        Figure("pieces, by whole parts", statistics.median(ratios), "x", GOAL, note=note),
        Figure(f"{words:,} words, whole parts: all", statistics.median(whole)),
        Figure(f"{words:,} words, pieces: all", statistics.median(all_pieces)),
    ]


@contextmanager
def _whole_parts() -> Iterator[None]:
    """Let graphs give no pieces, as before."""
    pass_on = make._pass_on
    make._pass_on = lambda *_: None  # type: ignore[assignment]
    try:
        yield
    finally:
        make._pass_on = pass_on


def _pairs(url: str, novel: Path, pairs: int) -> Iterator[tuple[float, float, float, float]]:
    ingest_once(url, "first", STORY)  # Java is compiled only once it is used
    ingest_once(url, "warm", novel)
    for number in range(pairs):
        with _whole_parts():
            before = ingest_once(url, f"whole {number}", novel)
        after = ingest_once(url, f"pieces {number}", novel)
        yield before.writing, after.writing, before.seconds, after.seconds


if __name__ == "__main__":
    json.dump([*_pairs(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))], sys.stdout)
