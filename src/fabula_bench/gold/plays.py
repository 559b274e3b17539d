"""Measure what graphs find in a play against what its editors marked."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher

from fabula.graph.findings import Findings
from fabula_bench.gold.poldracor import Play
from fabula_bench.gold.scores import TextScores, align_clusters, rank_correlation

KEPT = "speeches kept as lines"
SPEAKERS = "speakers of speeches"
PERSONS, EDGES = "persons who speak", "edges of the network"
EDGES_BY_PLAY = f"{EDGES}, F1, mean of plays"
DEGREES = "weighted degrees, rank correlation"


def score_play(scores: TextScores, play: Play, found: Findings, document: str) -> None:
    """Add what was found in the document of a play.

    Persons are compared by the speeches under their names; the network is that of all who speak in
    one scene, weighted by the number of such scenes.
    """
    starts = _label_starts(play, document)
    scores.add(KEPT, [start is not None for start in starts])
    number_at = {start: number for number, start in enumerate(starts) if start is not None}
    gold: dict[str, set[int]] = defaultdict(set)
    for number, speech in enumerate(play.speeches):
        for person in speech.speakers:
            gold[person].add(number)
    speeches: dict[str, frozenset[int]] = {}
    for entity in found.entities:
        if entity.speeches:
            # A speech that the edition has not takes part with a number of its own.
            speeches[entity.id] = frozenset(
                number_at.get(start, -start - 1) for start in entity.speeches
            )
    clusters = {person: frozenset(numbers) for person, numbers in gold.items()}
    partners = align_clusters(speeches, clusters)
    similar_to_gold = dict(partners.values())
    scores.add_matches(
        PERSONS,
        [partners[id][1] if id in partners else 0 for id in speeches],
        [similar_to_gold.get(person, 0) for person in clusters],
    )
    person_of = {id: partner for id, (partner, _) in partners.items()}
    speakers: dict[int, set[str]] = defaultdict(set)
    for id, numbers in speeches.items():
        for number in numbers:
            speakers[number].add(person_of.get(id, ""))
    scores.add(
        SPEAKERS,
        [
            not speakers[number].isdisjoint(speech.speakers)
            for number, speech in enumerate(play.speeches)
        ],
    )
    _score_network(scores, play, found, person_of)


def _score_network(
    scores: TextScores, play: Play, found: Findings, person_of: dict[str, str]
) -> None:
    edges: Counter[tuple[str, str]] = Counter()
    for pair in found.scenes:
        # An entity that is nobody of the play keeps its own id: all its edges are wrong.
        ends = sorted(person_of.get(id, f"{id} (nobody)") for id in (pair.first, pair.second))
        edges[ends[0], ends[1]] += pair.scenes
    gold = play.network
    matched = [[edge in gold for edge in edges], [edge in edges for edge in gold]]
    scores.add_matches(EDGES, *matched)
    scores.add(EDGES_BY_PLAY, [sum(map(sum, matched)) / max(1, sum(map(len, matched)))])
    persons = sorted({person for speech in play.speeches for person in speech.speakers})
    degrees = [
        [sum(weight for pair, weight in network.items() if person in pair) for person in persons]
        for network in (edges, gold)
    ]
    correlation = rank_correlation(*degrees)
    if correlation is not None:
        scores.add(DEGREES, [correlation])


def _label_starts(play: Play, document: str) -> list[int | None]:
    """Where the label of each speech begins a line of the document; None where it does not."""
    spoken = [" ".join(speech.label.split()).rstrip(".,:") for speech in play.speeches]
    words = sorted({r"\s+".join(map(re.escape, label.split())) for label in spoken if label})
    # A label alone between empty lines is in a list of who is on stage.
    lines = re.compile(rf"^({'|'.join(words)})[.,:]?[^\S\n]*(?=[(\[]|\n[^\n])", re.MULTILINE)
    matches = [*lines.finditer(document)] if words else []
    printed = [" ".join(match[1].split()) for match in matches]
    starts: list[int | None] = [None] * len(spoken)
    for block in SequenceMatcher(None, spoken, printed, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            starts[block.a + offset] = matches[block.b + offset].start()
    return starts
