"""How much of the reference answers each mode's context holds, at equal budgets, without a model.

The share of the content-word stems of the answers, without the question's own words, that are in
the context: mean over an item's answers. Stories and questions are SQuALITY's and QuALITY's, from
the folders of those names beside `--books`; each question is asked of its own story. Extracts are
all that is compared: what a model's summaries hold, this cannot tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.report import Figure
from bench.server import running
from fabula import Fabula
from fabula.context import fill
from fabula.providers.stems import Stemmer
from fabula.retrieve.modes import mode_names
from fabula.server import Address
from fabula.settings import OFFLINE, STATIC, Settings

BUDGETS = (500, 1000, 1700)
DEPTH = 60
"""Hits asked for: more than any budget holds."""
BASELINE = "naive"
RESAMPLES = 2000

Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Item:
    """A question about a story, and what it may be answered with."""

    story: str
    question: str
    answers: tuple[str, ...]


def measure(books: Path | None) -> list[Figure]:
    """Coverage by mode and budget, beside its difference to the baseline; none without data."""
    if books is None:
        return []
    stories = dict(_stories(books.parent))
    items = list(_items(books.parent))
    with running() as address:
        _ingest(stories, address)
        shares = {name: _shares(name, items, address) for name in mode_names()}
    return [
        Figure(
            f"{name}, {budget} tokens",
            100 * float(covered[:, column].mean()),
            "%",
            note=_against(covered[:, column], shares[BASELINE][:, column]),
        )
        for name, covered in shares.items()
        for column, budget in enumerate(BUDGETS)
    ]


def _stories(data: Path) -> Iterator[tuple[str, str]]:
    for line in _lines(data / "squality" / "dev.jsonl"):
        yield line["metadata"]["passage_id"], line["document"]
    for line in _lines(data / "quality" / "sample.jsonl"):
        yield line["article_id"], line["article"]


def _items(data: Path) -> Iterator[Item]:
    for line in _lines(data / "squality" / "dev.jsonl"):
        for one in line["questions"]:
            answers = tuple(response["response_text"] for response in one["responses"])
            yield Item(line["metadata"]["passage_id"], one["question_text"], answers)
    for line in _lines(data / "quality" / "sample.jsonl"):
        for one in line["questions"]:
            right = one["options"][one["gold_label"] - 1]
            yield Item(line["article_id"], one["question"], (right,))


def _lines(file: Path) -> Iterator[Any]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _settings(address: Address, mode: str = "auto") -> Settings:
    return Settings.read(
        model=OFFLINE,
        embedding_model=STATIC,
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        mode=mode,
        top_k=DEPTH,
    )


def _ingest(stories: dict[str, str], address: Address) -> None:
    with Fabula(_settings(address)) as fabula:
        for name, text in stories.items():
            fabula.ingest_text(text, source=name, title=name, language="en")


def _shares(mode: str, items: Sequence[Item], address: Address) -> Shares:
    """Shape (items, budgets)."""
    with Fabula(_settings(address, mode)) as fabula:
        return np.array([_covered(fabula, item) for item in items if _wanted(item)])


def _wanted(item: Item) -> list[set[str]]:
    stemmer = Stemmer("en")
    asked = stemmer.content(item.question)
    return [wanted for one in item.answers if (wanted := stemmer.content(one) - asked)]


def _covered(fabula: Fabula, item: Item) -> list[float]:
    stemmer, wanted = Stemmer("en"), _wanted(item)
    hits = fabula.retrieve(item.question, document=item.story)
    covered = []
    for budget in BUDGETS:
        held = stemmer.content(" ".join(one.text for one in fill(hits, budget)))
        covered.append(float(np.mean([len(one & held) / len(one) for one in wanted])))
    return covered


def _against(covered: Shares, baseline: Shares) -> str:
    """The mean difference in points, with a 95 % interval over resampled items."""
    apart = 100 * (covered - baseline)
    draws = np.random.default_rng(0).integers(0, len(apart), (RESAMPLES, len(apart)))
    low, high = np.percentile(apart[draws].mean(axis=1), [2.5, 97.5])
    return f"{apart.mean():+.1f} [{low:+.1f}, {high:+.1f}] against {BASELINE}"
