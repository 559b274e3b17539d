"""The mode `discourse`: chunks near to a question, linked in the sense it asks for, of its event.

After a chunk graph of discourse relations and 5W1H. As published it reads the one nearest chunk,
and if that has no relation, the context is shorter. Here it reads three, and the next nearest ones
fill what is left, unless the option `widen` is off. A chunk that matches nothing is not taken for a
match.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fabula.ask import hybrid
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Tools
from fabula.graph.queries import read_statement
from fabula.graphs.entities.retrieval import chunk_hits, passages
from fabula_graphs.discourse.matching import Terms, in_turn, make_terms
from fabula_graphs.discourse.question_reading import read_question
from fabula_graphs.discourse.senses import matches, read_senses


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """Return the chunks near to the question, each with those related to it, then matching ones.

    What is left of `tools.k` goes to the next nearest chunks, if the option `widen` is on.
    """
    why = ""
    if tools.models.offline:
        why = "there is no model to read the question"
    elif not filters.allows("chunk"):
        why = "the filters let no chunks through"
    terms = None if why else read_terms(filters, tools)
    if not terms:
        return hybrid.fall_back(question, why or "there is no discourse graph", filters, tools)
    options = tools.options
    sought = read_question(question, terms.language, read_senses(options.senses), tools)
    vector = tools.embed(question)
    ranked = passages(question, vector, filters, tools, max(options.near, tools.k))
    near = [hit.id for hit in ranked[: options.near]]
    related = _find_linked(near, sought.senses, filters, tools)
    matched = _find_matching(terms, sought.slots, tools)
    order = in_turn(near, related, matched)
    rest = [hit.id for hit in ranked if hit.id not in order] if options.widen else []
    with tools.trace.step("together", "near, each with its related, then matched") as step:
        chosen = [*order, *rest][: tools.k]
        hits = chunk_hits({id: 1 / place for place, id in enumerate(chosen, 1)}, filters, tools)
        step.record(hits)
    return hits


def read_terms(filters: Filters, tools: Tools) -> Terms | None:
    """Return the terms of a collection or a document; None if there is no discourse graph.

    They are read by three statements, and kept in memory until the graph changes.
    """
    whole = filters.open
    with tools.trace.step("terms") as step:
        terms = tools.store.cached(
            "terms", whole, ("text", "discourse"), lambda: _read(whole, tools), uses=("entities",)
        )
        count = sum(map(len, terms.by_slot.values())) if terms else 0
        step.note = f"{count:,}" if terms else "there are none: no discourse graph was built"
    return terms


def _read(filters: Filters, tools: Tools) -> Terms:
    texts = tools.store.read(read_statement("core/find_chunk_ids"), filters)
    languages = Counter(row["language"] for row in texts).most_common(1)
    terms = tools.store.read(read_statement("fabula_graphs/discourse/find_terms"), filters)
    resolved = tools.store.read(read_statement("fabula_graphs/discourse/find_resolved"), filters)
    return make_terms(
        languages[0][0] if languages else "",
        [id for row in texts for id in row["chunks"]],
        ((row["slot"], row["key"], row["chunks"]) for row in terms),
        ((row["slot"], row["key"], row["entity"], row["names"], row["chunks"]) for row in resolved),
    )


def _find_linked(
    near: Sequence[str], senses: Sequence[str], filters: Filters, tools: Tools
) -> Mapping[str, Sequence[str]]:
    """Return what is linked to each near chunk in a sense that is asked for, deepest first."""
    with tools.trace.step("related", ", ".join(senses) or "no sense is asked for") as step:
        nodes = list(near) if senses else []
        rows = tools.store.read(
            read_statement("fabula_graphs/discourse/find_linked"), filters, nodes=nodes
        )
        related = choose(rows, senses, tools.options.related)
        step.walked = tuple(row["link"] for row in rows if row["id"] in related.get(row["of"], ()))
        step.note += f": {sum(map(len, related.values()))} chunks"
    return related


def choose(
    rows: Iterable[Mapping[str, Any]], senses: Sequence[str], limit: int
) -> dict[str, list[str]]:
    """Return at most `limit` chunks for each near one, linked in one of the senses.

    The deepest sense comes first, then the least distance, then the earlier chunk.
    """
    linked: dict[str, list[tuple[int, int, int, str]]] = defaultdict(list)
    for row in rows:
        if any(matches(row["sense"], requested) for requested in senses):
            depth = row["sense"].count(".")
            linked[row["of"]].append((-depth, row["distance"], row["index"], row["id"]))
    ordered = {of: [id for *_, id in sorted(links)] for of, links in linked.items()}
    return {of: list(dict.fromkeys(ids))[:limit] for of, ids in ordered.items() if limit}


def _find_matching(terms: Terms, slots: Mapping[str, Sequence[str]], tools: Tools) -> list[str]:
    """The chunks that have the same event as the question, best first."""
    with tools.trace.step("matched", ", ".join(slots) or "the question has no event") as step:
        ranked = terms.rank(slots)
        step.note += f": {len(ranked)} chunks"
    return ranked[: tools.options.matched]
