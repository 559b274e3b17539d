"""Read what an EPUB says of its own order: the table of contents, and the list of printed pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from fabula.load.archive import Archive, EntryError
from fabula.load.clean import one_line
from fabula.load.markup import attribute, elements, local_name

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from fabula.load.epub_names import ArchiveNames


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """An entry of a table of contents.

    Attributes:
        name: The name of its page in the zip.
        fragment: The id of the place on that page; '' for its beginning.
        title: The title.
        level: The depth in the table, from 1.
    """

    name: str
    fragment: str
    title: str
    level: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The table of contents, and the numbers of printed pages by page and id."""

    entries: tuple[ContentsEntry, ...]
    pages: Mapping[str, Mapping[str, str]]

    def by_page(self) -> dict[str, list[ContentsEntry]]:
        """Return the entries by the names of their pages."""
        by_page: dict[str, list[ContentsEntry]] = {}
        for entry in self.entries:
            by_page.setdefault(entry.name, []).append(entry)
        return by_page

    def without_book(self, title: str) -> Contents:
        """Return the contents without an entry for the book that all others stand under."""
        outer = [entry for entry in self.entries if entry.level == 1]
        is_book = len(outer) == 1 and outer[0].title.casefold() == title.casefold()
        if not is_book or len(self.entries) == 1:
            return self
        inner = (entry for entry in self.entries if entry.level > 1)
        entries = (ContentsEntry(e.name, e.fragment, e.title, e.level - 1) for e in inner)
        return Contents(tuple(entries), self.pages)


def read_contents(archive: Archive, names: ArchiveNames, files: Sequence[str]) -> Contents:
    """Return the contents in the files of an EPUB that have them.

    The first file with a table of contents counts, and so does the first with a list of pages; a
    damaged one costs its labels, and is named in the archive's warnings.
    """
    entries: tuple[ContentsEntry, ...] = ()
    pages: dict[str, dict[str, str]] = {}
    for file in files:
        try:
            root = archive.lenient_tree(file)
        except EntryError as error:
            archive.warnings.append(str(error))
            continue
        entries = entries or tuple(_entries(root, file, names))
        if not pages:
            for label, address in _page_list(root):
                name, fragment = _target(names, file, address)
                if name and label:
                    pages.setdefault(name, {}).setdefault(fragment, label)
    return Contents(entries, pages)


def _entries(root: Element, file: str, names: ArchiveNames) -> Iterator[ContentsEntry]:
    if local_name(root) == "ncx" or next(elements(root, "navMap"), None) is not None:
        links = _nav_points(root)
    else:
        links = _nav_links(root)
    for title, address, level in links:
        name, fragment = _target(names, file, address)
        if name and title:
            yield ContentsEntry(name, fragment, title, level)


def _nav_points(root: Element) -> Iterator[tuple[str, str, int]]:
    """The titles, addresses and depths of EPUB 2's table."""
    stack = [(root, 0)]
    while stack:
        element, level = stack.pop()
        if local_name(element) == "navPoint":
            level += 1
            content = next((e for e in element if local_name(e) == "content"), None)
            label = next((e for e in element if local_name(e) == "navLabel"), None)
            if content is not None and label is not None:
                yield _text(label), content.get("src", ""), level
        stack += ((child, level) for child in reversed(element))


def _nav_links(root: Element) -> Iterator[tuple[str, str, int]]:
    """The titles, addresses and depths of EPUB 3's table; other lists may be beside it."""
    navs = list(elements(root, "nav"))
    typed = [nav for nav in navs if "toc" in attribute(nav, "type").split()]
    untyped = [nav for nav in navs if not attribute(nav, "type")]
    table = next(iter(typed or untyped), None if navs else root)
    stack = [] if table is None else [(table, 0)]
    while stack:
        element, level = stack.pop()
        name = local_name(element)
        level += name in ("ol", "ul")
        if name == "a":
            yield _text(element), element.get("href", ""), max(1, level)
        stack += ((child, level) for child in reversed(element))


def _page_list(root: Element) -> Iterator[tuple[str, str]]:
    """The numbers and addresses of printed pages, in EPUB 3's, EPUB 2's or Adobe's list."""
    for nav in elements(root, "nav"):
        if "page-list" in attribute(nav, "type").split():
            for link in elements(nav, "a"):
                yield _text(link), link.get("href", "")
    for target in elements(root, "pageTarget"):
        content = next(elements(target, "content"), None)
        label = next(elements(target, "navLabel"), None)
        if content is not None:
            text = "" if label is None else _text(label)
            yield text or target.get("value", ""), content.get("src", "")
    if local_name(root) == "page-map":
        for page in elements(root, "page"):
            yield page.get("name", "").strip(), page.get("href", "")


def _target(names: ArchiveNames, file: str, address: str) -> tuple[str, str]:
    """The name in the zip and the id that a link leads to."""
    fragment = unquote(urldefrag(address.strip()).fragment)
    return names.find(file, address), fragment


def _text(element: Element) -> str:
    return one_line("".join(element.itertext()))
