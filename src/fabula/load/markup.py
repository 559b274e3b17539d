"""XML: a tree without surprises, and its blocks by what each element is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from fabula.errors import LoadError
from fabula.load.blocks import Block
from fabula.load.clean import lines, one_line
from fabula.load.headings import joined

Kind = Literal["inline", "block", "heading", "whole", "line", "break", "space", "note", "skipped"]
"""What an element is to the text: `whole` is a block whose inner blocks are its lines, as a speech
with its speaker; a `note` comes after the block that it is called in; a `break` becomes BREAK."""
BREAK = "\ufdd0"
"""A character that is none, for a break that may be the printed page's."""
_WHOLE = ("heading", "whole", "note")
_APART = ("block", "heading", "whole", "note")
_SIGNS = {"line": "\n", "break": BREAK, "space": " "}
_NOTED = re.compile(r"\[\d+\]$")


def parse(data: bytes, broken: Callable[[str], LoadError]) -> Element:
    """The root of an XML file; `broken` makes the error of one that is damaged.

    Entities that a file defines may grow without end: it is refused.
    """
    if defines_entities(data):
        raise broken("it defines XML entities")
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise broken(str(error)) from error


def defines_entities(data: bytes) -> bool:
    """Whether an XML file defines entities, in UTF-16 as well."""
    return b"<!ENTITY" in data.replace(b"\0", b"")


def local(element: Element) -> str:
    """An element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def elements(tree: Element, name: str) -> Iterator[Element]:
    """The elements of this local name, whatever their namespace."""
    return (one for one in tree.iter() if local(one) == name)


def fact(tree: Element, path: str) -> str:
    """The text of the first element at a path of local names, as 'titleStmt/title'; '' if none."""
    found = tree.find(".//" + "/".join(f"{{*}}{name}" for name in path.split("/")))
    return "" if found is None else one_line("".join(found.itertext()))


def blocks(root: Element, kind: Callable[[Sequence[Element]], Kind]) -> tuple[Block, ...]:
    """The text in blocks; `kind` is told an element with those around it, outermost first."""
    walk = _Walk()
    path: list[Element] = []
    kinds: list[Kind] = []
    waiting = [root]
    # Each element is met twice, without recursion: a file may be nested as deep as it likes.
    while waiting:
        element = waiting.pop()
        if not path or element is not path[-1]:
            path.append(element)
            kinds.append(kind(path))
            waiting.append(element)
            if kinds[-1] != "skipped":
                walk.begin(kinds[-1])
                walk.data(element.text)
                waiting += reversed(element)
        else:
            if (ended := kinds.pop()) != "skipped":
                walk.end(ended)
            path.pop()
            walk.data(element.tail if path else None)
    walk.flush()
    return tuple(walk.blocks)


@dataclass(slots=True)
class _Walk:
    """Gathers blocks as elements begin and end."""

    blocks: list[Block] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _around: list[str] = field(default_factory=list)
    """The text that a note stands in, while the note is read."""
    _notes: list[Block] = field(default_factory=list)
    """Those that the block called."""
    _count: int = 0
    _inside_notes: int = 0
    _inside_whole: int = 0

    def begin(self, kind: Kind) -> None:
        if kind == "note" and not self._inside_notes:
            self._around, self._text = self._text, []
        else:
            self._part(kind)
        self._inside_notes += kind == "note"
        self._inside_whole += kind in _WHOLE

    def end(self, kind: Kind) -> None:
        self._inside_notes -= kind == "note"
        self._inside_whole -= kind in _WHOLE
        if kind == "note" and not self._inside_notes:
            self._end_note()
        elif kind == "heading" and not self._inside_whole:
            self.flush(heading=True)
        else:
            self._part(kind)

    def data(self, text: str | None) -> None:
        if text:
            self._text.append(text.replace("\n", " "))

    def flush(self, *, heading: bool = False) -> None:
        text = lines("".join(self._text))
        self._text.clear()
        if text:
            self.blocks.append(Block(text, joined(_NOTED.sub("", text)) if heading else ""))
        self.blocks += self._notes
        self._notes.clear()

    def _part(self, kind: Kind) -> None:
        if kind in _SIGNS:
            self._text.append(_SIGNS[kind])
        elif self._inside_whole and kind in _APART:
            self._text.append("\n")
        elif kind in _APART:
            self.flush()

    def _end_note(self) -> None:
        note = lines("".join(self._text))
        self._text = self._around
        if note:
            self._count += 1
            self._text.append(f"[{self._count}]")
            self._notes.append(Block(f"[{self._count}] {note}"))
