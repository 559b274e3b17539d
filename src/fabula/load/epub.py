"""Read EPUB: a zip of XHTML pages in the order of the package's spine."""

from __future__ import annotations

import io
import posixpath
import re
from collections import Counter
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
from fabula.load.paratext import remove_library_text

_CONTAINER = "META-INF/container.xml"
_RIGHTS = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/xml", "")


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book: its name in the zip, its media type and its properties."""

    name: str
    media: str
    properties: str


def read(data: bytes, source: str, limit: int) -> Draft:
    """Read an EPUB file.

    Raises:
        LoadError: It is broken, protected, or would unpack to more than `limit` bytes.

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
        locked = any(not algorithm.startswith(_FONTS_ONLY) for algorithm in algorithms)
    if locked:
        raise LoadError(f"{archive.source} is protected by DRM: give a copy without it.")


def _book(archive: Archive) -> Draft:
    rootfile = next(elements(archive.tree(_CONTAINER), "rootfile"), None)
    if rootfile is None or not rootfile.get("full-path"):
        raise archive.broken("its container names no package")
    opf = rootfile.get("full-path", "")
    package = archive.tree(opf)
    items = {
        item.get("id", ""): _Item(
            _resolve(opf, item.get("href", "")),
            item.get("media-type", ""),
            item.get("properties", ""),
        )
        for item in elements(package, "item")
    }
    spine = [items.get(ref.get("idref", "")) for ref in elements(package, "itemref")]
    # Each page is read once, however often the spine lists it, as the format demands.
    unique = {item.name: item for item in spine if item}.values()
    pages = [item for item in unique if item.media in _PAGES and not _is_nav(item)]
    if not pages:
        raise archive.broken("its spine is empty")
    toc_titles = _toc_titles(archive, list(items.values()))
    title, writer = gutenberg.split_title(_metadata(package, "title"))
    left_out: Counter[str] = Counter()
    blocks = remove_library_text([*_blocks(archive, pages, toc_titles)], left_out)
    return Draft(
        blocks=confirm(blocks, title),
        title=title,
        author=_metadata(package, "creator") or writer,
        language=_metadata(package, "language"),
        left_out=left_out,
    )


def _blocks(
    archive: Archive, pages: Sequence[_Item], toc_titles: Mapping[str, str]
) -> Iterator[Block]:
    """The blocks of all pages; a page without a heading gets its title in the table of contents."""
    for item in pages:
        text = decode(archive.read(item.name), f"{archive.source}: {item.name}")
        blocks = [*html.page(text, archive.source).blocks]
        title_in_toc = toc_titles.get(item.name, "")
        if blocks and title_in_toc and not any(block.heading for block in blocks):
            blocks[0] = replace(blocks[0], heading=title_in_toc)
        yield from blocks


def _toc_titles(archive: Archive, items: Sequence[_Item]) -> dict[str, str]:
    """The titles of files in the table of contents, EPUB 3's or else EPUB 2's, by their names."""
    toc_titles: dict[str, str] = {}
    for item in items:
        if item.name not in archive.sizes:
            continue
        if _is_nav(item):
            for name, title_in_toc in _nav_links(archive, item.name):
                toc_titles.setdefault(name, title_in_toc)
        elif item.media == "application/x-dtbncx+xml":
            for point in elements(archive.tree(item.name), "navPoint"):
                content = next(elements(point, "content"), None)
                title_in_toc = one_line("".join(next(elements(point, "text"), point).itertext()))
                if content is not None and title_in_toc:
                    toc_titles.setdefault(_resolve(item.name, content.get("src", "")), title_in_toc)
    return toc_titles


def _nav_links(archive: Archive, name: str) -> Iterator[tuple[str, str]]:
    text = decode(archive.read(name), f"{archive.source}: {name}")
    for link in re.finditer(r"<a\b([^<>]*)>([^<]*)<", text):
        href = re.search(r"\bhref\s*=\s*[\"']([^\"']*)[\"']", link[1])
        title_in_toc = one_line(link[2])
        if href and title_in_toc:
            yield _resolve(name, href[1]), title_in_toc


def _is_nav(item: _Item) -> bool:
    return "nav" in item.properties.split()


def _resolve(base: str, href: str) -> str:
    """The name in the zip of the file that a link leads to."""
    path = unquote(urldefrag(href).url)
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), path))


def _metadata(package: Element, name: str) -> str:
    element = next(elements(package, name), None)
    return one_line("".join(element.itertext())) if element is not None else ""
