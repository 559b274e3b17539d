"""What faults and kills cost: time with a tenth of the replies failing, and taking up again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from endpoint import Endpoint, chance
from endpoint.faults import Fault
from fabula_bench.speed.books import book
from fabula_bench.speed.making import making
from fabula_bench.speed.report import Figure
from kills import Kills

WORDS = 30_000
DELAY = 0.1
CONCURRENCY = 16
RANDOM: tuple[Fault, ...] = (
    "rate_limit",
    "error",
    "cut",
    "malformed",
    "nonsense",
    "empty",
    "refusal",
    "unknown_aspect",
    "too_long",
    "wrong_shape",
    "truncated",
    "missing_row",
    "nan",
    "zero",
)
"""What may go wrong with a reply at any time; the last three with embeddings alone."""
RUNS = 3


def measure(books: Path | None) -> list[Figure]:
    """Time by the floor with and without faults, and seconds to take up again after a kill."""
    text = book(WORDS, books)
    figures, calls = [], 0
    for name, share in (("no faults", 0.0), ("a tenth fails", 0.1)):
        with (
            Endpoint(plan=chance(share, RANDOM), delay=DELAY) as endpoint,
            making(endpoint, concurrency=CONCURRENCY) as maker,
        ):
            made = maker.made(text)
            # The floor is that of the calls that are needed, with faults and without.
            calls = calls or endpoint.calls
            floor = calls * DELAY / CONCURRENCY
            figures += [
                Figure(f"{name}: calls, refused ones too", endpoint.calls, ""),
                Figure(f"{name}: faults counted", made.usage.faults, ""),
                Figure(f"{name}: time by the floor", made.seconds / floor, "x"),
            ]
    return [*figures, *_kills()]


def _kills() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        kills = Kills(Path(folder))
        try:
            tallies = [kills.run(seed) for seed in range(RUNS)]
        finally:
            kills.close()
    return [
        Figure("killed runs", len(tallies), ""),
        Figure("kills", sum(len(tally.kills) for tally in tallies), ""),
        Figure("losses", sum(len(tally.losses) for tally in tallies), "", 0),
        Figure("the last run, which finishes the job", max(tally.resumed for tally in tallies)),
    ]
