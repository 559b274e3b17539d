"""What the discourse graph found, as values that gold annotations are compared with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fabula.graph import Part
from fabula.graph.findings import Findings, FoundEvent
from fabula.graph.method import BuildText
from fabula.text.document import Chunk
from fabula.text.sentences import spans
from fabula_graphs.discourse.labels import EVENT, SLOTS

_WORD = re.compile(r"[^\W_]+")


def find(text: BuildText, part: Part) -> Findings:
    """Return the events of a part, each with the places of its predicate's words.

    An event says in which chunk it is, not where. Its predicate is looked for in the sentence that
    has most words of all that the event says.
    """
    chunks = {chunk.id: chunk for chunk in text.chunks}
    return Findings(
        events=tuple(
            FoundEvent(
                node.properties["predicate"],
                _places(node.properties, chunks[node.sources[0]], text.document.language),
            )
            for node in part.nodes
            if node.label == EVENT and node.properties.get("predicate")
        ),
        finds_events=True,
    )


def _places(event: Mapping[str, Any], chunk: Chunk, language: str) -> tuple[tuple[int, int], ...]:
    """The characters of the document at which the words of an event's predicate are printed."""
    predicate = _words(event["predicate"])
    all_words = set().union(*(_words(event.get(slot) or "") for slot in SLOTS))
    best: tuple[int, list[tuple[int, int]]] = (0, [])
    for start, end in spans(chunk.text, language):
        words = list(_WORD.finditer(chunk.text, start, end))
        places = [
            (chunk.start + word.start(), chunk.start + word.end())
            for word in words
            if word[0].casefold() in predicate
        ]
        score = len(all_words & {word[0].casefold() for word in words})
        if places and score > best[0]:
            best = (score, places)
    return tuple(best[1])


def _words(value: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(value)}
