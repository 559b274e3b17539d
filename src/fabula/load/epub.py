"""EPUB: a zip of XHTML pages in the order of the package's spine."""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from fabula.errors import LoadError
from fabula.load import gutenberg, html
from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.clean import one_line
from fabula.load.encoding import decode
from fabula.load.headings import confirm
from fabula.load.markup import elements

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element
from fabula.load.paratext import without_library

_CONTAINER = "META-INF/container.xml"
_RIGHTS = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/xml", "")


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book, its place in the zip, and what it is."""

    name: str
    media: str
    properties: str


def read(data: bytes, source: str, limit: int) -> Draft:
    """An EPUB's content. LoadError, naming `source`, if it is broken, protected, or would unpack
    to more than `limit` bytes, or to more than any book of its size.
    """
    archive = Archive(io.BytesIO(data), source, limit, "EPUB")
    _refuse_protected(archive)
    return _book(archive)


def _refuse_protected(archive: Archive) -> None:
    locked = any(name in archive.sizes for name in _RIGHTS)
    if not locked and _ENCRYPTION in archive.sizes:
        methods = elements(archive.tree(_ENCRYPTION), "EncryptedData")
        algorithms = [
            method.get("Algorithm", "")
            for data in methods
            for method in elements(data, "EncryptionMethod")
        ]
        locked = any(not one.startswith(_FONTS_ONLY) for one in algorithms)
    if locked:
        raise LoadError(f"{archive.source} is protected by DRM: give a copy without it.")


def _book(archive: Archive) -> Draft:
    place = next(elements(archive.tree(_CONTAINER), "rootfile"), None)
    if place is None or not place.get("full-path"):
        raise archive.broken("its container names no package")
    opf = place.get("full-path", "")
    package = archive.tree(opf)
    items = {
        item.get("id", ""): _Item(
            _resolved(opf, item.get("href", "")),
            item.get("media-type", ""),
            item.get("properties", ""),
        )
        for item in elements(package, "item")
    }
    spine = [items.get(ref.get("idref", "")) for ref in elements(package, "itemref")]
    # A page comes once, however often the spine names it: the format has it so.
    found = {item.name: item for item in spine if item}.values()
    pages = [item for item in found if item.media in _PAGES and not _is_nav(item)]
    if not pages:
        raise archive.broken("its spine is empty")
    labels = _labels(archive, list(items.values()))
    title, writer = gutenberg.named(_fact(package, "title"))
    blocks = without_library([*_blocks(archive, pages, labels)])
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=_fact(package, "creator") or writer,
        language=_fact(package, "language"),
    )


def _blocks(archive: Archive, pages: Sequence[_Item], labels: Mapping[str, str]) -> Iterator[Block]:
    """Every page's blocks; one without a heading has that of the table of contents."""
    for item in pages:
        text = decode(archive.read(item.name), f"{archive.source}: {item.name}")
        blocks = [*html.page(text, archive.source).blocks]
        label = labels.get(item.name, "")
        if blocks and label and not any(block.heading for block in blocks):
            blocks[0] = replace(blocks[0], heading=label)
        yield from blocks


def _labels(archive: Archive, items: Sequence[_Item]) -> dict[str, str]:
    """What the table of contents (EPUB 3's, else EPUB 2's) calls each file, by its place."""
    labels: dict[str, str] = {}
    for item in items:
        if item.name not in archive.sizes:
            continue
        if _is_nav(item):
            for name, label in _nav_links(archive, item.name):
                labels.setdefault(name, label)
        elif item.media == "application/x-dtbncx+xml":
            for point in elements(archive.tree(item.name), "navPoint"):
                content = next(elements(point, "content"), None)
                label = one_line("".join(next(elements(point, "text"), point).itertext()))
                if content is not None and label:
                    labels.setdefault(_resolved(item.name, content.get("src", "")), label)
    return labels


def _nav_links(archive: Archive, name: str) -> Iterator[tuple[str, str]]:
    text = decode(archive.read(name), f"{archive.source}: {name}")
    for link in re.finditer(r"<a\b([^<>]*)>([^<]*)<", text):
        place = re.search(r"\bhref\s*=\s*[\"']([^\"']*)[\"']", link[1])
        label = one_line(link[2])
        if place and label:
            yield _resolved(name, place[1]), label


def _is_nav(item: _Item) -> bool:
    return "nav" in item.properties.split()


def _resolved(base: str, href: str) -> str:
    """A link's place in the zip."""
    path = unquote(urldefrag(href).url)
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), path))


def _fact(package: Element, name: str) -> str:
    found = next(elements(package, name), None)
    return one_line("".join(found.itertext())) if found is not None else ""
