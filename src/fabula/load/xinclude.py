"""Put the files that a file of XML includes into their places: see `includes.pack`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load.encoding import decode
from fabula.load.includes import MAIN, MAX_FILES, resolve
from fabula.load.markup import attribute, local_name
from fabula.load.xml_tree import parse

if TYPE_CHECKING:
    from fabula.load.archive import Archive

_MAX_DEPTH = 20
"""How deep files may include each other."""


def unpack(archive: Archive, warnings: list[str]) -> Element:
    """Return the root element of a packed book, with all that could be included."""
    return _Includer(archive, warnings).root()


class _Includer:
    """Puts files in the places where they are included; each place counts as a file."""

    def __init__(self, archive: Archive, warnings: list[str]) -> None:
        self._archive = archive
        self._warnings = warnings
        self._includes = 0

    def root(self) -> Element:
        name = self._archive.read(MAIN).decode()
        root = self._parse(name, self._archive.source)
        self._include(root, name, depth=0)
        return root

    def _parse(self, name: str, called: str) -> Element:
        return parse(
            self._archive.read(name),
            lambda why: LoadError(f"{called} can't be read as XML: {why}."),
            lambda what: self._warnings.append(f"{called} {what}."),
        )

    def _include(self, root: Element, base: str, depth: int) -> None:
        places = [
            (parent, child)
            for parent in root.iter()
            for child in parent
            if local_name(child) == "include" and attribute(child, "href")
        ]
        for parent, place in places:
            name = resolve(base, attribute(place, "href"))
            if name not in self._archive.sizes or depth > _MAX_DEPTH:
                continue
            self._includes += 1
            if self._includes > MAX_FILES:
                return
            try:
                element = self._element(place, name, depth)
            except LoadError as error:
                self._warnings.append(str(error))
                continue
            if element is not None:
                element.tail = place.tail
                parent[list(parent).index(place)] = element

    def _element(self, place: Element, name: str, depth: int) -> Element | None:
        """What stands in the place of an include; None if the file has no such part."""
        if place.get("parse") == "text":
            element = Element("seg")
            element.text = decode(self._archive.read(name), name)
            return element
        root = self._parse(name, name)
        self._include(root, name, depth + 1)
        pointer = place.get("xpointer", "") or place.get("fragid", "")
        if not pointer:
            return root
        identifier = re.sub(r"^(?:element|id|xpointer)\(|[()'\"]|id\(", "", pointer).strip()
        parts = (part for part in root.iter() if attribute(part, "id") == identifier)
        return next(parts, None)
