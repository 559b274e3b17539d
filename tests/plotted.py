"""A hostile document, drawn: what tests of the plot look at."""

from __future__ import annotations

from dataclasses import replace

from fabula.graph.building import chunks_of
from fabula.graph.method import Known
from fabula.graphs.aspects.border import read
from fabula.graphs.aspects.values import Detail, Earlier, Member, Summary
from fabula.model import Chunk, Hit
from fabula.plot.layout import lay_out
from fabula.plot.svg import Picture
from graphs import small_graph

HOSTILE = "</script><script>window.broken = 1</script><b>\"'&amp;\u2028 ]]> <!-- \x00\x0b end"
QUESTION = f"Who said {HOSTILE}?"


def known(chunks: int = 12, words: str = "word") -> Earlier:
    """A plot and a theme tree of two levels over two sections, and two details a chunk."""
    text, aspects = small_graph(chunks=chunks, words=words)
    half = chunks // 2
    text = replace(text, nodes=tuple(node for node in text.nodes if node.label == "Chunk"))
    parts = [
        replace(chunk, section="One" if chunk.index < half else f"Two {words}")
        for chunk in chunks_of(text)
    ]
    graph = read(Known(nodes=aspects.nodes, edges=aspects.edges))
    return Earlier(tuple(parts), graph.summaries, graph.details)


def long(chunks: int, sections: int) -> Earlier:
    """Many chunks in sections of equal length; two trees of three levels, each of 4, 10 and all.

    What a summary rests on lies all over the book, as clusters of meaning do.
    """
    graph = known(chunks)
    parts = tuple(
        replace(
            one, section=f"Chapter {one.index * sections // chunks + 1}: a title of some length"
        )
        for one in graph.chunks
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
                    members=tuple(Member(id, 1.0) for id in below[number::count]),
                )
                for number in range(count)
            ]
            summaries += made
            below = [one.id for one in made]
    return Earlier(parts, tuple(summaries), graph.details)


def found(known: Earlier) -> list[Hit]:
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


def picture(known: Earlier, title: str = "A", question: str = "", hits: int = 3) -> Picture:
    """A document as it is drawn, with what a question found."""
    ranked = found(known)[:hits] if question else []
    ranks = {hit.id: rank for rank, hit in enumerate(ranked, start=1)}
    return Picture(title, "Nobody", lay_out(known, ("theme",)), question, ranks)
