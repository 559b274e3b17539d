"""Read ODT: OpenDocument's headings, paragraphs and notes, without its indexes."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load.archive import Archive
from fabula.load.blocks import Block, Draft
from fabula.load.headings import confirm, stated_title
from fabula.load.left_out import count_characters
from fabula.load.markup import Kind, attribute, blocks, elements, local_name, metadata
from fabula.load.office import MAX_SECTION_LEVEL, MAX_STYLE_CHAIN, bookmark_mark, heading_style
from fabula.load.paratext import remove_library_text
from fabula.load.references import CONTEXT_CHARACTERS, mark_raised
from fabula.load.stanzas import EMPTY, join_stanzas
from fabula.load.titles import real_author, real_title

_INDEX_NAMES = (
    "alphabetical-index bibliography illustration-index object-index table-index table-of-content"
    " user-index"
)
_SKIPPED = {
    **dict.fromkeys(_INDEX_NAMES.split(), "contents"),
    "annotation": "comments",
    "page-number": "page numbers",
    "page-count": "page numbers",
    "ruby-text": "readings",
    "tracked-changes": "deleted text",
    "hidden-text": "hidden text",
    "binary-data": "",
    **dict.fromkeys(("automatic-styles", "font-face-decls", "forms", "note-citation"), ""),
    **dict.fromkeys(("scripts", "sequence-decls", "styles", "user-field-decls"), ""),
    **dict.fromkeys(("variable-decls", "dde-connection-decls", "annotation-end"), ""),
}
"""The elements that are no text, and what they are counted as; '' if they have none."""
_BLOCK_NAMES = "h list list-header list-item p table table-cell text-box"
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_BLOCK_NAMES.split(), "block"),
    "note": "note",
    "line-break": "line",
    "s": "space",
    "tab": "space",
}
_DRAWN_NAMES = (
    "caption circle connector custom-shape ellipse frame g line measure path polygon polyline rect"
    " regular-polygon"
)
_DRAWN = frozenset(_DRAWN_NAMES.split())
"""The elements of drawings, which may have text in them."""
_LEVEL = "\ufdd6"
"""A non-character before the level of a heading, at its beginning, until its block is made."""
_LEVEL_MARK = re.compile(f"{_LEVEL}(\\d)")


def read(data: bytes, source: str, limit: int) -> Draft:
    """Read an ODT file.

    Raises:
        LoadError: It is broken, protected, or would unpack to more than `limit` bytes.
    """
    archive = Archive(io.BytesIO(data), source, limit, "ODT")
    manifest = "META-INF/manifest.xml"
    if manifest in archive.sizes and b":encryption-data" in archive.read(manifest):
        raise LoadError(f"{source} is protected by a password: save a copy without it.")
    warnings: list[str] = []
    root = archive.tree("content.xml")
    styles = _optional(archive, "styles.xml", warnings)
    meta = next(iter(_optional(archive, "meta.xml", warnings)), root)
    return replace(_draft(root, styles, meta), warnings=tuple(warnings))


def draft_flat(root: Element) -> Draft:
    """Read a flat ODT file (.fodt), which is one file of XML, from its root element."""
    return _draft(root, [], root)


def _draft(root: Element, styles: Sequence[Element], meta: Element) -> Draft:
    left_out: Counter[str] = Counter()
    body = next(elements(root, "body"), root)
    text_blocks = _blocks(body, _Styles([root, *styles]), left_out)
    title = real_title(metadata(meta, "meta/title")) or stated_title(text_blocks)
    author = metadata(meta, "meta/initial-creator") or metadata(meta, "meta/creator")
    return Draft(
        blocks=confirm(text_blocks, title),
        title=title,
        author=real_author(author),
        language=metadata(meta, "meta/language"),
        left_out=+left_out,
    )


def _optional(archive: Archive, name: str, warnings: list[str]) -> list[Element]:
    """The root of a part without which the text can be read; none if it is missing or damaged."""
    if name not in archive.sizes:
        return []
    try:
        return [archive.tree(name)]
    except LoadError as error:
        warnings.append(str(error))
        return []


def _blocks(root: Element, styles: _Styles, left_out: Counter[str]) -> tuple[Block, ...]:
    _move_text_boxes(root)
    _mark_raised(root, styles)
    for paragraph in elements(root, "p"):
        if not "".join(paragraph.itertext()).strip():
            paragraph.text = EMPTY
    for bookmark in (*elements(root, "bookmark"), *elements(root, "bookmark-start")):
        bookmark.text = bookmark_mark(attribute(bookmark, "name"))

    def kind(path: Sequence[Element]) -> Kind:
        element = path[-1]
        name = local_name(element)
        skipped_as = _skipped_as(element, name, styles)
        if skipped_as is not None:
            left_out[skipped_as] += _length(element) if skipped_as else 0
            return "skipped"
        if level := _heading_level(element, name, styles):
            element.text = f"{_LEVEL}{level}{element.text or ''}"
            return "heading"
        return _KINDS.get(name, "inline")

    leveled = map(_with_level, blocks(root, kind))
    return join_stanzas(remove_library_text([*leveled], left_out))


def _skipped_as(element: Element, name: str, styles: _Styles) -> str | None:
    """What the text of an element is counted as if it is left out; None if it is text."""
    style = attribute(element, "style-name")
    if style in styles.hidden and name in ("p", "h", "span", "section", "list"):
        return "hidden text"
    if name == "section" and attribute(element, "display") == "none":
        return "hidden text"
    if name in ("title", "desc") and "svg" in element.tag:
        return "pictures"
    return _SKIPPED.get(name)


def _length(element: Element) -> int:
    """How many characters the paragraphs of an element have, or all of it if it has none."""
    paragraphs = [*elements(element, "p"), *elements(element, "h")] or [element]
    return sum(count_characters("".join(part.itertext())) for part in paragraphs)


def _heading_level(element: Element, name: str, styles: _Styles) -> int:
    """The level of a heading that begins a section; 0 if it is none."""
    style = attribute(element, "style-name")
    if name == "p" and style in styles.titles:
        return 1
    level = _level(element) if name == "h" else styles.levels.get(style, 0) if name == "p" else 0
    return level if level <= MAX_SECTION_LEVEL else 0


def _with_level(block: Block) -> Block:
    """A block with the level that is marked in its text."""
    mark = _LEVEL_MARK.search(block.heading)
    if _LEVEL not in block.text:
        return block
    return replace(
        block,
        text=_LEVEL_MARK.sub("", block.text),
        heading=_LEVEL_MARK.sub("", block.heading),
        level=int(mark[1]) if mark else 0,
    )


def _move_text_boxes(root: Element) -> None:
    """Put the text boxes and shapes in a paragraph behind it: they would divide its sentences."""
    stack: list[tuple[Element, Element | None, Element | None]] = [(root, None, None)]
    moves: list[tuple[Element, Element, Element, Element]] = []
    while stack:
        element, paragraph, around = stack.pop()
        for child in element:
            if paragraph is not None and around is not None and local_name(child) in _DRAWN:
                within = "text-box" if local_name(child) == "frame" else "p"
                if next(iter(elements(child, within)), None) is not None:
                    moves.append((element, child, paragraph, around))
            elif paragraph is None and local_name(child) in ("p", "h"):
                stack.append((child, child, element))
            else:
                stack.append((child, paragraph, around))
    for parent, frame, paragraph, around in moves:
        index = list(parent).index(frame)
        tail = frame.tail or ""
        parent.remove(frame)
        if index:
            parent[index - 1].tail = (parent[index - 1].tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
        frame.tail = None
        around.insert(list(around).index(paragraph) + 1, frame)


def _mark_raised(root: Element, styles: _Styles) -> None:
    """Put raised numbers into brackets, so that they are not glued to the words before them."""
    for parent in root.iter() if styles.raised else ():
        before = parent.text or ""
        for child in parent:
            if attribute(child, "style-name") in styles.raised and not len(child):
                child.text = mark_raised(child.text or "", before[-CONTEXT_CHARACTERS:])
            before += (child.text or " ") + (child.tail or "")


class _Styles:
    """What the styles of a document say.

    Attributes:
        titles: The styles of the document's title: Title, and styles derived from it.
        levels: The levels of the styles of headings.
        hidden: The styles whose text is hidden.
        raised: The styles whose text is raised.
    """

    def __init__(self, roots: Sequence[Element]) -> None:
        self._parents = {
            attribute(style, "name"): attribute(style, "parent-style-name")
            for root in roots
            for style in elements(root, "style")
        }
        self.titles = {"Title"}
        self.levels: dict[str, int] = {}
        self.hidden: set[str] = set()
        self.raised: set[str] = set()
        for root in roots:
            for style in elements(root, "style"):
                self._read(style, attribute(style, "name"))

    def _read(self, style: Element, name: str) -> None:
        chain = [name]
        while (parent := self._parents.get(chain[-1])) and len(chain) < MAX_STYLE_CHAIN:
            chain.append(parent)
        if "Title" in chain:
            self.titles.add(name)
        elif level := _digit(attribute(style, "default-outline-level")):
            self.levels[name] = level
        else:
            self.levels[name] = next(filter(None, map(heading_style, chain)), 0)
        for text in elements(style, "text-properties"):
            if attribute(text, "display") == "none":
                self.hidden.add(name)
            if attribute(text, "text-position").startswith("super"):
                self.raised.add(name)


def _digit(value: str) -> int:
    return int(value) if value.isdecimal() and len(value) == 1 else 0


def _level(heading: Element) -> int:
    level = attribute(heading, "outline-level")
    return int(level) if level.isdecimal() else 1
