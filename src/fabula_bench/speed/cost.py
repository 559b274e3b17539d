"""Calls and tokens, which are exact: by 1,000 chunks, expected before, and saved after an edit.

The naive count is the method's: a call for the details of each chunk, one to detect each cluster's
aspects, one for each summary. The model is the tests' endpoint, which names about two aspects of a
cluster; another names more or fewer, and writes longer or shorter.
"""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from typing import Any

from endpoint import Endpoint
from fabula.models.usage import Usage
from fabula_bench.speed.books import book
from fabula_bench.speed.making import Made, making
from fabula_bench.speed.report import Figure

WORDS = 80_000
TEXTS = (15_000, 30_000, 60_000)
DRAWS = 9
NEW = "He paused, and the landlord's parrot said nothing at all about the herring."
SETTINGS: dict[str, dict[str, Any]] = {
    "the method's own": {"aspects.details_per_call": 1},
    "4 chunks a call (default)": {"aspects.details_per_call": 4},
    "8 chunks a call": {"aspects.details_per_call": 8},
    "4, aspects with summaries": {
        "aspects.details_per_call": 4,
        "aspects.aspects_with_summaries": True,
    },
    "the preset economy": {"preset": "economy"},
}


def measure(books: Path | None) -> list[Figure]:
    """Cost by settings, by expectation, and by edit."""
    with Endpoint() as endpoint:
        return [
            *_by_settings(endpoint, book(WORDS, books)),
            *_expected(endpoint, [book(words, books, seed) for seed, words in enumerate(TEXTS)]),
            *_edits(endpoint, book(WORDS, books)),
        ]


def _by_settings(endpoint: Endpoint, text: str) -> list[Figure]:
    figures = []
    for name, settings in SETTINGS.items():
        with making(endpoint, **settings) as maker:
            made = maker.made(text)
        share = 1000 / len(made.chunks)
        usage = made.usage
        figures += [
            Figure(f"1,000 chunks, {name}: calls", usage.calls * share, ""),
            Figure(f"1,000 chunks, {name}: prompt tokens", usage.prompt_tokens * share, ""),
            Figure(f"1,000 chunks, {name}: completion tokens", usage.completion_tokens * share, ""),
        ]
    return figures


def _expected(endpoint: Endpoint, texts: list[str]) -> list[Figure]:
    """How far off a dry run is: where models are unknown, and once they wrote another book."""
    figures = []
    with making(endpoint) as maker:
        means_before = maker.made(book(TEXTS[0], seed=9)).means()
        for words, text in zip(TEXTS, texts, strict=True):
            spent = maker.made(text).usage
            for known, means in (("first book", {}), ("after a book", means_before)):
                expected = maker.expected(text, means)
                calls = abs(expected.calls / spent.calls - 1)
                tokens = abs(_tokens(expected) / _tokens(spent) - 1)
                what = f"{words:,} words, {known}: expected"
                figures += [
                    Figure(f"{what} calls off by", 100 * calls, "%", 15),
                    Figure(f"{what} tokens off by", 100 * tokens, "%", 15),
                ]
    return figures


def _edits(endpoint: Endpoint, text: str) -> list[Figure]:
    with making(endpoint) as maker:
        first = maker.made(text)
        chunks = len(first.chunks)
        draw = random.Random("edits")
        of_one, more = (
            [
                _saved(maker.made(_edited(text, count, draw), first.known()), _naive(first))
                for _ in range(DRAWS)
            ]
            for count in (1, round(chunks / 100))
        )
    what = f"{chunks} chunks, mean of {DRAWS} edits"
    return [
        Figure(f"{what}: calls saved, one chunk changed", statistics.mean(of_one), "%", 95, True),
        Figure(f"{what}: calls saved, 1 % changed", statistics.mean(more), "%", 85, True),
    ]


def _naive(made: Made) -> int:
    """The method's calls for a document: with embeddings, and each chunk's details in one."""
    return made.usage.calls - made.steps["details"].calls + len(made.chunks)


def _saved(made: Made, naive: int) -> float:
    return 100 * (1 - made.usage.calls / naive)


def _edited(text: str, sentences: int, draw: random.Random) -> str:
    """The text with new sentences in it, far from each other."""
    for place in sorted(draw.sample(range(len(text)), sentences), reverse=True):
        after = text.find(". ", place) + 2
        text = f"{text[:after]}{NEW} {text[after:]}" if after > 1 else f"{text} {NEW}"
    return text


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
