"""What this graph's modes share: the network, what is near, hits, and what to fall back on.

A ranking is of rows and scores, and knows no database; here rows become hits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from fabula.ask import hybrid
from fabula.ask.fusion import by_scores
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graph.queries import query
from fabula.graphs.entities.network import Links, Network, make_network, per_chunk
from fabula.text import tokens
from fabula.text.document import Vector
from fabula.text.ranking import Scores, scaled

RECORDS = ("entity", "relation", "triple", "fact")
"""The kinds of hits that are printed records, and no text of the book's."""
STATED = ("triple", "fact")
"""The kinds of elements that state what HippoRAG calls facts: this graph's own, and typed ones."""
AT_ONCE = 4
"""Times as many entities are asked of the index where several may be one."""
MOST_WORDS = 200
"""Of a text, that elements are compared with."""


def read_network(filters: Filters, tools: Tools) -> Network | None:
    """The network of a collection, or of one document of it; None where it was never built.

    Read by a few statements, once for every change, and kept beside the connection.
    """
    with tools.path.step("network") as step:
        whole = _everywhere(filters)
        found = tools.keep(
            "network",
            whole,
            ("text", "entities"),
            lambda: _read(whole, tools).prepare(),
            uses=("facts", "identities"),
        )
        if found is None:
            step.note = "there is none: no entities were built"
        else:
            told = {
                "entities": len(found.entities),
                "relations": len(found.relations.ids),
                "facts": len(found.facts.ids),
                "chunks": len(found.chunks),
            }
            step.note = ", ".join(f"{count:,} {name}" for name, count in told.items() if count)
            if found.facts.ids and found.without_facts:
                # HippoRAG walks facts alone as soon as there are some.
                step.note += f"; documents with relations, but no facts: {found.without_facts:,}"
    return found


def _read(filters: Filters, tools: Tools) -> Network:
    texts = tools.read(query("entities/find_texts"), filters)
    [cast] = tools.read(query("entities/find_entities"), filters)
    links = {row["kind"]: row for row in tools.read(query("entities/find_links"), filters)}
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
        links.get("few", none),
        {} if filters.document else _decided(filters, tools),
    )
    without = sum(
        stated.isdisjoint(row["chunks"]) and not related.isdisjoint(row["chunks"]) for row in texts
    )
    return replace(network, without_facts=without)


def _decided(filters: Filters, tools: Tools) -> dict[str, str]:
    """Who an entity is, by its id, as the collection's identities have it; nothing without them."""
    rows = tools.read(query("entities/find_identities"), filters)
    return {member: row["id"] for row in rows for member in row["members"]}


# What a question is near to


def embed(texts: Sequence[str], tools: Tools) -> list[Vector]:
    """The embeddings of some texts, in one request."""
    with tools.path.step("embed", f"{len(texts)} texts, {tools.embedder.model}"):
        return [*tools.embedder.embed(texts).vectors] if texts else []


def nearest_entities(
    vector: Vector,
    network: Network,
    filters: Filters,
    tools: Tools,
    limit: int,
    least: float,
    text: str = "",
) -> dict[int, float]:
    """The rows of the nearest entities and their cosines, of `least` or more; best first.

    Where there is no model, those that share words with a `text` come first, as in `hybrid`.
    """
    wanted = limit if filters.document else AT_ONCE * limit
    found: dict[int, float] = {}
    for id, score in _nearest(vector, text, "entity", filters, tools, wanted).items():
        row = network.row.get(id)
        if row is not None and score >= least and len(found) < limit:
            found.setdefault(row, score)
    return found


def nearest_links(
    vector: Vector,
    links: Links,
    kind: str,
    filters: Filters,
    tools: Tools,
    limit: int,
    text: str = "",
) -> dict[int, float]:
    """The rows of the nearest relations or facts and their cosines, best first.

    Where there is no model, those that share words with a `text` come first, as in `hybrid`.
    """
    near = _nearest(vector, text, kind, filters, tools, limit)
    return {links.row[id]: score for id, score in near.items() if id in links.row}


def _nearest(
    vector: Vector, text: str, kind: str, filters: Filters, tools: Tools, limit: int
) -> dict[str, float]:
    """The ids of the nearest elements of a kind; by words, too, where static vectors miss them."""
    everywhere = _everywhere(filters)
    kinds = STATED if kind in STATED else (kind,)
    near = {hit.id: hit.score for hit in tools.elements(vector, everywhere, limit, kinds)}
    words = re.findall(r"\w+", text.lower())[:MOST_WORDS]
    if not (words and tools.models.offline):
        return near
    asked = {"words": " ".join(words), "kind": kind, "limit": limit}
    with tools.path.step("matching", f"BM25, {kind}") as step:
        rows = tools.read(query("entities/find_alike"), everywhere, **asked)
        step.note += f", {len(rows)} found"
    alike = {row["id"]: row["score"] for row in rows}
    sums: dict[str, float] = {}
    for found, weight in ((near, 1 - hybrid.WORDS), (alike, hybrid.WORDS)):
        scores = np.array([*found.values()])
        shares = scaled(scores) if len(set(found.values())) > 1 else np.ones(len(scores))
        for id, share in zip(found, shares.tolist(), strict=True):
            sums[id] = sums.get(id, 0.0) + weight * share
    return dict(sorted(sums.items(), key=lambda one: (-one[1], one[0]))[:limit])


def passages(
    question: str, vector: Vector, filters: Filters, tools: Tools, limit: int
) -> list[Hit]:
    """Chunks as the question alone finds them: by cosine, or as `hybrid` does without a model.

    Static vectors miss what words find.
    """
    chunks = replace(_everywhere(filters), kinds=("chunk",))
    if tools.models.offline:
        wide = replace(tools, k=limit, knobs=hybrid.Knobs())
        return hybrid.retrieve(question, chunks, wide)
    with tools.path.step("passages", "by cosine") as step:
        hits = tools.store.nearest(vector, limit, chunks, tools.embedder.model)
        step.found(hits)
    return hits


# Hits


def allows(filters: Filters, kind: str) -> bool:
    """Whether the filters let hits of this graph through, which have no aspect and no height."""
    return (
        (not filters.kinds or kind in filters.kinds)
        and (not filters.aspects or "" in filters.aspects)
        and filters.lowest == 0
    )


def chunk_hits(scored: Mapping[str, float], filters: Filters, tools: Tools) -> list[Hit]:
    """Chunks by their ids, in the order in which they are given; those that went are left out."""
    if not scored or not allows(filters, "chunk"):
        return []
    found = tools.store.related(query("core/find_chunks"), filters.collection, list(scored))
    return [replace(found[id][0], score=score) for id, score in scored.items() if id in found]


def best_chunks(
    scores: Scores,
    network: Network,
    filters: Filters,
    tools: Tools,
    limit: int,
    others: Sequence[Hit] = (),
) -> list[Hit]:
    """The chunks of the highest scores above 0, best first; equal ones in the order of `others`."""
    place = {
        network.chunk_row[hit.id]: at
        for at, hit in enumerate(others)
        if hit.id in network.chunk_row
    }
    found = np.flatnonzero(scores > 0).tolist()
    rows = sorted(found, key=lambda row: (-scores[row], place.get(row, len(others)), row))[:limit]
    scored = {network.chunks[row]: float(scores[row]) for row in rows}
    return chunk_hits(scored, filters, tools)


def record_hits(scored: Mapping[str, float], filters: Filters, tools: Tools) -> list[Hit]:
    """Entities, relations and facts as printed records, in the order in which they are given."""
    if not scored:
        return []
    asked = tools.read(query("entities/find_records"), filters, nodes=list(scored))
    rows = {row["id"]: row for row in asked if allows(filters, row["kind"])}
    return [_record(rows[id], score) for id, score in scored.items() if id in rows]


def entity_hits(
    rows: Mapping[int, float], network: Network, filters: Filters, tools: Tools
) -> list[Hit]:
    """Entities as records, each as the document tells of it that mentions it most."""
    scored = {network.entities[row][0]: score for row, score in rows.items()}
    return record_hits(scored, filters, tools) if allows(filters, "entity") else []


def link_hits(
    rows: Mapping[int, float], links: Links, kind: str, filters: Filters, tools: Tools
) -> list[Hit]:
    """Relations, or facts, as records."""
    scored = {links.ids[row]: score for row, score in rows.items()}
    return record_hits(scored, filters, tools) if allows(filters, kind) else []


def _record(row: Mapping[str, Any], score: float) -> Hit:
    """A record on one line: `Scrooge (person): ...`, or `Scrooge - Marley: ...`."""
    told = " ".join(row["text"].split())
    if row["kind"] == "entity":
        text = f"{row['name']} ({row['type']}): {told}"
    elif row["kind"] == "relation":
        text = f"{row['source']} - {row['target']}: {told}"
    else:
        text = told
    place = {
        name: row[name]
        for name in ("id", "kind", "document", "title", "language", "section", "aspect", "level")
    }
    return Hit(
        **place,
        start=row["start"],
        end=row["end"],
        text=text,
        tokens=tokens.count(text),
        score=score,
    )


def report_hits(
    rows: Mapping[int, float], network: Network, filters: Filters, tools: Tools
) -> list[Hit]:
    """Reports of the communities that these entities are in, most of them inside first.

    None where no communities were built, or the filters let no reports through.
    """
    statement = query("communities/find_of_entities")
    found = tools.read(statement, filters, nodes=list(network.ids(rows)), limit=tools.k)
    hits = (report_hit(row, 1 / place) for place, row in enumerate(found, 1))
    return [hit for hit in hits if allows_report(filters, hit.level)]


def allows_report(filters: Filters, level: int) -> bool:
    """Whether the filters let a report of this level through; it has no aspect."""
    return (
        (not filters.kinds or "report" in filters.kinds)
        and (not filters.aspects or "" in filters.aspects)
        and filters.lowest <= level <= filters.highest
    )


def report_hit(row: Mapping[str, Any], score: float) -> Hit:
    """A report under its title; one that no model wrote is an extract, and says so."""
    mark = " (extract)" if row["by"] == "rules" else ""
    text = f"{' '.join(row['heading'].split())}{mark}: {row['text'].strip()}"
    names = ("id", "document", "title", "language", "section", "level", "start", "end")
    return Hit(
        **{name: row[name] for name in names},
        kind="report",
        aspect="",
        text=text,
        tokens=tokens.count(text),
        score=score,
    )


# Together


def are_read(shares: Iterable[float], filters: Filters) -> bool:
    """Whether any records are shown: they have a share, or no chunks are let through."""
    return any(shares) or not allows(filters, "chunk")


def fit(blocks: Sequence[Sequence[int]], budgets: Sequence[int]) -> list[list[int]]:
    """Which items of each block are taken, by what they cost; none is cut.

    Each block takes as many as fit, in order, and hands on what it leaves over. One that does not
    fit is passed over.
    """
    left, taken = 0, []
    for costs, budget in zip(blocks, budgets, strict=True):
        left += budget
        kept = []
        for place, cost in enumerate(costs):
            if cost <= left:
                kept.append(place)
                left -= cost
        taken.append(kept)
    return taken


def together(
    records: Sequence[tuple[Sequence[Hit], float]],
    chunks: Sequence[Hit],
    filters: Filters,
    tools: Tools,
) -> list[Hit]:
    """Blocks of records, each with its share of hits and of the context's tokens, then chunks.

    Where the filters let no chunks through, records have all of both, of each block as many. Scores
    are made to tell the order: those of a block are above those of the next, those of the last,
    which the chunks are if there are any, from 0 to 1.
    """
    with tools.path.step("together", "records, then chunks") as step:
        if allows(filters, "chunk"):
            hits = _within_shares(records, chunks, tools)
        else:
            hits = _in_blocks(in_equal_parts([block for block, _ in records], tools.k))
        step.found(hits)
    return hits


def _within_shares(
    records: Sequence[tuple[Sequence[Hit], float]], chunks: Sequence[Hit], tools: Tools
) -> list[Hit]:
    blocks = [block[: int(share * tools.k)] for block, share in records]
    budgets = [int(share * tools.tokens) for _, share in records]
    taken = fit([[hit.tokens for hit in block] for block in blocks], budgets)
    kept = [[block[place] for place in rows] for block, rows in zip(blocks, taken, strict=True)]
    if not any(kept):
        return list(chunks[: tools.k])
    return _in_blocks([*filter(None, kept), list(chunks)])[: tools.k]


def in_equal_parts(blocks: Sequence[Sequence[Hit]], limit: int) -> list[Sequence[Hit]]:
    """The first of each block, as many of one as of another while there are any; none is empty."""
    turns = sorted((turn, at) for at, block in enumerate(blocks) for turn in range(len(block)))
    counts = Counter(at for _, at in turns[:limit])
    return [block[: counts[at]] for at, block in enumerate(blocks) if counts[at]]


def _in_blocks(blocks: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Hits of blocks in their order, scored from the number of blocks down to 0."""
    found = []
    for below, block in zip(range(len(blocks) - 1, -1, -1), blocks, strict=True):
        top = max((hit.score for hit in block), default=0.0)
        shares = [max(0.0, hit.score) / top if top > 0 else 0.0 for hit in block]
        scored = [
            # The last of a block stays above the first of the next.
            replace(hit, score=below + (0.5 + share / 2 if below else share))
            for hit, share in zip(block, shares, strict=True)
        ]
        found += sorted(scored, key=lambda hit: (-hit.score, hit.id))
    return found


# What to fall back on


def fall_back(
    question: str,
    why: str,
    rows: Iterable[int],
    network: Network,
    filters: Filters,
    tools: Tools,
) -> list[Hit]:
    """The chunks of the entities that were found; without such, what `hybrid` finds.

    An entity counts as much in all its chunks together, whether it is in many or in few: of all
    chunks of one hero those that `hybrid` finds come first.
    """
    found = list(rows)
    if found:
        with tools.path.step("fall back", f"{why}: chunks of the entities found") as step:
            scores = np.zeros(len(network.entities))
            scores[found] = 1.0
            shares = per_chunk(network.mentions, scores, shared=True)
            hits = best_chunks(shares, network, filters, tools, len(network.chunks))
            known = {hit.id for hit in hits}
            alone = [hit for hit in _as_hybrid(question, filters, tools) if hit.id in known]
            hits = by_scores([(hits, 0.5), (alone, 0.5)], tools.k)
            step.found(hits)
        if hits:
            return hits
        why = "these have no chunks"
    with tools.path.step("fall back", f"{why}: passages as hybrid finds them") as step:
        hits = _as_hybrid(question, filters, tools)
        step.found(hits)
    return hits


def _as_hybrid(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    return hybrid.retrieve(question, filters, replace(tools, knobs=hybrid.Knobs()))


def _everywhere(filters: Filters) -> Filters:
    """The same collection and document, of all kinds, aspects and levels."""
    return Filters(filters.collection, filters.document)
