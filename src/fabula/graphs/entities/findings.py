"""What the entity graph found, as values that gold annotations are compared with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from fabula.graph import Part
from fabula.graph.findings import Findings, FoundEntity, GivenName, JoinedNames, SharedScenes
from fabula.graph.method import BuildText
from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.labels import ENTITY, FROM_CHUNK, SOURCE, TARGET
from fabula.graphs.entities.plays import is_of_scene, read_speeches
from fabula.graphs.entities.resolve import NameForm, NameGroup, person_or_place, resolve


def find(text: BuildText, part: Part) -> Findings:
    """Return the entities of a part with all places at which their names are printed."""
    places: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for edge in part.edges:
        if edge.type == FROM_CHUNK and "starts" in edge.properties:
            of_entity = places[edge.start]
            for name, start in zip(
                edge.properties["names"], edge.properties["starts"], strict=True
            ):
                of_entity[name].append(start)
    entity_at = {
        start: id for id, names in places.items() for starts in names.values() for start in starts
    }
    scenes: Counter[str] = Counter()
    for edge in part.edges:
        if edge.type == FROM_CHUNK and "from_name" in edge.properties:
            # No chunk is in two scenes.
            scenes[edge.start] += is_of_scene(edge.properties["keywords"])
    ends = {
        type: {edge.start: edge.end for edge in part.edges if edge.type == type}
        for type in (SOURCE, TARGET)
    }
    speeches: dict[str, list[int]] = defaultdict(list)
    for speech in read_speeches(text.chunks, text.document.locators):
        for speaker in speech.speakers:
            if speaker.start in entity_at:
                speeches[entity_at[speaker.start]].append(speech.start)
    return Findings(
        entities=tuple(
            FoundEntity(
                node.id,
                node.properties["name"],
                person_or_place(node.properties["type"]) or node.properties["type"],
                {name: tuple(starts) for name, starts in places[node.id].items()},
                tuple(speeches[node.id]),
            )
            for node in part.nodes
            if node.label == ENTITY
        ),
        scenes=tuple(
            SharedScenes(ends[SOURCE][relation], ends[TARGET][relation], count)
            for relation, count in scenes.items()
            if count
        ),
    )


def join_names(
    names: Sequence[GivenName], language: str, without: Collection[str] = ()
) -> list[JoinedNames]:
    """Return the pairs of given names that the resolver takes for names of one entity.

    `without` has principles of the resolver that are left out, to measure them.
    """
    forms = [
        NameForm(name.name, name.type, len(name.places), place=min(name.places)) for name in names
    ]
    numbers = {form: number for number, form in enumerate(forms)}
    groups = resolve(
        frozenset(forms),
        language=language,
        decisions=DecidedPairs(),
        without=without,
    ).groups
    return [pair for group in groups for pair in _pairs(group, numbers)]


def _pairs(group: NameGroup, numbers: dict[NameForm, int]) -> Iterator[JoinedNames]:
    in_order = sorted(group.forms, key=numbers.__getitem__)
    for at, first in enumerate(in_order):
        whys = group.explain([first])
        for second in in_order[at + 1 :]:
            yield JoinedNames(numbers[first], numbers[second], whys[second])
