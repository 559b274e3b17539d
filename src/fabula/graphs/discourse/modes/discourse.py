"""What is like a question, what stands in the sense it asks for, and what tells of the same event.

After a chunk graph of discourse relations and 5W1H. As published it reads one nearest chunk, and
has nothing where no relation was found; here there are three, the chunks beside the first one take
the place of what is missing, and a chunk that matches nothing is not taken for a match.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabula.ask import hybrid
from fabula.graph.hits import Filters, Hit
from fabula.graph.mode import Mode, Tools
from fabula.graph.queries import query
from fabula.graphs.discourse.knobs import Knobs
from fabula.graphs.discourse.matching import Terms, in_turn, make_terms
from fabula.graphs.discourse.reading import read_question
from fabula.graphs.discourse.senses import matches, read_senses
from fabula.graphs.entities.finding import allows, chunk_hits, passages
from fabula.text.document import Vector

LEAST_BY_RULES = 2
"""Slots that have to match where there is no model: a name alone, in the first clause of a sentence
that says no more of it, is in too many chunks. Measured on three novels."""


def retrieve(question: str, filters: Filters, tools: Tools) -> list[Hit]:
    """The chunks near to the question, each with those related to it, then those that match it.

    What is left of `tools.k` goes to the next ones that are near.
    """
    terms = read_terms(filters, tools)
    if terms is None or not allows(filters, "chunk"):
        why = (
            "there is no discourse graph" if terms is None else "the filters let no chunks through"
        )
        with tools.path.step("fall back", f"{why}: passages as hybrid finds them") as step:
            hits = hybrid.retrieve(question, filters, replace(tools, knobs=hybrid.Knobs()))
            step.found(hits)
        return hits
    knobs = tools.knobs
    sought = read_question(question, terms, read_senses(knobs.senses), tools)
    vector = tools.embed(question)
    ranked = passages(question, vector, filters, tools, max(knobs.near, tools.k))
    near = [hit.id for hit in ranked[: knobs.near]]
    related = _related(near, sought.senses, vector, filters, tools)
    matched = _matched(terms, sought.slots, tools)
    order = [*in_turn(near, related, matched)]
    rest = [hit.id for hit in ranked if hit.id not in order]
    with tools.path.step("together", "near, each with its related, then matched") as step:
        chosen = [*order, *rest][: tools.k]
        hits = chunk_hits({id: 1 / place for place, id in enumerate(chosen, 1)}, filters, tools)
        step.found(hits)
    return hits


def read_terms(filters: Filters, tools: Tools) -> Terms | None:
    """The terms of a collection, or of one document of it; None where there are none.

    Read by three statements, once for every change, and kept beside the connection.
    """
    whole = Filters(filters.collection, filters.document)
    with tools.path.step("terms") as step:
        found = tools.keep("terms", whole, ("text", "discourse"), lambda: _read(whole, tools))
        count = sum(map(len, found.by_slot.values())) if found else 0
        step.note = f"{count:,}" if found else "there are none: no discourse graph was built"
    return found


def _read(filters: Filters, tools: Tools) -> Terms:
    texts = tools.read(query("discourse/find_places"), filters)
    languages = Counter(row["language"] for row in texts).most_common(1)
    terms = tools.read(query("discourse/find_terms"), filters)
    resolved = tools.read(query("discourse/find_resolved"), filters)
    return make_terms(
        languages[0][0] if languages else "",
        [id for row in texts for id in row["chunks"]],
        ((row["slot"], row["key"], row["chunks"]) for row in terms),
        ((row["slot"], row["key"], row["entity"], row["names"], row["chunks"]) for row in resolved),
    )


def _related(
    near: Sequence[str], senses: Sequence[str], vector: Vector, filters: Filters, tools: Tools
) -> Mapping[str, Sequence[str]]:
    """The chunks that are linked to each near one in a sense that is asked for, deepest first.

    Where there are none, those beside the first near one, if they are nearer than is usual.
    """
    told = ", ".join(senses) or "no sense is asked for"
    with tools.path.step("related", told) as step:
        asked = {"nodes": list(near)} if senses else {"nodes": []}
        rows = tools.read(query("discourse/find_linked"), filters, **asked)
        found = choose(rows, senses, tools.knobs.related)
        step.walked = tuple(row["link"] for row in rows if row["id"] in found.get(row["of"], ()))
        step.note += f": {sum(map(len, found.values()))} chunks"
    if found or not near or not tools.knobs.related:
        return found
    with tools.path.step("fall back", "beside the nearest, nearer than is usual") as step:
        beside = tools.rows(query("discourse/find_beside"), vector, filters, nodes=[near[0]])
        kept = [row["id"] for row in beside if row["cosine"] > row["usual"]]
        step.note += f": {len(kept)} chunks"
    return {near[0]: kept[: tools.knobs.related]} if kept else {}


def choose(
    rows: Iterable[Mapping[str, Any]], senses: Sequence[str], most: int
) -> dict[str, list[str]]:
    """At most so many chunks for each near one, of links in the senses that are asked for.

    The deepest sense first, then the least distance, then the earlier chunk.
    """
    found: dict[str, list[tuple[int, int, int, str]]] = defaultdict(list)
    for row in rows:
        if any(matches(row["sense"], asked) for asked in senses):
            depth = row["sense"].count(".")
            found[row["of"]].append((-depth, row["distance"], row["index"], row["id"]))
    chosen = {of: [id for *_, id in sorted(some)] for of, some in found.items()}
    return {of: list(dict.fromkeys(some))[:most] for of, some in chosen.items() if most}


def _matched(terms: Terms, slots: Mapping[str, Sequence[str]], tools: Tools) -> list[str]:
    """The chunks that tell of the same event as the question, best first."""
    with tools.path.step("matched", ", ".join(slots) or "the question tells of no event") as step:
        ranked = terms.rank(slots, LEAST_BY_RULES if tools.models.offline else 1)
        step.note += f": {len(ranked)} chunks"
    return ranked[: tools.knobs.matched]


MODE = Mode(
    retrieve,
    "chunks near to a question, in the sense it asks for, and with its who, when and where",
    knobs=Knobs,
    graph="discourse",
)
