"""Read TEI: the text of a scholarly edition, without its apparatus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

from fabula.load.blocks import Block, Draft
from fabula.load.headings import confirm
from fabula.load.markup import BREAK, Kind, blocks, elements, local_name, metadata
from fabula.load.wrap import rejoin

_SKIPPED_NAMES = "del divGen facsimile figDesc fw gap graphic sourceDoc standOff surplus teiHeader"
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
"""Elements without text of the book; `fw` are running heads, page numbers and catchwords."""
_OTHER_READINGS = frozenset(("abbr", "orig", "rdg", "sic"))
"""The readings in <choice> or <app> that are not the one for readers."""
_CONTENTS = frozenset(("contents", "index", "toc"))
_BLOCK_NAMES = (
    "ab argument back body byline castList cit closer dateline div docAuthor docDate docImprint"
    " docTitle epigraph figure floatingText front group head imprimatur lg list listBibl opener p"
    " postscript salute signed table text titlePage titlePart trailer"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_LINES = frozenset(("castItem", "item", "l", "row", "speaker"))
_HEADED = frozenset(("back", "body", "front", "group", "text"))
_PROSE = frozenset(("l", "note", "p", "q", "said", "speaker"))
"""Elements in which stage directions belong to sentences, and line breaks may be the page's."""


def draft(root: Element) -> Draft:
    """Return the draft of a book from its root element."""
    title = metadata(root, "titleStmt/title")
    return Draft(
        blocks=confirm(tuple(_rejoin(blocks(root, _kind))), title),
        title=title,
        author=metadata(root, "titleStmt/author"),
        language=_language(root),
    )


def _rejoin(text_blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks without the printed page's line breaks in prose; those of verse stay."""
    broken = [line for block in text_blocks for line in block.text.split("\n") if BREAK in line]
    rejoined = rejoin([line.replace(BREAK, "\n") for line in broken])
    by_line = dict(zip(broken, rejoined, strict=True))
    for block in text_blocks:
        text = "\n".join(by_line.get(line, line) for line in block.text.split("\n"))
        yield replace(block, text=text)


def _language(root: Element) -> str:
    declared = [language.get("ident", "") for language in elements(root, "language")]
    of_text = [
        element.get("{http://www.w3.org/XML/1998/namespace}lang", "")
        for element in (*elements(root, "text"), root)
    ]
    return next(filter(None, (*of_text, *declared)), "")


def _kind(path: Sequence[Element]) -> Kind:
    name = local_name(path[-1])
    above = local_name(path[-2]) if len(path) > 1 else ""
    if name in _SKIPPED or (name in _OTHER_READINGS and above in ("choice", "app")):
        return "skipped"
    if name.startswith("div"):
        return "skipped" if path[-1].get("type") in _CONTENTS else "block"
    if name == "head" and _is_division(path[:-1]):
        return "heading"
    # The speaker's name, stage directions, and lines or paragraphs form one speech.
    if name == "sp":
        return "whole"
    if name == "note":
        return "note"
    if name == "lb":
        return _line_break(path)
    if name == "stage":
        return "inline" if above in _PROSE else "block"
    if name == "cell":
        return "space"
    if name in _LINES:
        return "line"
    return "block" if name in _BLOCKS else "inline"


def _is_division(path: Sequence[Element]) -> bool:
    """Whether a heading here is that of a chapter or poem, and not of a table or stanza."""
    names = [local_name(element) for element in path[-2:]]
    if names[-1] == "lg":
        names.pop()
    return bool(names) and (names[-1].startswith("div") or names[-1] in _HEADED)


def _line_break(path: Sequence[Element]) -> Kind:
    if path[-1].get("break") == "no":
        return "inline"
    names = {local_name(element) for element in path}
    if not _LINES.isdisjoint(names):
        return "space"
    return "break" if not _PROSE.isdisjoint(names) else "line"
