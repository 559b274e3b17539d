"""TEI: what a scholar's edition holds of the text, without its apparatus of pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

from fabula.load.blocks import Block, Draft
from fabula.load.headings import confirm
from fabula.load.markup import BREAK, Kind, blocks, elements, fact, local
from fabula.load.wrap import rejoined

_SKIPPED_NAMES = "del divGen facsimile figDesc fw gap graphic sourceDoc standOff surplus teiHeader"
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
"""`fw` are running heads, page numbers and catchwords."""
_OTHER_READINGS = frozenset(("abbr", "orig", "rdg", "sic"))
"""Beside a reading for those who read, in <choice> or <app>."""
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
"""In which a stage direction is part of the sentence, and a line break may be the page's."""


def draft(root: Element) -> Draft:
    """A book, from its root element."""
    title = fact(root, "titleStmt/title")
    return Draft(
        blocks=confirm(tuple(_rejoined(blocks(root, _kind))), title),
        title=title,
        author=fact(root, "titleStmt/author"),
        language=_language(root),
    )


def _rejoined(found: Sequence[Block]) -> Iterator[Block]:
    """The blocks, in whose prose breaks are the printed page's; where it is verse they stay."""
    broken = [line for block in found for line in block.text.split("\n") if BREAK in line]
    whole = rejoined([line.replace(BREAK, "\n") for line in broken])
    known = dict(zip(broken, whole, strict=True))
    for block in found:
        text = "\n".join(known.get(line, line) for line in block.text.split("\n"))
        yield replace(block, text=text)


def _language(root: Element) -> str:
    declared = [one.get("ident", "") for one in elements(root, "language")]
    of_text = [
        one.get("{http://www.w3.org/XML/1998/namespace}lang", "")
        for one in (*elements(root, "text"), root)
    ]
    return next(filter(None, (*of_text, *declared)), "")


def _kind(path: Sequence[Element]) -> Kind:
    name = local(path[-1])
    above = local(path[-2]) if len(path) > 1 else ""
    if name in _SKIPPED or (name in _OTHER_READINGS and above in ("choice", "app")):
        return "skipped"
    if name.startswith("div"):
        return "skipped" if path[-1].get("type") in _CONTENTS else "block"
    if name == "head" and _is_division(path[:-1]):
        return "heading"
    # A speaker's name, stage directions and lines or paragraphs are one speech.
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
    """Whether a heading here is a chapter's or a poem's, and not a table's or a stanza's."""
    names = [local(one) for one in path[-2:]]
    if names[-1] == "lg":
        names.pop()
    return bool(names) and (names[-1].startswith("div") or names[-1] in _HEADED)


def _line_break(path: Sequence[Element]) -> Kind:
    if path[-1].get("break") == "no":
        return "inline"
    names = {local(one) for one in path}
    if not _LINES.isdisjoint(names):
        return "space"
    return "break" if not _PROSE.isdisjoint(names) else "line"
