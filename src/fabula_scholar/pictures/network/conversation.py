"""Read which entities speak to each other, and where: a layer of the network."""

from __future__ import annotations

from collections import defaultdict

from fabula.graph import Part
from fabula_graphs.speech.labels import QUOTATION, SPOKEN_BY, SPOKEN_TO
from fabula_graphs.speech.values import SPEECH

Spoken = tuple[str, str]
"""The id of the chunk of a quotation, and who says what to whom."""


def read_conversation(speech: Part) -> dict[tuple[str, str], list[Spoken]]:
    """Return what two entities say to each other in text order, by their ids, the smaller first.

    What is doubtful is left out.
    """
    ends: dict[str, dict[str, str]] = defaultdict(dict)
    for edge in speech.edges:
        if edge.type in (SPOKEN_BY, SPOKEN_TO):
            ends[edge.start][edge.type] = edge.end
    quotations = [
        node
        for node in speech.nodes
        if node.label == QUOTATION
        and node.properties["manner"] == SPEECH
        and not node.properties.get("doubtful")
        and ends[node.id].keys() == {SPOKEN_BY, SPOKEN_TO}
    ]
    conversation: dict[tuple[str, str], list[Spoken]] = defaultdict(list)
    for node in sorted(quotations, key=lambda node: (node.properties["start"], node.id)):
        first, second = sorted(ends[node.id].values())
        values = node.properties
        text = f"{values['speaker']} to {values['addressee']}: {values['text']}"
        if first != second:
            conversation[first, second].append((node.sources[0], " ".join(text.split())))
    return conversation
