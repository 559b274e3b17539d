"""How much of answers and evidence each mode's context holds, at equal budgets, without a model.

The share of the content-word stems of the reference answers (SQuALITY, QuALITY) or statements of
evidence (GraphRAG-Bench), without the question's own words, that are in the context: mean over a
question's references. Each question is asked of its own text, and of all texts of its kind at
once, where a traversal has to choose. Extracts are all that is compared: what a model's summaries
hold, this cannot tell.

Intervals hold at 95 %: texts are drawn, each with all of its questions. Three novels are few
texts, so theirs are too narrow.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabula import Fabula
from fabula.ask.context import fill_with_passages
from fabula.ask.modes import modes
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.graph.hits import Hit
from fabula.server import Address
from fabula.text.stems import Stemmer
from fabula_bench.metrics.coverage import content_stems, stem_shares
from fabula_bench.speed.questions import Item, Texts, novels, stories
from fabula_bench.speed.report import Figure
from fabula_bench.speed.server import running
from fabula_bench.statistics import difference, mean

GRAPHS = ("aspects", "entities")
BUDGETS = (500, 1000, 1700)
DEPTH = 60
"""Hits asked for: more than any budget holds."""
BASELINES = {
    **dict.fromkeys(("fast", "hippo", "light", "local", "mini"), ("hybrid",)),
}
"""What a mode is compared with, where it is not collapsed."""

Shares = NDArray[np.float64]


def measure(books: Path | None) -> list[Figure]:
    """Coverage by mode and budget, and differences to other modes; none without data."""
    if books is None:
        return []
    sets = {"stories": ("squality", stories), "novels": ("graphrag-bench", novels)}
    return [
        figure
        for name, (folder, read) in sets.items()
        if (books.parent / folder).is_dir()
        for figure in _figures(name, read(books.parent))
    ]


def _figures(name: str, texts: Texts) -> Iterator[Figure]:
    with running() as address:
        _ingest(texts, address)
        for whole in (False, True):
            found = {
                mode: _covered(mode, texts.items, address, whole=whole)
                for mode, declared in modes().items()
                if declared.graph in ("", *GRAPHS)
            }
            where = f"all {name} at once" if whole else f"one of the {name}"
            yield from _told(where, found, [item.text for item in texts.items])


def _told(where: str, found: dict[str, Shares], texts: Sequence[str]) -> Iterator[Figure]:
    for mode, shares in found.items():
        for column, budget in enumerate(BUDGETS):
            shared = shares[:, column]
            interval = mean(shared, texts, 0)
            assert interval is not None
            notes = [f"[{interval.low:.1f}, {interval.high:.1f}]"]
            notes += [
                _against(shared, found[other][:, column], texts, other)
                for other in BASELINES.get(mode, ("collapsed",))
                if other != mode
            ]
            what = f"{mode}, {where}, {budget} tokens"
            yield Figure(what, interval.mean, "%", note="; ".join(notes))


def _against(shared: Shares, baseline: Shares, texts: Sequence[str], other: str) -> str:
    apart = difference(shared, baseline, texts, 0)
    assert apart is not None
    interval = apart.interval
    return f"{interval.mean:+.1f} [{interval.low:+.1f}, {interval.high:+.1f}] against {other}"


def _settings(address: Address, mode: str = "hybrid") -> Settings:
    return Settings.read(
        model=OFFLINE,
        embedding_model=STATIC,
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        graphs=GRAPHS,
        mode=mode,
        top_k=DEPTH,
    )


def _ingest(texts: Texts, address: Address) -> None:
    with Fabula(_settings(address)) as fabula:
        for name, text in texts.texts.items():
            fabula.ingest_text(text, source=name, title=name, language="en")


def _covered(mode: str, items: Sequence[Item], address: Address, *, whole: bool) -> Shares:
    """Return a mode's shares in per cent, of shape (questions, budgets)."""
    stemmer = Stemmer("en")
    rows = []
    with Fabula(_settings(address, mode)) as fabula:
        for item in items:
            hits = fabula.retrieve(item.question, document="" if whole else item.text)
            stems = content_stems(item.references, item.question, stemmer)
            rows.append([_share(hits, budget, stems, stemmer) for budget in BUDGETS])
    return 100 * np.array(rows)


def _share(hits: Sequence[Hit], budget: int, stems: list[set[str]], stemmer: Stemmer) -> float:
    context = " ".join(part.text for part in fill_with_passages(hits, budget))
    return statistics.fmean(stem_shares(stems, context, stemmer))
