"""The Polish Drama Corpus: plays in TEI, whose editors marked who speaks each speech.

PolDraCor (Pastuch, Mitrenga and Wąsińska 2024, DOI 10.12797/LV.19.2024.37.10) is part of DraCor
(Fischer et al. 2019). Licence: CC0 1.0. The folder has the plays as `*.xml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from xml.etree.ElementTree import Element

from fabula.errors import DataError, LoadError
from fabula.load.xml_tree import parse
from fabula_bench.data.files import Files, Release

RELEASE = Release("PolDraCor", "It is at github.com/dracor-org/poldracor (CC0 1.0).")
_TEI = "{http://www.tei-c.org/ns/1.0}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"


@dataclass(frozen=True, slots=True)
class GoldSpeech:
    """A speech: the label as printed, the ids of who speaks, and the number of its scene."""

    label: str
    speakers: tuple[str, ...]
    scene: int


@dataclass(frozen=True)
class Play:
    """A play: its file, its persons' names by their ids, and its speeches in text order."""

    name: str
    file: Path
    persons: dict[str, str]
    speeches: tuple[GoldSpeech, ...]

    @cached_property
    def network(self) -> Counter[tuple[str, str]]:
        """In how many scenes two persons have a speech each, as DraCor's `networkdata`."""
        scenes: dict[int, set[str]] = {}
        for speech in self.speeches:
            scenes.setdefault(speech.scene, set()).update(speech.speakers)
        return Counter(
            pair for persons in scenes.values() for pair in combinations(sorted(persons), 2)
        )


def read_poldracor(folder: Path) -> tuple[Play, ...]:
    """Read all plays of a folder, by their names.

    Raises:
        DataError: There are none, or a file is no TEI.
    """
    files = Files(folder, RELEASE)
    names = files.matching("*.xml")
    if not names:
        raise DataError(f"{folder} has no plays of PolDraCor. {RELEASE.origin}")
    return tuple(_read(folder / name, files.content(name)) for name in names)


def _read(file: Path, data: bytes) -> Play:
    try:
        root = parse(data, lambda why: LoadError(f"{file}: {why}"))
    except LoadError as error:
        raise DataError(str(error)) from error
    persons = {
        person.attrib[_ID]: _text(person.find(f"{_TEI}persName"))
        for tag in ("person", "personGrp")
        for person in root.iter(f"{_TEI}{tag}")
        if _ID in person.attrib
    }
    return Play(file.stem, file, persons, tuple(_speeches(root)))


def _speeches(root: Element) -> Iterator[GoldSpeech]:
    """The speeches in text order; a scene is the nearest division around a speech."""
    count = 0

    def walk(element: Element, scene: int) -> Iterator[GoldSpeech]:
        nonlocal count
        for child in element:
            if child.tag == f"{_TEI}sp":
                who = (id.removeprefix("#") for id in child.get("who", "").split())
                yield GoldSpeech(_text(child.find(f"{_TEI}speaker")), tuple(who), scene)
            elif child.tag == f"{_TEI}div":
                count += 1
                yield from walk(child, count)
            else:
                yield from walk(child, scene)

    yield from walk(root, 0)


def _text(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())
