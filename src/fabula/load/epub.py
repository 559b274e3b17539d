"""Read EPUB: a zip of XHTML pages in the order of the package's spine.

Each part may be missing, damaged, or elsewhere than the package says: then the others are read, and
a warning names it.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from fabula.errors import LoadError
from fabula.load import chapters, html
from fabula.load.archive import Archive, EntryError
from fabula.load.blocks import Block, Draft
from fabula.load.clean import fold_heading, one_line
from fabula.load.encoding import decode_text
from fabula.load.epub_contents import Contents, ContentsEntry, read_contents
from fabula.load.epub_names import ArchiveNames, container_folder
from fabula.load.headings import confirm
from fabula.load.hyphens import Hyphens
from fabula.load.left_out import PAGE_NUMBERS, count_characters
from fabula.load.libraries import PageRules, find_rules
from fabula.load.library_pages import books_warning, split_title
from fabula.load.locators import page_mark, without_marks
from fabula.load.markup import attribute, elements, local_name
from fabula.load.paratext import (
    find_page_numbers,
    is_within_sentence,
    leave_out,
    split_library_text,
)
from fabula.load.titles import real_author
from fabula.text.metadata import Value, read_typed, state_metadata

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CONTAINER = "META-INF/container.xml"
_RIGHTS = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES = (
    "application/xhtml+xml",
    "text/html",
    "application/xml",
    "text/xml",
    "application/x-dtbook+xml",
    "text/x-oeb1-document",
    "",
)
_PAGE_SUFFIXES = (".htm", ".html", ".xhtml", ".xml")
_NO_PAGES = ("application/x-dtbncx+xml", "application/oebps-page-map+xml", "image/", "audio/")
_MIN_NAV_CHARACTERS = 500
"""A page of contents with more text than this besides is a page of the book."""
_HEADING_BLOCKS = 4
"""The heading to which a table of contents leads is among this many blocks."""
_RELEASING = re.compile(r"gutenberg|standard ebooks|wikisource", re.IGNORECASE)
"""The libraries whose date is that of their own release."""
_DATES = ("original-publication", "publication", "")
_OPEN_END = re.compile(r"[^\W\d_][,;\-\u2010\u00ad]?$")
"""The end of a paragraph that may go on in the next file."""
_SERIES = {
    "belongs-to-collection": "series",
    "calibre:series": "series",
    "calibre:series_index": "series_index",
    "group-position": "series_index",
}
"""The fields that the metadata about a series become."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book: its name in the zip, if it is there, and what the manifest says of it."""

    name: str
    href: str
    media: str
    properties: str


def read(data: bytes, source: str, limit: int) -> Draft:
    """Read an EPUB file.

    Raises:
        LoadError: It is broken, protected, or would unpack to more than `limit` bytes.
    """
    return _Book(Archive(io.BytesIO(data), source, limit, "EPUB")).draft()


class _Book:
    """An EPUB: its package, the files that it lists, and what is wrong with them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._names = ArchiveNames(archive.sizes, container_folder(archive.sizes))
        self._warnings: list[str] = []
        self._left_out: Counter[str] = Counter()
        self._rules: PageRules | None = None
        self._fields: dict[str, list[str]] = {}
        self._opf, self._package = self._open_package()
        self._items = self._manifest()

    def draft(self) -> Draft:
        pages = self._pages()
        self._refuse_protected({page.name for page in pages})
        contents = self._contents()
        metadata = _Metadata(self._package)
        title, writer = split_title(metadata.title())
        page_blocks = [*self._blocks(pages, contents.without_book(title))]
        blocks = _join_pages(self._without_numbers(page_blocks))
        body = split_library_text(blocks)
        self._left_out.update(body.left_out)
        self._count_unlisted(pages)
        author = metadata.authors() or writer or body.metadata.get("author", "")
        return Draft(
            blocks=confirm(body.blocks, title, author),
            title=title,
            author=author,
            language=metadata.language(),
            published=metadata.publication_date(),
            metadata=state_metadata(self._fields) | metadata.fields(),
            left_out=dict(+self._left_out),
            warnings=(
                *self._warnings,
                *self._archive.warnings,
                *filter(None, [books_warning(body.books)]),
            ),
        )

    def _open_package(self) -> tuple[str, Element]:
        """The name of the package and its root element; the container says which it is, or none."""
        candidates: dict[str, None] = {}
        try:
            if container := self._names.find("", _CONTAINER):
                for rootfile in elements(self._archive.lenient_tree(container), "rootfile"):
                    if name := self._names.find("", rootfile.get("full-path", "")):
                        candidates.setdefault(name)
        except EntryError as error:
            self._warn(str(error))
        packages = [name for name in self._archive.sizes if name.lower().endswith(".opf")]
        candidates |= dict.fromkeys(sorted(packages, key=lambda name: (name.count("/"), name)))
        if not candidates:
            missing = _CONTAINER if _CONTAINER not in self._archive.sizes else "its package"
            raise self._archive.broken(f"it lacks {missing}")
        problem: EntryError | None = None
        for name in candidates:
            try:
                return name, self._archive.lenient_tree(name)
            except EntryError as error:
                problem = problem or error
        raise problem or self._archive.broken("it has no package")

    def _manifest(self) -> dict[str, _Item]:
        return {
            item.get("id", "").strip(): _Item(
                self._names.find(self._opf, item.get("href", "")),
                item.get("href", ""),
                item.get("media-type", "").strip().lower(),
                item.get("properties", ""),
            )
            for item in elements(self._package, "item")
        }

    def _pages(self) -> list[_Item]:
        """The pages in the order of the spine, each once, however often the spine lists it."""
        spine: list[_Item] = []
        for reference in elements(self._package, "itemref"):
            item = self._item(reference.get("idref", "").strip())
            if item is not None:
                spine.append(item)
        if not any(map(_is_page, spine)):
            spine = [item for item in self._items.values() if _is_page(item)]
            if spine:
                self._warn("has no order of pages: they come as its manifest lists them")
        if not spine:
            raise self._archive.broken("its spine is empty")
        for item in dict.fromkeys(spine):
            if not item.name:
                self._warn(f"lacks {item.href}, a page that it lists, and the others were read")
        unique = {item.name: item for item in spine if item.name}.values()
        pages = [item for item in unique if _is_page(item)]
        if not pages:
            missing = next((item.href for item in spine if not item.name), "")
            raise self._archive.broken(f"it lacks {missing}" if missing else "its spine is empty")
        return pages

    def _item(self, identifier: str) -> _Item | None:
        """The item that the spine means: by its id, or by its address instead."""
        if item := self._items.get(identifier):
            return item
        folded = identifier.casefold()
        for known, item in self._items.items():
            if folded and folded in (known.casefold(), item.href.casefold()):
                return item
        if name := self._names.find(self._opf, identifier, is_exact=True):
            return _Item(name, identifier, "", "")
        self._warn(f"lacks “{identifier[:100]}” in its manifest, a page that its spine names")
        return None

    def _refuse_protected(self, pages: set[str]) -> None:
        """Refuse a book whose pages are encrypted; fonts are in many books that are not."""
        name = self._names.find("", _ENCRYPTION, is_exact=True)
        if not name:
            return
        try:
            root = self._archive.lenient_tree(name)
        except EntryError as error:
            self._warn(str(error))
            return
        for data in elements(root, "EncryptedData"):
            method = next(elements(data, "EncryptionMethod"), None)
            algorithm = "" if method is None else method.get("Algorithm", "")
            if algorithm.startswith(_FONTS_ONLY):
                continue
            addresses = [
                reference.get("URI", "") for reference in elements(data, "CipherReference")
            ]
            names = {self._names.find("", address) for address in addresses}
            if not addresses or names & pages:
                raise self._protection_error()

    def _protection_error(self) -> LoadError:
        return LoadError(f"{self._archive.source} is protected by DRM: give a copy without it.")

    def _contents(self) -> Contents:
        package = next(elements(self._package, "spine"), None)
        toc = "" if package is None else package.get("toc", "")
        navs = [item.name for item in self._items.values() if item.name and _is_nav(item)]
        others = [
            item.name
            for identifier, item in self._items.items()
            if item.name
            and (
                identifier == toc
                or item.media in ("application/x-dtbncx+xml", "application/oebps-page-map+xml")
                or item.name.lower().endswith(".ncx")
            )
        ]
        try:
            return read_contents(self._archive, self._names, [*navs, *dict.fromkeys(others)])
        except EntryError as error:
            self._warn(str(error))
            return Contents((), {})

    def _blocks(self, pages: Sequence[_Item], contents: Contents) -> Iterator[list[Block]]:
        """The blocks of each page, with the headings and levels of the table of contents."""
        by_page = contents.by_page()
        outline = _Outline()
        problem: LoadError | None = None
        count = 0
        for item in pages:
            try:
                content = self._page(item, contents.pages.get(item.name, {}))
            except EntryError as error:
                problem = problem or error
                self._warn(f"{str(error).rstrip('.')}: this page was left out")
                continue
            count += 1
            self._left_out.update(content.left_out)
            self._fields |= content.fields
            if _is_nav(item) and _characters(content) < _MIN_NAV_CHARACTERS:
                self._left_out["contents"] += _characters(content)
                continue
            yield outline.apply(content, by_page.get(item.name, ()))
        if not count and problem is not None:
            is_locked = any(self._names.find("", name, is_exact=True) for name in _RIGHTS)
            raise self._protection_error() if is_locked else problem

    def _without_numbers(self, pages: Sequence[list[Block]]) -> list[list[Block]]:
        """The blocks of each page but printed page numbers, which divide paragraphs over files."""
        blocks = [block for page in pages for block in page]
        numbers = {id(blocks[index]) for index in find_page_numbers(blocks)}

        def keep(block: Block) -> Iterable[Block]:
            is_number = id(block) in numbers
            return leave_out(block, PAGE_NUMBERS, self._left_out) if is_number else (block,)

        return [[kept for block in page for kept in keep(block)] for page in pages]

    def _count_unlisted(self, pages: Sequence[_Item]) -> None:
        """Count what is on pages that the spine does not name, as the table of contents."""
        read = {page.name for page in pages}
        for item in self._items.values():
            if item.name in read or not item.name or not _is_page(item):
                continue
            read.add(item.name)
            try:
                content = self._page(item, {})
            except LoadError:
                continue
            kind = "contents" if _is_nav(item) else "unlisted pages"
            self._left_out[kind] += _characters(content) + sum(content.left_out.values())

    def _page(self, item: _Item, labels: Mapping[str, str]) -> html.PageContent:
        """A page's content. Raises EntryError if it can't be read, and others as `Archive.read`."""
        data = self._archive.read(item.name)
        called = f"{self._archive.source}: {item.name}"
        try:
            decoded = decode_text(data, called)
            for warning in decoded.warnings:
                self._warn(f"{called}: {warning}")
            self._rules = self._rules or find_rules(decoded.text)
            content = html.page(decoded.text, called, labels, self._rules)
        except EntryError:
            raise
        except LoadError as error:
            raise EntryError(str(error)) from error
        if (label := labels.get("")) and content.blocks:
            first, *rest = content.blocks
            blocks = (replace(first, text=page_mark(label) + first.text), *rest)
            content = replace(content, blocks=blocks)
        return content

    def _warn(self, what: str) -> None:
        source = self._archive.source
        self._warnings.append(what if what.startswith(source) else f"{source} {what}.")


def _join_pages(pages: Sequence[list[Block]]) -> list[Block]:
    """The blocks of all pages; a paragraph that is parted by the end of a file is whole."""
    ends = [(one[-1].text, other[0].text) for one, other in pairwise(filter(None, pages))]
    hyphens = Hyphens([*ends, *([block.text] for page in pages for block in page)])
    joined: list[Block] = []
    for page in pages:
        rest = page
        if joined and page and not without_marks(joined[-1].text):
            # The number of a page that ends a file.
            rest = [replace(page[0], text=joined.pop().text + page[0].text), *page[1:]]
        if joined and rest and _is_parted(joined[-1], rest[0]):
            first, *rest = rest
            before, sign = joined[-1].text, hyphens.join(joined[-1].text, first.text)
            start = f"{before} " if sign is None else f"{before[:-1]}{sign}"
            joined[-1] = replace(joined[-1], text=f"{start}{first.text}")
        joined += rest
    return joined


def _is_parted(before: Block, after: Block) -> bool:
    is_prose = not (after.heading or "\n" in before.text or "\n" in after.text)
    return is_prose and bool(_OPEN_END.search(before.text)) and is_within_sentence(before, after)


class _Outline:
    """Gives the headings of page after page their depth in the table of contents."""

    def __init__(self) -> None:
        # The last heading that the contents list: its depth there, and the level of its tag.
        self._level, self._tag = 0, 0

    def apply(self, content: html.PageContent, entries: Sequence[ContentsEntry]) -> list[Block]:
        """The blocks of a page; one without a heading gets its titles in the contents."""
        blocks = list(content.blocks)
        listed: dict[int, ContentsEntry] = {}
        has_headings = any(block.heading for block in blocks)
        for number, entry in enumerate(entries):
            start = content.ids.get(entry.fragment, None if entry.fragment and number else 0)
            if start is None or not blocks:
                continue
            start = min(start, len(blocks) - 1)
            if (index := _heading_at(blocks, start, entry, listed, has_headings)) is not None:
                listed[index] = entry
        for index, block in enumerate(blocks):
            if listed_as := listed.get(index):
                self._level, self._tag = listed_as.level, block.level or listed_as.level
                # A heading right below, here or on the next page, has the rest of the title.
                has_text = index + 1 < len(blocks) and not blocks[index + 1].heading
                heading = block.heading
                if has_text or not heading:
                    heading = _fuller_title(heading, listed_as.title)
                blocks[index] = replace(block, heading=heading, level=listed_as.level)
            elif block.heading and self._level:
                below = block.level - self._tag
                blocks[index] = replace(block, level=max(1, self._level + below))
        return blocks


def _heading_at(
    blocks: Sequence[Block],
    start: int,
    entry: ContentsEntry,
    listed: Mapping[int, ContentsEntry],
    has_headings: bool,
) -> int | None:
    """The block that is the heading of an entry of the contents; None if there is none."""
    near = [i for i in range(start, min(start + _HEADING_BLOCKS, len(blocks))) if i not in listed]
    for index in near:
        if _comparable(blocks[index].heading or blocks[index].text) == _comparable(entry.title):
            return index
    for index in near[:2]:
        if blocks[index].heading:
            return index
    return start if not has_headings and start not in listed else None


def _fuller_title(heading: str, listed: str) -> str:
    """The heading of a page, or the title in the contents if the heading is only its number."""
    number = chapters.chapter_line(heading) or chapters.numeral_line(heading)
    rest = listed.removeprefix(heading)
    is_number = number is not None and not number.titled
    if heading and not (is_number and rest != listed and rest[:1] and not rest[0].isalnum()):
        return heading
    return listed


def _comparable(text: str) -> str:
    return fold_heading(without_marks(text))


class _Metadata:
    """The metadata of a package."""

    def __init__(self, package: Element) -> None:
        metadata = next(elements(package, "metadata"), package)
        self._elements = [e for e in metadata.iter() if local_name(e) != "meta"]
        # Of EPUB 3 what a property is of, its name and value; of EPUB 2 the name and content.
        self._refined = [
            (
                meta.get("refines", "").removeprefix("#"),
                meta.get("property") or meta.get("name", ""),
                one_line("".join(meta.itertext()) or meta.get("content", "")),
            )
            for meta in elements(metadata, "meta")
        ]

    def first(self, name: str) -> str:
        return next((text for _, text in self._all(name) if text), "")

    def title(self) -> str:
        titles = [(self._values(e, "title-type"), text) for e, text in self._all("title") if text]
        return next((text for kinds, text in titles if "main" in kinds), self.first("title"))

    def language(self) -> str:
        """The language; '' if it names several, as an edition of translations does."""
        languages = {text for _, text in self._all("language") if text}
        return languages.pop() if len(languages) == 1 else ""

    def fields(self) -> dict[str, Value]:
        """The subjects, and the series, as EPUB 3 and Calibre state it."""
        stated: dict[str, object] = {"subject": [text for _, text in self._all("subject")]}
        for _, name, value in self._refined:
            if name in _SERIES:
                stated[_SERIES[name]] = value
        if number := stated.get("series_index"):
            stated["series_index"] = read_typed(str(number).removesuffix(".0"))
        return state_metadata(stated)

    def authors(self) -> str:
        """The authors, and no illustrators and translators, if the package tells them apart."""
        people = [
            ({attribute(element, "role").lower(), *self._values(element, "role")} - {""}, text)
            for element, text in self._all("creator")
            if real_author(text)
        ]
        authors = [name for roles, name in people if not roles or "aut" in roles]
        return ", ".join(dict.fromkeys(authors or [name for _, name in people[:1]]))

    def publication_date(self) -> str:
        """The date of the text; a library's own release of an old text has none."""
        dates = [(attribute(e, "event").lower(), text) for e, text in self._all("date") if text]
        is_release = bool(_RELEASING.search(self.first("publisher")))
        for event in _DATES[:1] if is_release else _DATES:
            for stated, text in dates:
                if stated == event and re.match(r"[12]\d{3}", text):
                    return text.partition("T")[0]
        return ""

    def _all(self, name: str) -> Iterator[tuple[Element, str]]:
        for element in self._elements:
            if local_name(element).lower() == name:
                yield element, one_line("".join(element.itertext()))

    def _values(self, element: Element, name: str) -> list[str]:
        of = element.get("id", "")
        return [
            v.lower() for about, known, v in self._refined if of and (about, known) == (of, name)
        ]


def _characters(content: html.PageContent) -> int:
    """The characters of a page's text, without spaces."""
    return sum(count_characters(block.text) for block in content.blocks)


def _is_nav(item: _Item) -> bool:
    return "nav" in item.properties.split()


def _is_page(item: _Item) -> bool:
    if item.media.startswith(_NO_PAGES):
        return False
    return item.media in _PAGES or item.href.lower().partition("#")[0].endswith(_PAGE_SUFFIXES)
