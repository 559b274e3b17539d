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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabula import Fabula
from fabula.ask.context import fill_with_passages
from fabula.ask.modes import modes
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.graph.hits import Hit
from fabula.graph.trace import Trace as Steps
from fabula.graph.trace import TraceStep
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
WIDTHS = (10, 20)
"""Of top-down, to see what it finds for more openings."""
BELOW = "UNWIND $opened AS id MATCH (:Passage {id: id})-[:SUMMARIZES]->(m) RETURN count(m) AS found"

Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Covered:
    """A mode's shares, of shape (questions, budgets), in percent; and what a traversal costs.

    `opened`: summaries a question; `scored`: passages in them. Both are 0 for other modes.
    """

    shares: Shares
    opened: float
    scored: float


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
                label: _covered(label, texts.items, address, whole=whole) for label in _labels()
            }
            where = f"all {name} at once" if whole else f"one of the {name}"
            yield from _told(where, found, [item.text for item in texts.items])


def _labels() -> list[str]:
    """The modes over these graphs, and top-down once more in other widths, as `top-down 10`."""
    walking = [name for name, mode in modes().items() if mode.graph in ("", *GRAPHS)]
    return [*walking, *(f"top-down {width}" for width in WIDTHS)]


def _told(where: str, found: dict[str, Covered], texts: Sequence[str]) -> Iterator[Figure]:
    for label, covered in found.items():
        for column, budget in enumerate(BUDGETS):
            shared = covered.shares[:, column]
            interval = mean(shared, texts, 0)
            assert interval is not None
            notes = [f"[{interval.low:.1f}, {interval.high:.1f}]"]
            notes += [
                _against(shared, found[other].shares[:, column], texts, other)
                for other in BASELINES.get(label, ("collapsed",))
                if other != label
            ]
            what = f"{label}, {where}, {budget} tokens"
            yield Figure(what, interval.mean, "%", note="; ".join(notes))
        if covered.opened:
            yield Figure(f"{label}, {where}: summaries opened a question", covered.opened, "")
            yield Figure(f"{label}, {where}: passages scored in them", covered.scored, "")


def _against(shared: Shares, baseline: Shares, texts: Sequence[str], other: str) -> str:
    apart = difference(shared, baseline, texts, 0)
    assert apart is not None
    interval = apart.interval
    return f"{interval.mean:+.1f} [{interval.low:+.1f}, {interval.high:+.1f}] against {other}"


def _settings(address: Address, label: str = "hybrid") -> Settings:
    mode, _, width = label.partition(" ")
    return Settings.read(
        model=OFFLINE,
        embedding_model=STATIC,
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        graphs=GRAPHS,
        mode=mode,
        width=int(width) if width else None,
        top_k=DEPTH,
    )


def _ingest(texts: Texts, address: Address) -> None:
    with Fabula(_settings(address)) as fabula:
        for name, text in texts.texts.items():
            fabula.ingest_text(text, source=name, title=name, language="en")


def _covered(label: str, items: Sequence[Item], address: Address, *, whole: bool) -> Covered:
    stemmer = Stemmer("en")
    rows, costs = [], []
    with Fabula(_settings(address, label)) as fabula:
        for item in items:
            steps = Steps()
            document = "" if whole else item.text
            hits = fabula.retrieve(item.question, document=document, path=steps)
            stems = content_stems(item.references, item.question, stemmer)
            rows.append([_share(hits, budget, stems, stemmer) for budget in BUDGETS])
            costs.append(_cost(fabula, steps.root, label))
    opened, scored = (statistics.fmean(column) for column in zip(*costs, strict=True))
    return Covered(100 * np.array(rows), opened, scored)


def _share(hits: Sequence[Hit], budget: int, stems: list[set[str]], stemmer: Stemmer) -> float:
    context = " ".join(part.text for part in fill_with_passages(hits, budget))
    return statistics.fmean(stem_shares(stems, context, stemmer))


def _cost(fabula: Fabula, root: TraceStep, label: str) -> tuple[float, float]:
    """Return the summaries that top-down found, and how many passages are below them."""
    steps = [step for step in root.steps[0].steps if step.name == "top-down"]
    if not label.startswith("top-down") or not steps:
        return 0.0, 0.0
    summaries = [hit.id for step in steps for hit in step.hits if hit.kind == "summary"]
    [row] = fabula.store.run(BELOW, opened=summaries)
    return len(summaries), row["found"]
