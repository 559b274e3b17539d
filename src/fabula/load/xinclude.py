"""Include the files that a file of XML includes by XInclude, from its own folder.

The sandbox can't open files. So `pack` collects them beforehand, without parsing anything, and
`unpack` puts them into their places inside the sandbox.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from fabula.load.encoding import decode
from fabula.load.files import read_file
from fabula.load.markup import attribute, local_name
from fabula.load.xml_tree import parse

if TYPE_CHECKING:
    from fabula.load.archive import Archive
from fabula.errors import LoadError

MAIN = "fabula-main-file"
"""The entry of a packed book that names its main file."""
_NAMESPACE = b"http://www.w3.org/2001/XInclude"
_INCLUDE = re.compile(rb"<(?:[\w.-]+:)?include\b[^<>]*?\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')")
_SUFFIXES = (".tei", ".txt", ".xml")
_MAX_FILES = 1000
_MAX_DEPTH = 20
"""How deep files may include each other."""


def pack(path: Path, data: bytes, max_bytes: int) -> bytes:
    """Return the content of a file, or a zip of it and the files that it includes.

    Only files in the same folder, or those below it, are included: a text from elsewhere must not
    bring other files of this computer into a collection.
    """
    if _NAMESPACE not in data:
        return data
    folder = path.resolve().parent
    files = {path.name: data}
    budget = max_bytes - len(data)
    queue = [path.name]
    while queue and len(files) < _MAX_FILES:
        base = queue.pop()
        for double, single in _INCLUDE.findall(files[base]):
            name = _resolve(base, (double or single).decode("utf-8", "replace"))
            if name in files or not name.lower().endswith(_SUFFIXES):
                continue
            content = _read(folder, name, budget)
            if content is not None:
                files[name] = content
                budget -= len(content)
                queue.append(name)
    if len(files) == 1:
        return data
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(MAIN, path.name)
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _resolve(base: str, href: str) -> str:
    """The name of an included file, from the folder of the main file."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(href)))


def _read(folder: Path, name: str, budget: int) -> bytes | None:
    """The content of a file below a folder; None if it is elsewhere, too large or missing."""
    try:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder) or budget <= 0:
            return None
        return read_file(file, name, budget)
    except (LoadError, OSError, ValueError):
        return None


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
            name = _resolve(base, attribute(place, "href"))
            if name not in self._archive.sizes or depth > _MAX_DEPTH:
                continue
            self._includes += 1
            if self._includes > _MAX_FILES:
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
