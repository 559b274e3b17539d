"""Calls and tokens, which are exact: expected before, and saved after an edit.

The naive count is the method's: a call for the details of each chunk, one to detect each cluster's
aspects, one for each summary. The model is the tests' endpoint, which names about two aspects of a
cluster; another names more or fewer, and writes longer or shorter. Documents are built in this
process: no database, no cache.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from endpoint import Endpoint
from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.graph import TEXT
from fabula.graph.installed import graph
from fabula.load import read_text
from fabula.models.counted import Meter
from fabula.models.usage import Usage
from fabula_bench.building import Parts, build_parts, text_chunks
from fabula_bench.speed.books import book
from fabula_bench.speed.report import Figure

WORDS = 80_000
TEXTS = (15_000, 30_000, 60_000)
DRAWS = 9
NEW = "He paused, and the landlord's parrot said nothing at all about the herring."
GRAPH = "aspects"


def measure(books: Path | None) -> list[Figure]:
    """Cost by expectation, and by edit."""
    with Endpoint() as endpoint:
        return [
            *_expected(endpoint, [book(words, books, seed) for seed, words in enumerate(TEXTS)]),
            *_edits(endpoint, book(WORDS, books)),
        ]


@contextmanager
def _models(endpoint: Endpoint) -> Iterator[ModelFactory]:
    models = ModelFactory(Settings.read(base_url=endpoint.url, api_key="any", cache=False))
    try:
        yield models
    finally:
        models.close()


def _build(models: ModelFactory, text: str, **how: Any) -> tuple[Parts, dict[str, Usage]]:
    """Return the parts of a text, and what each step cost."""
    document = read_text(
        text, source="bench", collection="bench", title="bench", author="", language="en"
    )
    meter = Meter()
    return build_parts(document, [graph(GRAPH)], models, meter, **how), meter.usage()


def _total(steps: Mapping[str, Usage]) -> Usage:
    return sum(steps.values(), Usage())


def _expected(endpoint: Endpoint, texts: list[str]) -> Iterator[Figure]:
    """How far off a dry run is: where models are unknown, and once they wrote another book."""
    with _models(endpoint) as models:
        facts = _build(models, book(TEXTS[0], seed=9))[0][GRAPH].record.facts
        before = {name: value for name, value in facts.items() if name.startswith("mean_")}
        for words, text in zip(TEXTS, texts, strict=True):
            spent = _total(_build(models, text)[1])
            for known, means in (("first book", {}), ("after a book", before)):
                expected = _total(_build(models, text, means=means, dry=True)[1])
                calls = abs(expected.calls / spent.calls - 1)
                tokens = abs(_tokens(expected) / _tokens(spent) - 1)
                what = f"{words:,} words, {known}: expected"
                yield Figure(f"{what} calls off by", 100 * calls, "%", 15)
                yield Figure(f"{what} tokens off by", 100 * tokens, "%", 15)


def _edits(endpoint: Endpoint, text: str) -> Iterator[Figure]:
    with _models(endpoint) as models:
        first, steps = _build(models, text)
        chunks = len(text_chunks(first[TEXT]))
        naive = _total(steps).calls - steps["details"].calls + chunks
        draw = random.Random("edits")
        for what, count, goal in (("one chunk", 1, 95), ("1 %", round(chunks / 100), 85)):
            saved = [
                100 * (1 - _total(_build(models, edit, previous=first)[1]).calls / naive)
                for edit in (_edit(text, count, draw) for _ in range(DRAWS))
            ]
            name = f"{chunks} chunks, mean of {DRAWS} edits: calls saved, {what} changed"
            yield Figure(name, statistics.mean(saved), "%", goal, at_least=True)


def _edit(text: str, sentences: int, draw: random.Random) -> str:
    """The text with new sentences in it, far from each other."""
    for place in sorted(draw.sample(range(len(text)), sentences), reverse=True):
        after = text.find(". ", place) + 2
        text = f"{text[:after]}{NEW} {text[after:]}" if after > 1 else f"{text} {NEW}"
    return text


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
