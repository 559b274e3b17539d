"""Read who speaks to whom in a document, section by section, as a network to draw."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from fabula.graph import TEXT, Node
from fabula.graph.entries import Entry
from fabula.graph.hits import NO_LIMIT
from fabula.graph.parts import chunks_of
from fabula.graphs.speech.labels import QUOTATION, SPOKEN_BY, SPOKEN_TO
from fabula.graphs.speech.values import SPEECH
from fabula.plot.network.figures import (
    MAX_FIGURES,
    DrawnRelation,
    Figure,
    Meeting,
    NetworkPicture,
    number_sections,
    section_titles,
)
from fabula.plot.shared.picture_parts import CONVERSATION, read_parts, refuse_without, sort_chunks
from fabula.store import Store
from fabula.text.document import Chunk

SPEAKER = "person"
"""The type of all who speak."""


def read_conversation(store: Store, entry: Entry, until: int = NO_LIMIT) -> NetworkPicture:
    """Return who speaks in a document, and which two speak to each other.

    Raises:
        NotFound: The document has no graph of speech, or is gone.
        Changed: The document was replaced while it was read.
    """
    refuse_without(entry, CONVERSATION, "network of conversation")
    parts = read_parts(store, entry, (TEXT, CONVERSATION), until)
    chunks, speech = chunks_of(parts[TEXT]), parts[CONVERSATION]
    tied: dict[str, dict[str, str]] = defaultdict(dict)
    for edge in speech.edges:
        if edge.type in (SPOKEN_BY, SPOKEN_TO):
            tied[edge.start][edge.type] = edge.end
    quotations = [
        node
        for node in speech.nodes
        if node.label == QUOTATION
        and node.properties["speaker"]
        and node.properties["manner"] == SPEECH
    ]
    quotations.sort(key=lambda node: (node.properties["start"], node.id))
    figures, relations, speakers = read_speakers(quotations, tied, chunks)
    return NetworkPicture(
        title=f"{entry.title}: who speaks to whom",
        author=entry.author,
        sections=section_titles(chunks),
        figures=figures,
        relations=relations,
        entities=speakers,
    )


def read_speakers(
    quotations: Sequence[Node], tied: Mapping[str, Mapping[str, str]], chunks: Sequence[Chunk]
) -> tuple[tuple[Figure, ...], tuple[DrawnRelation, ...], int]:
    """Return speakers as figures, who speak most first; who speak to each other; and how many.

    A figure's mentions count its quotations, and a relation's chunks those from one to the other,
    in both directions.
    """
    sections = dict(
        zip((chunk.id for chunk in sort_chunks(chunks)), number_sections(chunks), strict=True)
    )
    length = max((chunk.end for chunk in chunks), default=1)
    said: dict[str, Counter[int]] = defaultdict(Counter)
    places: dict[str, list[float]] = defaultdict(list)
    names: dict[str, Counter[str]] = defaultdict(Counter)
    meetings: dict[tuple[str, str], list[Meeting]] = defaultdict(list)
    for node in quotations:
        values, ends = node.properties, tied.get(node.id, {})
        section = sections[node.sources[0]]
        speaker = ends.get(SPOKEN_BY) or values["speaker"]
        names[speaker][values["speaker"]] += 1
        said[speaker][section] += 1
        places[speaker].append(values["start"] / length)
        if addressee := ends.get(SPOKEN_TO) or values["addressee"]:
            names[addressee][values["addressee"]] += 0
            pair = (min(speaker, addressee), max(speaker, addressee))
            text = f"{values['speaker']} to {values['addressee']}: {values['text']}"
            if speaker != addressee:
                meetings[pair].append(Meeting(section, " ".join(text.split())))
    silent = {end for pair in meetings for end in pair} - said.keys()
    figures = [
        Figure(
            id,
            counts.most_common(1)[0][0],
            SPEAKER,
            f"{said[id].total():,} quotations" if id in said else "spoken to",
            tuple((name, count, "") for name, count in sorted(counts.items()) if count),
            dict(said[id]) if id in said else {0: 0},
            fmean(places[id]) if places[id] else 0.0,
        )
        for id, counts in names.items()
        if id in said.keys() | silent
    ]
    figures.sort(key=lambda figure: (-figure.weight, figure.name, figure.id))
    figures = figures[:MAX_FIGURES]
    rows = {figure.id: row for row, figure in enumerate(figures)}
    relations = [
        DrawnRelation(
            f"{first} {second}",
            (rows[first], rows[second]),
            f"{len(found):,} quotations from one to the other",
            (),
            dict(Counter(meeting.section for meeting in found)),
            found[0],
            found[-1],
        )
        for (first, second), found in meetings.items()
        if first in rows and second in rows
    ]
    relations.sort(key=lambda relation: (relation.weight, relation.id))
    return tuple(figures), tuple(relations), len(said)
