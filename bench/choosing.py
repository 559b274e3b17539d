"""How well mode auto chooses without a model, by kind of question, and how well it could.

What is measured is that of `coverage`, the share of answers' and evidence's stems in a context,
with the difference to hybrid: of auto, and of all modes over graphs that it might choose, asked as
`fabula query` asks. Kinds are GraphRAG-Bench's own for novels, and as the rules tell them for
stories. Auto's interval must not lie below hybrid.

What a mode states as its gain for a kind (`fabula.graph.mode.MeasuredGain`) is its difference to
hybrid on the questions that the rules take for that kind, as auto would ask it these.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.questions import Item, Texts, novels, stories
from bench.report import Figure
from bench.server import running
from bench.startup import seconds
from fabula import Fabula
from fabula.ask.choosing import recognise_kind
from fabula.ask.modes import modes
from fabula.ask.query import AUTO, Context
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.experiments.metrics.coverage import content_stems, stem_shares
from fabula.experiments.statistics import difference
from fabula.graph.installed import graphs
from fabula.server import Address
from fabula.text.stems import Stemmer

TOKENS = 1000
BASE = "hybrid"
CONTEXTS: tuple[Context, ...] = ("sentences", "passages")
ALL = "all kinds"
RULES = 1.0
"""Milliseconds that the rules may take for a question."""
ROUNDS = 20

Shares = NDArray[np.float64]


def measure(books: Path | None) -> list[Figure]:
    """Coverage by kind and mode; only the time of the rules, of a few questions, without data."""
    sets = {"stories": ("squality", stories), "novels": ("graphrag-bench", novels)}
    found = {
        name: read(books.parent)
        for name, (folder, read) in sets.items()
        if books and (books.parent / folder).is_dir()
    }
    questions = [item.question for texts in found.values() for item in texts.items]
    figures = [
        _rules(questions or ["Who is Fred?", "Why does Scrooge change?", "What is the plot?"])
    ]
    for name, texts in found.items():
        figures += _measured(name, texts)
    return figures


def _rules(questions: Sequence[str]) -> Figure:
    recognise_kind("")
    taken = seconds(
        lambda: [recognise_kind(question) for question in questions for _ in range(ROUNDS)]
    )
    return Figure(
        "a question's kind, by rules", 1000 * taken / ROUNDS / len(questions), "ms", RULES
    )


def _measured(name: str, texts: Texts) -> Iterator[Figure]:
    with running() as address:
        with Fabula(_settings(address)) as fabula:
            for title, text in texts.texts.items():
                fabula.ingest_text(text, source=title, title=title, language="en")
        for whole in (False, True):
            where = f"all {name} at once" if whole else f"one of the {name}"
            for context in CONTEXTS:
                found = {
                    mode: _covered(mode, texts.items, address, context, whole=whole)
                    for mode in (BASE, AUTO, *_over_graphs())
                }
                yield from _told(f"{where}, {context}", found, texts.items)


def _over_graphs() -> list[str]:
    """The modes over graphs beside the aspects', which auto has without one."""
    return [name for name, mode in modes().items() if mode.graph not in ("", "aspects")]


def _told(where: str, found: dict[str, Shares], items: Sequence[Item]) -> Iterator[Figure]:
    kinds = [item.kind or recognise_kind(item.question) for item in items]
    for kind in (ALL, *dict.fromkeys(kinds)):
        rows = [row for row, own in enumerate(kinds) if kind in (ALL, own)]
        texts = [items[row].text for row in rows]
        for mode, shared in found.items():
            apart = difference(shared[rows], found[BASE][rows], texts, 0)
            assert apart is not None
            interval = apart.interval
            what = f"{mode}, {where}, {kind} ({len(rows)})"
            note = (
                f"{interval.mean:+.1f} [{interval.low:+.1f}, {interval.high:+.1f}] against {BASE}"
            )
            yield Figure(what, float(shared[rows].mean()), "%", note="" if mode == BASE else note)
            if mode == AUTO:
                yield Figure(f"{what}: its interval's end", interval.high, "%", 0.0, at_least=True)
    yield from _gains(where, found, items)


def _gains(where: str, found: dict[str, Shares], items: Sequence[Item]) -> Iterator[Figure]:
    """The gain of each mode for the questions that the rules take for a kind."""
    recognised = [recognise_kind(item.question) for item in items]
    for kind in dict.fromkeys(recognised):
        rows = [row for row, own in enumerate(recognised) if own == kind]
        texts = [items[row].text for row in rows]
        for mode, shared in found.items():
            apart = difference(shared[rows], found[BASE][rows], texts, 0)
            if apart is None or mode in (BASE, AUTO):
                continue
            interval = apart.interval
            what = f"{mode}, {where}, taken for {kind} ({len(rows)}): gain over {BASE}"
            note = f"[{interval.low:+.1f}, {interval.high:+.1f}]"
            yield Figure(what, interval.mean, "points", note=note)


def _settings(address: Address, mode: str = AUTO) -> Settings:
    return Settings.read(
        model=OFFLINE,
        embedding_model=STATIC,
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        graphs=tuple(name for name, graph in graphs().items() if graph.build),
        mode=mode,
        context_tokens=TOKENS,
    )


def _covered(
    mode: str, items: Sequence[Item], address: Address, context: Context, *, whole: bool
) -> Shares:
    """A mode's shares, in percent, one a question."""
    stemmer = Stemmer("en")
    rows = []
    with Fabula(_settings(address, mode)) as fabula:
        for item in items:
            document = "" if whole else item.text
            read = fabula.context(item.question, document=document, context=context)
            stems = content_stems(item.references, item.question, stemmer)
            text = " ".join(passage.text for passage in read)
            rows.append(statistics.fmean(stem_shares(stems, text, stemmer)))
    return 100 * np.array(rows)
