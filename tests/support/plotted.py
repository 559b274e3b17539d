"""A hostile document, drawn: what tests of the plot look at."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from fabula.graph.hits import Hit
from fabula.graph.method import Known
from fabula.graph.parts import chunks_of
from fabula.graphs.aspects.mapping import read_stored
from fabula.graphs.aspects.values import ClusterMember, Detail, StoredAspects, Summary
from fabula.text.document import Chunk
from fabula_scholar.pictures.network.communities import DrawnCommunity, DrawnFinding
from fabula_scholar.pictures.network.figures import DrawnRelation, Figure, Meeting, NetworkPicture
from fabula_scholar.pictures.story.events import DrawnEvent, DrawnLink, Lane, StoryPicture
from fabula_scholar.pictures.trees.layout import lay_out
from fabula_scholar.pictures.trees.svg import TreePicture
from graphs import small_graph

HOSTILE = "</script><script>window.broken = 1</script><b>\"'&amp;\u2028 ]]> <!-- \x00\x0b end"
QUESTION = f"Who said {HOSTILE}?"


def known(chunks: int = 12, words: str = "word") -> StoredAspects:
    """A plot and a theme tree of two levels over two sections, and two details a chunk."""
    text, aspects = small_graph(chunks=chunks, words=words)
    half = chunks // 2
    text = replace(text, nodes=tuple(node for node in text.nodes if node.label == "Chunk"))
    parts = [
        replace(chunk, section="One" if chunk.index < half else f"Two {words}")
        for chunk in chunks_of(text)
    ]
    graph = read_stored(Known(nodes=aspects.nodes, edges=aspects.edges))
    return StoredAspects(tuple(parts), graph.summaries, graph.details)


def long(chunks: int, sections: int) -> StoredAspects:
    """Many chunks in sections of equal length; two trees of three levels, each of 4, 10 and all.

    What a summary rests on lies all over the book, as clusters of meaning do.
    """
    graph = known(chunks)
    parts = tuple(
        replace(
            chunk, section=f"Chapter {chunk.index * sections // chunks + 1}: a title of some length"
        )
        for chunk in graph.chunks
    )
    model = graph.summaries[0]
    summaries: list[Summary] = []
    for aspect in ("plot", "theme"):
        below = [chunk.id for chunk in parts]
        for level, many in enumerate((4, 10, chunks), start=1):
            count = max(len(below) // many, 1)
            made = [
                replace(
                    model,
                    id=f"{aspect} {level} {number}",
                    aspect=aspect,
                    level=level,
                    text=f"{aspect} at level {level}, number {number}",
                    members=tuple(ClusterMember(id, 1.0) for id in below[number::count]),
                )
                for number in range(count)
            ]
            summaries += made
            below = [one.id for one in made]
    return StoredAspects(parts, tuple(summaries), graph.details)


def found(known: StoredAspects) -> list[Hit]:
    """A chunk, a summary and a detail, best first."""
    passages: list[Chunk | Summary | Detail] = [
        known.chunks[3],
        known.summaries[-1],
        known.details[0],
    ]
    return [
        Hit(
            one.id,
            kind,
            "d",
            "A",
            "",
            one.section,
            "",
            0,
            one.start,
            one.end,
            one.text,
            3,
            0.9 - rank,
        )
        for rank, (one, kind) in enumerate(
            zip(passages, ("chunk", "summary", "detail"), strict=True)
        )
    ]


def picture(
    known: StoredAspects, title: str = "A", question: str = "", hits: int = 3
) -> TreePicture:
    """A document as it is drawn, with what a question found."""
    ranked = found(known)[:hits] if question else []
    ranks = {hit.id: rank for rank, hit in enumerate(ranked, start=1)}
    return TreePicture(title, "Nobody", lay_out(known, ("theme",)), question, ranks)


def sociogram(
    count: int = 60, sections: int = 6, words: str = "", question: str = ""
) -> NetworkPicture:
    """Figures of a few types, the first of whom many meet; the last two are with nobody.

    The third and the last are walked for a question.
    """
    chance = Random(1)
    figures = []
    for number in range(count):
        weight = max(300 // (number + 1), 1)
        first = number % sections
        mentions = {first: weight} | ({sections - 1: 2} if number % 3 else {})
        name = f"{'Mr. ' * (number % 2)}Figure {number}{words}"
        types = ("person", "place", "group", "person")
        figures.append(
            Figure(
                id=f"e{number:03}",
                name=name,
                type=types[number % len(types)],
                text=f"What is told of {name}.",
                names=((name, weight, ""), (f"F{number}", 1, "alias")),
                mentions=mentions,
                place=chance.random(),
            )
        )
    pairs = {(min(n, m), max(n, m)) for n in range(1, count - 2) for m in (n // 4, n // 2 + 1)}
    bonds = [
        DrawnRelation(
            id=f"r{one}-{other}",
            ends=(one, other),
            text=f"All of {one} and {other}.{words}",
            keywords=("friendship",),
            chunks={other % sections: 1 + 40 // (other + 1), sections - 1: 1},
            first=Meeting(other % sections, f"They met.{words}"),
            last=Meeting(sections - 1, "They met again."),
        )
        for one, other in sorted(pairs)
        if one != other
    ]
    return NetworkPicture(
        title=f"A{words}",
        author="Nobody",
        sections=tuple(f"Chapter {number + 1}{words}" for number in range(sections)),
        figures=tuple(figures),
        relations=tuple(bonds),
        entities=count,
        question=question,
        mode="hippo" if question else "",
        walked=(2, count - 1) if question else (),
    )


def story(count: int = 60, words: str = "", question: str = "") -> StoryPicture:
    """Events of a few people and places over two chunks an event and three sections, some tied."""
    chance = Random(2)
    people = [f"Person {number}{words}" for number in range(6)]
    lanes = (
        *(Lane("who", name, 0) for name in people),
        Lane("who", "nobody named", 0),
        Lane("where", f"The Mill{words}", 0),
        Lane("where", "Dunmore", 0),
    )
    events = []
    for number in range(count):
        who = {chance.randrange(6) for _ in range(1 + number % 2)} if number % 7 else {6}
        where = {7 + number % 2} if number % 3 == 0 else set()
        record = {"predicate": "went", "what": f"away {number}{words}"}
        record |= {"who": people[min(who)]} if number % 7 else {}
        record |= {"when": f"day {number}"} if number % 5 == 0 else {}
        record |= {"where": lanes[min(where)].name} if where else {}
        record |= {"why": f"because of {number}"} if number % 9 == 0 else {}
        at = (2 * number + 0.5) / (2 * count)
        events.append(DrawnEvent(f"v{number}", 2 * number, at, record, tuple(sorted(who | where))))
    kinds = [
        ("cause", "Contingency.Cause.Result", "so"),
        ("more", "Expansion.Conjunction", "and"),
        ("contrast", "Comparison", "but"),
        ("time", "Temporal.Asynchronous.Precedence", "then"),
        ("cause", "Contingency.Cause.Reason", ""),
    ]
    ties = []
    for number, chunk in enumerate(range(0, 2 * count - 1, max(count // 10, 1))):
        kind, sense, connective = kinds[number % len(kinds)]
        cause = -1 if kind != "cause" else chunk + (sense.endswith("Reason"))
        ties.append(DrawnLink(f"t{number}", (chunk, chunk + 1), kind, sense, connective, cause))
    counts = Counter(lane for event in events for lane in event.lanes)
    return StoryPicture(
        title=f"A{words}",
        author="Nobody",
        sections=((f"Chapter 1{words}", 0), ("Chapter 2", count), ("Chapter 3", count * 3 // 2)),
        texts=tuple(f"This is passage {number}.{words}" for number in range(2 * count)),
        lanes=tuple(replace(lane, events=counts[row]) for row, lane in enumerate(lanes)),
        events=tuple(events),
        links=tuple(ties),
        question=question,
        mode="hybrid" if question else "",
        hits=(4, 9) if question else (),
    )


def together(of: NetworkPicture) -> NetworkPicture:
    """The same network as two communities, the first of which is of two; the second is found."""
    figures = range(len(of.figures))
    told = [
        (0, 1, -1, [row for row in figures if row % 3]),
        (0, 2, -1, [row for row in figures if not row % 3]),
        (1, 1, 0, [row for row in figures if row % 3 and row % 2]),
        (1, 2, 0, [row for row in figures if row % 3 and not row % 2]),
    ]
    words = of.title[1:]
    communities = tuple(
        DrawnCommunity(
            level=level,
            numbers=(number, 3)[: 1 + (place == 1)],
            hues=(place, place)[: 1 + (place == 1)],
            parent=parent,
            title=f"Those of {place}{words}",
            size=len(members) + 1,
            members=tuple(members),
            importance=7.5,
            summary=f"What is told of {place}.{words}",
            findings=(DrawnFinding(f"They meet.{words}", "Often.", (3,)),),
            rank=int(place == 1 and bool(of.question)),
        )
        for place, (level, number, parent, members) in enumerate(told)
    )
    return replace(of, communities=communities, passages={3: (0, f"The passage.{words}")})
