"""What the modes of this graph share: the network, nearest elements, and hits.

The rankings of the modes are of rows and scores and know no database. Here rows become hits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from fabula.ask import hybrid
from fabula.graph.calls import batches
from fabula.graph.hits import Filters, Hit, make_hit
from fabula.graph.installed import graphs_upon
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graphs.entities.known_until import read_known, restrict_columns, restrict_records
from fabula.graphs.entities.network import Links, Network, make_network
from fabula.models import TextKind
from fabula.text.document import Vector
from fabula.text.ranking import Scores, scale

STATED = ("triple", "fact")
"""The kinds of elements that are facts as HippoRAG means them: triples, and typed facts."""
NAMESAKES = 4
"""How many times more entities the index is asked for in a collection, where several entities of
different documents may be one."""


def read_network(filters: Filters, tools: Tools) -> Network | None:
    """Read the network of a collection, or of one document of it.

    It is read by a few statements, and cached until the graph changes.

    Returns:
        The network; None where no entities were built.
    """
    with tools.trace.step("network") as step:
        unfiltered = filters.open
        network = tools.store.cached(
            "network",
            unfiltered,
            ("text", "entities"),
            lambda: _read(unfiltered, tools).prepare(),
            uses=graphs_upon("entities"),
        )
        if network is None:
            step.note = "no entities were built"
        else:
            counts = {
                "entities": len(network.entities),
                "relations": len(network.relations.ids),
                "facts": len(network.facts.ids),
                "chunks": len(network.chunks),
            }
            step.note = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
            if network.facts.ids and network.without_facts:
                # HippoRAG walks facts alone as soon as there are some.
                step.note += f"; documents with relations, but no facts: {network.without_facts:,}"
    return network


def _read(filters: Filters, tools: Tools) -> Network:
    texts = tools.store.read(read_statement("core/find_chunk_ids"), filters)
    [cast] = tools.store.read(read_statement("entities/find_entities"), filters)
    if tools.store.place:
        cast = restrict_columns(cast, read_known(tools.store, filters, cast["ids"]))
    links = {
        row["kind"]: row for row in tools.store.read(read_statement("entities/find_links"), filters)
    }
    if tools.store.place:
        read = {id for row in texts for id in row["chunks"]}
        for row in links.values():
            row["counts"] = [len(read.intersection(sources)) for sources in row["sources"]]
    columns = ("ids", "starts", "ends", "counts", "sources", "keywords")
    none: dict[str, Sequence[Any]] = dict.fromkeys(columns, ())
    languages = Counter(row["language"] for row in texts).most_common(1)
    facts = {name: [*chain(*(links.get(kind, none)[name] for kind in STATED))] for name in columns}
    related = set(chain.from_iterable(links.get("relation", none)["sources"]))
    stated = set(chain.from_iterable(facts["sources"]))
    network = make_network(
        cast,
        chain.from_iterable(row["chunks"] for row in texts),
        links.get("relation", none),
        facts,
        languages[0][0] if languages else "",
        {} if filters.is_part else _read_identities(filters, tools),
    )
    without = sum(
        stated.isdisjoint(row["chunks"]) and not related.isdisjoint(row["chunks"]) for row in texts
    )
    return replace(network, without_facts=without)


def _read_identities(filters: Filters, tools: Tools) -> dict[str, str]:
    """The identity of each entity of which it is decided, by its id."""
    rows = tools.store.read(read_statement("entities/find_identities"), filters)
    return {member: row["id"] for row in rows for member in row["members"]}


# Nearest elements


def embed(texts: Sequence[str], tools: Tools, kind: TextKind = "query") -> list[Vector]:
    """Embed texts in as few requests as the embedder takes."""
    with tools.trace.step("embed", f"{len(texts)} texts, {tools.embedder.model}"):
        return [
            vector
            for batch in batches(texts, tools.embedder.batch)
            for vector in tools.embedder.embed(batch, kind).vectors
        ]


def nearest_entities(
    vector: Vector,
    network: Network,
    filters: Filters,
    tools: Tools,
    limit: int,
    least: float,
    text: str = "",
) -> dict[int, float]:
    """Find the entities that are nearest to a vector.

    Args:
        vector: The vector.
        network: The network.
        filters: The collection, and the document if it is only one.
        tools: The tools of the mode.
        limit: The most entities.
        least: The least cosine of those that are found by the vector.
        text: Where there is no model, entities that share words with this text count, too, as in
            the mode `hybrid`, whatever their cosine.

    Returns:
        Their rows, best first, and their scores: the cosine, or with a text and without a model
        the share of both rankings, from 0 to 1.
    """
    candidates = limit if filters.document else NAMESAKES * limit
    rows: dict[int, float] = {}
    for id, score in _nearest(vector, text, "entity", filters, tools, candidates, least).items():
        row = network.row.get(id)
        if row is not None and len(rows) < limit:
            rows.setdefault(row, score)
    return rows


def nearest_links(
    vector: Vector,
    links: Links,
    kind: str,
    filters: Filters,
    tools: Tools,
    limit: int,
    text: str = "",
    least: float = -1.0,
) -> dict[int, float]:
    """Find the relations or facts that are nearest to a vector, as `nearest_entities` does."""
    near = _nearest(vector, text, kind, filters, tools, limit, least)
    return {links.row[id]: score for id, score in near.items() if id in links.row}


def _nearest(
    vector: Vector, text: str, kind: str, filters: Filters, tools: Tools, limit: int, least: float
) -> dict[str, float]:
    """The nearest elements of a kind by their ids; without a model by words, too."""
    unfiltered = filters.open
    kinds = STATED if kind in STATED else (kind,)
    hits = tools.elements(vector, unfiltered, limit, kinds)
    # Here, and not on the fused scores, which are shares of what was found and no cosines.
    near = {hit.id: hit.score for hit in hits if hit.score >= least}
    # Static vectors miss what words find.
    if not (text and tools.models.offline):
        return near
    with tools.trace.step("matching", f"BM25, {kind}") as step:
        matching = tools.store.search_elements(text, kind, limit, unfiltered)
        step.note += f", {len(matching)} found"
    sums: dict[str, float] = {}
    for ranking, weight in ((near, 1 - hybrid.WORD_WEIGHT), (matching, hybrid.WORD_WEIGHT)):
        scores = np.array([*ranking.values()])
        shares = scale(scores) if len(set(ranking.values())) > 1 else np.ones(len(scores))
        for id, share in zip(ranking, shares.tolist(), strict=True):
            sums[id] = sums.get(id, 0.0) + weight * share
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:limit])


def passages(
    question: str, vector: Vector, filters: Filters, tools: Tools, limit: int
) -> list[Hit]:
    """Return the chunks that the question alone finds, without a network.

    They are found by cosine; without a model as the mode `hybrid` does, as static vectors miss what
    words find.
    """
    chunks = replace(filters.open, kinds=("chunk",))
    if tools.models.offline:
        wide = replace(tools, k=limit, options=hybrid.Options())
        return hybrid.retrieve(question, chunks, wide)
    with tools.trace.step("passages", "by cosine") as step:
        hits = tools.store.nearest(vector, limit, chunks, tools.embedder.model)
        step.record(hits)
    return hits


# Hits


def chunk_hits(scored: Mapping[str, float], filters: Filters, tools: Tools) -> list[Hit]:
    """Return chunks by their ids, in the order of `scored`; removed chunks are left out."""
    if not scored or not filters.allows("chunk"):
        return []
    by_id = tools.store.find_related(read_statement("core/find_chunks"), filters, list(scored))
    return [replace(by_id[id][0], score=score) for id, score in scored.items() if id in by_id]


def best_chunks(
    scores: Scores,
    network: Network,
    filters: Filters,
    tools: Tools,
    limit: int,
    others: Sequence[Hit] = (),
) -> list[Hit]:
    """Return the chunks of the highest scores above 0, best first.

    Equal ones are in the order of `others`, another ranking.
    """
    place = {
        network.chunk_row[hit.id]: number
        for number, hit in enumerate(others)
        if hit.id in network.chunk_row
    }
    rows = np.flatnonzero(scores > 0).tolist()
    rows.sort(key=lambda row: (-scores[row], place.get(row, len(others)), row))
    scored = {network.chunks[row]: float(scores[row]) for row in rows[:limit]}
    return chunk_hits(scored, filters, tools)


def record_hits(scored: Mapping[str, float], filters: Filters, tools: Tools) -> list[Hit]:
    """Return entities, relations and facts as printed records, in the order of `scored`."""
    if not scored:
        return []
    statement = read_statement("entities/find_records")
    store = tools.store
    rows = store.read_unchecked(statement, filters, nodes=list(scored))
    if store.place:
        ids = {row[name] for row in rows for name in ("id", "first", "second") if row[name]}
        known = read_known(store, filters, sorted(ids))
        rows = restrict_records(rows, known, store.is_unread)
    by_id = {row["id"]: row for row in rows if filters.allows(row["kind"])}
    return [_record(by_id[id], score) for id, score in scored.items() if id in by_id]


def entity_hits(
    rows: Mapping[int, float], network: Network, filters: Filters, tools: Tools
) -> list[Hit]:
    """Return entities as records, each from the document whose most chunks mention it."""
    scored = {network.entities[row][0]: score for row, score in rows.items()}
    return record_hits(scored, filters, tools) if filters.allows("entity") else []


def link_hits(
    rows: Mapping[int, float], links: Links, kind: str, filters: Filters, tools: Tools
) -> list[Hit]:
    """Return relations, or facts, as records."""
    scored = {links.ids[row]: score for row, score in rows.items()}
    return record_hits(scored, filters, tools) if filters.allows(kind) else []


def _record(row: Mapping[str, Any], score: float) -> Hit:
    """A record on one line: `Scrooge (person): ...`, or `Scrooge - Marley: ...`."""
    description = " ".join(row["text"].split())
    if row["kind"] == "entity":
        text = f"{row['name']} ({row['type']}): {description}"
    elif row["kind"] == "relation":
        text = f"{row['source']} - {row['target']}: {description}"
    else:
        text = description
    return make_hit(row, text, score)


def reports_of_entities(
    rows: Mapping[int, float], network: Network, filters: Filters, tools: Tools
) -> list[Hit]:
    """Return reports of the communities of these entities, those with most of them first.

    There are none where no communities were built, or the filters let no reports through.
    """
    statement = read_statement("communities/find_of_entities")
    reports = tools.store.read(statement, filters, nodes=list(network.ids(rows)), limit=tools.k)
    hits = (report_hit(report, 1 / place) for place, report in enumerate(reports, 1))
    return [hit for hit in hits if filters.allows("report", level=hit.level)]


def report_hit(row: Mapping[str, Any], score: float) -> Hit:
    """Return a report under its title."""
    text = f"{' '.join(row['heading'].split())}: {row['text'].strip()}"
    return make_hit(row, text, score, kind="report", aspect="")


# Records and chunks together


def needs_records(shares: Iterable[float], filters: Filters) -> bool:
    """Return whether records are needed: they have a share, or the filters exclude chunks."""
    return any(shares) or not filters.allows("chunk")


def fit_budgets(blocks: Sequence[Sequence[int]], budgets: Sequence[int]) -> list[list[int]]:
    """Choose the items of blocks that fit budgets.

    Each block takes its items in order; an item that does not fit is left out, and none is cut.
    What a block leaves over of its budget goes to the next one.

    Args:
        blocks: What the items of each block cost.
        budgets: The budget of each block.

    Returns:
        The positions of the chosen items of each block.
    """
    left, chosen = 0, []
    for costs, budget in zip(blocks, budgets, strict=True):
        left += budget
        of_block = []
        for position, cost in enumerate(costs):
            if cost <= left:
                of_block.append(position)
                left -= cost
        chosen.append(of_block)
    return chosen


def join_hits(
    records: Sequence[tuple[Sequence[Hit], float]],
    chunks: Sequence[Hit],
    filters: Filters,
    tools: Tools,
) -> list[Hit]:
    """Return records and then chunks as one list of hits.

    The new scores say the order: those of a block are above those of the next, and those of the
    last block, the chunks if there are any, are from 0 to 1.

    Args:
        records: Blocks of records, each with its share of the hits and of the context's tokens.
            Where the filters exclude chunks, records have all of both, each block as many.
        chunks: The chunks, best first.
        filters: The filters.
        tools: The tools of the mode.
    """
    with tools.trace.step("together", "records, then chunks") as step:
        if filters.allows("chunk"):
            hits = _within_shares(records, chunks, tools)
        else:
            hits = _in_blocks(in_equal_parts([block for block, _ in records], tools.k))
        step.record(hits)
    return hits


def _within_shares(
    records: Sequence[tuple[Sequence[Hit], float]], chunks: Sequence[Hit], tools: Tools
) -> list[Hit]:
    # Rounded up, so that a mode shows one record of each kind even among five hits. The sum is
    # rounded first: 0.07 * 100 is a little more than 7.
    counts = [math.ceil(round(share * tools.k, 6)) for _, share in records]
    blocks = [block[:count] for (block, _), count in zip(records, counts, strict=True)]
    budgets = [int(share * tools.tokens) for _, share in records]
    fitting = fit_budgets([[hit.tokens for hit in block] for block in blocks], budgets)
    blocks = [
        [block[position] for position in positions]
        for block, positions in zip(blocks, fitting, strict=True)
    ]
    if not any(blocks):
        return list(chunks[: tools.k])
    return _in_blocks([*filter(None, blocks), list(chunks)])[: tools.k]


def in_equal_parts(blocks: Sequence[Sequence[Hit]], limit: int) -> list[Sequence[Hit]]:
    """Return the first hits of each block, `limit` in all, of each block as many as there are.

    Blocks without hits are left out.
    """
    turns = sorted(
        (turn, number) for number, block in enumerate(blocks) for turn in range(len(block))
    )
    counts = Counter(number for _, number in turns[:limit])
    return [block[: counts[number]] for number, block in enumerate(blocks) if counts[number]]


def _in_blocks(blocks: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Hits of blocks in their order, scored from the number of blocks down to 0."""
    hits: list[Hit] = []
    for below, block in zip(range(len(blocks) - 1, -1, -1), blocks, strict=True):
        top = max((hit.score for hit in block), default=0.0)
        shares = [max(0.0, hit.score) / top if top > 0 else 0.0 for hit in block]
        scored = [
            # The last of a block stays above the first of the next.
            replace(hit, score=below + (0.5 + share / 2 if below else share))
            for hit, share in zip(block, shares, strict=True)
        ]
        hits += sorted(scored, key=lambda hit: (-hit.score, hit.id))
    return hits
