"""What a graph says it found in a text, in values that gold annotations can be compared with.

Graphs keep their content in shapes of their own. A graph that can be measured declares in
`Graph.find` how its part is read as these values, so that whoever measures knows no graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PERSON, PLACE, GROUP = "person", "place", "group"
"""The types of entities that are measured; a graph may have any others. A group is of persons: the
Cratchits."""


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A person, a place or a thing that a graph found.

    Attributes:
        id: Its id, unique in the document.
        name: Its name.
        type: PERSON, PLACE, or whatever else the graph calls it.
        places: Its printed names, each with the characters of the document at which it begins.
        speeches: The characters at which the speeches begin that a play prints under its name.
    """

    id: str
    name: str
    type: str
    places: Mapping[str, tuple[int, ...]]
    speeches: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundQuotation:
    """Characters of the document that someone says.

    Attributes:
        start: The first character.
        end: The one after the last.
        speaker: The id of the `FoundEntity` that says it; '' if nobody is known.
        speaker_words: The characters, from and to, of the words that name the speaker beside the
            quotation ("she" in "said she"); None if there are none.
        is_doubtful: Whether the speaker may well be another.
    """

    start: int
    end: int
    speaker: str = ""
    speaker_words: tuple[int, int] | None = None
    is_doubtful: bool = False


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """The words, as characters from and to, that say what happens."""

    predicate: str
    words: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SharedScenes:
    """Two entities, by their ids, and in how many scenes of a play both speak."""

    first: str
    second: str
    scenes: int


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a graph found in one document; each is empty where a graph finds no such things.

    `finds_quotations` and `finds_events` say that a graph looks for these: if it found none in a
    text that has some, it missed them.
    """

    entities: tuple[FoundEntity, ...] = ()
    scenes: tuple[SharedScenes, ...] = ()
    quotations: tuple[FoundQuotation, ...] = ()
    events: tuple[FoundEvent, ...] = ()
    finds_quotations: bool = False
    finds_events: bool = False


@dataclass(frozen=True, slots=True)
class GivenName:
    """A printed name that is given to a graph to be joined with others.

    `type` is PERSON, PLACE or any other; `places` are the characters at which the text prints it.
    """

    name: str
    type: str
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JoinedNames:
    """Two given names, by their numbers, that a graph takes for names of one, and by which rule."""

    first: int
    second: int
    rule: str = field(default="", compare=False)
